//! Cross-origin calls by browser-based clients.

use std::time::Duration;

use axum::http::{HeaderName, Method, header};
use tower_http::cors::{AllowOrigin, CorsLayer};

/// How long a browser may remember a preflight's answer.
const MAX_AGE: Duration = Duration::from_secs(600);

/// Answers preflights, before authentication, and lets the page read the answers of `POST`.
///
/// Every origin that comes this far is mirrored: the [`Gate`](crate::Gate) in front has refused
/// all that are not allowed. No credentials of the browser's own are ever allowed.
pub fn cors() -> CorsLayer {
    CorsLayer::new()
        .allow_origin(AllowOrigin::mirror_request())
        .allow_methods([Method::POST])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            HeaderName::from_static("mcp-protocol-version"),
            HeaderName::from_static("mcp-method"),
            HeaderName::from_static("mcp-name"),
        ])
        .expose_headers([header::WWW_AUTHENTICATE, header::RETRY_AFTER])
        .max_age(MAX_AGE)
}
