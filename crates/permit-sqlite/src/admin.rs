//! Administering the records of users, workspaces, tasks and sessions.

use permit_domain::{SessionId, TaskId, UserId, WorkspaceId};
use permit_policy::{MaintenanceGrant, StoreUnavailable};
use rusqlite::{Connection, Params, ffi, params};

use crate::{Fault, SqliteStore};

/// Why an administrative command was refused. Nothing was written then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdminError {
    /// The id, or the secret, is taken.
    #[error("there is one already")]
    Duplicate,
    /// There is no such user.
    #[error("there is no such user")]
    UnknownUser,
    /// There is no such workspace.
    #[error("there is no such workspace")]
    UnknownWorkspace,
    /// There is no such task.
    #[error("there is no such task")]
    UnknownTask,
    /// There is no such session.
    #[error("there is no such session")]
    UnknownSession,
    /// There is no credential of this kind with this handle.
    #[error("there is no such credential")]
    UnknownCredential,
    /// The store could not be asked.
    #[error(transparent)]
    Unavailable(#[from] StoreUnavailable),
}

impl From<Fault> for AdminError {
    fn from(fault: Fault) -> Self {
        Self::Unavailable(fault.into())
    }
}

impl From<rusqlite::Error> for AdminError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_extended_error_code() {
            Some(ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_UNIQUE) => {
                Self::Duplicate
            }
            Some(_) | None => Fault::Database(error).into(),
        }
    }
}

impl SqliteStore {
    /// Records a user.
    ///
    /// # Errors
    /// [`AdminError::Duplicate`], or that the store is unavailable.
    pub async fn add_user(
        &self,
        _grant: &MaintenanceGrant,
        user_id: UserId,
        name: String,
    ) -> Result<(), AdminError> {
        self.write(move |connection| {
            insert(
                connection,
                "INSERT INTO users (user_id, kind, name) VALUES (?1, 'person', ?2)",
                params![user_id.as_str(), name],
            )
        })
        .await
    }

    /// Records a workspace of a user.
    ///
    /// # Errors
    /// [`AdminError::UnknownUser`], [`AdminError::Duplicate`], or that the store is unavailable.
    pub async fn add_workspace(
        &self,
        _grant: &MaintenanceGrant,
        workspace_id: WorkspaceId,
        owner_id: UserId,
        name: String,
    ) -> Result<(), AdminError> {
        self.write(move |connection| {
            require_user(connection, &owner_id)?;
            insert(
                connection,
                "INSERT INTO workspaces (workspace_id, owner_id, name) VALUES (?1, ?2, ?3)",
                params![workspace_id.as_str(), owner_id.as_str(), name],
            )
        })
        .await
    }

    /// Records a task of a workspace.
    ///
    /// # Errors
    /// [`AdminError::UnknownWorkspace`], [`AdminError::Duplicate`], or that the store is
    /// unavailable.
    pub async fn add_task(
        &self,
        _grant: &MaintenanceGrant,
        task_id: TaskId,
        workspace_id: WorkspaceId,
        title: String,
    ) -> Result<(), AdminError> {
        self.write(move |connection| {
            let sql = "SELECT 1 FROM workspaces WHERE workspace_id = ?1";
            if !exists(connection, sql, workspace_id.as_str())? {
                return Err(AdminError::UnknownWorkspace);
            }
            insert(
                connection,
                "INSERT INTO tasks (task_id, workspace_id, title) VALUES (?1, ?2, ?3)",
                params![task_id.as_str(), workspace_id.as_str(), title],
            )
        })
        .await
    }

    /// Records a session of a task.
    ///
    /// # Errors
    /// [`AdminError::UnknownTask`], [`AdminError::Duplicate`], or that the store is unavailable.
    pub async fn add_session(
        &self,
        _grant: &MaintenanceGrant,
        session_id: SessionId,
        task_id: TaskId,
        label: String,
    ) -> Result<(), AdminError> {
        self.write(move |connection| {
            require_task(connection, &task_id)?;
            insert(
                connection,
                "INSERT INTO sessions (session_id, task_id, label) VALUES (?1, ?2, ?3)",
                params![session_id.as_str(), task_id.as_str(), label],
            )
        })
        .await
    }
}

pub(crate) fn require_user(connection: &Connection, user_id: &UserId) -> Result<(), AdminError> {
    let sql = "SELECT 1 FROM users WHERE user_id = ?1";
    let known = exists(connection, sql, user_id.as_str())?;
    known.then_some(()).ok_or(AdminError::UnknownUser)
}

pub(crate) fn require_task(connection: &Connection, task_id: &TaskId) -> Result<(), AdminError> {
    let sql = "SELECT 1 FROM tasks WHERE task_id = ?1";
    let known = exists(connection, sql, task_id.as_str())?;
    known.then_some(()).ok_or(AdminError::UnknownTask)
}

pub(crate) fn require_session(
    connection: &Connection,
    session_id: &SessionId,
) -> Result<(), AdminError> {
    let sql = "SELECT 1 FROM sessions WHERE session_id = ?1";
    let known = exists(connection, sql, session_id.as_str())?;
    known.then_some(()).ok_or(AdminError::UnknownSession)
}

pub(crate) fn insert(
    connection: &Connection,
    sql: &'static str,
    values: impl Params,
) -> Result<(), AdminError> {
    connection.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

fn exists(connection: &Connection, sql: &'static str, id: &str) -> Result<bool, AdminError> {
    Ok(connection.prepare_cached(sql)?.exists(params![id])?)
}
