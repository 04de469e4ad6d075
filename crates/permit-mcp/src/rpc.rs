//! Handing one request to the `jsonrpsee` method table, and taking its answer.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt as _;
use jsonrpsee_core::server::{ConnectionId, Extensions, MethodCallback, MethodResponse, Methods};
use jsonrpsee_types::{ErrorObjectOwned, Id, Params};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::call::Call;
use crate::code::{internal, method_not_found};
use crate::message::{Request, RequestId};
use crate::reply;
use crate::revision::Revision;

/// Methods of the handshake era alone.
const LEGACY_ONLY: [&str; 2] = ["initialize", "ping"];
/// Methods of the stateless era alone.
const MODERN_ONLY: [&str; 1] = ["server/discover"];

/// The methods that are served.
pub(crate) struct Rpc {
    methods: Methods,
}

/// One answer: a whole JSON-RPC response, and its code if it is an error.
pub(crate) struct Answer {
    pub(crate) json: String,
    pub(crate) code: Option<i32>,
}

impl Answer {
    pub(crate) fn error(id: Option<RequestId<'_>>, error: &ErrorObjectOwned) -> Self {
        Self {
            json: reply::error_json(id, error),
            code: Some(error.code()),
        }
    }
}

impl Rpc {
    pub(crate) fn new(methods: impl Into<Methods>) -> Self {
        Self {
            methods: methods.into(),
        }
    }

    /// Calls the request's method. A method that panics answers an internal error.
    pub(crate) async fn call(&self, request: &Request<'_>, call: Arc<Call>) -> Answer {
        let method = &*request.method;
        let callback = self.methods.method(method);
        let Some(callback) = callback.filter(|_| serves(call.revision, method)) else {
            return Answer::error(Some(request.id), &method_not_found());
        };
        let native = request.id.native();
        let is_native = native.is_some();
        let id = native.unwrap_or(Id::Null);
        let params = Params::new(request.params.map(RawValue::get));
        let mut extensions = Extensions::new();
        extensions.insert(call);
        let called = AssertUnwindSafe(run(callback, id, params, extensions));
        match called.catch_unwind().await {
            Ok(Some(response)) if is_native => Answer {
                code: response.as_error_code(),
                json: Box::<str>::from(response.into_json()).into_string(),
            },
            Ok(Some(response)) => renamed(&response, request.id),
            Ok(None) => Answer::error(Some(request.id), &method_not_found()),
            Err(_) => {
                tracing::error!("a method panicked");
                Answer::error(Some(request.id), &internal())
            }
        }
    }
}

fn serves(revision: Revision, method: &str) -> bool {
    let others = if revision.is_modern() {
        &LEGACY_ONLY[..]
    } else {
        &MODERN_ONLY[..]
    };
    !others.contains(&method)
}

async fn run(
    callback: &MethodCallback,
    id: Id<'_>,
    params: Params<'_>,
    extensions: Extensions,
) -> Option<MethodResponse> {
    // What an answer may hold is bounded where it is made; a bound here would answer with a code
    // that MCP reserves.
    let unbounded = usize::MAX;
    match callback {
        MethodCallback::Sync(method) => Some(method(id, params, unbounded, extensions)),
        MethodCallback::Async(method) => {
            let (id, params) = (id.into_owned(), params.into_owned());
            Some(method(id, params, ConnectionId(0), unbounded, extensions).await)
        }
        MethodCallback::Subscription(_) | MethodCallback::Unsubscription(_) => None,
    }
}

/// The answer under the request's own id, where `jsonrpsee` could not carry it.
fn renamed(response: &MethodResponse, id: RequestId<'_>) -> Answer {
    #[derive(Deserialize)]
    struct Payload<'a> {
        #[serde(borrow)]
        result: Option<&'a RawValue>,
        #[serde(borrow)]
        error: Option<&'a RawValue>,
    }

    #[derive(Serialize)]
    struct Renamed<'a> {
        jsonrpc: &'static str,
        id: RequestId<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'a RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a RawValue>,
    }

    let json = serde_json::from_str(response.as_ref()).and_then(|payload: Payload<'_>| {
        serde_json::to_string(&Renamed {
            jsonrpc: "2.0",
            id,
            result: payload.result,
            error: payload.error,
        })
    });
    match json {
        Ok(json) => Answer {
            json,
            code: response.as_error_code(),
        },
        Err(_) => Answer::error(Some(id), &internal()),
    }
}

#[cfg(test)]
#[path = "rpc_tests.rs"]
mod tests;
