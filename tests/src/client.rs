//! Clients of the MCP endpoint: one by hand, one by the official crate.

use std::sync::atomic::{AtomicU64, Ordering};

use reqwest::header::AUTHORIZATION;
use rmcp::model::{CallToolRequestParams, ClientConfig};
use rmcp::service::{RoleClient, RunningService, ServiceExt as _};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Map, Value, json};

use crate::eventually;

const LIST: &str = "list_pending_agent_permissions_kandev";
const RESOLVE: &str = "resolve_agent_permission_kandev";

/// What a tool answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Whether it is an error.
    pub is_error: bool,
    /// The structured content.
    pub content: Value,
    /// The text of the first content block.
    pub text: String,
}

impl Answer {
    /// The stable code of an error.
    ///
    /// # Panics
    /// When the answer is no error.
    #[must_use]
    pub fn code(&self) -> &str {
        assert!(self.is_error, "not an error: {}", self.content);
        self.content["error"]["code"].as_str().expect("a code")
    }

    fn of(result: &Value) -> Self {
        Self {
            is_error: result["isError"] == Value::Bool(true),
            content: result["structuredContent"].clone(),
            text: result["content"][0]["text"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        }
    }
}

/// A client that writes its requests by hand.
#[derive(Clone)]
pub struct McpClient {
    http: reqwest::Client,
    url: String,
    token: Option<String>,
}

impl McpClient {
    /// A client of the gateway at a base URL.
    ///
    /// # Panics
    /// When no client can be made.
    #[must_use]
    pub fn new(base: &str, token: Option<&str>) -> Self {
        Self {
            http: reqwest::Client::builder()
                .no_proxy()
                .build()
                .expect("a client"),
            url: format!("{base}/mcp"),
            token: token.map(str::to_owned),
        }
    }

    /// Sends one JSON-RPC message and answers the whole response.
    ///
    /// # Panics
    /// When the gateway cannot be reached.
    pub async fn post(&self, message: &Value) -> reqwest::Response {
        let mut request = self.http.post(&self.url).json(message);
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        request
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2025-11-25")
            .send()
            .await
            .expect("an answer")
    }

    /// Calls a tool.
    ///
    /// # Panics
    /// When the answer is not a tool result.
    pub async fn call(&self, tool: &str, arguments: Value) -> Answer {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let message = json!({
            "jsonrpc": "2.0",
            "id": id,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        });
        let body: Value = self.post(&message).await.json().await.expect("JSON");
        assert_eq!(body["id"], id, "{body}");
        assert!(body["result"].is_object(), "{body}");
        Answer::of(&body["result"])
    }

    /// Lists what waits in a task.
    pub async fn list(&self, task_id: &str) -> Answer {
        self.call(LIST, json!({"task_id": task_id})).await
    }

    /// Lists what waits in a session.
    pub async fn list_session(&self, task_id: &str, session_id: &str) -> Answer {
        let arguments = json!({"task_id": task_id, "session_id": session_id});
        self.call(LIST, arguments).await
    }

    /// Waits until this many prompts wait in a task, and answers them.
    ///
    /// # Panics
    /// When they do not come.
    pub async fn waiting(&self, task_id: &str, count: usize) -> Vec<Value> {
        eventually(&format!("{count} waiting prompts"), || async {
            let answer = self.list(task_id).await;
            let permissions = answer.content["permissions"].as_array()?;
            (permissions.len() == count).then(|| permissions.clone())
        })
        .await
    }

    /// Selects an option of a listed prompt.
    pub async fn resolve(&self, permission: &Value, option_id: &str) -> Answer {
        self.call(RESOLVE, tuple(permission, option_id)).await
    }

    /// Resolves with arguments of any kind.
    pub async fn resolve_with(&self, arguments: Value) -> Answer {
        self.call(RESOLVE, arguments).await
    }
}

/// The complete identity of a listed prompt with an option.
fn tuple(permission: &Value, option_id: &str) -> Value {
    let mut arguments = Map::new();
    for field in ["task_id", "session_id", "request_id", "pending_id"] {
        arguments.insert(field.to_owned(), permission[field].clone());
    }
    arguments.insert("option_id".to_owned(), Value::from(option_id));
    Value::Object(arguments)
}

/// Connects the official client.
///
/// # Panics
/// When it cannot connect.
pub async fn rmcp_connect(base: &str, token: &str) -> RunningService<RoleClient, ClientConfig> {
    let config = StreamableHttpClientTransportConfig::with_uri(format!("{base}/mcp"));
    let transport = StreamableHttpClientTransport::from_config(config.auth_header(token));
    ClientConfig::default()
        .serve(transport)
        .await
        .expect("the official client connects")
}

/// Calls a tool by the official client.
///
/// # Panics
/// When there is no tool result.
pub async fn rmcp_call(
    client: &RunningService<RoleClient, ClientConfig>,
    tool: &'static str,
    arguments: &Value,
) -> Answer {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let call = CallToolRequestParams::new(tool).with_arguments(arguments);
    let result = client.call_tool(call).await.expect("a tool result");
    Answer::of(&serde_json::to_value(result).expect("JSON"))
}
