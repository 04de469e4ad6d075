//! Connecting and attaching.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, header};
use jsonrpsee::client_transport::ws::WsHandshakeError;
use jsonrpsee::core::client::{Error, Subscription, SubscriptionClientT as _};
use jsonrpsee::core::middleware::RpcServiceBuilder;
use jsonrpsee::ws_client::{PingConfig, WsClientBuilder};
use permit_link::{
    ATTACH, Attach, Execution, LinkError, MAX_COMMANDS, MAX_MESSAGE_BYTES, PROTOCOL, ToSidecar,
    UNATTACH, Welcome,
};
use permit_policy::Secret;
use tokio::time::timeout;
use url::Url;

use crate::call::{CallFailed, Connection, One, failure};
use crate::config::Timings;

/// An attached connection.
pub(crate) struct Attached {
    pub(crate) connection: Arc<Connection>,
    pub(crate) items: Subscription<ToSidecar>,
    pub(crate) welcome: Welcome,
}

/// Why a connection could not be attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotAttached {
    /// The gateway does not know the credential.
    Unauthorized,
    /// The gateway refused the attach.
    Refused(LinkError),
    /// It may work later.
    Unreachable,
}

/// Connects and attaches.
pub(crate) async fn attach(
    url: &Url,
    credential: &Secret,
    execution: Execution,
    timings: &Timings,
) -> Result<Attached, NotAttached> {
    let connection = connect(url, credential, timings).await?;
    let attach = Attach {
        protocol: PROTOCOL,
        execution,
    };
    let greeted = async {
        let subscribed = connection.subscribe::<ToSidecar, _>(ATTACH, One(attach), UNATTACH);
        let mut items = subscribed.await.map_err(|error| refused(&error))?;
        match items.next().await {
            Some(Ok(ToSidecar::Welcome(welcome))) => Ok((items, welcome)),
            Some(Ok(ToSidecar::Command(_) | ToSidecar::Goodbye(_)) | Err(_)) | None => {
                Err(NotAttached::Unreachable)
            }
        }
    };
    let greeted = timeout(timings.connect, greeted).await;
    let (items, welcome) = greeted.unwrap_or(Err(NotAttached::Unreachable))?;
    Ok(Attached {
        connection: Arc::new(connection),
        items,
        welcome,
    })
}

async fn connect(
    url: &Url,
    credential: &Secret,
    timings: &Timings,
) -> Result<Connection, NotAttached> {
    let ping = PingConfig::new()
        .ping_interval(timings.ping)
        .inactive_limit(timings.silence);
    WsClientBuilder::new()
        .set_headers(headers(credential)?)
        .set_rpc_middleware(RpcServiceBuilder::new())
        .max_request_size(MAX_MESSAGE_BYTES)
        .max_response_size(MAX_MESSAGE_BYTES)
        .max_buffer_capacity_per_subscription(MAX_COMMANDS * 4)
        .connection_timeout(timings.connect)
        .request_timeout(timings.call)
        // One attempt: the credential does not follow a redirection.
        .max_redirections(1)
        .enable_ws_ping(ping)
        .build(url)
        .await
        .map_err(|error| rejected(&error))
}

fn headers(credential: &Secret) -> Result<HeaderMap, NotAttached> {
    let bearer = format!("Bearer {}", credential.expose());
    let mut bearer = HeaderValue::try_from(bearer).map_err(|_| NotAttached::Unauthorized)?;
    bearer.set_sensitive(true);
    Ok(HeaderMap::from_iter([(header::AUTHORIZATION, bearer)]))
}

fn rejected(error: &Error) -> NotAttached {
    let Error::Transport(cause) = error else {
        return NotAttached::Unreachable;
    };
    match cause.downcast_ref::<WsHandshakeError>() {
        Some(WsHandshakeError::Rejected { status_code: 401 }) => NotAttached::Unauthorized,
        Some(WsHandshakeError::Rejected { status_code }) => {
            tracing::debug!(status_code, "the gateway refused the connection");
            NotAttached::Unreachable
        }
        Some(_) | None => NotAttached::Unreachable,
    }
}

fn refused(error: &Error) -> NotAttached {
    match failure(error) {
        CallFailed::Refused(error) => NotAttached::Refused(error),
        CallFailed::Broken => NotAttached::Unreachable,
    }
}
