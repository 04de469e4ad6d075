//! A gateway with one task and two sessions.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::ListenerExt as _;
use permit_audit::{AuditLog, AuditStore, Claimed, Known, MemoryStore, Selection};
use permit_domain::{OptionId, PromptSnapshot, RequestId, SessionId, TaskId};
use permit_hub::{Deadlines, Hub, Limits, router};
use permit_policy::{
    Authenticator, Authorizer, Caller, CompositionRoot, CredentialKind, ExternalMcpAttestor,
    MaintenanceGrant, Secret, SessionGrant,
};
use permit_service::{Failure, PendingPermissions, PermissionService, ResolveRequest, Resolved};
use permit_system::{SystemClock, SystemRandom, TimeOrderedIds};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::records::Records;

/// Longer than anything takes that a test waits for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn task() -> TaskId {
    TaskId::parse("task-1").expect("an id")
}

pub(crate) fn session() -> SessionId {
    SessionId::parse("session-a").expect("an id")
}

pub(crate) fn other_session() -> SessionId {
    SessionId::parse("session-b").expect("an id")
}

/// What outlives a gateway.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) records: Arc<Records>,
    pub(crate) audit: Arc<MemoryStore>,
    credential: Arc<Secret>,
    other_credential: Arc<Secret>,
}

impl World {
    pub(crate) fn new() -> Self {
        let fresh = || Arc::new(Secret::generate(CredentialKind::Execution, &SystemRandom));
        let (credential, other_credential) = (fresh(), fresh());
        let records = Records::default();
        records.add_credential(credential.hash(), &task(), &session());
        records.add_credential(other_credential.hash(), &task(), &other_session());
        Self {
            records: Arc::new(records),
            audit: Arc::new(MemoryStore::new()),
            credential,
            other_credential,
        }
    }

    /// The credential of the first session.
    pub(crate) fn credential(&self) -> String {
        self.credential.expose().to_owned()
    }

    pub(crate) fn other_credential(&self) -> String {
        self.other_credential.expose().to_owned()
    }

    /// Starts a gateway, in a runtime of its own so that it can be killed.
    pub(crate) async fn gateway(&self, limits: Limits) -> Gateway {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let world = self.clone();
        let started = runtime.spawn(async move { world.start(limits).await });
        let (hub, service, address) = started.await.expect("it starts");
        Gateway {
            world: self.clone(),
            hub,
            service,
            address,
            runtime: Some(runtime),
        }
    }

    async fn start(self, limits: Limits) -> (Hub, PermissionService, SocketAddr) {
        let root = CompositionRoot::new();
        let (clock, ids) = (Arc::new(SystemClock), Arc::new(TimeOrderedIds));
        let records = self.records.clone();
        let hub = Hub::new(
            records.clone(),
            clock.clone(),
            ids.clone(),
            Arc::new(SystemRandom),
            limits,
        );
        let audit = AuditLog::new(self.audit.clone(), clock.clone(), ids);
        let authorizer = Authorizer::new(records.clone());
        let service = PermissionService::new(authorizer, audit, Arc::new(hub.clone()));
        let recovered = hub.recover(&service, MaintenanceGrant::new(&root)).await;
        recovered.expect("what is left can be read");
        let authenticator = Arc::new(Authenticator::required(records, clock));
        let app = router(&hub, &service, authenticator);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let listener = listener.tap_io(|stream| stream.set_nodelay(true).expect("a socket"));
        tokio::spawn(async move { axum::serve(listener, app).await });
        (hub, service, address)
    }

    /// What is recorded of a request of the first session.
    pub(crate) async fn known(&self, request_id: &RequestId) -> Known {
        let known = self.audit.known(&self.grant().await, request_id).await;
        known.expect("the store works")
    }

    /// Claims an option and goes no further, as a gateway that dies then.
    pub(crate) async fn claim_only(&self, prompt: &PromptSnapshot) -> Claimed {
        let (grant, caller) = (self.grant().await, self.caller().await);
        let option = OptionId::parse("allow").expect("an id");
        let selection = Selection::choose(grant, caller, prompt, &option).expect("it is offered");
        let (clock, ids) = (Arc::new(SystemClock), Arc::new(TimeOrderedIds));
        let log = AuditLog::new(self.audit.clone(), clock, ids);
        log.claim(selection).await.expect("it has no claim")
    }

    pub(crate) async fn caller(&self) -> Caller {
        let root = CompositionRoot::new();
        let clock = Arc::new(SystemClock);
        let authenticator = Authenticator::disabled(&root, self.records.clone(), clock);
        let principal = authenticator.user(None).await.expect("the synthetic user");
        ExternalMcpAttestor::new(&root).attest(principal)
    }

    async fn grant(&self) -> SessionGrant {
        let authorizer = Authorizer::new(self.records.clone());
        let caller = self.caller().await;
        let grant = authorizer.session(&caller, &task(), &session()).await;
        grant.expect("the caller owns it")
    }
}

/// Limits under which a test need not wait long.
pub(crate) fn brisk() -> Limits {
    Limits {
        grace: Duration::from_secs(60),
        deadlines: Deadlines {
            read: Duration::from_secs(3),
            deliver: Duration::from_secs(10),
            settle: Duration::from_secs(10),
        },
        credential_check: Duration::from_millis(20),
        ..Limits::default()
    }
}

/// As [`brisk`], and what is away is given up at once.
pub(crate) fn impatient() -> Limits {
    Limits {
        grace: Duration::from_millis(50),
        ..brisk()
    }
}

/// A running gateway.
pub(crate) struct Gateway {
    pub(crate) world: World,
    pub(crate) hub: Hub,
    pub(crate) service: PermissionService,
    pub(crate) address: SocketAddr,
    runtime: Option<Runtime>,
}

impl Gateway {
    /// Stops everything in it, without a good-bye.
    pub(crate) fn kill(mut self) {
        self.stop();
    }

    fn stop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }

    pub(crate) async fn list_of(
        &self,
        session: Option<&SessionId>,
    ) -> Result<PendingPermissions, Failure> {
        let caller = self.world.caller().await;
        self.service.list(&caller, &task(), session).await
    }

    /// The prompts of the first session.
    pub(crate) async fn list(&self) -> Vec<PromptSnapshot> {
        let listed = self
            .list_of(Some(&session()))
            .await
            .expect("it can be listed");
        listed.permissions.into_iter().map(|p| p.prompt).collect()
    }

    /// The failure code of listing the first session.
    pub(crate) async fn list_failure(&self) -> String {
        code(self.list_of(Some(&session())).await.expect_err("it cannot"))
    }

    /// Waits until the first session lists as many prompts.
    pub(crate) async fn listed(&self, count: usize) -> Vec<PromptSnapshot> {
        eventually(async || {
            let listed = self.list_of(Some(&session())).await.ok()?;
            let prompts: Vec<_> = listed.permissions.into_iter().map(|p| p.prompt).collect();
            (prompts.len() == count).then_some(prompts)
        })
        .await
    }

    pub(crate) async fn resolve(
        &self,
        prompt: &PromptSnapshot,
        option: &str,
    ) -> Result<Resolved, Failure> {
        let request = ResolveRequest {
            task_id: task(),
            session_id: session(),
            request_id: prompt.request_id.clone(),
            pending_id: prompt.pending_id.clone(),
            option_id: OptionId::parse(option).expect("an id"),
        };
        self.service
            .resolve(self.world.caller().await, &request)
            .await
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.stop();
    }
}

pub(crate) fn code(failure: Failure) -> String {
    match failure {
        Failure::Refused(refused) => refused.code.as_str().to_owned(),
        Failure::MissingScope(missing) => panic!("{missing}"),
    }
}

/// Waits until something holds.
pub(crate) async fn eventually<T>(mut check: impl AsyncFnMut() -> Option<T>) -> T {
    let found = async {
        loop {
            if let Some(found) = check().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, found)
        .await
        .expect("it comes to hold")
}
