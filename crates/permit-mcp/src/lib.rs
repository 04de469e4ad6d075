//! The MCP endpoint: a tools-only server over Streamable HTTP, for clients of both protocol eras
//! at one URL.
//!
//! The front owns every rule of HTTP and MCP. It authenticates, reads one validated request, tells
//! which revision it speaks, and hands it with its caller to a `jsonrpsee` method table. No
//! session ids are issued, so that a restart of the server is invisible to its clients.
//!
//! The endpoint insists on the mark of [`permit_http::Gate`]: mount the router inside one.

mod call;
mod code;
mod front;
mod message;
mod reply;
mod revision;
mod rpc;
mod server;
mod tools;

use std::sync::Arc;

use axum::Router;
use axum::routing::post;
use permit_http::{BodyLimits, cors};
use permit_policy::{Authenticator, ExternalMcpAttestor};
use permit_service::PermissionService;

/// Where the endpoint is served.
pub const PATH: &str = "/mcp";

/// What the endpoint is made of.
pub struct McpConfig {
    /// The use cases behind the tools.
    pub service: PermissionService,
    /// Who checks bearer tokens.
    pub authenticator: Arc<Authenticator>,
    /// The witness that a call came through this endpoint (invariant I2).
    pub attestor: ExternalMcpAttestor,
    /// What is read of a request.
    pub limits: Limits,
}

/// The bounds on one request.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The longest body, and how long it may take to arrive.
    pub body: BodyLimits,
    /// The most messages in a batch (revision 2025-03-26 only).
    pub batch: usize,
}

impl Default for Limits {
    /// 1 MiB within 30 seconds, and 32 messages.
    fn default() -> Self {
        Self {
            body: BodyLimits::default(),
            batch: 32,
        }
    }
}

/// The endpoint, at [`PATH`] alone: every other path is left to the router's fallback, a plain
/// 404. Must be mounted inside a [`permit_http::Gate`]; a request without its mark is refused.
pub fn router(config: McpConfig) -> Router {
    let front = Arc::new(front::Front::new(config));
    let endpoint = post(front::answer).layer(cors()).with_state(front);
    Router::new().route(PATH, endpoint)
}
