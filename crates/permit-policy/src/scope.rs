//! What the grants of one session have in common.

use permit_domain::{SessionId, TaskId};

use crate::{ExecutionGrant, SessionGrant, SessionUpkeep};

mod sealed {
    /// Only the grants of this crate have a scope.
    pub trait Sealed {}
}

/// A grant that covers one session of one task.
pub trait SessionScope: sealed::Sealed + Send + Sync {
    /// The task.
    fn task_id(&self) -> &TaskId;
    /// The session.
    fn session_id(&self) -> &SessionId;
}

/// A grant that may keep a session's records true: to expire its prompts and to settle its
/// claims. A caller's [`SessionGrant`] is none.
pub trait Upkeep: SessionScope {}

macro_rules! session_scope {
    ($($grant:ty),*) => {$(
        impl sealed::Sealed for $grant {}

        impl SessionScope for $grant {
            fn task_id(&self) -> &TaskId {
                &self.task_id
            }

            fn session_id(&self) -> &SessionId {
                &self.session_id
            }
        }
    )*};
}

session_scope!(SessionGrant, ExecutionGrant, SessionUpkeep);

impl Upkeep for ExecutionGrant {}
impl Upkeep for SessionUpkeep {}
