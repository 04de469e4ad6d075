//! From an HTTP request to a connection.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use http::{StatusCode, header};
use hyper::upgrade::OnUpgrade;
use jsonrpsee::core::middleware::RpcServiceBuilder;
use jsonrpsee::server::{
    BatchRequestConfig, ConnectionGuard, ConnectionPermit, ConnectionState, PingConfig,
    ServerConfig, ServerHandle, StopHandle, stop_channel, ws,
};
use permit_http::bearer;
use permit_link::{MAX_COMMANDS, MAX_MESSAGE_BYTES, PATH};
use permit_policy::{Authenticator, Denied};
use permit_service::PermissionService;
use tokio::time::sleep;

use crate::connection::Connection;
use crate::hub::Hub;
use crate::limits::Limits;
use crate::link::Link;
use crate::methods::methods;

/// The link at [`permit_link::PATH`]. Only sidecars connect there: a request with an `Origin` is a
/// web page's and refused, and nothing but a WebSocket is served.
pub fn router(hub: &Hub, service: &PermissionService, authenticator: Arc<Authenticator>) -> Router {
    let (stop, server) = stop_channel();
    let link = Link::new(hub, service);
    let entrance = Entrance {
        methods: methods(link.clone()).into(),
        link,
        authenticator,
        guard: ConnectionGuard::new(hub.limits().connections),
        config: config(hub.limits()),
        next: AtomicU32::new(0),
        stop,
        _server: server,
    };
    Router::new()
        .route(PATH, any(enter))
        .with_state(Arc::new(entrance))
}

/// What every new connection needs.
struct Entrance {
    link: Link,
    authenticator: Arc<Authenticator>,
    methods: jsonrpsee::Methods,
    guard: ConnectionGuard,
    config: ServerConfig,
    next: AtomicU32,
    stop: StopHandle,
    /// Connections would stop when it is dropped.
    _server: ServerHandle,
}

fn config(limits: &Limits) -> ServerConfig {
    let ping = PingConfig::new()
        .ping_interval(limits.ping)
        .inactive_limit(limits.silence);
    let room = u32::try_from(MAX_COMMANDS * 2).unwrap_or(u32::MAX);
    ServerConfig::builder()
        .ws_only()
        .max_request_body_size(MAX_MESSAGE_BYTES)
        // It bounds what is read of a WebSocket, too.
        .max_response_body_size(MAX_MESSAGE_BYTES)
        .max_subscriptions_per_connection(1)
        .set_batch_request_config(BatchRequestConfig::Disabled)
        .set_message_buffer_capacity(room)
        .enable_ws_ping(ping)
        .build()
}

async fn enter(State(entrance): State<Arc<Entrance>>, request: Request) -> Response {
    if request.headers().contains_key(header::ORIGIN) {
        return (StatusCode::FORBIDDEN, "web pages may not connect\n").into_response();
    }
    if entrance.link.hub.stopping().is_cancelled() {
        return unavailable();
    }
    let bearer = bearer(request.headers());
    let connection = match entrance.authenticator.execution(bearer.as_ref()).await {
        Ok(grant) => Connection::new(grant),
        Err(Denied::Invalid) => return unauthorized(),
        Err(Denied::Unavailable(cause)) => {
            tracing::error!(?cause, "a credential could not be looked up");
            return unavailable();
        }
    };
    if !ws::is_upgrade_request(&request) {
        return upgrade_required();
    }
    match entrance.guard.try_acquire() {
        Some(permit) => upgrade(&entrance, connection, request, permit).await,
        None => {
            tracing::warn!("there are too many connections");
            unavailable()
        }
    }
}

async fn upgrade(
    entrance: &Entrance,
    connection: Connection,
    request: Request,
    permit: ConnectionPermit,
) -> Response {
    let connection = Arc::new(connection);
    let (mut parts, _body) = request.into_parts();
    let on_upgrade = parts.extensions.remove::<OnUpgrade>();
    // Each call clones the extensions: nothing else is in them.
    parts.extensions.clear();
    parts
        .extensions
        .extend(on_upgrade_with(on_upgrade, connection.clone()));
    let connected = ws::connect(
        http::Request::from_parts(parts, ()),
        entrance.config.clone(),
        entrance.methods.clone(),
        ConnectionState::new(
            entrance.stop.clone(),
            entrance.next.fetch_add(1, Ordering::Relaxed),
            permit,
        ),
        RpcServiceBuilder::new(),
    )
    .await;
    let Ok((response, carried)) = connected else {
        return upgrade_required();
    };
    let link = entrance.link.clone();
    link.hub.clone().connections().spawn(async move {
        tokio::select! {
            () = carried => {}
            () = connection.cut.cancelled() => {}
            () = link.hub.closing().cancelled() => {}
            () = link.watch(&connection) => {}
        }
        link.lose(&connection);
    });
    response.map(axum::body::Body::new)
}

fn on_upgrade_with(on_upgrade: Option<OnUpgrade>, connection: Arc<Connection>) -> http::Extensions {
    let mut extensions = http::Extensions::new();
    if let Some(on_upgrade) = on_upgrade {
        extensions.insert(on_upgrade);
    }
    extensions.insert(connection);
    extensions
}

impl Link {
    /// Completes when the connection has no right to go on: it does not attach in time, or its
    /// credential works no more.
    async fn watch(&self, connection: &Arc<Connection>) {
        let limits = self.hub.limits();
        let late = async {
            sleep(limits.attach).await;
            if connection.place().is_some() {
                pending::<()>().await;
            }
        };
        let revoked = async {
            while self.credential_works(connection).await {
                sleep(limits.credential_check).await;
            }
        };
        tokio::select! {
            () = late => tracing::debug!("a connection did not attach in time"),
            () = revoked => self.revoke(connection),
        }
    }

    /// A store that cannot be asked revokes nothing.
    async fn credential_works(&self, connection: &Connection) -> bool {
        let parts = self.hub.parts();
        let now = parts.clock.now();
        let works = parts
            .executions
            .credential_works(&connection.grant, now)
            .await;
        works.unwrap_or_else(|cause| {
            tracing::warn!(?cause, "a credential could not be checked again");
            true
        })
    }
}

fn unauthorized() -> Response {
    let challenge = [(header::WWW_AUTHENTICATE, "Bearer realm=\"kandev-link\"")];
    let text = "the credential is missing or not valid\n";
    (StatusCode::UNAUTHORIZED, challenge, text).into_response()
}

fn unavailable() -> Response {
    let later = [(header::RETRY_AFTER, RETRY_AFTER.as_secs().to_string())];
    (StatusCode::SERVICE_UNAVAILABLE, later, "unavailable\n").into_response()
}

fn upgrade_required() -> Response {
    let headers = [
        (header::UPGRADE, "websocket"),
        (header::CONNECTION, "upgrade"),
    ];
    (
        StatusCode::UPGRADE_REQUIRED,
        headers,
        "only a WebSocket is served here\n",
    )
        .into_response()
}

const RETRY_AFTER: Duration = Duration::from_secs(1);
