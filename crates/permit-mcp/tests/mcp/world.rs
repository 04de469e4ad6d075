//! A gateway with two users, their tasks and their tokens.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use permit_audit::{AuditLog, MemoryStore};
use permit_domain::{Clock as _, CredentialId, SessionId, TaskId, UserId};
use permit_http::{BodyLimits, Gate, GateConfig};
use permit_mcp::{Limits, McpConfig};
use permit_policy::{
    AccessToken, Authenticator, Authorizer, CompositionRoot, CredentialKind, CredentialStore,
    Directory, ExecutionCredential, ExternalMcpAttestor, SYNTHETIC_USER, Scope, Scopes, Secret,
    SecretHash, StoreUnavailable, TaskGrant,
};
use permit_service::PermissionService;
use permit_system::{SystemClock, SystemRandom, TimeOrderedIds};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::agents::Agents;
use crate::client::{Answer, Ask};
use crate::schema::check_output;

pub(crate) const LIST: &str = "list_pending_agent_permissions_kandev";
pub(crate) const RESOLVE: &str = "resolve_agent_permission_kandev";

/// The task of the user whose token is used by default, with two sessions.
pub(crate) const TASK: &str = "task-1";
pub(crate) const SESSION: &str = "session-1";
pub(crate) const OTHER_SESSION: &str = "session-2";
/// A task of another user, with a session.
pub(crate) const FOREIGN_TASK: &str = "task-2";
pub(crate) const FOREIGN_SESSION: &str = "session-3";

pub(crate) struct World {
    pub(crate) agents: Arc<Agents>,
    pub(crate) credentials: Arc<Credentials>,
    pub(crate) token: String,
    pub(crate) address: SocketAddr,
}

/// How a world differs from the usual one.
#[derive(Default)]
pub(crate) struct Setup {
    pub(crate) authentication_disabled: bool,
    pub(crate) gate: Option<GateConfig>,
    pub(crate) no_gate: bool,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(Setup::default()).await
    }

    pub(crate) async fn with(setup: Setup) -> Self {
        let root = CompositionRoot::new();
        let agents = Arc::new(Agents::default());
        let credentials = Arc::new(Credentials::default());
        let clock = Arc::new(SystemClock);
        let store = Arc::new(MemoryStore::new());
        let audit = AuditLog::new(store, clock.clone(), Arc::new(TimeOrderedIds));
        let authorizer = Authorizer::new(Arc::new(Tasks));
        let authenticator = if setup.authentication_disabled {
            Authenticator::disabled(&root, credentials.clone(), clock)
        } else {
            Authenticator::required(credentials.clone(), clock)
        };
        let config = McpConfig {
            service: PermissionService::new(authorizer, audit, agents.clone()),
            authenticator: Arc::new(authenticator),
            attestor: ExternalMcpAttestor::new(&root),
            limits: Limits {
                body: BodyLimits {
                    bytes: 16 * 1024,
                    patience: Duration::from_millis(100),
                },
                batch: 3,
            },
        };
        let gate = Gate::new(setup.gate.unwrap_or(GateConfig {
            loopback: true,
            refuse_forwarded: setup.authentication_disabled,
            ..GateConfig::default()
        }));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let router = permit_mcp::router(config);
        let router = if setup.no_gate {
            router
        } else {
            router.layer(gate)
        };
        tokio::spawn(async move { axum::serve(listener, router).await });
        let token = credentials.mint("ada", Scopes::ALL);
        Self {
            agents,
            credentials,
            token,
            address,
        }
    }

    /// A POST that is well-formed but for its body.
    pub(crate) fn ask(&self) -> Ask {
        Ask::new(self.address, "POST", "/mcp")
            .with("Content-Type", "application/json")
            .with("Accept", "application/json, text/event-stream")
            .with("Authorization", &format!("Bearer {}", self.token))
    }

    pub(crate) async fn post(&self, body: impl Into<String>) -> Answer {
        self.ask().body(body).send().await
    }

    /// A request of the newest revision with a handshake.
    pub(crate) fn legacy(&self, method: &str, params: &Value) -> Ask {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.ask()
            .with("MCP-Protocol-Version", "2025-11-25")
            .body(body.to_string())
    }

    /// A request of the stateless revision.
    pub(crate) fn modern(&self, method: &str, mut params: Value) -> Ask {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let ask = self
            .ask()
            .with("MCP-Protocol-Version", "2026-07-28")
            .with("Mcp-Method", method)
            .body(body.to_string());
        match params["name"].as_str() {
            Some(name) => ask.with("Mcp-Name", name),
            None => ask,
        }
    }

    /// Calls a tool and answers its result.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let result = self.legacy("tools/call", &params).send().await.result();
        check_output(tool, &result["structuredContent"]);
        result
    }

    /// Lists the waiting requests of a task.
    pub(crate) async fn list(&self, task_id: &str) -> Value {
        self.call(LIST, json!({"task_id": task_id})).await
    }
}

/// The complete identity of the request `request-1`, with one of its options.
pub(crate) fn choice(option_id: &str) -> Value {
    json!({
        "task_id": TASK,
        "session_id": SESSION,
        "request_id": "request-1",
        "pending_id": "pending",
        "option_id": option_id,
    })
}

/// The tokens that were minted, and whether they can be looked up.
#[derive(Default)]
pub(crate) struct Credentials(Mutex<Stored>);

#[derive(Default)]
struct Stored {
    tokens: HashMap<[u8; 32], AccessToken>,
    unavailable: bool,
}

impl Credentials {
    pub(crate) fn mint(&self, user: &str, scopes: Scopes) -> String {
        let secret = Secret::generate(CredentialKind::PersonalAccessToken, &SystemRandom);
        let token = AccessToken {
            credential_id: CredentialId::parse("credential").expect("an id"),
            hash: secret.hash(),
            user_id: UserId::parse(user).expect("an id"),
            scopes,
            expires_at: None,
            revoked_at: None,
        };
        let mut stored = self.0.lock().expect("the tokens");
        stored.tokens.insert(*secret.hash().as_bytes(), token);
        secret.expose().to_owned()
    }

    pub(crate) fn mint_for(&self, scope: Scope) -> String {
        self.mint("ada", [scope].into_iter().collect())
    }

    pub(crate) fn change(&self, token: &str, change: impl FnOnce(&mut AccessToken)) {
        let hash = Secret::presented(token).hash();
        let mut stored = self.0.lock().expect("the tokens");
        change(stored.tokens.get_mut(hash.as_bytes()).expect("minted"));
    }

    pub(crate) fn revoke(&self, token: &str) {
        self.change(token, |token| token.revoked_at = Some(SystemClock.now()));
    }

    pub(crate) fn set_unavailable(&self) {
        self.0.lock().expect("the tokens").unavailable = true;
    }
}

#[async_trait]
impl CredentialStore for Credentials {
    async fn access_token(
        &self,
        hash: &SecretHash,
    ) -> Result<Option<AccessToken>, StoreUnavailable> {
        let stored = self.0.lock().expect("the tokens");
        if stored.unavailable {
            return Err(StoreUnavailable::new("the disk is gone"));
        }
        Ok(stored.tokens.get(hash.as_bytes()).cloned())
    }

    async fn execution_credential(
        &self,
        _: &SecretHash,
    ) -> Result<Option<ExecutionCredential>, StoreUnavailable> {
        Ok(None)
    }
}

/// Who owns which task, and its sessions.
struct Tasks;

impl Tasks {
    fn owns(user_id: &UserId, task_id: &TaskId) -> bool {
        match task_id.as_str() {
            TASK => ["ada", SYNTHETIC_USER].contains(&user_id.as_str()),
            FOREIGN_TASK => user_id.as_str() == "bob",
            _ => false,
        }
    }

    fn sessions(task_id: &TaskId) -> &'static [&'static str] {
        match task_id.as_str() {
            TASK => &[SESSION, OTHER_SESSION],
            FOREIGN_TASK => &[FOREIGN_SESSION],
            _ => &[],
        }
    }
}

#[async_trait]
impl Directory for Tasks {
    async fn owns_task(
        &self,
        user_id: &UserId,
        task_id: &TaskId,
    ) -> Result<bool, StoreUnavailable> {
        Ok(Self::owns(user_id, task_id))
    }

    async fn owns_session(
        &self,
        user_id: &UserId,
        task_id: &TaskId,
        session_id: &SessionId,
    ) -> Result<bool, StoreUnavailable> {
        let is_of_task = Self::sessions(task_id).contains(&session_id.as_str());
        Ok(is_of_task && Self::owns(user_id, task_id))
    }

    async fn sessions_of(&self, task: &TaskGrant) -> Result<Vec<SessionId>, StoreUnavailable> {
        let sessions = Self::sessions(task.task_id()).iter();
        Ok(sessions
            .map(|id| SessionId::parse(*id).expect("an id"))
            .collect())
    }
}

/// The tools as they are documented.
pub(crate) struct Tools(pub(crate) Value);

impl Tools {
    pub(crate) fn documented() -> Self {
        Self(serde_json::from_str(include_str!("tools.json")).expect("json"))
    }

    pub(crate) fn named(&self, name: &str) -> &Value {
        let tools = self.0.as_array().expect("an array");
        let tool = tools.iter().find(|tool| tool["name"] == name);
        tool.expect("a documented tool")
    }
}
