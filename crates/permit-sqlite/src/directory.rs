//! The records of workspaces, tasks and sessions.

use async_trait::async_trait;
use permit_domain::{SessionId, TaskId, UserId};
use permit_policy::{Directory, StoreUnavailable, TaskGrant};
use rusqlite::params;

use crate::row::Columns;
use crate::{Fault, SqliteStore};

#[async_trait]
impl Directory for SqliteStore {
    async fn owns_task(
        &self,
        user_id: &UserId,
        task_id: &TaskId,
    ) -> Result<bool, StoreUnavailable> {
        let (user_id, task_id) = (user_id.clone(), task_id.clone());
        let owns = self.read(move |connection| {
            let mut owned = connection.prepare_cached(
                "SELECT 1 FROM tasks JOIN workspaces USING (workspace_id)
                 WHERE task_id = ?1 AND owner_id = ?2",
            )?;
            Ok::<_, Fault>(owned.exists(params![task_id.as_str(), user_id.as_str()])?)
        });
        Ok(owns.await?)
    }

    async fn owns_session(
        &self,
        user_id: &UserId,
        task_id: &TaskId,
        session_id: &SessionId,
    ) -> Result<bool, StoreUnavailable> {
        let (user_id, task_id) = (user_id.clone(), task_id.clone());
        let session_id = session_id.clone();
        let owns = self.read(move |connection| {
            let mut owned = connection.prepare_cached(
                "SELECT 1 FROM sessions JOIN tasks USING (task_id) JOIN workspaces USING (workspace_id)
                 WHERE session_id = ?1 AND task_id = ?2 AND owner_id = ?3",
            )?;
            let ids = params![session_id.as_str(), task_id.as_str(), user_id.as_str()];
            Ok::<_, Fault>(owned.exists(ids)?)
        });
        Ok(owns.await?)
    }

    async fn sessions_of(&self, task: &TaskGrant) -> Result<Vec<SessionId>, StoreUnavailable> {
        let task_id = task.task_id().clone();
        let sessions = self.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT session_id FROM sessions WHERE task_id = ?1 ORDER BY session_id",
                )?
                .query_map(params![task_id.as_str()], |row| {
                    Ok(Columns(row).id("session_id"))
                })?
                .map(|row| row?)
                .collect::<Result<Vec<_>, Fault>>()
        });
        Ok(sessions.await?)
    }
}
