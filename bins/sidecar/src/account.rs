//! The account that the agent runs under.

use std::path::PathBuf;

use nix::unistd::{Uid, User};
use permit_acp::AgentUser;

/// An account other than ours.
pub(crate) struct Account {
    pub(crate) name: String,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) home: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum AccountError {
    #[error("there is no account {0:?}")]
    Unknown(String),
    #[error("the account {0:?} cannot be looked up: {1}")]
    LookUp(String, #[source] nix::Error),
    #[error("--agent-user needs an account other than the sidecar's own")]
    Own,
    #[error("--agent-user needs root, to start the agent under another account")]
    NotRoot,
}

impl Account {
    pub(crate) fn find(name: &str) -> Result<Self, AccountError> {
        let user = User::from_name(name)
            .map_err(|cause| AccountError::LookUp(name.to_owned(), cause))?
            .ok_or_else(|| AccountError::Unknown(name.to_owned()))?;
        if user.uid == Uid::effective() || user.uid.is_root() {
            return Err(AccountError::Own);
        }
        if !Uid::effective().is_root() {
            return Err(AccountError::NotRoot);
        }
        Ok(Self {
            name: user.name,
            uid: user.uid.as_raw(),
            gid: user.gid.as_raw(),
            home: user.dir,
        })
    }

    pub(crate) fn ids(&self) -> AgentUser {
        AgentUser {
            uid: self.uid,
            gid: self.gid,
        }
    }
}
