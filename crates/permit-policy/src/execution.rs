//! What acts without a caller: sidecars by their credential, and the gateway's own upkeep.

use permit_domain::{CredentialId, ExecutionId, SessionId, TaskId, UserId};
use time::OffsetDateTime;

use crate::{CompositionRoot, SecretHash};

/// A sidecar's credential as stored: minted by the gateway for one session.
#[derive(Clone, Debug)]
pub struct ExecutionCredential {
    /// Its public handle.
    pub credential_id: CredentialId,
    /// What the presented secret must hash to.
    pub hash: SecretHash,
    /// The task it serves.
    pub task_id: TaskId,
    /// The session it serves.
    pub session_id: SessionId,
    /// Who owns the task's workspace.
    pub owner_id: UserId,
    /// When it ceases to work, UTC; never when absent.
    pub expires_at: Option<OffsetDateTime>,
    /// When it was revoked, UTC.
    pub revoked_at: Option<OffsetDateTime>,
}

/// The right of a sidecar to attach, observe and settle for one session. The task and the session
/// come from the stored credential, never from the sidecar.
#[derive(Debug)]
pub struct ExecutionGrant {
    credential_id: CredentialId,
    pub(crate) task_id: TaskId,
    pub(crate) session_id: SessionId,
    owner_id: UserId,
}

impl ExecutionGrant {
    pub(crate) fn of(credential: ExecutionCredential) -> Self {
        Self {
            credential_id: credential.credential_id,
            task_id: credential.task_id,
            session_id: credential.session_id,
            owner_id: credential.owner_id,
        }
    }

    /// The credential behind it.
    #[must_use]
    pub fn credential_id(&self) -> &CredentialId {
        &self.credential_id
    }

    /// Who owns the task's workspace.
    #[must_use]
    pub fn owner_id(&self) -> &UserId {
        &self.owner_id
    }
}

/// The right to recover, retain and administer. Made at the composition root alone.
#[derive(Debug)]
pub struct MaintenanceGrant(());

impl MaintenanceGrant {
    /// Made where the program is put together.
    #[must_use]
    pub fn new(_root: &CompositionRoot) -> Self {
        Self(())
    }

    /// The right to recover one session: to expire its prompts and to settle its claims.
    #[must_use]
    pub fn session(&self, task_id: TaskId, session_id: SessionId) -> SessionUpkeep {
        SessionUpkeep {
            task_id,
            session_id,
        }
    }
}

/// The right to recover one session without its execution.
#[derive(Debug)]
pub struct SessionUpkeep {
    pub(crate) task_id: TaskId,
    pub(crate) session_id: SessionId,
}

/// An execution as stored.
#[derive(Clone, Debug)]
pub struct ExecutionRecord {
    /// The execution.
    pub execution_id: ExecutionId,
    /// The task it serves.
    pub task_id: TaskId,
    /// The session it serves.
    pub session_id: SessionId,
    /// The epoch of its newest attach.
    pub epoch: u64,
}

/// A new execution to record.
#[derive(Clone, Debug)]
pub struct NewExecution {
    /// The execution.
    pub execution_id: ExecutionId,
    /// What its secret hashes to.
    pub secret_hash: SecretHash,
    /// When it attached first, UTC.
    pub started_at: OffsetDateTime,
}

/// Why an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// The sidecar said good-bye.
    Exited,
    /// It did not come back in time.
    Lost,
    /// A new execution took its session.
    Replaced,
    /// Its credential was revoked or ran out.
    Revoked,
}

impl EndReason {
    /// The reason as it is stored and shown.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exited => "exited",
            Self::Lost => "lost",
            Self::Replaced => "replaced",
            Self::Revoked => "revoked",
        }
    }
}

/// What a re-attach found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumed {
    /// The execution goes on.
    Resumed {
        /// The epoch of this attach; higher than every earlier one.
        epoch: u64,
        /// Whether it had been given up as lost meanwhile: what still waits needs fresh ids.
        was_ended: bool,
    },
    /// The execution ended for good: another took its session, or it exited or was revoked.
    Ended(EndReason),
    /// No such execution of this credential's session, or the secret is not its own.
    Unknown,
}
