use axum::http::{HeaderName, HeaderValue};

use super::*;

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        let name: HeaderName = name.parse().expect("a header name");
        headers.append(name, HeaderValue::from_str(value).expect("a header value"));
    }
    headers
}

fn ask(gate: &Gate, pairs: &[(&str, &str)]) -> Result<(), Refusal> {
    let uri = Uri::from_static("/mcp");
    gate.check(&uri, &headers(pairs)).map(|Admitted(())| ())
}

fn patterns(texts: &[&str]) -> Vec<HostPattern> {
    texts
        .iter()
        .map(|text| text.parse().expect("a pattern"))
        .collect()
}

fn local() -> Gate {
    Gate::new(GateConfig {
        loopback: true,
        ..GateConfig::default()
    })
}

fn public() -> Gate {
    Gate::new(GateConfig {
        hosts: patterns(&["gate.example"]),
        origins: patterns(&["app.example:443"]),
        ..GateConfig::default()
    })
}

#[test]
fn on_loopback_only_loopback_names_are_hosts() {
    for host in [
        "localhost",
        "LOCALHOST:1",
        "127.0.0.1:8080",
        "[::1]",
        "[::1]:8080",
    ] {
        assert_eq!(ask(&local(), &[("host", host)]), Ok(()), "{host}");
    }
    for host in ["rebound.example", "localhost.rebound.example", "127.0.0.2"] {
        assert_eq!(
            ask(&local(), &[("host", host)]),
            Err(Refusal::Host),
            "{host}"
        );
    }
}

#[test]
fn off_loopback_only_listed_names_are_hosts() {
    assert_eq!(ask(&public(), &[("host", "gate.example")]), Ok(()));
    assert_eq!(ask(&public(), &[("host", "localhost")]), Err(Refusal::Host));
}

#[test]
fn a_missing_malformed_or_repeated_host_is_refused() {
    let bad = Err(Refusal::BadHost);
    assert_eq!(ask(&local(), &[]), bad);
    assert_eq!(ask(&local(), &[("host", "")]), bad);
    assert_eq!(ask(&local(), &[("host", "user@localhost")]), bad);
    let twice = [("host", "localhost"), ("host", "localhost")];
    assert_eq!(ask(&local(), &twice), bad);
}

#[test]
fn the_target_and_the_header_must_name_the_same_host() {
    let target = Uri::from_static("http://localhost:1/mcp");
    let check = |pairs: &[(&str, &str)]| {
        let headers = headers(pairs);
        local().check(&target, &headers).map(|Admitted(())| ())
    };
    assert_eq!(check(&[]), Ok(()));
    assert_eq!(check(&[("host", "localhost:1")]), Ok(()));
    assert_eq!(check(&[("host", "127.0.0.1:1")]), Err(Refusal::BadHost));
}

#[test]
fn an_origin_that_is_not_allowed_is_refused() {
    let from = |origin| ask(&public(), &[("host", "gate.example"), ("origin", origin)]);
    for origin in [
        "https://gate.example",
        "https://app.example",
        "https://app.example:443",
    ] {
        assert_eq!(from(origin), Ok(()), "{origin}");
    }
    for origin in [
        "null",
        "",
        "http://app.example",
        "https://app.example.evil.example",
        "https://localhost",
        "https://gate.example:8443",
        "gate.example",
        "ftp://gate.example",
        "https://gate.example/path",
    ] {
        assert_eq!(from(origin), Err(Refusal::Origin), "{origin}");
    }
    let twice = [
        ("host", "gate.example"),
        ("origin", "https://gate.example"),
        ("origin", "https://gate.example"),
    ];
    assert_eq!(ask(&public(), &twice), Err(Refusal::BadOrigin));
}

#[test]
fn on_loopback_local_pages_are_allowed_origins() {
    let from = |origin| ask(&local(), &[("host", "localhost:1"), ("origin", origin)]);
    assert_eq!(from("http://localhost:6274"), Ok(()));
    assert_eq!(from("http://[::1]:6274"), Ok(()));
    assert_eq!(from("https://rebound.example"), Err(Refusal::Origin));
}

#[test]
fn forwarded_requests_are_refused_where_they_must_be() {
    let closed = Gate::new(GateConfig {
        loopback: true,
        refuse_forwarded: true,
        ..GateConfig::default()
    });
    for name in [
        "forwarded",
        "X-Forwarded-For",
        "x-forwarded-anything",
        "x-real-ip",
        "via",
    ] {
        let pairs = [("host", "localhost"), (name, "1.2.3.4")];
        assert_eq!(ask(&closed, &pairs), Err(Refusal::Forwarded), "{name}");
        assert_eq!(ask(&local(), &pairs), Ok(()), "{name}");
    }
}
