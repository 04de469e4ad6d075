//! A world of one user with one task and two sessions.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use permit_audit::{
    AuditLog, AuditStore, ClaimDecision, ClaimEnd, Claimed, Closed, ExpiryRows, Known, MemoryStore,
    NewAttempt, NewClaim, NoAnswer,
};
use permit_domain::{
    Action, ActionType, Attempt, AttemptId, AuditResult, ClaimId, ClaimRecord, DeliverOrder,
    DeliverReply, ExpiryReason, OfferedOption, OptionId, OptionKind, PendingId, PromptSnapshot,
    RequestId, SessionId, SettleReply, TaskId, UserId,
};
use permit_policy::{
    AccessToken, Authenticator, Authorizer, Caller, CompositionRoot, CredentialStore, Directory,
    ExecutionCredential, ExternalMcpAttestor, MaintenanceGrant, SecretHash, SessionGrant,
    SessionScope, SessionUpkeep, StoreUnavailable, TaskGrant, Upkeep,
};
use permit_service::{
    AgentPort, Failure, Found, PermissionService, ResolveRequest, RuntimeUnavailable,
};
use permit_system::{SystemClock, TimeOrderedIds};
use time::OffsetDateTime;
use tokio::sync::Semaphore;

pub(crate) const TASK: &str = "task";
pub(crate) const SESSION: &str = "session";
pub(crate) const OTHER_SESSION: &str = "other-session";

/// The directory: the synthetic user owns the task, unless it is told to fail.
#[derive(Default)]
pub(crate) struct Records {
    pub(crate) down: AtomicBool,
    pub(crate) asked: AtomicUsize,
}

impl Records {
    fn answer(&self, owned: bool) -> Result<bool, StoreUnavailable> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if self.down.load(Ordering::SeqCst) {
            return Err(StoreUnavailable::new("down"));
        }
        Ok(owned)
    }
}

#[async_trait]
impl Directory for Records {
    async fn owns_task(&self, _: &UserId, task_id: &TaskId) -> Result<bool, StoreUnavailable> {
        self.answer(task_id.as_str() == TASK)
    }

    async fn owns_session(
        &self,
        _: &UserId,
        task_id: &TaskId,
        session_id: &SessionId,
    ) -> Result<bool, StoreUnavailable> {
        let sessions = [SESSION, OTHER_SESSION];
        self.answer(task_id.as_str() == TASK && sessions.contains(&session_id.as_str()))
    }

    async fn sessions_of(&self, _: &TaskGrant) -> Result<Vec<SessionId>, StoreUnavailable> {
        Ok([OTHER_SESSION, SESSION].map(session).into())
    }
}

#[async_trait]
impl CredentialStore for Records {
    async fn access_token(&self, _: &SecretHash) -> Result<Option<AccessToken>, StoreUnavailable> {
        Ok(None)
    }

    async fn execution_credential(
        &self,
        _: &SecretHash,
    ) -> Result<Option<ExecutionCredential>, StoreUnavailable> {
        Ok(None)
    }
}

/// Agents that answer what they are told to.
#[derive(Default)]
pub(crate) struct Agents {
    pub(crate) live: Mutex<HashMap<String, Vec<PromptSnapshot>>>,
    pub(crate) unavailable: Mutex<Vec<String>>,
    pub(crate) deliveries: Mutex<VecDeque<Result<DeliverReply, NoAnswer>>>,
    pub(crate) settlements: Mutex<VecDeque<Result<SettleReply, NoAnswer>>>,
    pub(crate) delivered: Mutex<Vec<DeliverOrder>>,
    pub(crate) settled: Mutex<Vec<RequestId>>,
    pub(crate) acknowledged: Mutex<Vec<ClaimId>>,
    pub(crate) looked_up: AtomicUsize,
    pub(crate) gate: Mutex<Option<Arc<Semaphore>>>,
    /// Holds the next look-up back.
    pub(crate) find_gate: Mutex<Option<Arc<Semaphore>>>,
}

impl Agents {
    pub(crate) fn show(&self, session: &str, prompt: &PromptSnapshot) {
        let mut live = self.live.lock().expect("not poisoned");
        live.entry(session.to_owned())
            .or_default()
            .push(prompt.clone());
    }

    pub(crate) fn hide_all(&self) {
        self.live.lock().expect("not poisoned").clear();
    }

    fn check(&self, scope: &dyn SessionScope) -> Result<(), RuntimeUnavailable> {
        self.looked_up.fetch_add(1, Ordering::SeqCst);
        let unavailable = self.unavailable.lock().expect("not poisoned");
        if unavailable.iter().any(|s| s == scope.session_id().as_str()) {
            return Err(RuntimeUnavailable);
        }
        Ok(())
    }
}

#[async_trait]
impl AgentPort for Agents {
    async fn list(&self, grant: &SessionGrant) -> Result<Vec<PromptSnapshot>, RuntimeUnavailable> {
        self.check(grant)?;
        let live = self.live.lock().expect("not poisoned");
        Ok(live
            .get(grant.session_id().as_str())
            .cloned()
            .unwrap_or_default())
    }

    async fn find(
        &self,
        grant: &SessionGrant,
        request_id: &RequestId,
    ) -> Result<Found, RuntimeUnavailable> {
        self.check(grant)?;
        let gate = self.find_gate.lock().expect("not poisoned").take();
        if let Some(gate) = gate {
            gate.acquire().await.expect("open").forget();
        }
        let live = self.live.lock().expect("not poisoned");
        let Some(prompts) = live.get(grant.session_id().as_str()) else {
            return Ok(Found::NoExecution);
        };
        let found = prompts.iter().find(|p| p.request_id == *request_id);
        Ok(found.map_or(Found::Gone(None), |p| Found::Live(Box::new(p.clone()))))
    }

    async fn deliver(&self, claimed: &Claimed) -> Result<DeliverReply, NoAnswer> {
        let gate = self.gate.lock().expect("not poisoned").clone();
        if let Some(gate) = gate {
            gate.acquire().await.expect("open").forget();
        }
        self.delivered
            .lock()
            .expect("not poisoned")
            .push(claimed.order());
        let told = self.deliveries.lock().expect("not poisoned").pop_front();
        told.unwrap_or(Ok(DeliverReply::Delivered))
    }

    async fn settle(
        &self,
        _: &dyn SessionScope,
        request_id: &RequestId,
        _: &ClaimId,
    ) -> Result<SettleReply, NoAnswer> {
        self.settled
            .lock()
            .expect("not poisoned")
            .push(request_id.clone());
        let told = self.settlements.lock().expect("not poisoned").pop_front();
        told.unwrap_or(Err(NoAnswer))
    }

    async fn acknowledge(&self, _: &dyn SessionScope, _: &RequestId, claim_id: &ClaimId) {
        self.acknowledged
            .lock()
            .expect("not poisoned")
            .push(claim_id.clone());
    }
}

/// A store that fails when it is told to.
#[derive(Default)]
pub(crate) struct FaultyStore {
    pub(crate) inner: MemoryStore,
    pub(crate) no_reads: AtomicBool,
    pub(crate) no_claims: AtomicBool,
    pub(crate) no_ends: AtomicBool,
    pub(crate) no_attempts: AtomicBool,
}

fn down(switch: &AtomicBool) -> Result<(), StoreUnavailable> {
    if switch.load(Ordering::SeqCst) {
        return Err(StoreUnavailable::new("down"));
    }
    Ok(())
}

#[async_trait]
impl AuditStore for FaultyStore {
    async fn known(
        &self,
        grant: &SessionGrant,
        request_id: &RequestId,
    ) -> Result<Known, StoreUnavailable> {
        down(&self.no_reads)?;
        self.inner.known(grant, request_id).await
    }

    async fn claims_among(
        &self,
        scope: &dyn SessionScope,
        requests: &[RequestId],
    ) -> Result<Vec<ClaimRecord>, StoreUnavailable> {
        down(&self.no_reads)?;
        self.inner.claims_among(scope, requests).await
    }

    async fn claim(&self, new: &NewClaim) -> Result<ClaimDecision, StoreUnavailable> {
        down(&self.no_claims)?;
        self.inner.claim(new).await
    }

    async fn finalize(&self, end: &ClaimEnd) -> Result<AuditResult, StoreUnavailable> {
        down(&self.no_ends)?;
        self.inner.finalize(end).await
    }

    async fn append(&self, attempt: &NewAttempt) -> Result<(), StoreUnavailable> {
        down(&self.no_attempts)?;
        self.inner.append(attempt).await
    }

    async fn observe(
        &self,
        scope: &dyn SessionScope,
        prompts: &[PromptSnapshot],
    ) -> Result<(), StoreUnavailable> {
        self.inner.observe(scope, prompts).await
    }

    async fn close(
        &self,
        scope: &dyn Upkeep,
        closed: &[Closed],
        rows: &ExpiryRows,
    ) -> Result<(), StoreUnavailable> {
        self.inner.close(scope, closed, rows).await
    }

    async fn close_absent(
        &self,
        scope: &dyn Upkeep,
        live: &[RequestId],
        reason: ExpiryReason,
        rows: &ExpiryRows,
    ) -> Result<u64, StoreUnavailable> {
        self.inner.close_absent(scope, live, reason, rows).await
    }

    async fn open_claims(&self, scope: &dyn Upkeep) -> Result<Vec<ClaimRecord>, StoreUnavailable> {
        self.inner.open_claims(scope).await
    }

    async fn unsettled_sessions(
        &self,
        grant: &MaintenanceGrant,
    ) -> Result<Vec<(TaskId, SessionId)>, StoreUnavailable> {
        self.inner.unsettled_sessions(grant).await
    }

    async fn attempts(
        &self,
        scope: &dyn SessionScope,
        after: Option<&AttemptId>,
        limit: usize,
    ) -> Result<Vec<Attempt>, StoreUnavailable> {
        self.inner.attempts(scope, after, limit).await
    }
}

pub(crate) struct World {
    pub(crate) root: CompositionRoot,
    pub(crate) records: Arc<Records>,
    pub(crate) agents: Arc<Agents>,
    pub(crate) store: Arc<FaultyStore>,
    pub(crate) service: PermissionService,
}

impl World {
    pub(crate) fn new() -> Self {
        let records = Arc::new(Records::default());
        let agents = Arc::new(Agents::default());
        let store = Arc::new(FaultyStore::default());
        let clock = Arc::new(SystemClock);
        let ids = Arc::new(TimeOrderedIds);
        let audit = AuditLog::new(store.clone(), clock, ids);
        let authorizer = Authorizer::new(records.clone());
        let service = PermissionService::new(authorizer, audit, agents.clone());
        Self {
            root: CompositionRoot::new(),
            records,
            agents,
            store,
            service,
        }
    }

    pub(crate) async fn caller(&self) -> Caller {
        let clock = Arc::new(SystemClock);
        let authenticator = Authenticator::disabled(&self.root, self.records.clone(), clock);
        let principal = authenticator.user(None).await.expect("the synthetic user");
        ExternalMcpAttestor::new(&self.root).attest(principal)
    }

    pub(crate) async fn list(&self, session_id: Option<&str>) -> Result<Vec<String>, Failure> {
        let session_id = session_id.map(session);
        let caller = self.caller().await;
        let task_id = task();
        let listed = self.service.list(&caller, &task_id, session_id.as_ref());
        let ids = |p: permit_service::PendingPermission| p.prompt.request_id.to_string();
        Ok(listed.await?.permissions.into_iter().map(ids).collect())
    }

    pub(crate) async fn resolve(&self, request: &str, option: &str) -> Result<(), Failure> {
        self.resolve_exactly(&ask(request, "p", option)).await
    }

    pub(crate) async fn resolve_exactly(&self, request: &ResolveRequest) -> Result<(), Failure> {
        let caller = self.caller().await;
        self.service.resolve(caller, request).await.map(|_| ())
    }

    /// The rights of the session's upkeep.
    pub(crate) fn upkeep(&self) -> SessionUpkeep {
        MaintenanceGrant::new(&self.root).session(task(), session(SESSION))
    }

    pub(crate) async fn attempts(&self) -> Vec<Attempt> {
        let attempts = self.store.attempts(&self.upkeep(), None, 1000).await;
        attempts.expect("readable")
    }

    pub(crate) async fn claim(&self, request: &str) -> Option<ClaimRecord> {
        let requests = [request_id(request)];
        let claims = self
            .store
            .inner
            .claims_among(&self.upkeep(), &requests)
            .await;
        claims.expect("readable").into_iter().next()
    }
}

pub(crate) fn task() -> TaskId {
    TaskId::parse(TASK).expect("valid")
}

pub(crate) fn session(id: &str) -> SessionId {
    SessionId::parse(id).expect("valid")
}

pub(crate) fn request_id(id: &str) -> RequestId {
    RequestId::parse(id).expect("valid")
}

pub(crate) fn ask(request: &str, pending: &str, option: &str) -> ResolveRequest {
    ResolveRequest {
        task_id: task(),
        session_id: session(SESSION),
        request_id: request_id(request),
        pending_id: PendingId::parse(pending).expect("valid"),
        option_id: OptionId::offered(option),
    }
}

/// A prompt that opened some seconds after the beginning of time.
pub(crate) fn prompt(request: &str, opened: i64) -> PromptSnapshot {
    let option = |id: &str, kind: &str| OfferedOption {
        option_id: OptionId::offered(id),
        name: id.to_owned(),
        kind: OptionKind::new(kind),
    };
    PromptSnapshot {
        request_id: request_id(request),
        pending_id: PendingId::parse("p").expect("valid"),
        tool_call_id: None,
        title: "Run".to_owned(),
        action: Action::new(ActionType::Command),
        options: vec![option("yes", "allow_once"), option("no", "reject_once")],
        created_at: OffsetDateTime::UNIX_EPOCH + time::Duration::seconds(opened),
    }
}

/// The refusal's code and outcome, as a client reads them.
pub(crate) fn refusal(failure: &Failure) -> (&'static str, Option<permit_domain::Outcome>) {
    match failure {
        Failure::Refused(refused) => (refused.code.as_str(), refused.outcome),
        Failure::MissingScope(_) => panic!("every scope is there"),
    }
}
