//! Host names with an optional port, as `Host` and `Origin` carry them and as an operator allows
//! them.

use std::fmt;
use std::str::FromStr;

/// The names of this machine that no resolver can point elsewhere.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// An allowed host: an exact name or address, with any port or one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPattern {
    host: String,
    port: Option<u16>,
}

/// The text is not a host name or address with an optional port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a host name with an optional port, such as `gateway.example` or `[::1]:8080`")]
pub struct InvalidHost;

impl FromStr for HostPattern {
    type Err = InvalidHost;

    fn from_str(text: &str) -> Result<Self, InvalidHost> {
        let HostPort { host, port } = HostPort::parse(text).ok_or(InvalidHost)?;
        Ok(Self {
            host: host.to_owned(),
            port,
        })
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.host),
            None => f.write_str(&self.host),
        }
    }
}

impl HostPattern {
    /// Whether it allows this host. Where the scheme's own port is left out, `default_ports` says
    /// which it may stand for.
    pub(crate) fn allows(&self, host: HostPort<'_>, default_ports: &[u16]) -> bool {
        self.host.eq_ignore_ascii_case(host.host)
            && self.port.is_none_or(|port| match host.port {
                Some(explicit) => explicit == port,
                None => default_ports.contains(&port),
            })
    }
}

/// A host with its port, borrowed from a header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostPort<'a> {
    host: &'a str,
    port: Option<u16>,
}

impl<'a> HostPort<'a> {
    /// Reads `name`, `name:port`, `[v6]` or `[v6]:port`, and nothing else.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (host, rest) = match text.find(']') {
            Some(end) => text.split_at(end + 1),
            None => text.split_at(text.find(':').unwrap_or(text.len())),
        };
        let is_host = match host.strip_prefix('[') {
            Some(address) => is_v6(address.strip_suffix(']')?),
            None => is_name(host),
        };
        if !is_host {
            return None;
        }
        let port = match rest.strip_prefix(':') {
            Some(digits) => Some(parse_port(digits)?),
            None if rest.is_empty() => None,
            None => return None,
        };
        Some(Self { host, port })
    }

    pub(crate) fn is_loopback(self) -> bool {
        LOOPBACK
            .iter()
            .any(|name| name.eq_ignore_ascii_case(self.host))
    }

    pub(crate) fn is_same(self, other: Self) -> bool {
        self.port == other.port && self.host.eq_ignore_ascii_case(other.host)
    }
}

fn is_name(host: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    !host.is_empty() && host.bytes().all(is_part)
}

fn is_v6(address: &str) -> bool {
    address.parse::<std::net::Ipv6Addr>().is_ok()
}

fn parse_port(digits: &str) -> Option<u16> {
    let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_name_or_address_with_an_optional_port_is_a_host() {
        for good in [
            "localhost",
            "a.example:80",
            "[::1]",
            "[::1]:8080",
            "127.0.0.1:1",
        ] {
            assert!(HostPort::parse(good).is_some(), "{good}");
        }
        for bad in [
            "", ":80", "a:", "a:x", "a:+1", "a:99999", "a:1:2", "u@a", "a/b", "a b", "::1", "[::1",
            "[::1]x", "[]", "[a]", "x[::1]", "*", "a,b",
        ] {
            assert!(HostPort::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_pattern_without_a_port_allows_any_and_one_with_a_port_only_that() {
        let host = |text| HostPort::parse(text).expect("a host");
        let any: HostPattern = "Gate.example".parse().expect("a pattern");
        assert!(any.allows(host("gate.EXAMPLE"), &[]));
        assert!(any.allows(host("gate.example:8443"), &[]));
        assert!(!any.allows(host("gate.example.evil"), &[]));
        let one: HostPattern = "gate.example:443".parse().expect("a pattern");
        assert!(one.allows(host("gate.example:443"), &[]));
        assert!(one.allows(host("gate.example"), &[443]));
        assert!(!one.allows(host("gate.example"), &[80]));
        assert!(!one.allows(host("gate.example:444"), &[443]));
    }
}
