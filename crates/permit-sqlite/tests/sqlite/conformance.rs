//! The store passes the suite that every audit store must pass.

use std::sync::Arc;

use async_trait::async_trait;
use permit_audit::conformance::Subject;
use permit_audit::{AuditStore, store_conformance};
use permit_domain::{SessionId, TaskId, UserId, WorkspaceId};
use permit_policy::{CompositionRoot, MaintenanceGrant};
use permit_sqlite::SqliteStore;
use tempfile::TempDir;

struct Sqlite {
    store: SqliteStore,
    grant: MaintenanceGrant,
    _dir: TempDir,
}

#[async_trait]
impl Subject for Sqlite {
    async fn open() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        Self {
            store: SqliteStore::open(dir.path().join("permit.db")).expect("opened"),
            grant: MaintenanceGrant::new(&CompositionRoot::new()),
            _dir: dir,
        }
    }

    fn store(&self) -> Arc<dyn AuditStore> {
        Arc::new(self.store.clone())
    }

    async fn add_user(&self, user: &UserId) {
        let (grant, name) = (&self.grant, "Alice".to_owned());
        let added = self.store.add_user(grant, user.clone(), name).await;
        added.expect("added");
    }

    async fn add_workspace(&self, workspace: &WorkspaceId, owner: &UserId) {
        let (workspace, owner) = (workspace.clone(), owner.clone());
        let (grant, name) = (&self.grant, "Main".to_owned());
        let added = self.store.add_workspace(grant, workspace, owner, name);
        added.await.expect("added");
    }

    async fn add_task(&self, task: &TaskId, workspace: &WorkspaceId) {
        let (task, workspace) = (task.clone(), workspace.clone());
        let (grant, title) = (&self.grant, "A task".to_owned());
        let added = self.store.add_task(grant, task, workspace, title).await;
        added.expect("added");
    }

    async fn add_session(&self, session: &SessionId, task: &TaskId) {
        let (session, task) = (session.clone(), task.clone());
        let (grant, label) = (&self.grant, "A session".to_owned());
        let added = self.store.add_session(grant, session, task, label).await;
        added.expect("added");
    }
}

store_conformance!(Sqlite);
