//! The answer to one permission request.

use async_trait::async_trait;
use permit_domain::OptionId;
use permit_registry::{AnswerError, Go, Responder};
use serde_json::json;

use crate::rpc_id::RpcId;
use crate::writer::Slot;

/// The way back to the agent for one request. It holds its place in the queue, so an answer never
/// waits for room; it is consumed by use, so there is never a second one.
pub(crate) struct Answer {
    pub(crate) id: RpcId,
    pub(crate) slot: Slot,
}

#[async_trait]
impl Responder for Answer {
    async fn select(self: Box<Self>, option_id: &OptionId, go: Go) -> Result<(), AnswerError> {
        let outcome = json!({"outcome": "selected", "optionId": option_id.as_str()});
        self.slot.write(result(&self.id, &outcome), Some(go)).await
    }

    fn cancel(self: Box<Self>) {
        let line = result(&self.id, &json!({"outcome": "cancelled"}));
        self.slot.queue(line);
    }
}

fn result(id: &RpcId, outcome: &serde_json::Value) -> String {
    let id = id.raw();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"outcome":{outcome}}}}}"#)
}

/// The answer to a request that this client does not serve.
pub(crate) fn method_not_found(id: &RpcId) -> String {
    let id = id.raw();
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"Method not found"}}}}"#
    )
}
