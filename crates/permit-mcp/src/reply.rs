//! From answers to HTTP responses.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use jsonrpsee_types::ErrorObjectOwned;
use permit_policy::Scope;
use serde::Serialize;

use crate::code::METHOD_NOT_FOUND;
use crate::message::RequestId;
use crate::revision::Revision;
use crate::rpc::Answer;

/// How long a client should wait when we cannot answer, in seconds.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("1");

/// A JSON-RPC error as text. An id that could not be read is left out.
pub(crate) fn error_json(id: Option<RequestId<'_>>, error: &ErrorObjectOwned) -> String {
    #[derive(Serialize)]
    struct Reply<'a> {
        jsonrpc: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<RequestId<'a>>,
        error: &'a ErrorObjectOwned,
    }

    let reply = Reply {
        jsonrpc: "2.0",
        id,
        error,
    };
    serde_json::to_string(&reply).unwrap_or_else(|_| {
        r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"Internal error."}}"#.to_owned()
    })
}

pub(crate) fn json(status: StatusCode, json: String) -> Response {
    const JSON: HeaderValue = HeaderValue::from_static("application/json");
    (status, [(header::CONTENT_TYPE, JSON)], json).into_response()
}

pub(crate) fn error(
    status: StatusCode,
    id: Option<RequestId<'_>>,
    error: &ErrorObjectOwned,
) -> Response {
    json(status, error_json(id, error))
}

/// The answer to one request. The stateless era tells an unknown method by the status, too.
pub(crate) fn answered(
    answer: Answer,
    revision: Revision,
    missing_scope: Option<Scope>,
) -> Response {
    if let Some(scope) = missing_scope {
        let mut response = json(StatusCode::FORBIDDEN, answer.json);
        let challenge = match scope {
            Scope::List => r#"Bearer error="insufficient_scope", scope="list""#,
            Scope::Resolve => r#"Bearer error="insufficient_scope", scope="resolve""#,
        };
        let challenge = HeaderValue::from_static(challenge);
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, challenge);
        return response;
    }
    let status = match answer.code {
        Some(METHOD_NOT_FOUND) if revision.is_modern() => StatusCode::NOT_FOUND,
        Some(_) | None => StatusCode::OK,
    };
    json(status, answer.json)
}

/// The answer to what wants none.
pub(crate) fn accepted() -> Response {
    StatusCode::ACCEPTED.into_response()
}

/// The answer to every kind of invalid credential.
pub(crate) fn unauthorized(cause: &ErrorObjectOwned) -> Response {
    let mut response = error(StatusCode::UNAUTHORIZED, None, cause);
    let challenge = HeaderValue::from_static("Bearer");
    response
        .headers_mut()
        .insert(header::WWW_AUTHENTICATE, challenge);
    response
}

/// The answer when the credential could not be checked.
pub(crate) fn unavailable(cause: &ErrorObjectOwned) -> Response {
    let mut response = error(StatusCode::SERVICE_UNAVAILABLE, None, cause);
    response
        .headers_mut()
        .insert(header::RETRY_AFTER, RETRY_AFTER);
    response
}
