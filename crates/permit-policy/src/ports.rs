//! The ports behind authentication and authorization.

use async_trait::async_trait;
use permit_domain::{ExecutionId, SessionId, TaskId, UserId};
use time::OffsetDateTime;

use crate::{
    AccessToken, EndReason, ExecutionCredential, ExecutionGrant, ExecutionRecord, MaintenanceGrant,
    NewExecution, Resumed, SecretHash, TaskGrant, Upkeep,
};

/// A store could not be asked, or could not answer. The cause is for our logs alone.
#[derive(Debug, thiserror::Error)]
#[error("the store is unavailable")]
pub struct StoreUnavailable(#[source] Box<dyn std::error::Error + Send + Sync>);

impl StoreUnavailable {
    /// Wraps the internal cause.
    pub fn new(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(cause.into())
    }
}

/// The records of workspaces, tasks and sessions.
#[async_trait]
pub trait Directory: Send + Sync + 'static {
    /// Whether the user owns the workspace of this task. One point read, whatever the answer.
    async fn owns_task(&self, user_id: &UserId, task_id: &TaskId)
    -> Result<bool, StoreUnavailable>;

    /// Whether the user owns the workspace of this task and the session belongs to the task. One
    /// point read, whatever the answer.
    async fn owns_session(
        &self,
        user_id: &UserId,
        task_id: &TaskId,
        session_id: &SessionId,
    ) -> Result<bool, StoreUnavailable>;

    /// The sessions of a task, in a fixed order.
    async fn sessions_of(&self, task: &TaskGrant) -> Result<Vec<SessionId>, StoreUnavailable>;
}

/// The stored credentials, by hash. Each kind has a look-up of its own.
#[async_trait]
pub trait CredentialStore: Send + Sync + 'static {
    /// The personal access token with this hash, expired and revoked ones included.
    async fn access_token(
        &self,
        hash: &SecretHash,
    ) -> Result<Option<AccessToken>, StoreUnavailable>;

    /// The execution credential with this hash, expired and revoked ones included.
    async fn execution_credential(
        &self,
        hash: &SecretHash,
    ) -> Result<Option<ExecutionCredential>, StoreUnavailable>;
}

/// The record of executions: which one owns a session, and at which epoch.
#[async_trait]
pub trait ExecutionStore: Send + Sync + 'static {
    /// Records a new execution with epoch 1. In the same transaction the session's former
    /// execution, if it had not ended, ends as [`EndReason::Replaced`] and is returned.
    async fn open_execution(
        &self,
        grant: &ExecutionGrant,
        new: NewExecution,
    ) -> Result<Option<ExecutionId>, StoreUnavailable>;

    /// Raises the epoch of an execution of the grant's session, if the secret is its own and it
    /// has not ended for good. One that was given up as lost is revived, unless the session has a
    /// newer execution.
    async fn resume_execution(
        &self,
        grant: &ExecutionGrant,
        execution_id: &ExecutionId,
        secret_hash: &SecretHash,
    ) -> Result<Resumed, StoreUnavailable>;

    /// Records the end of an execution, if it has not ended and is still at this epoch. Answers
    /// whether it did so.
    async fn end_execution(
        &self,
        scope: &dyn Upkeep,
        execution_id: &ExecutionId,
        epoch: u64,
        reason: EndReason,
        at: OffsetDateTime,
    ) -> Result<bool, StoreUnavailable>;

    /// Every execution that has not ended.
    async fn open_executions(
        &self,
        grant: &MaintenanceGrant,
    ) -> Result<Vec<ExecutionRecord>, StoreUnavailable>;

    /// Whether the credential behind this grant still works at this time.
    async fn credential_works(
        &self,
        grant: &ExecutionGrant,
        at: OffsetDateTime,
    ) -> Result<bool, StoreUnavailable>;
}
