//! Identifiers as newtypes.
//!
//! Ids are compared as bytes. Only emptiness and length make one invalid: odd characters are
//! simply not found.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The longest id of our own making that is accepted, in bytes.
pub const MAX_ID_BYTES: usize = 256;

/// The longest id made by a provider that is accepted, in bytes.
pub const MAX_PROVIDER_ID_BYTES: usize = 4096;

/// Why a text is not an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidId {
    /// The text is empty.
    #[error("must not be empty")]
    Empty,
    /// The text is longer than the bound of its kind.
    #[error("must be at most {0} bytes")]
    TooLong(usize),
}

fn check(text: &str, max: usize) -> Result<(), InvalidId> {
    if text.is_empty() {
        Err(InvalidId::Empty)
    } else if text.len() > max {
        Err(InvalidId::TooLong(max))
    } else {
        Ok(())
    }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $max:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Accepts any text that is neither empty nor overlong.
            ///
            /// # Errors
            /// [`InvalidId`] when it is.
            pub fn parse(text: impl Into<String>) -> Result<Self, InvalidId> {
                let text = text.into();
                check(&text, $max)?;
                Ok(Self(text))
            }

            /// The id's text, byte for byte.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;

            fn try_from(text: String) -> Result<Self, InvalidId> {
                Self::parse(text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }
    };
}

/// An id of our own making: safe to print.
macro_rules! own_id {
    ($(#[$doc:meta])* $name:ident) => {
        id!($(#[$doc])* $name, MAX_ID_BYTES);

        impl From<uuid::Uuid> for $name {
            fn from(id: uuid::Uuid) -> Self {
                Self(id.to_string())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
    };
}

/// Debug output that names the type and hides the text: what a provider calls its things may
/// hold a command or a credential.
macro_rules! hidden_debug {
    ($name:ident) => {
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), "(..)"))
            }
        }
    };
}

own_id!(
    /// A task.
    TaskId
);
own_id!(
    /// A session of a task: one conversation with one agent.
    SessionId
);
own_id!(
    /// A user.
    UserId
);
own_id!(
    /// A workspace: what a user owns and tasks belong to.
    WorkspaceId
);
own_id!(
    /// One generation of a live prompt; unique per live prompt and never reused.
    RequestId
);
own_id!(
    /// One serialized resolution attempt that may deliver.
    ClaimId
);
own_id!(
    /// One row of the append-only record of attempts.
    AttemptId
);
own_id!(
    /// One run of an agent process beside a sidecar.
    ExecutionId
);
own_id!(
    /// The public handle of a stored credential; never the credential itself.
    CredentialId
);

id!(
    /// What the provider, or a fallback in its place, calls a waiting request. May repeat.
    PendingId,
    MAX_PROVIDER_ID_BYTES
);
hidden_debug!(PendingId);

id!(
    /// What the provider calls the tool call that asks. May repeat.
    ToolCallId,
    MAX_PROVIDER_ID_BYTES
);
hidden_debug!(ToolCallId);

/// What the provider calls one of its choices, byte for byte as offered.
///
/// An offered id may be empty, overlong or a duplicate; such an option is shown and can never be
/// selected (see [`select_option`](crate::select_option)).
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OptionId(String);
hidden_debug!(OptionId);

impl OptionId {
    /// Keeps whatever the provider offered.
    #[must_use]
    pub fn offered(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Accepts what a caller may name: neither empty nor overlong.
    ///
    /// # Errors
    /// [`InvalidId`] when it is.
    pub fn parse(text: impl Into<String>) -> Result<Self, InvalidId> {
        let text = text.into();
        check(&text, MAX_PROVIDER_ID_BYTES)?;
        Ok(Self(text))
    }

    /// The id's text, byte for byte.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a caller can name this id at all.
    #[must_use]
    pub fn is_nameable(&self) -> bool {
        check(&self.0, MAX_PROVIDER_ID_BYTES).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_emptiness_and_length_make_an_id_invalid() {
        assert_eq!(RequestId::parse(""), Err(InvalidId::Empty));
        assert_eq!(
            RequestId::parse("x".repeat(MAX_ID_BYTES + 1)),
            Err(InvalidId::TooLong(MAX_ID_BYTES))
        );
        for odd in [" ", "\0", "a\nb", "\u{202e}", "../..", "'; --"] {
            assert_eq!(RequestId::parse(odd).map(String::from).as_deref(), Ok(odd));
        }
    }

    #[test]
    fn provider_ids_do_not_print_their_text() {
        let id = OptionId::offered("allow curl -H secret");
        assert_eq!(format!("{id:?}"), "OptionId(..)");
        let id = PendingId::parse("secret").expect("valid");
        assert_eq!(format!("{id:?}"), "PendingId(..)");
    }

    #[test]
    fn a_deserialized_id_is_checked_too() {
        assert!(serde_json::from_str::<TaskId>("\"\"").is_err());
        assert!(serde_json::from_str::<TaskId>("\"t\"").is_ok());
    }
}
