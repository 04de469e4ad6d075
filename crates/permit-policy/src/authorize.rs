//! From a caller to a grant: authorize before any look-up (invariant I1).

use std::sync::Arc;

use permit_domain::{SessionId, TaskId};

use crate::{Caller, Directory, StoreUnavailable};

/// The right to read one task's permissions. Only the [`Authorizer`] makes one.
#[derive(Debug)]
pub struct TaskGrant {
    task_id: TaskId,
}

impl TaskGrant {
    /// The task.
    #[must_use]
    pub fn task_id(&self) -> &TaskId {
        &self.task_id
    }
}

/// The right to read and resolve one session's permissions. Only the [`Authorizer`] makes one.
#[derive(Debug)]
pub struct SessionGrant {
    pub(crate) task_id: TaskId,
    pub(crate) session_id: SessionId,
}

/// What an authorization gives.
#[derive(Debug)]
pub enum Authorized {
    /// No session was named.
    Task(TaskGrant),
    /// A session was named.
    Session(SessionGrant),
}

/// Why an authorization gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum NotAuthorized {
    /// Unknown, foreign or mismatched ids; all look the same.
    #[error("no such task or session")]
    NotFound,
    /// The directory could not be asked.
    #[error(transparent)]
    Unavailable(#[from] StoreUnavailable),
}

/// Decides what a caller may touch. An admin has no special path: ownership of the workspace is
/// all that counts.
#[derive(Clone)]
pub struct Authorizer {
    directory: Arc<dyn Directory>,
}

impl Authorizer {
    /// An authorizer over the records of tasks and sessions.
    #[must_use]
    pub fn new(directory: Arc<dyn Directory>) -> Self {
        Self { directory }
    }

    /// Authorizes a task, or one session of it. One query each, whatever the answer.
    ///
    /// # Errors
    /// [`NotAuthorized`] when the caller does not own the task, when the session does not belong
    /// to it, or when the directory cannot be asked.
    pub async fn authorize(
        &self,
        caller: &Caller,
        task_id: &TaskId,
        session_id: Option<&SessionId>,
    ) -> Result<Authorized, NotAuthorized> {
        match session_id {
            None => self.task(caller, task_id).await.map(Authorized::Task),
            Some(session_id) => self
                .session(caller, task_id, session_id)
                .await
                .map(Authorized::Session),
        }
    }

    /// Authorizes a task.
    ///
    /// # Errors
    /// As [`Authorizer::authorize`].
    pub async fn task(
        &self,
        caller: &Caller,
        task_id: &TaskId,
    ) -> Result<TaskGrant, NotAuthorized> {
        if self.directory.owns_task(caller.user_id(), task_id).await? {
            Ok(TaskGrant {
                task_id: task_id.clone(),
            })
        } else {
            Err(NotAuthorized::NotFound)
        }
    }

    /// Authorizes one session of a task.
    ///
    /// # Errors
    /// As [`Authorizer::authorize`].
    pub async fn session(
        &self,
        caller: &Caller,
        task_id: &TaskId,
        session_id: &SessionId,
    ) -> Result<SessionGrant, NotAuthorized> {
        let user_id = caller.user_id();
        if self
            .directory
            .owns_session(user_id, task_id, session_id)
            .await?
        {
            Ok(SessionGrant {
                task_id: task_id.clone(),
                session_id: session_id.clone(),
            })
        } else {
            Err(NotAuthorized::NotFound)
        }
    }

    /// The grants of every session of a task, in a fixed order.
    ///
    /// # Errors
    /// [`StoreUnavailable`] when the directory cannot be asked.
    pub async fn sessions(&self, task: &TaskGrant) -> Result<Vec<SessionGrant>, StoreUnavailable> {
        let sessions = self.directory.sessions_of(task).await?;
        let grant = |session_id| SessionGrant {
            task_id: task.task_id.clone(),
            session_id,
        };
        Ok(sessions.into_iter().map(grant).collect())
    }
}
