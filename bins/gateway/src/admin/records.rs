//! Users, workspaces, tasks and sessions.

use permit_domain::{IdSource as _, InvalidId, SessionId, TaskId, UserId, WorkspaceId};
use permit_system::TimeOrderedIds;
use serde::Serialize;

use super::{Desk, refused};
use crate::cli::{SessionCommand, TaskCommand, UserCommand, WorkspaceCommand};
use crate::error::Error;
use crate::output;

pub(crate) async fn user(command: UserCommand) -> Result<(), Error> {
    #[derive(Serialize)]
    struct Added {
        user_id: UserId,
        name: String,
    }

    let UserCommand::Add { common, name } = command;
    let desk = Desk::make(&common)?;
    let user_id = desk.add_user(&name).await?;
    let added = Added { user_id, name };
    output::print(desk.json, &added, |added| {
        format!("user {} ({})", added.user_id, added.name.escape_debug())
    })
}

pub(crate) async fn workspace(command: WorkspaceCommand) -> Result<(), Error> {
    #[derive(Serialize)]
    struct Added {
        workspace_id: WorkspaceId,
        owner_id: UserId,
    }

    let WorkspaceCommand::Add {
        common,
        owner,
        name,
    } = command;
    let desk = Desk::make(&common)?;
    let owner_id = id("owner", owner, UserId::parse)?;
    let workspace_id = desk.add_workspace(&owner_id, &name).await?;
    let added = Added {
        workspace_id,
        owner_id,
    };
    output::print(desk.json, &added, |added| {
        format!("workspace {}", added.workspace_id)
    })
}

pub(crate) async fn task(command: TaskCommand) -> Result<(), Error> {
    #[derive(Serialize)]
    struct Added {
        task_id: TaskId,
        workspace_id: WorkspaceId,
    }

    let TaskCommand::Add {
        common,
        workspace,
        title,
    } = command;
    let desk = Desk::open(&common)?;
    let workspace_id = id("workspace", workspace, WorkspaceId::parse)?;
    let task_id = desk.add_task(&workspace_id, &title).await?;
    let added = Added {
        task_id,
        workspace_id,
    };
    output::print(desk.json, &added, |added| format!("task {}", added.task_id))
}

pub(crate) async fn session(command: SessionCommand) -> Result<(), Error> {
    #[derive(Serialize)]
    struct Added {
        session_id: SessionId,
        task_id: TaskId,
    }

    let SessionCommand::Add {
        common,
        task,
        label,
    } = command;
    let desk = Desk::open(&common)?;
    let task_id = id("task", task, TaskId::parse)?;
    let session_id = desk.add_session(&task_id, &label).await?;
    let added = Added {
        session_id,
        task_id,
    };
    output::print(desk.json, &added, |added| {
        format!("session {}", added.session_id)
    })
}

/// An id as the operator gave it.
pub(crate) fn id<T>(
    what: &str,
    text: String,
    parse: impl FnOnce(String) -> Result<T, InvalidId>,
) -> Result<T, Error> {
    parse(text).map_err(|cause| Error::new(format!("the id of the {what} is not valid"), cause))
}

impl Desk {
    pub(crate) async fn add_user(&self, name: &str) -> Result<UserId, Error> {
        let user_id = UserId::from(TimeOrderedIds.fresh());
        let added = self
            .store
            .add_user(&self.grant, user_id.clone(), name.to_owned());
        added.await.map_err(refused("the user was not added"))?;
        Ok(user_id)
    }

    pub(crate) async fn add_workspace(
        &self,
        owner: &UserId,
        name: &str,
    ) -> Result<WorkspaceId, Error> {
        let workspace_id = WorkspaceId::from(TimeOrderedIds.fresh());
        let added = self.store.add_workspace(
            &self.grant,
            workspace_id.clone(),
            owner.clone(),
            name.to_owned(),
        );
        added
            .await
            .map_err(refused("the workspace was not added"))?;
        Ok(workspace_id)
    }

    pub(crate) async fn add_task(
        &self,
        workspace: &WorkspaceId,
        title: &str,
    ) -> Result<TaskId, Error> {
        let task_id = TaskId::from(TimeOrderedIds.fresh());
        let added = self.store.add_task(
            &self.grant,
            task_id.clone(),
            workspace.clone(),
            title.to_owned(),
        );
        added.await.map_err(refused("the task was not added"))?;
        Ok(task_id)
    }

    pub(crate) async fn add_session(&self, task: &TaskId, label: &str) -> Result<SessionId, Error> {
        let session_id = SessionId::from(TimeOrderedIds.fresh());
        let added = self.store.add_session(
            &self.grant,
            session_id.clone(),
            task.clone(),
            label.to_owned(),
        );
        added.await.map_err(refused("the session was not added"))?;
        Ok(session_id)
    }
}
