//! Clients that begin with `initialize`.

use serde_json::{Value, json};

use crate::agents::prompt;
use crate::world::{LIST, RESOLVE, SESSION, TASK, World, choice};

fn initialize(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    })
}

#[tokio::test]
async fn a_known_version_is_agreed_on_and_any_other_becomes_the_latest_with_a_handshake() {
    let world = World::new().await;
    for (requested, agreed) in [
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("2024-11-05", "2025-11-25"),
        ("nonsense", "2025-11-25"),
    ] {
        for header in [requested, "2026-07-28"] {
            let ask = world.legacy("initialize", &initialize(requested));
            let answer = ask.set("MCP-Protocol-Version", header).send().await;
            let result = answer.result();
            assert_eq!(result["protocolVersion"], agreed);
            assert_eq!(
                result["capabilities"]["tools"],
                json!({"listChanged": false})
            );
            assert_eq!(result["serverInfo"]["name"], "kandev-permissions");
            assert!(result["instructions"].is_string());
            assert_eq!(answer.header("mcp-session-id"), None);
        }
    }
}

#[tokio::test]
async fn initialize_needs_a_version() {
    let world = World::new().await;
    for params in [json!({}), json!({"protocolVersion": 5})] {
        let answer = world.legacy("initialize", &params).send().await;
        assert_eq!(answer.refusal(), (200, -32602));
    }
}

#[tokio::test]
async fn a_client_lists_and_resolves() {
    let world = World::new().await;
    world.agents.ask(SESSION, prompt("request-1"));
    let initialized = world.legacy("initialize", &initialize("2025-11-25"));
    assert_eq!(initialized.send().await.status, 200);
    assert_eq!(
        world.legacy("ping", &json!({})).send().await.result(),
        json!({})
    );

    let listed = world.list(TASK).await;
    assert_eq!(listed["isError"], false);
    assert_eq!(listed["structuredContent"]["total"], 1);
    let resolved = world.call(RESOLVE, choice("allow-once")).await;
    assert_eq!(resolved["structuredContent"]["status"], "resolved");
    assert_eq!(world.agents.delivered(), ["allow-once"]);
    assert_eq!(world.list(TASK).await["structuredContent"]["total"], 0);
}

#[tokio::test]
async fn the_version_header_may_be_absent_but_not_unknown() {
    let world = World::new().await;
    let ping = || world.legacy("ping", &json!({}));
    assert_eq!(
        ping().without("MCP-Protocol-Version").send().await.status,
        200
    );
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let answer = ping().set("MCP-Protocol-Version", version).send().await;
        assert_eq!(answer.status, 200, "{version}");
    }
    let answer = ping()
        .set("MCP-Protocol-Version", "1900-01-01")
        .send()
        .await;
    assert_eq!(answer.refusal(), (400, -32022));
    let data = &answer.json()["error"]["data"];
    assert_eq!(data["requested"], "1900-01-01");
    assert_eq!(
        data["supported"],
        json!(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"])
    );
    let twice = ping().with("MCP-Protocol-Version", "2025-06-18");
    assert_eq!(twice.send().await.status, 400);
}

#[tokio::test]
async fn the_method_header_is_no_sign_of_the_stateless_era() {
    let world = World::new().await;
    let ask = world.legacy("ping", &json!({})).with("Mcp-Method", "ping");
    assert_eq!(ask.send().await.result(), json!({}));
}

#[tokio::test]
async fn methods_of_the_stateless_era_are_unknown() {
    let world = World::new().await;
    for method in ["server/discover", "subscriptions/listen", "resources/list"] {
        let answer = world.legacy(method, &json!({})).send().await;
        assert_eq!(answer.refusal(), (200, -32601), "{method}");
    }
}

#[tokio::test]
async fn the_oldest_revision_has_no_structured_content() {
    let world = World::new().await;
    let oldest = |method, params: &Value| {
        let ask = world.legacy(method, params);
        ask.set("MCP-Protocol-Version", "2025-03-26").send()
    };
    let params = json!({"name": LIST, "arguments": {"task_id": TASK}});
    let result = oldest("tools/call", &params).await.result();
    assert_eq!(result.get("structuredContent"), None);
    let text = result["content"][0]["text"].as_str().expect("text");
    let listed: Value = serde_json::from_str(text).expect("json");
    assert_eq!(listed["total"], 0);
    let tools = oldest("tools/list", &json!({})).await.result();
    assert_eq!(tools["tools"][0].get("outputSchema"), None);
    assert_eq!(tools["tools"][0].get("title"), None);
}

#[tokio::test]
async fn the_list_of_tools_has_one_page() {
    let world = World::new().await;
    let answer = world
        .legacy("tools/list", &json!({"cursor": "x"}))
        .send()
        .await;
    assert_eq!(answer.refusal(), (200, -32602));
}
