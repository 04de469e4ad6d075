//! Our side of the connection: what the client asks of the agent.

use std::sync::{Arc, Mutex, PoisonError};

use agent_client_protocol::v1::schema::{AGENT_METHOD_NAMES, CancelNotification};
use permit_registry::Registry;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::oneshot;

use crate::call::{Call, CallError, Calls};
use crate::writer::{Unwritable, Writer};

/// Calls an agent. Cheap to clone. Answers come as long as the [`Driver`](crate::Driver) runs.
#[derive(Clone)]
pub struct Connection {
    pub(crate) writer: Writer,
    pub(crate) calls: Arc<Mutex<Calls>>,
    pub(crate) registry: Registry,
}

impl Connection {
    pub(crate) async fn call<R: DeserializeOwned>(
        &self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<R, CallError> {
        self.call_in_turn(method, params, None).await
    }

    /// The answer ends the turn of the session `turn_of`.
    pub(crate) async fn call_in_turn<R: DeserializeOwned>(
        &self,
        method: &str,
        params: &impl Serialize,
        turn_of: Option<String>,
    ) -> Result<R, CallError> {
        let (answer, answered) = oneshot::channel();
        let call = Call { answer, turn_of };
        let id = self.with(|calls| calls.add(call));
        let id = id.ok_or(CallError::Closed)?;
        let params = serde_json::to_string(params).map_err(|_| CallError::Malformed)?;
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        if self.writer.queue(line).is_err() {
            self.with(|calls| calls.take(id));
            return Err(CallError::Closed);
        }
        let result = answered.await.map_err(|_| CallError::Closed)??;
        serde_json::from_str(&result).map_err(|_| CallError::Malformed)
    }

    /// Cancels the turn of a session: its open prompts expire and are answered `cancelled`, and
    /// so are those that the agent still opens in it.
    pub(crate) fn cancel_turn(&self, session: &str) -> Result<(), Unwritable> {
        self.with(|calls| calls.cancelling.insert(session.to_owned()));
        let method = AGENT_METHOD_NAMES.session_cancel;
        let cancel = CancelNotification::new(session.to_owned());
        let params = serde_json::to_string(&cancel).map_err(|_| Unwritable)?;
        let line = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
        let told = self.writer.queue(line);
        self.registry.turn_ended(session);
        told
    }

    /// Messages that name no session are about this one.
    pub(crate) fn adopt(&self, session: &str) {
        self.with(|calls| calls.session = Some(session.to_owned()));
    }

    /// Writes what is queued and closes the agent's standard input.
    pub async fn close(&self) {
        self.writer.close().await;
    }

    pub(crate) fn with<T>(&self, f: impl FnOnce(&mut Calls) -> T) -> T {
        f(&mut self.calls.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
