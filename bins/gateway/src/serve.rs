//! `permit-gateway serve`: puts the parts together, serves until told to stop, drains.

use std::fs::File;
use std::future::Future;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use axum::serve::ListenerExt as _;
use permit_audit::AuditLog;
use permit_http::{Gate, GateConfig, HostPattern};
use permit_mcp::McpConfig;
use permit_policy::{
    Authenticator, Authorizer, CompositionRoot, ExternalMcpAttestor, MaintenanceGrant,
};
use permit_service::PermissionService;
use permit_sqlite::SqliteStore;
use permit_system::{SystemClock, SystemRandom, TimeOrderedIds};
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinError;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::admin;
use crate::cli::{AuthMode, ServeArgs};
use crate::config::Config;
use crate::error::Error;
use crate::output;

/// How long a stop waits for claims in flight: longer than a delivery and its settle may take.
const DRAIN: Duration = Duration::from_secs(25);

pub(crate) async fn run(args: ServeArgs) -> Result<(), Error> {
    let config = Config::load(args)?;
    let _logging = permit_logging::start(config.log_format, &config.log)
        .map_err(|cause| Error::new("logging cannot start", cause))?;
    // Every token passes through this process: others of the account may not read its memory.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|cause| Error::new("cannot keep other processes from reading this one", cause))?;
    let gate = gate(&config)?;
    let _only = lock(&config.database)?;
    let store = admin::open(&config.database)?;
    let listener = TcpListener::bind(config.listen).await;
    let listener = listener
        .map_err(|cause| Error::new(format!("cannot listen on {}", config.listen), cause))?;
    let address = listener
        .local_addr()
        .map_err(|cause| Error::new("the listener has no address", cause))?;

    let root = CompositionRoot::new();
    let shared = Arc::new(store.clone());
    let authenticator = Arc::new(match config.auth {
        AuthMode::Required => Authenticator::required(shared.clone(), Arc::new(SystemClock)),
        AuthMode::Disabled => Authenticator::disabled(&root, shared.clone(), Arc::new(SystemClock)),
    });
    let hub = permit_hub::Hub::new(
        shared.clone(),
        Arc::new(SystemClock),
        Arc::new(TimeOrderedIds),
        Arc::new(SystemRandom),
        permit_hub::Limits::default(),
    );
    let audit = AuditLog::new(
        shared.clone(),
        Arc::new(SystemClock),
        Arc::new(TimeOrderedIds),
    );
    let service = PermissionService::new(Authorizer::new(shared), audit, Arc::new(hub.clone()));
    hub.recover(&service, MaintenanceGrant::new(&root))
        .await
        .map_err(|cause| Error::new("what was left unsettled cannot be read", cause))?;

    let app = permit_mcp::router(McpConfig {
        service: service.clone(),
        authenticator: authenticator.clone(),
        attestor: ExternalMcpAttestor::new(&root),
        limits: permit_mcp::Limits::default(),
    })
    .merge(permit_hub::router(&hub, &service, authenticator))
    .merge(health(store.clone()))
    .layer(gate);

    if config.listen.ip().is_unspecified() && config.allow_hosts.is_empty() {
        output::note(
            "warning: no request will be answered: name the hosts that clients may ask for with --allow-host",
        );
    }
    greet(&config, &format!("http://{address}{}", permit_mcp::PATH));
    tracing::info!(%address, "listening");
    let listener = listener.tap_io(|stream| {
        if let Err(cause) = stream.set_nodelay(true) {
            tracing::warn!(%cause, "small packets will wait");
        }
    });
    let (stop, stopping) = (stop_signal()?, CancellationToken::new());
    let server =
        axum::serve(listener, app).with_graceful_shutdown(stopping.clone().cancelled_owned());
    let mut serving = tokio::spawn(async move { server.await });
    tokio::select! {
        ended = &mut serving => return Err(ended_early(ended)),
        () = stop => {}
    }
    tracing::info!("stopping");
    stopping.cancel();
    // Requests first, then the claims they began, which need the link, then the link.
    if timeout(DRAIN, &mut serving).await.is_err() {
        serving.abort();
        tracing::warn!("some requests did not end in time");
    }
    if !service.drain(DRAIN).await {
        tracing::warn!("claims in flight are left to the next start");
    }
    hub.shut_down().await;
    store.close().await;
    Ok(())
}

fn ended_early(ended: Result<std::io::Result<()>, JoinError>) -> Error {
    match ended {
        Ok(Ok(())) => Error::plain("serving ended"),
        Ok(Err(cause)) => Error::new("serving failed", cause),
        Err(cause) => Error::new("serving failed", cause),
    }
}

/// Says where the endpoint is, and what an open one means.
fn greet(config: &Config, url: &str) {
    if config.auth == AuthMode::Disabled {
        output::note(
            "warning: authentication is disabled: everybody who reaches this address decides, and so can an agent on this machine approve itself",
        );
    } else {
        output::note(
            "note: an agent that runs on the account of a token's owner can read the token and approve itself; see README, \"What to know before you trust it\"",
        );
    }
    output::note(&format!("MCP endpoint: {url}"));
}

fn gate(config: &Config) -> Result<Gate, Error> {
    let patterns = |texts: &[String], what: &str| {
        let parse = |text: &String| {
            text.parse::<HostPattern>()
                .map_err(|cause| Error::new(format!("the {what} {text:?} is not valid"), cause))
        };
        texts.iter().map(parse).collect::<Result<Vec<_>, Error>>()
    };
    let mut hosts = patterns(&config.allow_hosts, "allowed host")?;
    if !config.listen.ip().is_unspecified() {
        hosts.extend(patterns(&[config.listen.to_string()], "address")?);
    }
    let origins = config.allow_origins.iter().map(|origin| authority(origin));
    let origins: Vec<String> = origins.collect();
    Ok(Gate::new(GateConfig {
        hosts,
        origins: patterns(&origins, "allowed origin")?,
        loopback: config.listen.ip().is_loopback(),
        refuse_forwarded: config.auth == AuthMode::Disabled,
    }))
}

/// An origin as the gate takes it: host and port, the port being the scheme's own unless named.
fn authority(origin: &str) -> String {
    let with_port = |authority: &str, port: u16| {
        let host = authority.rsplit(']').next().unwrap_or_default();
        if host.contains(':') {
            authority.to_owned()
        } else {
            format!("{authority}:{port}")
        }
    };
    let origin = origin.trim_end_matches('/');
    match origin.split_once("://") {
        Some(("https", authority)) => with_port(authority, 443),
        Some(("http", authority)) => with_port(authority, 80),
        Some(_) | None => origin.to_owned(),
    }
}

/// Makes sure that no other gateway serves the database: each would settle what the other does.
fn lock(database: &Path) -> Result<File, Error> {
    // By whatever name it is opened.
    let database = std::fs::canonicalize(database).unwrap_or_else(|_| database.to_owned());
    let mut path = database.as_os_str().to_owned();
    path.push(".lock");
    let path = PathBuf::from(path);
    let what = || format!("cannot lock {}", path.display());
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&path)
        .map_err(|cause| Error::new(what(), cause))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(Error::plain(format!(
            "another gateway serves {}",
            database.display()
        ))),
        Err(std::fs::TryLockError::Error(cause)) => Err(Error::new(what(), cause)),
    }
}

/// `/healthz` says that the process runs, `/readyz` that its database can be read and written.
fn health(store: SqliteStore) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready).with_state(store))
}

async fn ready(State(store): State<SqliteStore>) -> (StatusCode, &'static str) {
    match store.ping().await {
        Ok(()) => (StatusCode::OK, "ok\n"),
        Err(cause) => {
            tracing::error!(?cause, "not ready");
            (
                StatusCode::SERVICE_UNAVAILABLE,
                "the database is unavailable\n",
            )
        }
    }
}

/// Ends with the first of the signals that ask a program to stop.
fn stop_signal() -> Result<impl Future<Output = ()>, Error> {
    let listen =
        |kind| signal(kind).map_err(|cause| Error::new("signals cannot be listened for", cause));
    let mut terminate = listen(SignalKind::terminate())?;
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut hangup = listen(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_taken_with_the_port_of_its_scheme() {
        for (origin, taken) in [
            ("https://app.example", "app.example:443"),
            ("http://app.example/", "app.example:80"),
            ("https://app.example:8443", "app.example:8443"),
            ("http://[::1]", "[::1]:80"),
            ("http://[::1]:3000", "[::1]:3000"),
            ("app.example", "app.example"),
        ] {
            assert_eq!(authority(origin), taken);
        }
    }
}
