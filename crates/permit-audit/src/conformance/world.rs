//! A gateway's worth of grants around the store under test.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use async_trait::async_trait;
use permit_domain::{
    Action, ActionType, Attempt, AuditResult, ClaimRecord, Clock, DeliverReply, ExpiryReason,
    IdSource, MessageStatus, OfferedOption, OptionId, OptionKind, PendingId, PromptSnapshot,
    RequestId, SessionId, TaskId, ToolCallId, UserId, WorkspaceId,
};
use permit_policy::{
    AccessToken, Authenticator, Authorizer, Caller, CompositionRoot, CredentialKind,
    CredentialStore, Directory, ExecutionCredential, ExecutionGrant, ExternalMcpAttestor,
    MaintenanceGrant, Scopes, Secret, SecretHash, SecretSource, SessionGrant, SessionUpkeep,
    StoreUnavailable, TaskGrant,
};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use super::Subject;
use crate::{
    AuditLog, AuditStore, ClaimError, Claimed, Closed, Finalized, Known, NoAnswer, Selection,
};

pub(super) const TASK: &str = "task-1";
pub(super) const OTHER_TASK: &str = "task-2";
/// Two sessions of the first task and one of the second.
pub(super) const SESSIONS: [(&str, &str); 3] = [
    ("session-a", TASK),
    ("session-b", TASK),
    ("session-c", OTHER_TASK),
];
pub(super) const A: &str = SESSIONS[0].0;
pub(super) const B: &str = SESSIONS[1].0;
pub(super) const C: &str = SESSIONS[2].0;
const OWNER: &str = "user-1";

pub(super) struct World<S> {
    /// Kept for what it holds, such as a directory that goes with it.
    _subject: S,
    pub(super) store: Arc<dyn AuditStore>,
    pub(super) log: AuditLog,
    authorizer: Authorizer,
    authenticator: Authenticator,
    attestor: ExternalMcpAttestor,
    pub(super) maintenance: MaintenanceGrant,
}

impl<S: Subject> World<S> {
    pub(super) async fn open() -> Self {
        let subject = S::open().await;
        let (owner, workspace) = (
            user(OWNER),
            WorkspaceId::parse("workspace-1").expect("an id"),
        );
        subject.add_user(&owner).await;
        subject.add_workspace(&workspace, &owner).await;
        for id in [TASK, OTHER_TASK] {
            subject.add_task(&task(id), &workspace).await;
        }
        for (id, of) in SESSIONS {
            subject.add_session(&session(id), &task(of)).await;
        }
        let root = CompositionRoot::new();
        let clock: Arc<dyn Clock> = Arc::new(Ticking::default());
        let records = Arc::new(Records::default());
        let store = subject.store();
        Self {
            log: AuditLog::new(store.clone(), clock.clone(), Arc::new(Ascending::default())),
            store,
            _subject: subject,
            authorizer: Authorizer::new(records.clone()),
            authenticator: Authenticator::required(records, clock),
            attestor: ExternalMcpAttestor::new(&root),
            maintenance: MaintenanceGrant::new(&root),
        }
    }

    /// A log over the same store whose ids are given.
    pub(super) fn log_with_ids(&self, ids: impl IdSource) -> AuditLog {
        let clock = Arc::new(Ticking::default());
        AuditLog::new(self.store.clone(), clock, Arc::new(ids))
    }

    pub(super) async fn caller(&self) -> Caller {
        let token = secret(CredentialKind::PersonalAccessToken, OWNER);
        let principal = self.authenticator.user(Some(&token)).await;
        self.attestor.attest(principal.expect("the token is valid"))
    }

    pub(super) async fn grant(&self, id: &str) -> SessionGrant {
        let caller = self.caller().await;
        let (task, session) = (task(task_of(id)), session(id));
        let grant = self.authorizer.session(&caller, &task, &session).await;
        grant.expect("the caller owns the session")
    }

    pub(super) async fn sidecar(&self, id: &str) -> ExecutionGrant {
        let credential = secret(CredentialKind::Execution, id);
        let grant = self.authenticator.execution(Some(&credential)).await;
        grant.expect("the credential is valid")
    }

    pub(super) fn upkeep(&self, id: &str) -> SessionUpkeep {
        self.maintenance.session(task(task_of(id)), session(id))
    }

    /// Selects the option of that id.
    pub(super) async fn select(
        &self,
        id: &str,
        prompt: &PromptSnapshot,
        option: &str,
    ) -> Selection {
        let (grant, caller) = (self.grant(id).await, self.caller().await);
        let option = OptionId::parse(option).expect("an id");
        Selection::choose(grant, caller, prompt, &option).expect("the option is offered")
    }

    pub(super) async fn try_claim(
        &self,
        id: &str,
        prompt: &PromptSnapshot,
        option: &str,
    ) -> Result<Claimed, ClaimError> {
        self.log.claim(self.select(id, prompt, option).await).await
    }

    pub(super) async fn claim(&self, id: &str, prompt: &PromptSnapshot) -> Claimed {
        let claimed = self.try_claim(id, prompt, "allow").await;
        claimed.expect("the request has no claim")
    }

    /// Claims and ends as a sidecar that answered, or one that did not.
    pub(super) async fn end(
        &self,
        claimed: Claimed,
        reply: Result<DeliverReply, NoAnswer>,
    ) -> Finalized {
        let dispatched = match reply {
            Ok(reply) => claimed.delivered(reply),
            Err(no_answer) => claimed.unanswered(no_answer),
        };
        self.log
            .finalize(dispatched)
            .await
            .expect("the end is recorded")
    }

    pub(super) async fn observe(&self, id: &str, prompts: &[PromptSnapshot]) {
        let sidecar = self.sidecar(id).await;
        self.log.observe(&sidecar, prompts).await.expect("observed");
    }

    pub(super) async fn close(&self, id: &str, prompt: &PromptSnapshot, reason: ExpiryReason) {
        let closed = Closed {
            request_id: prompt.request_id.clone(),
            pending_id: prompt.pending_id.clone(),
            created_at: prompt.created_at,
            reason,
        };
        let sidecar = self.sidecar(id).await;
        self.log.close(&sidecar, &[closed]).await.expect("closed");
    }

    pub(super) async fn known(&self, id: &str, request: &RequestId) -> Known {
        let grant = self.grant(id).await;
        self.log.known(&grant, request).await.expect("read")
    }

    pub(super) async fn status(&self, id: &str, prompt: &PromptSnapshot) -> Option<MessageStatus> {
        let known = self.known(id, &prompt.request_id).await;
        known.message.map(|message| message.status)
    }

    pub(super) async fn claim_of(&self, id: &str, prompt: &PromptSnapshot) -> Option<ClaimRecord> {
        self.known(id, &prompt.request_id).await.claim
    }

    pub(super) async fn attempts(&self, id: &str) -> Vec<Attempt> {
        let grant = self.grant(id).await;
        self.store.attempts(&grant, None, 1000).await.expect("read")
    }

    pub(super) async fn results(&self, id: &str) -> Vec<AuditResult> {
        let attempts = self.attempts(id).await;
        attempts.into_iter().map(|attempt| attempt.result).collect()
    }
}

/// A prompt with an allowing, a rejecting and an unknown option.
pub(super) fn prompt(request: &str) -> PromptSnapshot {
    let mut action = Action::new(ActionType::Command);
    action.command = Some("git status".to_owned());
    action.cwd = Some("/srv/project".to_owned());
    action.withheld = vec!["environment".to_owned()];
    PromptSnapshot {
        request_id: self::request(request),
        pending_id: PendingId::parse(format!("pending-of-{request}")).expect("an id"),
        tool_call_id: Some(ToolCallId::parse("call-1").expect("an id")),
        title: "Run command".to_owned(),
        action,
        options: vec![
            option("allow", "Allow once", "allow_once"),
            option("deny", "Deny", "reject_once"),
            option("later", "Ask me later", "ask_later"),
        ],
        created_at: start(),
    }
}

pub(super) fn option(id: &str, name: &str, kind: &str) -> OfferedOption {
    OfferedOption {
        option_id: OptionId::offered(id),
        name: name.to_owned(),
        kind: OptionKind::new(kind),
    }
}

pub(super) fn request(text: &str) -> RequestId {
    RequestId::parse(text).expect("an id")
}

pub(super) fn task(text: &str) -> TaskId {
    TaskId::parse(text).expect("an id")
}

pub(super) fn session(text: &str) -> SessionId {
    SessionId::parse(text).expect("an id")
}

fn user(text: &str) -> UserId {
    UserId::parse(text).expect("an id")
}

fn task_of(id: &str) -> &'static str {
    let found = SESSIONS.into_iter().find(|(session, _)| *session == id);
    found.expect("one of the suite's sessions").1
}

/// 2026-08-11 12:00:00.123456 UTC.
fn start() -> OffsetDateTime {
    let at = OffsetDateTime::from_unix_timestamp(1_786_449_600).expect("a time");
    at + Duration::microseconds(123_456)
}

/// Each look at the clock finds it a millisecond later.
#[derive(Default)]
struct Ticking(AtomicI64);

impl Clock for Ticking {
    fn now(&self) -> OffsetDateTime {
        start() + Duration::milliseconds(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

#[derive(Default)]
struct Ascending(AtomicU64);

impl IdSource for Ascending {
    fn fresh(&self) -> Uuid {
        Uuid::from_u128(self.0.fetch_add(1, Ordering::Relaxed).into())
    }
}

/// Ids from a list, and none beyond it.
pub(super) struct Listed(std::sync::Mutex<Vec<u128>>);

impl Listed {
    pub(super) fn new(ids: &[u128]) -> Self {
        Self(std::sync::Mutex::new(ids.iter().rev().copied().collect()))
    }
}

impl IdSource for Listed {
    fn fresh(&self) -> Uuid {
        let next = self.0.lock().expect("not poisoned").pop();
        Uuid::from_u128(next.expect("enough ids are listed"))
    }
}

/// One user who owns everything, and a credential for each session.
struct Records {
    tokens: HashMap<[u8; 32], AccessToken>,
    credentials: HashMap<[u8; 32], ExecutionCredential>,
}

impl Default for Records {
    fn default() -> Self {
        let hash = secret(CredentialKind::PersonalAccessToken, OWNER).hash();
        let token = AccessToken {
            credential_id: "token-1".to_owned().try_into().expect("an id"),
            hash,
            user_id: user(OWNER),
            scopes: Scopes::ALL,
            expires_at: None,
            revoked_at: None,
        };
        let credential = |(id, of): (&str, &str)| {
            let hash = secret(CredentialKind::Execution, id).hash();
            let credential = ExecutionCredential {
                credential_id: format!("credential-of-{id}").try_into().expect("an id"),
                hash,
                task_id: task(of),
                session_id: session(id),
                owner_id: user(OWNER),
                expires_at: None,
                revoked_at: None,
            };
            (*hash.as_bytes(), credential)
        };
        Self {
            tokens: HashMap::from([(*hash.as_bytes(), token)]),
            credentials: SESSIONS.into_iter().map(credential).collect(),
        }
    }
}

#[async_trait]
impl Directory for Records {
    async fn owns_task(&self, user: &UserId, _: &TaskId) -> Result<bool, StoreUnavailable> {
        Ok(user.as_str() == OWNER)
    }

    async fn owns_session(
        &self,
        user: &UserId,
        task: &TaskId,
        session: &SessionId,
    ) -> Result<bool, StoreUnavailable> {
        Ok(user.as_str() == OWNER && SESSIONS.contains(&(session.as_str(), task.as_str())))
    }

    async fn sessions_of(&self, grant: &TaskGrant) -> Result<Vec<SessionId>, StoreUnavailable> {
        let of_task = SESSIONS
            .into_iter()
            .filter(|(_, task)| *task == grant.task_id().as_str());
        Ok(of_task.map(|(id, _)| session(id)).collect())
    }
}

#[async_trait]
impl CredentialStore for Records {
    async fn access_token(
        &self,
        hash: &SecretHash,
    ) -> Result<Option<AccessToken>, StoreUnavailable> {
        Ok(self.tokens.get(hash.as_bytes()).cloned())
    }

    async fn execution_credential(
        &self,
        hash: &SecretHash,
    ) -> Result<Option<ExecutionCredential>, StoreUnavailable> {
        Ok(self.credentials.get(hash.as_bytes()).cloned())
    }
}

/// A secret that is the same for the same name in every run of the suite.
fn secret(kind: CredentialKind, name: &str) -> Secret {
    struct Named([u8; 32]);
    impl SecretSource for Named {
        fn random(&self) -> [u8; 32] {
            self.0
        }
    }
    let mut bytes = [0; 32];
    for (byte, letter) in bytes.iter_mut().zip(name.bytes()) {
        *byte = letter;
    }
    Secret::generate(kind, &Named(bytes))
}
