//! Bearer secrets: shown once, stored as SHA-256, compared in constant time.

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// The longest bearer secret that is looked at, in bytes.
const MAX_SECRET_BYTES: usize = 256;

/// The kinds of credential. Each has a prefix and a look-up of its own; none falls through to
/// another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialKind {
    /// A user's token for `/mcp`.
    PersonalAccessToken,
    /// A sidecar's credential for one session.
    Execution,
    /// The secret an attached execution keeps to re-attach.
    ExecutionSecret,
}

impl CredentialKind {
    /// What every secret of this kind begins with.
    #[must_use]
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::PersonalAccessToken => "kandev_pat_",
            Self::Execution => "kandev_exec_",
            Self::ExecutionSecret => "kandev_exs_",
        }
    }
}

/// Where random bytes come from.
pub trait SecretSource: Send + Sync + 'static {
    /// 32 bytes that nobody can guess.
    fn random(&self) -> [u8; 32];
}

/// A bearer secret in memory. It is wiped when dropped and cannot be printed or serialized.
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes a secret that a caller presented.
    #[must_use]
    pub fn presented(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// Makes a fresh secret of a kind.
    #[must_use]
    pub fn generate(kind: CredentialKind, source: &dyn SecretSource) -> Self {
        use std::fmt::Write as _;

        let mut text = Zeroizing::new(String::with_capacity(kind.prefix().len() + 64));
        text.push_str(kind.prefix());
        for byte in Zeroizing::new(source.random()).iter() {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        Self(text)
    }

    /// The text, for the one place that has to hand it over.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether this can be a secret of that kind at all.
    #[must_use]
    pub fn is_of(&self, kind: CredentialKind) -> bool {
        self.0.len() <= MAX_SECRET_BYTES
            && self.0.len() > kind.prefix().len()
            && self.0.starts_with(kind.prefix())
    }

    /// What is stored and looked up in its place.
    #[must_use]
    pub fn hash(&self) -> SecretHash {
        SecretHash(Sha256::digest(self.0.as_bytes()).into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// The SHA-256 of a random secret of 256 bits.
#[derive(Clone, Copy)]
pub struct SecretHash([u8; 32]);

impl SecretHash {
    /// Takes a stored hash.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes to store.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl PartialEq for SecretHash {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for SecretHash {}

impl fmt::Debug for SecretHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretHash(..)")
    }
}
