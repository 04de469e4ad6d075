//! The agent's side of the connection: reads its messages and acts on them, in order.

use std::collections::HashSet;
use std::sync::Arc;

use agent_client_protocol::v1::schema::{CLIENT_METHOD_NAMES, PROTOCOL_LEVEL_METHOD_NAMES};
use permit_domain::IdSource;
use permit_projection::project;
use permit_registry::{NewPrompt, Refused, Registry, Responder};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::answer::{Answer, method_not_found};
use crate::call::CallError;
use crate::connection::Connection;
use crate::event::{AgentEvent, EventSink};
use crate::lenient::read_object;
use crate::line::{LineError, LineReader, MAX_LINE};
use crate::mapping::map_tool_call;
use crate::message::{self, Message};
use crate::permission::{PermissionRequest, into_object, tool_call_id};
use crate::rpc_id::RpcId;
use crate::tool_calls::ToolCalls;
use crate::writer::{Unwritable, Writer};

/// The most sessions of one agent whose prompts are listed.
const MOST_SESSIONS: usize = 256;

/// Reads the agent's messages. When it ends or is dropped, every prompt of the agent expires.
pub struct Driver<R> {
    reader: LineReader<R>,
    agent: Agent,
}

/// Why the agent cannot be listened to any longer.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// A message is longer than can be read.
    #[error("the agent sent a message of more than {0} bytes")]
    TooLong(usize),
    /// Reading failed.
    #[error("reading from the agent failed: {0}")]
    Io(#[source] std::io::Error),
    /// The agent sends, but does not read the answers.
    #[error("the agent does not read its answers")]
    NotReading,
}

/// Speaks with an agent over two byte streams.
#[must_use]
pub fn connect<R: AsyncRead + Unpin>(
    from_agent: R,
    to_agent: impl AsyncWrite + Unpin + Send + 'static,
    registry: Registry,
    ids: Arc<dyn IdSource>,
    events: EventSink,
) -> (Connection, Driver<R>) {
    let connection = Connection {
        writer: Writer::start(to_agent),
        calls: Arc::default(),
        registry,
    };
    let driver = Driver {
        reader: LineReader::new(from_agent, MAX_LINE),
        agent: Agent {
            connection: connection.clone(),
            ids,
            events,
            tool_calls: ToolCalls::default(),
            sessions: HashSet::new(),
        },
    };
    (connection, driver)
}

impl<R: AsyncRead + Unpin> Driver<R> {
    /// Reads until the agent closes its output.
    ///
    /// # Errors
    /// [`DriverError`] when the agent can no longer be understood or answered.
    pub async fn run(mut self) -> Result<(), DriverError> {
        while let Some(line) = self.reader.next().await? {
            self.agent.line(&line)?;
        }
        Ok(())
    }
}

impl From<LineError> for DriverError {
    fn from(error: LineError) -> Self {
        match error {
            LineError::TooLong(limit) => Self::TooLong(limit),
            LineError::Io(cause) => Self::Io(cause),
        }
    }
}

impl From<Unwritable> for DriverError {
    fn from(_: Unwritable) -> Self {
        Self::NotReading
    }
}

/// What is known of the agent, and what its messages do.
struct Agent {
    connection: Connection,
    ids: Arc<dyn IdSource>,
    events: EventSink,
    tool_calls: ToolCalls,
    /// Those that prompts were opened for.
    sessions: HashSet<String>,
}

impl Agent {
    fn line(&mut self, line: &[u8]) -> Result<(), Unwritable> {
        let text = String::from_utf8_lossy(line);
        let Some(messages) = message::read(&text) else {
            let bytes = line.len();
            self.events.send(AgentEvent::Stray { bytes });
            return Ok(());
        };
        for message in messages {
            match message {
                Message::Request { id, method, params } => self.request(id, &method, params)?,
                Message::Notification { method, params } => self.notification(&method, params),
                Message::Response { id, result } => {
                    let result = result.map(str::to_owned).map_err(CallError::from);
                    self.response(&id, result);
                }
            }
        }
        Ok(())
    }

    fn request(
        &mut self,
        id: RpcId,
        method: &str,
        params: Option<&RawValue>,
    ) -> Result<(), Unwritable> {
        if method == CLIENT_METHOD_NAMES.session_request_permission {
            return self.permission(id, params);
        }
        self.connection.writer.queue(method_not_found(&id))?;
        self.events.send(AgentEvent::Declined {
            method: method.to_owned(),
        });
        Ok(())
    }

    fn permission(&mut self, id: RpcId, params: Option<&RawValue>) -> Result<(), Unwritable> {
        let slot = self.connection.writer.slot()?;
        let (provider_request, pending_id) = (id.key().to_owned(), id.pending_id(&*self.ids));
        let responder = Box::new(Answer { id, slot });
        let request = PermissionRequest::read(params);
        let session = self.session_of(request.session.clone());
        let admitted = self.sessions.contains(&session) || self.sessions.len() < MOST_SESSIONS;
        if self.is_cancelling(&session) {
            responder.cancel();
            return Ok(());
        }
        if !admitted {
            responder.cancel();
            self.events.send(AgentEvent::PromptRefused(Refused::Full));
            return Ok(());
        }
        self.sessions.insert(session.clone());
        let tool_call_id = request.tool_call_id();
        let options = request.options();
        let known = tool_call_id.as_ref().map(|id| id.as_str());
        let tool_call = self.tool_calls.merged(&session, known, request.tool_call);
        let mut details = map_tool_call(&tool_call, &request.meta);
        details.options = options;
        let opened = self.connection.registry.open(NewPrompt {
            provider_session: session.clone(),
            provider_request,
            pending_id,
            tool_call_id,
            projected: project(details),
            responder,
        });
        if let Err(refused) = opened {
            refused.responder.cancel();
            self.events.send(AgentEvent::PromptRefused(refused.why));
        } else if self.is_cancelling(&session) {
            // The turn was cancelled while the prompt was being opened.
            self.connection.registry.turn_ended(&session);
        }
        Ok(())
    }

    fn notification(&mut self, method: &str, params: Option<&RawValue>) {
        if method == CLIENT_METHOD_NAMES.session_update {
            self.update(params);
        } else if method == PROTOCOL_LEVEL_METHOD_NAMES.cancel_request {
            self.withdraw(params);
        }
    }

    /// The agent takes a request back. It names the request alone, so it is withdrawn in each of
    /// its sessions.
    fn withdraw(&self, params: Option<&RawValue>) {
        #[derive(Deserialize)]
        struct Params<'a> {
            #[serde(borrow, rename = "requestId")]
            request_id: &'a RawValue,
        }
        let params = params.and_then(|raw| serde_json::from_str::<Params<'_>>(raw.get()).ok());
        let Some(params) = params else { return };
        let id = RpcId::read(params.request_id);
        for session in &self.sessions {
            self.connection.registry.withdraw(session, id.key());
        }
    }

    fn update(&mut self, params: Option<&RawValue>) {
        let Some(raw) = params.map(RawValue::get) else {
            return;
        };
        let mut params = read_object(raw);
        let session = match params.get("sessionId") {
            Some(Value::String(session)) => Some(session.clone()),
            _ => None,
        };
        let session = self.session_of(session);
        let update = into_object(
            params
                .get_mut("update")
                .map(Value::take)
                .unwrap_or_default(),
        );
        let kind = update.get("sessionUpdate").and_then(Value::as_str);
        match kind.unwrap_or_default() {
            "agent_message_chunk" => self.text(&update, AgentEvent::Text),
            "agent_thought_chunk" => self.text(&update, AgentEvent::Thought),
            "current_mode_update" => {
                if let Some(mode) = update.get("currentModeId").and_then(Value::as_str) {
                    self.events.send(AgentEvent::Mode {
                        current: mode.to_owned(),
                        available: Vec::new(),
                    });
                }
            }
            "tool_call" => self.tool_call(&session, update, raw.len(), true),
            "tool_call_update" => self.tool_call(&session, update, raw.len(), false),
            _ => {}
        }
    }

    fn text(&self, update: &Map<String, Value>, event: fn(String) -> AgentEvent) {
        let text = update
            .get("content")
            .and_then(|content| content.get("text"));
        if let Some(text) = text.and_then(Value::as_str) {
            self.events.send(event(text.to_owned()));
        }
    }

    fn tool_call(&mut self, session: &str, update: Map<String, Value>, bytes: usize, begins: bool) {
        let Some(id) = tool_call_id(&update) else {
            return;
        };
        let status = update.get("status").and_then(Value::as_str);
        let status = status.unwrap_or_default().to_owned();
        self.tool_calls.update(session, id.as_str(), update, bytes);
        let ended = matches!(status.as_str(), "completed" | "failed" | "cancelled");
        if !(begins || ended) {
            return;
        }
        if let Some(known) = self.tool_calls.get(session, id.as_str()) {
            let shown = project(map_tool_call(known, &Map::new()));
            self.events.send(if ended {
                AgentEvent::ToolCallEnded {
                    title: shown.title,
                    failed: status != "completed",
                }
            } else {
                AgentEvent::ToolCall(Box::new(shown))
            });
        }
        if ended {
            // What ended is not waiting for permission any more.
            self.connection.registry.withdraw_tool_call(session, &id);
            self.tool_calls.forget(session, id.as_str());
        }
    }

    fn response(&self, id: &RpcId, result: Result<String, CallError>) {
        let id = id.raw().parse().ok();
        let call = id.and_then(|id| self.connection.with(|calls| calls.take(id)));
        let Some(call) = call else { return };
        if let Some(session) = &call.turn_of {
            self.connection.registry.turn_ended(session);
            self.connection
                .with(|calls| calls.cancelling.remove(session));
        }
        // The caller may have given up.
        let _ = call.answer.send(result);
    }

    fn session_of(&self, named: Option<String>) -> String {
        named
            .or_else(|| self.connection.with(|calls| calls.session.clone()))
            .unwrap_or_default()
    }

    fn is_cancelling(&self, session: &str) -> bool {
        self.connection
            .with(|calls| calls.cancelling.contains(session))
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.connection.with(|calls| calls.close());
        for session in &self.sessions {
            self.connection.registry.turn_ended(session);
        }
    }
}
