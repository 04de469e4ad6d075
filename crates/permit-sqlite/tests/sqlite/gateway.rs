//! A gateway's worth of records and grants around a store.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use permit_audit::{AuditLog, ClaimError, Claimed, Selection};
use permit_domain::{
    Action, ActionType, Clock, IdSource, OfferedOption, OptionId, OptionKind, PromptSnapshot,
};
use permit_policy::{
    Authenticator, Authorizer, Caller, CompositionRoot, CredentialKind, ExecutionGrant,
    ExternalMcpAttestor, MaintenanceGrant, Scopes, Secret, SecretSource, SessionGrant,
};
use permit_sqlite::{Limits, NewAccessToken, NewExecutionCredential, SqliteStore};
use tempfile::TempDir;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

pub(crate) const TASK: &str = "task-1";
pub(crate) const SESSIONS: [&str; 2] = ["session-a", "session-b"];

/// A store with one user, who owns one task with two sessions, each with a sidecar's credential.
pub(crate) struct Gateway {
    pub(crate) store: SqliteStore,
    pub(crate) log: AuditLog,
    pub(crate) root: CompositionRoot,
    pub(crate) grant: MaintenanceGrant,
    pub(crate) dir: TempDir,
}

impl Gateway {
    pub(crate) async fn open() -> Self {
        Self::open_with(Limits::default()).await
    }

    pub(crate) async fn open_with(limits: Limits) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let store = SqliteStore::open_with(dir.path().join("permit.db"), limits);
        let gateway = Self::around(store.expect("opened"), dir);
        gateway.add_records().await;
        gateway
    }

    pub(crate) fn around(store: SqliteStore, dir: TempDir) -> Self {
        let root = CompositionRoot::new();
        Self {
            log: AuditLog::new(Arc::new(store.clone()), Arc::new(Noon), Arc::new(Ascending)),
            grant: MaintenanceGrant::new(&root),
            store,
            root,
            dir,
        }
    }

    async fn add_records(&self) {
        let (store, grant) = (&self.store, &self.grant);
        let added = store.add_user(grant, id("alice"), "Alice".to_owned());
        added.await.expect("added");
        let added = store.add_workspace(grant, id("workspace-1"), id("alice"), "Main".to_owned());
        added.await.expect("added");
        let added = store.add_task(grant, id(TASK), id("workspace-1"), "A task".to_owned());
        added.await.expect("added");
        let token = NewAccessToken {
            credential_id: id("token-1"),
            hash: secret(CredentialKind::PersonalAccessToken, 1).hash(),
            user_id: id("alice"),
            scopes: Scopes::ALL,
            label: "laptop".to_owned(),
            created_at: noon(),
            expires_at: None,
        };
        let added = store.add_access_token(grant, token).await;
        added.expect("added");
        for (n, session) in SESSIONS.into_iter().enumerate() {
            let added = store.add_session(grant, id(session), id(TASK), session.to_owned());
            added.await.expect("added");
            let credential = NewExecutionCredential {
                credential_id: id(&format!("credential-of-{session}")),
                hash: secret(CredentialKind::Execution, n as u8).hash(),
                session_id: id(session),
                label: "sidecar".to_owned(),
                created_at: noon(),
                expires_at: None,
            };
            let added = store.add_execution_credential(grant, credential).await;
            added.expect("added");
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("permit.db")
    }

    pub(crate) fn authenticator(&self) -> Authenticator {
        Authenticator::required(Arc::new(self.store.clone()), Arc::new(Noon))
    }

    pub(crate) fn authorizer(&self) -> Authorizer {
        Authorizer::new(Arc::new(self.store.clone()))
    }

    pub(crate) async fn caller(&self) -> Caller {
        let token = secret(CredentialKind::PersonalAccessToken, 1);
        let principal = self.authenticator().user(Some(&token)).await;
        ExternalMcpAttestor::new(&self.root).attest(principal.expect("valid"))
    }

    pub(crate) async fn session(&self, session: &str) -> SessionGrant {
        let caller = self.caller().await;
        let grant = self
            .authorizer()
            .session(&caller, &id(TASK), &id(session))
            .await;
        grant.expect("authorized")
    }

    pub(crate) async fn sidecar(&self, session: &str) -> ExecutionGrant {
        let n = SESSIONS.iter().position(|known| *known == session);
        let credential = secret(CredentialKind::Execution, n.expect("known") as u8);
        let grant = self.authenticator().execution(Some(&credential)).await;
        grant.expect("valid")
    }

    pub(crate) async fn select(&self, prompt: &PromptSnapshot) -> Selection {
        let (grant, caller) = (self.session(SESSIONS[0]).await, self.caller().await);
        let option = OptionId::parse("allow").expect("an id");
        Selection::choose(grant, caller, prompt, &option).expect("offered")
    }

    pub(crate) async fn claim(&self, prompt: &PromptSnapshot) -> Result<Claimed, ClaimError> {
        self.log.claim(self.select(prompt).await).await
    }

    /// Whether the request has a claim, a message, or an attempt.
    pub(crate) async fn knows(&self, prompt: &PromptSnapshot) -> bool {
        use permit_audit::AuditStore as _;

        let grant = self.session(SESSIONS[0]).await;
        let known = self.log.known(&grant, &prompt.request_id).await;
        let known = known.expect("read");
        let rows = self.store.attempts(&grant, None, 1000).await.expect("read");
        let attempted = rows.iter().any(|row| row.request_id == prompt.request_id);
        known.claim.is_some() || known.message.is_some() || attempted
    }

    /// Another process, as far as the database can tell.
    pub(crate) fn intruder(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.path()).expect("opened")
    }
}

pub(crate) fn prompt(request: &str) -> PromptSnapshot {
    PromptSnapshot {
        request_id: id(request),
        pending_id: id("pending-1"),
        tool_call_id: None,
        title: "Run command".to_owned(),
        action: Action::new(ActionType::Command),
        options: vec![OfferedOption {
            option_id: OptionId::offered("allow"),
            name: "Allow".to_owned(),
            kind: OptionKind::new("allow_once"),
        }],
        created_at: noon(),
    }
}

pub(crate) fn id<T: TryFrom<String>>(text: &str) -> T {
    let id = T::try_from(text.to_owned());
    id.unwrap_or_else(|_| panic!("{text} is no id"))
}

/// A secret of a kind, made of one byte.
pub(crate) fn secret(kind: CredentialKind, byte: u8) -> Secret {
    struct Repeated(u8);
    impl SecretSource for Repeated {
        fn random(&self) -> [u8; 32] {
            [self.0; 32]
        }
    }
    Secret::generate(kind, &Repeated(byte))
}

pub(crate) fn noon() -> OffsetDateTime {
    OffsetDateTime::UNIX_EPOCH + Duration::days(20_676) + Duration::hours(12)
}

pub(crate) struct Noon;

impl Clock for Noon {
    fn now(&self) -> OffsetDateTime {
        noon()
    }
}

struct Ascending;

impl IdSource for Ascending {
    fn fresh(&self) -> Uuid {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Uuid::from_u128(NEXT.fetch_add(1, Ordering::Relaxed).into())
    }
}
