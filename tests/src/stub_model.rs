//! A model server that plays scripted tool calls, so that a real agent runs without a model.
//!
//! It speaks as much of the Anthropic Messages API as Claude Code asks for. A user message with
//! the word `script:NAME` starts the script of that name: each request after it is answered with
//! the next turn of tool calls, and with plain text when the script is over.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// One call of a tool by name, with its input.
#[derive(Clone, Debug)]
pub struct ToolCall {
    tool: &'static str,
    input: Value,
}

/// A call of a tool.
#[must_use]
pub fn call(tool: &'static str, input: Value) -> ToolCall {
    ToolCall { tool, input }
}

/// The turns of a script, each with its tool calls.
pub type Script = Vec<Vec<ToolCall>>;

struct Model {
    scripts: HashMap<&'static str, Script>,
    ids: AtomicU64,
}

/// Serves the scripts on a port of its own and answers the base URL. It ends with the test.
///
/// # Panics
/// When no port is free.
pub async fn serve(scripts: HashMap<&'static str, Script>) -> String {
    let model = Arc::new(Model {
        scripts,
        ids: AtomicU64::new(1),
    });
    let routes = Router::new()
        .route("/v1/messages", post(messages))
        .route("/v1/messages/count_tokens", post(count_tokens))
        .route("/v1/models", get(models))
        .with_state(model);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, routes).await });
    format!("http://{address}")
}

async fn models() -> Response {
    axum::Json(json!({"data": [], "has_more": false})).into_response()
}

async fn count_tokens() -> Response {
    axum::Json(json!({"input_tokens": 10})).into_response()
}

async fn messages(State(model): State<Arc<Model>>, body: Bytes) -> Response {
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let turn = model.turn(&request);
    let stop = if turn.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    };
    let text = if turn.is_empty() { "Done." } else { "Working." };
    let mut blocks = vec![json!({"type": "text", "text": text})];
    for ToolCall { tool, input } in turn {
        let id = model.fresh("toolu_stub");
        blocks.push(json!({"type": "tool_use", "id": id, "name": tool, "input": input}));
    }
    let mut message = json!({
        "id": model.fresh("msg_stub"),
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": {"input_tokens": 10, "output_tokens": 1},
    });
    if request["stream"] == true {
        return (
            [(CONTENT_TYPE, "text/event-stream")],
            stream(&message, &blocks, stop),
        )
            .into_response();
    }
    message["content"] = Value::Array(blocks);
    message["stop_reason"] = Value::from(stop);
    axum::Json(message).into_response()
}

fn stream(message: &Value, blocks: &[Value], stop: &str) -> String {
    let mut events = String::new();
    let mut send = |event: Value| {
        let name = event["type"].as_str().unwrap_or_default();
        let _ = write!(events, "event: {name}\ndata: {event}\n\n");
    };
    send(json!({"type": "message_start", "message": message}));
    for (index, block) in blocks.iter().enumerate() {
        let (start, delta) = if block["type"] == "text" {
            (
                json!({"type": "text", "text": ""}),
                json!({"type": "text_delta", "text": block["text"]}),
            )
        } else {
            let mut start = block.clone();
            start["input"] = json!({});
            let input = block["input"].to_string();
            (
                start,
                json!({"type": "input_json_delta", "partial_json": input}),
            )
        };
        send(json!({"type": "content_block_start", "index": index, "content_block": start}));
        send(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        send(json!({"type": "content_block_stop", "index": index}));
    }
    send(json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop, "stop_sequence": null},
        "usage": {"output_tokens": 5},
    }));
    send(json!({"type": "message_stop"}));
    events
}

impl Model {
    fn fresh(&self, prefix: &str) -> String {
        format!("{prefix}{:06}", self.ids.fetch_add(1, Ordering::Relaxed))
    }

    /// The tool calls that this request is to be answered with.
    fn turn(&self, request: &Value) -> Vec<ToolCall> {
        let mut script = None;
        let mut played = 0;
        let offers_tools = request["tools"].as_array().is_some_and(|t| !t.is_empty());
        for message in request["messages"].as_array().into_iter().flatten() {
            let blocks = blocks(&message["content"]);
            if message["role"] == "assistant" {
                played += usize::from(blocks.iter().any(|block| block["type"] == "tool_use"));
                continue;
            }
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            if let Some(name) = texts.filter_map(named_script).next_back() {
                (script, played) = (self.scripts.get(name.as_str()), 0);
            }
        }
        let turn = script.and_then(|script| script.get(played));
        turn.filter(|_| offers_tools).cloned().unwrap_or_default()
    }
}

fn blocks(content: &Value) -> Vec<Value> {
    match content {
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        Value::Array(blocks) => blocks.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}

fn named_script(text: &str) -> Option<String> {
    let (_, name) = text.rsplit_once("script:")?;
    let name = name.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
    Some(name.to_owned())
}
