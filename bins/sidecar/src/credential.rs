//! The execution credential, from its file and nowhere else.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use permit_policy::{CredentialKind, Secret};
use zeroize::Zeroizing;

/// Longer than any credential.
const MAX_BYTES: u64 = 4096;

/// Why a credential cannot be used. The text of the file is never in it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CredentialError {
    #[error("cannot read the credential file {0}: {1}")]
    Unreadable(PathBuf, #[source] std::io::Error),
    #[error(
        "the credential file {0} can be accessed by others than its owner (mode {1:03o}): \
         run `chmod 600` on it"
    )]
    Exposed(PathBuf, u32),
    #[error("the credential file {0} belongs to the account that the agent runs under")]
    Owned(PathBuf),
    #[error("the file {0} does not hold an execution credential ({prefix}...)",
    prefix = CredentialKind::Execution.prefix())]
    NotACredential(PathBuf),
}

/// Reads the credential. `agent` is the id of the account that must not be able to.
pub(crate) fn read(path: &Path, agent: Option<u32>) -> Result<Secret, CredentialError> {
    let unreadable = |cause| CredentialError::Unreadable(path.to_owned(), cause);
    let file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    let mode = metadata.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(CredentialError::Exposed(path.to_owned(), mode));
    }
    if agent == Some(metadata.uid()) {
        return Err(CredentialError::Owned(path.to_owned()));
    }
    let mut text = Zeroizing::new(String::with_capacity(512));
    file.take(MAX_BYTES)
        .read_to_string(&mut text)
        .map_err(unreadable)?;
    let plain = text.trim().bytes().all(|byte| byte.is_ascii_graphic());
    let credential = Secret::presented(text.trim());
    if !plain || !credential.is_of(CredentialKind::Execution) {
        return Err(CredentialError::NotACredential(path.to_owned()));
    }
    Ok(credential)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const PREFIX: &str = CredentialKind::Execution.prefix();

    fn file(text: &str, mode: u32) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), text).expect("written");
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(file.path(), permissions).expect("set");
        file
    }

    #[test]
    fn only_the_owners_own_file_with_a_credential_in_it_will_do() {
        let good = format!("{PREFIX}x\n");
        let read = |text: &str, mode| read(file(text, mode).path(), None);
        assert!(read(&good, 0o600).is_ok_and(|text| text.expose() == format!("{PREFIX}x")));
        assert!(read(&good, 0o400).is_ok());
        for mode in [0o640, 0o604, 0o660, 0o666] {
            let exposed = matches!(read(&good, mode), Err(CredentialError::Exposed(..)));
            assert!(exposed, "{mode:o}");
        }
        for text in ["", PREFIX, "other", "kandev_pat_x", &format!("{PREFIX}a b")] {
            let wrong = matches!(read(text, 0o600), Err(CredentialError::NotACredential(_)));
            assert!(wrong, "{text}");
        }
    }

    #[test]
    fn a_file_of_the_agents_account_is_refused() {
        let file = file(&format!("{PREFIX}x"), 0o600);
        let owner = file.as_file().metadata().expect("metadata").uid();
        let refused = read(file.path(), Some(owner));
        assert!(matches!(refused, Err(CredentialError::Owned(_))));
    }
}
