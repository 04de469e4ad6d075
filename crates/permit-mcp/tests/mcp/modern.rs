//! Clients of the stateless era.

use serde_json::{Value, json};

use crate::agents::prompt;
use crate::client::Ask;
use crate::world::{LIST, RESOLVE, SESSION, TASK, World, choice};

const INVALID_PARAMS: (u16, i64) = (400, -32602);
const HEADER_MISMATCH: (u16, i64) = (400, -32020);
const UNSUPPORTED_VERSION: (u16, i64) = (400, -32022);

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// A `server/discover` with this metadata and this version header.
fn discover(world: &World, meta: &Value, version: &str) -> Ask {
    let params = json!({"_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": params});
    world
        .ask()
        .with("MCP-Protocol-Version", version)
        .with("Mcp-Method", "server/discover")
        .body(body.to_string())
}

fn is_complete(result: &Value) {
    assert_eq!(result["resultType"], "complete");
    let server = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(server["name"], "kandev-permissions");
}

#[tokio::test]
async fn discover_tells_versions_capabilities_and_how_long_they_hold() {
    let world = World::new().await;
    let result = world
        .modern("server/discover", json!({}))
        .send()
        .await
        .result();
    is_complete(&result);
    assert_eq!(
        result["supportedVersions"],
        json!(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"])
    );
    assert_eq!(
        result["capabilities"]["tools"],
        json!({"listChanged": false})
    );
    assert!(result["instructions"].is_string());
    assert!(result["ttlMs"].is_u64());
    assert_eq!(result["cacheScope"], "private");
}

#[tokio::test]
async fn a_client_lists_and_resolves_without_a_handshake() {
    let world = World::new().await;
    world.agents.ask(SESSION, prompt("request-1"));
    let tools = world.modern("tools/list", json!({})).send().await.result();
    is_complete(&tools);
    assert!(tools["ttlMs"].is_u64());
    assert_eq!(tools["cacheScope"], "private");

    let call = |name, arguments| {
        let params = json!({"name": name, "arguments": arguments});
        world.modern("tools/call", params).send()
    };
    let listed = call(LIST, json!({"task_id": TASK})).await.result();
    is_complete(&listed);
    assert_eq!(listed["structuredContent"]["total"], 1);
    let resolved = call(RESOLVE, choice("reject-once")).await.result();
    is_complete(&resolved);
    assert_eq!(resolved["structuredContent"]["option_kind"], "reject_once");
    assert_eq!(resolved["structuredContent"]["source"], "external_mcp");
    assert_eq!(world.agents.delivered(), ["reject-once"]);
}

#[tokio::test]
async fn a_request_needs_its_metadata() {
    let world = World::new().await;
    for meta in [
        json!(null),
        json!(5),
        json!({}),
        json!({CAPABILITIES: {}}),
        json!({VERSION: "2026-07-28"}),
        json!({VERSION: "2026-07-28", CAPABILITIES: null}),
        json!({VERSION: "2026-07-28", CAPABILITIES: []}),
        json!({VERSION: 20_260_728, CAPABILITIES: {}}),
    ] {
        let answer = discover(&world, &meta, "2026-07-28").send().await;
        assert_eq!(answer.refusal(), INVALID_PARAMS, "{meta}");
        assert_eq!(answer.json()["id"], 1);
    }
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#;
    let bare = world.ask().with("MCP-Protocol-Version", "2026-07-28");
    assert_eq!(bare.body(body).send().await.refusal(), INVALID_PARAMS);
}

#[tokio::test]
async fn headers_must_say_what_the_body_says() {
    let world = World::new().await;
    let meta = json!({VERSION: "2026-07-28", CAPABILITIES: {}});
    let good = || discover(&world, &meta, "2026-07-28");
    assert_eq!(good().send().await.status, 200);
    for bad in [
        good().without("MCP-Protocol-Version"),
        good().set("MCP-Protocol-Version", "2025-11-25"),
        good().with("MCP-Protocol-Version", "2026-07-28"),
        good().without("Mcp-Method"),
        good().set("Mcp-Method", "tools/list"),
        good().set("Mcp-Method", "Server/Discover"),
        good().with("Mcp-Method", "server/discover"),
    ] {
        assert_eq!(bad.send().await.refusal(), HEADER_MISMATCH);
    }
}

#[tokio::test]
async fn the_name_header_is_compared_decoded() {
    let world = World::new().await;
    let params = json!({"name": LIST, "arguments": {"task_id": TASK}});
    let call = || world.modern("tools/call", params.clone());
    let encoded = "=?base64?bGlzdF9wZW5kaW5nX2FnZW50X3Blcm1pc3Npb25zX2thbmRldg==?=";
    assert_eq!(call().set("Mcp-Name", encoded).send().await.status, 200);
    for bad in [
        call().without("Mcp-Name"),
        call().set("Mcp-Name", RESOLVE),
        call().set("Mcp-Name", "=?base64?bm90aGluZw==?="),
        call().set("Mcp-Name", "=?base64?***?="),
        call().with("Mcp-Name", LIST),
    ] {
        assert_eq!(bad.send().await.refusal(), HEADER_MISMATCH);
    }
}

#[tokio::test]
async fn an_unsupported_version_is_told_what_is_supported() {
    let world = World::new().await;
    for version in ["2099-01-01", "2025-11-25", "nonsense"] {
        let meta = json!({VERSION: version, CAPABILITIES: {}});
        let answer = discover(&world, &meta, version).send().await;
        assert_eq!(answer.refusal(), UNSUPPORTED_VERSION, "{version}");
        let data = &answer.json()["error"]["data"];
        assert_eq!(data["requested"], version);
        assert_eq!(data["supported"][0], "2026-07-28");
    }
}

#[tokio::test]
async fn unknown_methods_are_404_and_so_are_those_of_the_handshake() {
    let world = World::new().await;
    for method in [
        "initialize",
        "ping",
        "subscriptions/listen",
        "resources/list",
        "nothing",
    ] {
        let answer = world.modern(method, json!({})).send().await;
        assert_eq!(answer.refusal(), (404, -32601), "{method}");
        assert_eq!(answer.json()["id"], 1);
    }
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_of_the_protocol() {
    let world = World::new().await;
    let answer = world.modern("tools/call", json!({"name": "nothing"}));
    assert_eq!(answer.send().await.refusal(), (200, -32602));
}
