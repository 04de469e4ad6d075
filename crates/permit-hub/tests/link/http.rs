//! The upgrade: who may connect at all.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::gateway::{World, brisk};

/// What a request to the link is answered with: the status and the head.
async fn ask(gateway: SocketAddr, headers: &[(&str, &str)], upgrade: bool) -> (u16, String) {
    let mut request = format!("GET /link HTTP/1.1\r\nhost: {gateway}\r\n");
    let websocket = [
        ("connection", "upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "AAAAAAAAAAAAAAAAAAAAAA=="),
    ];
    let upgrading = websocket.iter().filter(|_| upgrade);
    for (name, value) in upgrading.chain(headers) {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str("\r\n");
    let mut stream = TcpStream::connect(gateway).await.expect("a connection");
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.expect("an answer"));
    }
    let head = String::from_utf8(head).expect("text").to_lowercase();
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    (status.expect("a status"), head)
}

#[tokio::test]
async fn the_credential_is_checked_before_the_upgrade_and_all_failures_look_alike() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    let good = format!("Bearer {}", world.credential());
    let (status, _) = ask(gateway.address, &[("authorization", &good)], true).await;
    assert_eq!(status, 101);

    let unknown = format!("Bearer {}", World::new().credential());
    let cut = &good[..good.len() - 1];
    let other_kind = good.replace("kandev_exec_", "kandev_pat_");
    let mut answers = Vec::new();
    for headers in [
        &[][..],
        &[("authorization", unknown.as_str())],
        &[("authorization", cut)],
        &[("authorization", &other_kind)],
        &[("authorization", "Basic abc")],
        &[("authorization", &good), ("authorization", &good)],
    ] {
        let (status, head) = ask(gateway.address, headers, true).await;
        assert_eq!(status, 401, "{headers:?}");
        assert!(head.contains("www-authenticate: bearer"), "{head}");
        answers.push(without_date(&head));
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
}

#[tokio::test]
async fn a_revoked_credential_does_not_connect() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    world.records.revoke(&crate::gateway::session());
    let good = format!("Bearer {}", world.credential());
    let (status, _) = ask(gateway.address, &[("authorization", &good)], true).await;
    assert_eq!(status, 401);
}

#[tokio::test]
async fn web_pages_do_not_connect() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    let good = format!("Bearer {}", world.credential());
    let own = format!("http://{}", gateway.address);
    for origin in ["http://evil.example", "null", "", &own] {
        let headers = [("authorization", good.as_str()), ("origin", origin)];
        let (status, _) = ask(gateway.address, &headers, true).await;
        assert_eq!(status, 403, "{origin:?}");
    }
}

#[tokio::test]
async fn nothing_but_a_websocket_is_served() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    let good = format!("Bearer {}", world.credential());
    let (status, _) = ask(gateway.address, &[("authorization", &good)], false).await;
    assert_eq!(status, 426);
    let (status, _) = ask(gateway.address, &[], false).await;
    assert_eq!(status, 401);
}

#[tokio::test]
async fn a_store_that_fails_is_not_told_as_a_bad_credential() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    let broken = &world.records.broken;
    broken.store(true, std::sync::atomic::Ordering::SeqCst);
    let good = format!("Bearer {}", world.credential());
    let (status, _) = ask(gateway.address, &[("authorization", &good)], true).await;
    assert_eq!(status, 503);
}

fn without_date(head: &str) -> String {
    let lines = head.lines().filter(|line| !line.starts_with("date:"));
    lines.collect::<Vec<_>>().join("\n")
}
