//! The gateway's address.

use permit_link::PATH;
use url::{Host, Url};

/// Why a text is not the address of a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidGateway {
    /// It is no URL with a host.
    #[error("the gateway's address is not a URL")]
    NotAUrl,
    /// It is of another scheme.
    #[error("the gateway's address must begin with https://, http://, wss:// or ws://")]
    Scheme,
    /// It names a user, a query or a fragment.
    #[error("the gateway's address must have neither a user nor a query nor a fragment")]
    Extra,
    /// It has no TLS and is not of this machine.
    #[error("a gateway on another machine must be reached with https:// or wss://")]
    Plain,
}

/// The WebSocket URL of a gateway's link.
pub(crate) fn link_url(gateway: &str) -> Result<Url, InvalidGateway> {
    let mut url = Url::parse(gateway).map_err(|_| InvalidGateway::NotAUrl)?;
    let scheme = match url.scheme() {
        "http" | "ws" => "ws",
        "https" | "wss" => "wss",
        _ => return Err(InvalidGateway::Scheme),
    };
    let has_user = !url.username().is_empty() || url.password().is_some();
    if has_user || url.query().is_some() || url.fragment().is_some() {
        return Err(InvalidGateway::Extra);
    }
    let host = url.host().ok_or(InvalidGateway::NotAUrl)?;
    if scheme == "ws" && !is_loopback(&host) {
        return Err(InvalidGateway::Plain);
    }
    // `url` refuses to turn some schemes into others, not these.
    url.set_scheme(scheme)
        .map_err(|()| InvalidGateway::Scheme)?;
    let path = format!("{}{PATH}", url.path().trim_end_matches('/'));
    url.set_path(&path);
    Ok(url)
}

fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(gateway: &str) -> Result<String, InvalidGateway> {
        link_url(gateway).map(String::from)
    }

    #[test]
    fn every_scheme_becomes_a_websocket_at_the_link() {
        for (gateway, url) in [
            ("http://127.0.0.1:7171", "ws://127.0.0.1:7171/link"),
            ("http://127.9.9.9:7171/", "ws://127.9.9.9:7171/link"),
            ("ws://localhost:7171", "ws://localhost:7171/link"),
            ("http://[::1]:7171", "ws://[::1]:7171/link"),
            ("https://gw.example", "wss://gw.example/link"),
            ("wss://gw.example:8443/a/", "wss://gw.example:8443/a/link"),
        ] {
            assert_eq!(of(gateway).as_deref(), Ok(url));
        }
    }

    #[test]
    fn without_tls_only_this_machine_is_reached() {
        for gateway in [
            "http://gw.example",
            "ws://10.0.0.1:7171",
            "http://0.0.0.0:7171",
            "http://[::]:7171",
            "http://localhost.example",
            "http://127.0.0.1.example",
            "ws://[::ffff:10.0.0.1]",
        ] {
            assert_eq!(of(gateway), Err(InvalidGateway::Plain), "{gateway}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for (gateway, error) in [
            ("", InvalidGateway::NotAUrl),
            ("gateway", InvalidGateway::NotAUrl),
            ("localhost:7171", InvalidGateway::Scheme),
            ("ftp://localhost", InvalidGateway::Scheme),
            ("https://user@gw.example", InvalidGateway::Extra),
            ("https://:x@gw.example", InvalidGateway::Extra),
            ("https://gw.example/?token=x", InvalidGateway::Extra),
            ("https://gw.example/#x", InvalidGateway::Extra),
        ] {
            assert_eq!(of(gateway), Err(error), "{gateway}");
        }
    }
}
