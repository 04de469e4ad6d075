//! The directory, the credentials and the executions in memory.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use permit_domain::{CredentialId, ExecutionId, SessionId, TaskId, UserId};
use permit_policy::{
    AccessToken, CredentialStore, Directory, EndReason, ExecutionCredential, ExecutionGrant,
    ExecutionRecord, ExecutionStore, MaintenanceGrant, NewExecution, Resumed, SecretHash,
    SessionScope as _, StoreUnavailable, TaskGrant, Upkeep,
};
use time::OffsetDateTime;

/// What is stored beside the audit. It survives the gateway.
#[derive(Default)]
pub(crate) struct Records {
    pub(crate) broken: AtomicBool,
    rows: Mutex<Rows>,
}

#[derive(Default)]
struct Rows {
    credentials: Vec<ExecutionCredential>,
    executions: Vec<Row>,
}

struct Row {
    id: ExecutionId,
    secret: SecretHash,
    task_id: TaskId,
    session_id: SessionId,
    epoch: u64,
    ended: Option<EndReason>,
}

impl Records {
    pub(crate) fn add_credential(&self, hash: SecretHash, task: &TaskId, session: &SessionId) {
        let mut rows = self.rows.lock().expect("a lock");
        let id = format!("credential-{}", rows.credentials.len());
        rows.credentials.push(ExecutionCredential {
            credential_id: CredentialId::parse(id).expect("an id"),
            hash,
            task_id: task.clone(),
            session_id: session.clone(),
            owner_id: UserId::parse("owner").expect("an id"),
            expires_at: None,
            revoked_at: None,
        });
    }

    pub(crate) fn revoke(&self, session: &SessionId) {
        let mut rows = self.rows.lock().expect("a lock");
        for credential in &mut rows.credentials {
            if credential.session_id == *session {
                credential.revoked_at = Some(OffsetDateTime::UNIX_EPOCH);
            }
        }
    }

    /// How the executions of a session ended, the oldest first.
    pub(crate) fn ends(&self, session: &SessionId) -> Vec<Option<EndReason>> {
        let rows = self.rows.lock().expect("a lock");
        let of_session = rows
            .executions
            .iter()
            .filter(|row| row.session_id == *session);
        of_session.map(|row| row.ended).collect()
    }

    /// As after a restore of an older database.
    pub(crate) fn forget_executions(&self) {
        self.rows.lock().expect("a lock").executions.clear();
    }

    fn rows(&self) -> Result<std::sync::MutexGuard<'_, Rows>, StoreUnavailable> {
        if self.broken.load(Ordering::SeqCst) {
            return Err(StoreUnavailable::new("broken on purpose"));
        }
        Ok(self.rows.lock().expect("a lock"))
    }
}

#[async_trait]
impl Directory for Records {
    async fn owns_task(&self, _: &UserId, task_id: &TaskId) -> Result<bool, StoreUnavailable> {
        let rows = self.rows()?;
        Ok(rows.credentials.iter().any(|c| c.task_id == *task_id))
    }

    async fn owns_session(
        &self,
        _: &UserId,
        task_id: &TaskId,
        session_id: &SessionId,
    ) -> Result<bool, StoreUnavailable> {
        let rows = self.rows()?;
        let mut of_task = rows.credentials.iter().filter(|c| c.task_id == *task_id);
        Ok(of_task.any(|c| c.session_id == *session_id))
    }

    async fn sessions_of(&self, task: &TaskGrant) -> Result<Vec<SessionId>, StoreUnavailable> {
        let rows = self.rows()?;
        let of_task = rows
            .credentials
            .iter()
            .filter(|c| c.task_id == *task.task_id());
        let mut sessions: Vec<_> = of_task.map(|c| c.session_id.clone()).collect();
        sessions.dedup();
        Ok(sessions)
    }
}

#[async_trait]
impl CredentialStore for Records {
    async fn access_token(&self, _: &SecretHash) -> Result<Option<AccessToken>, StoreUnavailable> {
        Ok(None)
    }

    async fn execution_credential(
        &self,
        hash: &SecretHash,
    ) -> Result<Option<ExecutionCredential>, StoreUnavailable> {
        let rows = self.rows()?;
        Ok(rows.credentials.iter().find(|c| c.hash == *hash).cloned())
    }
}

#[async_trait]
impl ExecutionStore for Records {
    async fn open_execution(
        &self,
        grant: &ExecutionGrant,
        new: NewExecution,
    ) -> Result<Option<ExecutionId>, StoreUnavailable> {
        let mut rows = self.rows()?;
        let mut former = None;
        for row in &mut rows.executions {
            if row.session_id == *grant.session_id() && row.ended.is_none() {
                row.ended = Some(EndReason::Replaced);
                former = Some(row.id.clone());
            }
        }
        rows.executions.push(Row {
            id: new.execution_id,
            secret: new.secret_hash,
            task_id: grant.task_id().clone(),
            session_id: grant.session_id().clone(),
            epoch: 1,
            ended: None,
        });
        Ok(former)
    }

    async fn resume_execution(
        &self,
        grant: &ExecutionGrant,
        execution_id: &ExecutionId,
        secret_hash: &SecretHash,
    ) -> Result<Resumed, StoreUnavailable> {
        let mut rows = self.rows()?;
        let session = grant.session_id();
        let newest = rows
            .executions
            .iter()
            .rev()
            .find(|row| row.session_id == *session);
        let is_newest = newest.is_some_and(|row| row.id == *execution_id);
        let row = rows.executions.iter_mut().find(|row| {
            row.id == *execution_id && row.session_id == *session && row.secret == *secret_hash
        });
        let Some(row) = row else {
            return Ok(Resumed::Unknown);
        };
        match row.ended {
            Some(EndReason::Lost) if !is_newest => Ok(Resumed::Ended(EndReason::Replaced)),
            None | Some(EndReason::Lost) => {
                row.epoch += 1;
                let was_ended = row.ended.take().is_some();
                let epoch = row.epoch;
                Ok(Resumed::Resumed { epoch, was_ended })
            }
            Some(reason) => Ok(Resumed::Ended(reason)),
        }
    }

    async fn end_execution(
        &self,
        scope: &dyn Upkeep,
        execution_id: &ExecutionId,
        epoch: u64,
        reason: EndReason,
        _at: OffsetDateTime,
    ) -> Result<bool, StoreUnavailable> {
        let mut rows = self.rows()?;
        let row = rows.executions.iter_mut().find(|row| {
            row.id == *execution_id
                && row.session_id == *scope.session_id()
                && row.epoch == epoch
                && row.ended.is_none()
        });
        Ok(row.is_some_and(|row| {
            row.ended = Some(reason);
            true
        }))
    }

    async fn open_executions(
        &self,
        _: &MaintenanceGrant,
    ) -> Result<Vec<ExecutionRecord>, StoreUnavailable> {
        let rows = self.rows()?;
        let open = rows.executions.iter().filter(|row| row.ended.is_none());
        let record = |row: &Row| ExecutionRecord {
            execution_id: row.id.clone(),
            task_id: row.task_id.clone(),
            session_id: row.session_id.clone(),
            epoch: row.epoch,
        };
        Ok(open.map(record).collect())
    }

    async fn credential_works(
        &self,
        grant: &ExecutionGrant,
        _at: OffsetDateTime,
    ) -> Result<bool, StoreUnavailable> {
        let rows = self.rows()?;
        let by_id: HashMap<_, _> = rows
            .credentials
            .iter()
            .map(|c| (&c.credential_id, c.revoked_at))
            .collect();
        Ok(by_id.get(grant.credential_id()) == Some(&None))
    }
}
