//! The gate on Host, Origin and forwarding headers: what keeps web pages and rebound names out.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use futures::future::Either;
use tower::{Layer, Service};

use crate::host::HostPort;
use crate::{HostPattern, single};

/// What a reverse proxy adds.
const FORWARDING: [&str; 8] = [
    "forwarded",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-forwarded-proto",
    "x-forwarded-server",
    "x-real-ip",
];
const FORWARDING_PREFIX: &str = "x-forwarded-";

/// Who may ask, and for which host.
#[derive(Clone, Debug, Default)]
pub struct GateConfig {
    /// The names under which this server may be asked for, such as a proxy's public host.
    pub hosts: Vec<HostPattern>,
    /// The origins of web pages that may ask, by host. A page of this server's own is one without
    /// being named.
    pub origins: Vec<HostPattern>,
    /// Whether the server listens on loopback only: `localhost`, `127.0.0.1` and `[::1]` are then
    /// allowed as host and as origin.
    pub loopback: bool,
    /// Whether a request with forwarding headers is refused: set when authentication is disabled,
    /// since a proxy in front would open the server to everybody.
    pub refuse_forwarded: bool,
}

/// The gate, as a layer. It belongs outside of every other layer of every surface. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Gate(Arc<GateConfig>);

/// The mark, in a request's extensions, of what the gate let through. Only the gate makes one.
#[derive(Clone, Copy, Debug)]
pub struct Admitted(());

/// Why a request was not let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no host, there are several, or it is none.
    #[error("The request must name exactly one host.")]
    BadHost,
    /// The server may not be asked for under this name.
    #[error("This host is not allowed.")]
    Host,
    /// There are several origins.
    #[error("The request must name at most one origin.")]
    BadOrigin,
    /// Pages of this origin may not ask.
    #[error("This origin is not allowed.")]
    Origin,
    /// The request was forwarded and must not be.
    #[error("Forwarded requests are not allowed while authentication is disabled.")]
    Forwarded,
}

impl Refusal {
    /// The status to answer with.
    #[must_use]
    pub const fn status(self) -> StatusCode {
        match self {
            Self::BadHost | Self::BadOrigin => StatusCode::BAD_REQUEST,
            Self::Host | Self::Origin | Self::Forwarded => StatusCode::FORBIDDEN,
        }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::BadHost => "bad_host",
            Self::Host => "host",
            Self::BadOrigin => "bad_origin",
            Self::Origin => "origin",
            Self::Forwarded => "forwarded",
        }
    }
}

impl Gate {
    /// A gate by this configuration.
    #[must_use]
    pub fn new(config: GateConfig) -> Self {
        Self(Arc::new(config))
    }

    /// Checks a request's target and headers.
    ///
    /// # Errors
    /// [`Refusal`] with the first reason against it.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<Admitted, Refusal> {
        let host = host_of(uri, headers)?;
        if !self.allows_host(host) {
            return Err(Refusal::Host);
        }
        match single(headers, header::ORIGIN) {
            Ok(None) => {}
            Ok(Some(origin)) if self.allows_origin(origin, host) => {}
            Ok(Some(_)) => return Err(Refusal::Origin),
            Err(_) => return Err(Refusal::BadOrigin),
        }
        if self.0.refuse_forwarded && is_forwarded(headers) {
            return Err(Refusal::Forwarded);
        }
        Ok(Admitted(()))
    }

    fn allows_host(&self, host: HostPort<'_>) -> bool {
        let listed = |pattern: &HostPattern| pattern.allows(host, &[80, 443]);
        (self.0.loopback && host.is_loopback()) || self.0.hosts.iter().any(listed)
    }

    fn allows_origin(&self, origin: &str, host: HostPort<'_>) -> bool {
        let (authority, port) = match origin.split_once("://") {
            Some(("http", authority)) => (authority, 80),
            Some(("https", authority)) => (authority, 443),
            // `null` among them.
            Some(_) | None => return false,
        };
        let Some(origin) = HostPort::parse(authority) else {
            return false;
        };
        let listed = |pattern: &HostPattern| pattern.allows(origin, &[port]);
        origin.is_same(host)
            || (self.0.loopback && origin.is_loopback())
            || self.0.origins.iter().any(listed)
    }
}

/// The one host that the request names. HTTP/2 puts it into the target; where both the target and
/// the header name one, they must agree.
fn host_of<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Result<HostPort<'a>, Refusal> {
    let parse = |text| HostPort::parse(text).ok_or(Refusal::BadHost);
    let header = single(headers, header::HOST).map_err(|_| Refusal::BadHost)?;
    match (header, uri.authority()) {
        (Some(header), None) => parse(header),
        (None, Some(target)) => parse(target.as_str()),
        (Some(header), Some(target)) => {
            let (header, target) = (parse(header)?, parse(target.as_str())?);
            header
                .is_same(target)
                .then_some(header)
                .ok_or(Refusal::BadHost)
        }
        (None, None) => Err(Refusal::BadHost),
    }
}

fn is_forwarded(headers: &HeaderMap) -> bool {
    headers.keys().any(|name| {
        let name = name.as_str();
        FORWARDING.contains(&name) || name.starts_with(FORWARDING_PREFIX)
    })
}

impl<S> Layer<S> for Gate {
    type Service = GateService<S>;

    fn layer(&self, inner: S) -> GateService<S> {
        GateService {
            gate: self.clone(),
            inner,
        }
    }
}

/// A service behind a [`Gate`].
#[derive(Clone, Debug)]
pub struct GateService<S> {
    gate: Gate,
    inner: S,
}

impl<S> Service<Request> for GateService<S>
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Either<S::Future, Ready<Result<Response, Infallible>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        match self.gate.check(request.uri(), request.headers()) {
            Ok(admitted) => {
                request.extensions_mut().insert(admitted);
                Either::Left(self.inner.call(request))
            }
            Err(refusal) => {
                tracing::info!(reason = refusal.as_str(), "the gate refused a request");
                let answer = (refusal.status(), refusal.to_string());
                Either::Right(ready(Ok(answer.into_response())))
            }
        }
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
