//! Who comes in: the gate, CORS and authentication.

use permit_http::GateConfig;
use permit_policy::{CredentialKind, Scope, Secret};
use permit_system::SystemRandom;
use serde_json::json;
use time::OffsetDateTime;

use crate::agents::prompt;
use crate::client::Ask;
use crate::world::{LIST, RESOLVE, SESSION, Setup, World, choice};

#[tokio::test]
async fn every_invalid_credential_is_refused_alike() {
    let world = World::new().await;
    let expired = world.credentials.mint_for(Scope::List);
    world.credentials.change(&expired, |token| {
        token.expires_at = Some(OffsetDateTime::UNIX_EPOCH);
    });
    let revoked = world.credentials.mint_for(Scope::List);
    world.credentials.revoke(&revoked);
    let unknown = Secret::generate(CredentialKind::PersonalAccessToken, &SystemRandom);
    let execution = Secret::generate(CredentialKind::Execution, &SystemRandom);
    let ping = || world.legacy("ping", &json!({}));

    let missing = ping().without("Authorization").send().await.timeless();
    assert_eq!(missing.refusal(), (401, 401));
    assert_eq!(missing.header("www-authenticate"), Some("Bearer"));
    for credential in [
        format!("Bearer {expired}"),
        format!("Bearer {revoked}"),
        format!("Bearer {}", unknown.expose()),
        format!("Bearer {}", execution.expose()),
        format!("Basic {}", world.token),
        "Bearer".to_owned(),
        "Bearer nonsense".to_owned(),
        format!("Bearer {}{}", world.token, "0".repeat(600)),
    ] {
        let answer = ping().set("Authorization", &credential).send().await;
        assert_eq!(answer.timeless(), missing);
    }
    let twice = ping().with("Authorization", &format!("Bearer {}", world.token));
    assert_eq!(twice.send().await.timeless(), missing);
    let bad_json = world.ask().without("Authorization").body("{");
    assert_eq!(bad_json.send().await.timeless(), missing);
}

#[tokio::test]
async fn a_revocation_acts_on_the_very_next_request() {
    let world = World::new().await;
    assert_eq!(world.legacy("ping", &json!({})).send().await.status, 200);
    world.credentials.revoke(&world.token);
    assert_eq!(world.legacy("ping", &json!({})).send().await.status, 401);
}

#[tokio::test]
async fn a_credential_that_cannot_be_checked_is_to_be_tried_again() {
    let world = World::new().await;
    world.credentials.set_unavailable();
    let answer = world.legacy("ping", &json!({})).send().await;
    assert_eq!(answer.status, 503);
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert!(!answer.body.contains("disk"));
}

#[tokio::test]
async fn a_credential_without_the_scope_is_refused_and_told_which() {
    let world = World::new().await;
    world.agents.ask(SESSION, prompt("request-1"));
    for (tool, arguments, held, lacking) in [
        (LIST, json!({"task_id": "task-1"}), Scope::Resolve, "list"),
        (RESOLVE, choice("allow-once"), Scope::List, "resolve"),
        // Told before anything is said about the arguments.
        (RESOLVE, json!({}), Scope::List, "resolve"),
    ] {
        let token = format!("Bearer {}", world.credentials.mint_for(held));
        let params = json!({"name": tool, "arguments": arguments});
        let legacy = world.legacy("tools/call", &params);
        let modern = world.modern("tools/call", params);
        for ask in [legacy, modern] {
            let answer = ask.set("Authorization", &token).send().await;
            assert_eq!(answer.refusal(), (403, 403));
            let challenge = format!(r#"Bearer error="insufficient_scope", scope="{lacking}""#);
            assert_eq!(answer.header("www-authenticate"), Some(&*challenge));
        }
    }
    assert!(world.agents.delivered().is_empty());
}

#[tokio::test]
async fn a_host_or_origin_that_is_not_allowed_is_refused_before_authentication() {
    let world = World::new().await;
    let ask = || world.legacy("ping", &json!({})).without("Authorization");
    let host = |host| ask().set("Host", host).send();
    assert_eq!(host("rebound.example").await.status, 403);
    assert_eq!(host("localhost").await.status, 401);
    assert_eq!(host("[::1]:1").await.status, 401);
    assert_eq!(ask().with("Host", "localhost").send().await.status, 400);
    let nameless = ask().without("Host").send_http_1_0().await;
    assert_eq!(nameless.status, 400);

    let origin = |origin| ask().with("Origin", origin).send();
    assert_eq!(origin("http://rebound.example").await.status, 403);
    assert_eq!(origin("null").await.status, 403);
    assert_eq!(origin("http://localhost:6274").await.status, 401);
    let twice = ask()
        .with("Origin", "http://localhost")
        .with("Origin", "http://localhost");
    assert_eq!(twice.send().await.status, 400);
    let elsewhere = Ask::new(world.address, "GET", "/nothing").set("Host", "rebound.example");
    assert_eq!(elsewhere.send().await.status, 403);
}

#[tokio::test]
async fn allowed_hosts_and_origins_come_from_the_configuration() {
    let gate = GateConfig {
        hosts: vec!["gate.example".parse().expect("a host")],
        origins: vec!["app.example:443".parse().expect("a host")],
        ..GateConfig::default()
    };
    let setup = Setup {
        gate: Some(gate),
        ..Setup::default()
    };
    let world = World::with(setup).await;
    let ask = |host| world.legacy("ping", &json!({})).set("Host", host);
    assert_eq!(ask("gate.example:8443").send().await.status, 200);
    assert_eq!(ask("localhost").send().await.status, 403);
    let app = ask("gate.example").with("Origin", "https://app.example");
    assert_eq!(app.send().await.status, 200);
}

#[tokio::test]
async fn outside_of_a_gate_nothing_is_served() {
    let setup = Setup {
        no_gate: true,
        ..Setup::default()
    };
    let world = World::with(setup).await;
    let answer = world.legacy("ping", &json!({})).send().await;
    assert_eq!(answer.refusal(), (500, -32603));
}

#[tokio::test]
async fn without_authentication_a_forwarded_request_is_refused() {
    let setup = Setup {
        authentication_disabled: true,
        ..Setup::default()
    };
    let world = World::with(setup).await;
    let ask = || world.legacy("ping", &json!({})).without("Authorization");
    assert_eq!(ask().send().await.status, 200);
    for name in ["Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"] {
        let answer = ask().with(name, "for=192.0.2.1").send().await;
        assert_eq!(answer.status, 403, "{name}");
    }
    let world = World::new().await;
    let behind_proxy = world
        .legacy("ping", &json!({}))
        .with("X-Forwarded-For", "192.0.2.1");
    assert_eq!(behind_proxy.send().await.status, 200);
}

#[tokio::test]
async fn a_preflight_is_answered_before_authentication() {
    let world = World::new().await;
    let preflight = |origin| {
        Ask::new(world.address, "OPTIONS", "/mcp")
            .with("Origin", origin)
            .with("Access-Control-Request-Method", "POST")
            .with("Access-Control-Request-Headers", "authorization,mcp-name")
            .send()
    };
    let answer = preflight("http://localhost:6274").await;
    assert_eq!(answer.status, 200);
    let header = |name| answer.header(name).expect("a header");
    assert_eq!(
        header("access-control-allow-origin"),
        "http://localhost:6274"
    );
    assert_eq!(header("access-control-allow-methods"), "POST");
    assert_eq!(
        header("access-control-allow-headers"),
        "authorization,content-type,mcp-protocol-version,mcp-method,mcp-name"
    );
    assert_eq!(answer.header("access-control-allow-credentials"), None);
    assert_eq!(preflight("http://rebound.example").await.status, 403);
    let call = world
        .legacy("ping", &json!({}))
        .with("Origin", "http://localhost:6274");
    let call = call.send().await;
    assert_eq!(
        call.header("access-control-allow-origin"),
        Some("http://localhost:6274")
    );
}
