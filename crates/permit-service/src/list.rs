//! Listing what waits (contract: `list_pending_agent_permissions_kandev`).

use std::collections::HashSet;

use futures::future::join_all;
use permit_domain::{PromptSnapshot, RequestId, SessionId, TaskId};
use permit_policy::{Authorized, Caller, Scope, SessionGrant, SessionScope as _};
use serde::Serialize;

use crate::{Failure, PermissionService};

/// The waiting prompts of a task.
#[derive(Debug, Serialize)]
pub struct PendingPermissions {
    /// The task.
    pub task_id: TaskId,
    /// Its waiting prompts, by creation time, then request id.
    pub permissions: Vec<PendingPermission>,
    /// How many there are.
    pub total: usize,
}

/// One waiting prompt.
#[derive(Debug, Serialize)]
pub struct PendingPermission {
    /// The task.
    pub task_id: TaskId,
    /// The session that owns the prompt.
    pub session_id: SessionId,
    /// The prompt.
    #[serde(flatten)]
    pub prompt: PromptSnapshot,
    /// Always `pending`.
    pub status: &'static str,
}

impl PendingPermission {
    fn position(&self) -> (time::OffsetDateTime, &RequestId) {
        (self.prompt.created_at, &self.prompt.request_id)
    }
}

impl PermissionService {
    /// Lists what waits in a task, or in one of its sessions. All sessions are asked at once; a
    /// prompt that has been claimed is not listed.
    ///
    /// # Errors
    /// [`Failure`] when the caller may not, or when one session cannot be listed: nothing partial
    /// passes as complete (invariant I11).
    pub async fn list(
        &self,
        caller: &Caller,
        task_id: &TaskId,
        session_id: Option<&SessionId>,
    ) -> Result<PendingPermissions, Failure> {
        caller.require(Scope::List)?;
        let sessions = match self
            .authorizer
            .authorize(caller, task_id, session_id)
            .await?
        {
            Authorized::Session(grant) => vec![grant],
            Authorized::Task(grant) => self
                .authorizer
                .sessions(&grant)
                .await
                .map_err(|cause| Failure::unread(&cause))?,
        };
        let listed = join_all(sessions.iter().map(|grant| self.list_session(grant))).await;
        let listed: Vec<Vec<_>> = listed.into_iter().collect::<Result<_, _>>()?;
        let mut permissions: Vec<PendingPermission> = listed.into_iter().flatten().collect();
        permissions.sort_unstable_by(|a, b| a.position().cmp(&b.position()));
        Ok(PendingPermissions {
            task_id: task_id.clone(),
            total: permissions.len(),
            permissions,
        })
    }

    async fn list_session(&self, grant: &SessionGrant) -> Result<Vec<PendingPermission>, Failure> {
        let live = self.agents.list(grant).await;
        let live = live.map_err(|_| Failure::unlisted(grant.session_id()))?;
        let unread = |cause| {
            tracing::error!(session = %grant.session_id(), ?cause, "a session could not be listed");
            Failure::unlisted(grant.session_id())
        };
        self.audit.observe(grant, &live).await.map_err(unread)?;
        let requests: Vec<_> = live
            .iter()
            .map(|prompt| prompt.request_id.clone())
            .collect();
        let claims = self.audit.claims_among(grant, &requests).await;
        let claimed: HashSet<_> = claims
            .map_err(unread)?
            .into_iter()
            .map(|claim| claim.request_id)
            .collect();
        let listed = live
            .into_iter()
            .filter(|prompt| !claimed.contains(&prompt.request_id))
            .map(|prompt| PendingPermission {
                task_id: grant.task_id().clone(),
                session_id: grant.session_id().clone(),
                prompt,
                status: "pending",
            });
        Ok(listed.collect())
    }
}
