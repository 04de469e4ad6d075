//! A sidecar that speaks the link by hand, so that a test decides what it says and when.

use std::path::Path;

use jsonrpsee::core::client::{ClientT as _, Subscription, SubscriptionClientT as _};
use jsonrpsee::core::params::ArrayParams;
use jsonrpsee::rpc_params;
use jsonrpsee::ws_client::{HeaderMap, WsClient, WsClientBuilder};
use serde_json::{Value, json};

use crate::Gateway;

/// An attached sidecar without an agent.
pub struct HandSidecar {
    client: WsClient,
    items: Subscription<Value>,
    /// What the gateway said at the attach.
    pub welcome: Value,
    seq: u64,
}

/// Opens a connection with a credential and more headers, without attaching.
///
/// # Errors
/// What the gateway refused it with, as a text.
///
/// # Panics
/// When the credential cannot be read.
pub async fn dial(
    gateway: &Gateway,
    credential: &Path,
    more: &[(&'static str, &'static str)],
) -> Result<WsClient, String> {
    let secret = std::fs::read_to_string(credential).expect("a credential");
    let mut headers = HeaderMap::new();
    let bearer = format!("Bearer {}", secret.trim());
    headers.insert("authorization", bearer.parse().expect("a header"));
    for (name, value) in more {
        headers.insert(*name, value.parse().expect("a header"));
    }
    WsClientBuilder::default()
        .set_headers(headers)
        .build(format!("ws://{}/link", gateway.address()))
        .await
        .map_err(|error| error.to_string())
}

impl HandSidecar {
    /// Attaches as a new execution of the gateway's first session.
    ///
    /// # Panics
    /// When the gateway refuses it.
    pub async fn attach(gateway: &Gateway) -> Self {
        Self::attach_as(gateway, json!("new")).await
    }

    /// Attaches again as the execution of an earlier attach, whose secret is in `first`.
    ///
    /// # Panics
    /// When the gateway refuses it.
    pub async fn resume(gateway: &Gateway, first: &Value) -> Self {
        let resume = json!({"resume": {
            "execution_id": first["execution_id"],
            "secret": first["execution_secret"],
        }});
        Self::attach_as(gateway, resume).await
    }

    async fn attach_as(gateway: &Gateway, execution: Value) -> Self {
        let credential = &gateway.owner.credential_file;
        let client = dial(gateway, credential, &[]).await.expect("connected");
        let attach = json!({"protocol": 1, "execution": execution});
        let mut items = client
            .subscribe("link_attach", rpc_params![attach], "link_unattach")
            .await
            .expect("attached");
        let first: Value = next(&mut items).await;
        let welcome = first["welcome"].clone();
        assert!(welcome.is_object(), "{first}");
        Self {
            client,
            items,
            welcome,
            seq: 0,
        }
    }

    /// Calls a method with any object.
    ///
    /// # Errors
    /// What the gateway refused it with, as a text.
    pub async fn call(&self, method: &str, object: Value) -> Result<Value, String> {
        let params: ArrayParams = rpc_params![object];
        let called = self.client.request(method, params).await;
        called.map_err(|error| error.to_string())
    }

    /// Reports everything: these prompts wait, and these are consumed.
    ///
    /// # Panics
    /// When the gateway refuses it.
    pub async fn report(&mut self, opened: &[Value], consumed: &[Value]) {
        self.seq += 1;
        let report = json!({
            "epoch": self.epoch(), "seq": self.seq, "full": true,
            "opened": opened, "consumed": consumed,
        });
        self.call("link_sync", report).await.expect("reported");
    }

    /// The epoch of this attach.
    #[must_use]
    pub fn epoch(&self) -> Value {
        self.welcome["epoch"].clone()
    }

    /// Answers commands with what waits until one comes that is neither a list nor a look-up, and
    /// gives that one back.
    ///
    /// # Panics
    /// When the gateway refuses an answer or ends the connection.
    pub async fn command(&mut self, waiting: &[Value]) -> Value {
        loop {
            let item = next(&mut self.items).await;
            let command = item["command"].clone();
            let body = &command["body"];
            let answer = if *body == "list" {
                json!({"list": waiting})
            } else if let Some(find) = body.get("find") {
                let found = waiting
                    .iter()
                    .find(|prompt| prompt["request_id"] == find["request_id"]);
                match found {
                    Some(prompt) => json!({"find": {"live": prompt}}),
                    None => json!({"find": {"closed": null}}),
                }
            } else if body.get("acknowledge").is_some() {
                continue;
            } else {
                return command;
            };
            self.answer(&command, answer).await.expect("answered");
        }
    }

    /// Answers a command.
    ///
    /// # Errors
    /// What the gateway refused it with, as a text.
    pub async fn answer(&self, command: &Value, body: Value) -> Result<Value, String> {
        let answer = json!({
            "epoch": self.epoch(), "id": command["id"], "seq": self.seq, "body": body,
        });
        self.call("link_answer", answer).await
    }
}

async fn next(items: &mut Subscription<Value>) -> Value {
    let item = items.next().await.expect("the link is open");
    item.expect("an item")
}

/// A prompt with two options, as the link carries it.
#[must_use]
pub fn prompt(request_id: &str) -> Value {
    json!({
        "request_id": request_id,
        "pending_id": "7",
        "title": "Run",
        "action": {"type": "command", "command": "make", "redacted": false},
        "options": [
            {"option_id": "yes", "name": "Yes", "kind": "allow_once"},
            {"option_id": "no", "name": "No", "kind": "reject_once"},
        ],
        "created_at": "2026-01-01T00:00:00Z",
    })
}
