//! HTTP and JSON-RPC, where clients and libraries disagree most.

use serde_json::{Value, json};

use crate::client::Ask;
use crate::world::World;

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;

#[tokio::test]
async fn other_methods_are_refused_with_the_one_that_is_allowed() {
    let world = World::new().await;
    for method in ["GET", "DELETE", "PUT", "HEAD"] {
        let answer = Ask::new(world.address, method, "/mcp").send().await;
        assert_eq!(answer.status, 405, "{method}");
        assert_eq!(answer.header("allow"), Some("POST"), "{method}");
        assert_eq!(answer.body, "");
    }
}

#[tokio::test]
async fn every_other_path_is_a_plain_404() {
    let world = World::new().await;
    for path in [
        "/",
        "/mcp/",
        "/mcp/x",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
    ] {
        for method in ["GET", "POST"] {
            let answer = Ask::new(world.address, method, path).send().await;
            assert_eq!(answer.status, 404, "{path}");
            assert_eq!(answer.header("www-authenticate"), None);
        }
    }
}

#[tokio::test]
async fn ids_come_back_as_they_were_sent() {
    let world = World::new().await;
    for id in [
        "0",
        "-1",
        "9007199254740993",
        "18446744073709551616",
        "-9223372036854775809",
        r#""a""#,
        r#""""#,
        r#""-1""#,
        r#""\"é\n""#,
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let answer = world.post(body).await;
        assert_eq!(answer.status, 200);
        assert!(answer.body.contains(&format!(r#""id":{id}"#)), "{id}");
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"unknown"}}"#);
        let answer = world.post(body).await;
        assert_eq!(answer.refusal(), (200, -32601));
        assert!(answer.body.contains(&format!(r#""id":{id}"#)), "{id}");
    }
}

#[tokio::test]
async fn an_id_that_is_none_is_refused_and_left_out() {
    let world = World::new().await;
    for id in ["null", "1.5", "1e2", "true", "{}", "[]"] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let answer = world.post(body).await;
        assert_eq!(answer.refusal(), (400, INVALID_REQUEST), "{id}");
        assert_eq!(answer.json().get("id"), None, "{id}");
    }
}

#[tokio::test]
async fn what_is_unreadable_is_refused_with_400() {
    let world = World::new().await;
    for (body, code) in [
        ("{", PARSE_ERROR),
        ("nonsense", PARSE_ERROR),
        ("{} {}", PARSE_ERROR),
        ("[1,", PARSE_ERROR),
        ("1", INVALID_REQUEST),
        ("{}", INVALID_REQUEST),
        (r#"{"id":1,"method":"ping"}"#, INVALID_REQUEST),
        (
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
            INVALID_REQUEST,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
            INVALID_REQUEST,
        ),
    ] {
        let answer = world.post(body).await;
        assert_eq!(answer.refusal(), (400, code), "{body}");
    }
    let empty = world.ask().send().await;
    assert_eq!(empty.refusal(), (400, PARSE_ERROR));
}

#[tokio::test]
async fn notifications_and_responses_are_accepted_without_a_body() {
    let world = World::new().await;
    for body in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}"#,
    ] {
        for version in ["2025-03-26", "2025-11-25", "2026-07-28"] {
            let ask = world.ask().with("MCP-Protocol-Version", version);
            let answer = ask.body(body).send().await;
            assert_eq!((answer.status, &*answer.body), (202, ""), "{body}");
        }
    }
}

#[tokio::test]
async fn the_content_type_is_json_with_any_parameters() {
    let world = World::new().await;
    let ping = |content_type| {
        let ask = world.legacy("ping", &json!({}));
        ask.set("Content-Type", content_type).send()
    };
    for content_type in [
        "application/json; charset=utf-8",
        "application/json; charset=\"utf-8\"",
        "Application/JSON;charset=UTF-8",
    ] {
        assert_eq!(ping(content_type).await.status, 200, "{content_type}");
    }
    for content_type in ["text/plain", "application/jsonx", "text/json", ""] {
        assert_eq!(ping(content_type).await.status, 415, "{content_type}");
    }
    let none = world.legacy("ping", &json!({})).without("Content-Type");
    assert_eq!(none.send().await.status, 415);
}

#[tokio::test]
async fn any_accept_header_is_answered_with_json() {
    let world = World::new().await;
    let ping = || world.legacy("ping", &json!({})).without("Accept");
    assert_eq!(ping().send().await.result(), json!({}));
    for accept in [
        "*/*",
        "application/json",
        "text/event-stream, application/json",
    ] {
        let answer = ping().with("Accept", accept).send().await;
        assert_eq!(answer.result(), json!({}), "{accept}");
    }
}

#[tokio::test]
async fn a_body_beyond_the_bound_is_413_chunked_too() {
    let world = World::new().await;
    let long = || {
        let params = json!({"padding": "x".repeat(20 * 1024)});
        world.legacy("ping", &params)
    };
    assert_eq!(long().send().await.status, 413);
    assert_eq!(long().send_chunked().await.status, 413);
    let short = world.legacy("ping", &json!({"padding": "x".repeat(4 * 1024)}));
    assert_eq!(short.send_chunked().await.result(), json!({}));
}

#[tokio::test]
async fn a_body_that_does_not_come_times_out() {
    let world = World::new().await;
    let answer = world.legacy("ping", &json!({})).send_stalled(10_000).await;
    assert_eq!(answer.status, 408);
}

#[tokio::test]
async fn a_bug_in_a_tool_is_an_internal_error_and_the_server_lives() {
    let world = World::new().await;
    world.agents.set_panics();
    let params = json!({"name": crate::world::LIST, "arguments": {"task_id": "task-1"}});
    let answer = world.legacy("tools/call", &params).send().await;
    assert_eq!(answer.refusal(), (200, -32603));
    assert!(!answer.body.contains("bug"));
    let modern = world.modern("tools/call", params).send().await;
    assert_eq!(modern.refusal(), (200, -32603));
    assert_eq!(
        world.legacy("ping", &json!({})).send().await.result(),
        json!({})
    );
}

#[tokio::test]
async fn a_batch_is_answered_in_the_one_revision_that_has_them() {
    let world = World::new().await;
    let batch = json!([
        {"jsonrpc": "2.0", "id": -1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": "b", "method": "unknown"},
    ]);
    let expected = json!([
        {"jsonrpc": "2.0", "id": -1, "result": {}},
        {"jsonrpc": "2.0", "id": "b", "error": {"code": -32601, "message": "Method not found."}},
    ]);
    let post = |version: &str, batch: &Value| {
        let ask = world.ask().with("MCP-Protocol-Version", version);
        ask.body(batch.to_string()).send()
    };
    assert_eq!(post("2025-03-26", &batch).await.json(), expected);
    assert_eq!(world.post(batch.to_string()).await.json(), expected);
    for version in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let answer = post(version, &batch).await;
        assert_eq!(answer.refusal(), (400, INVALID_REQUEST), "{version}");
    }
}

#[tokio::test]
async fn a_batch_is_bounded_and_its_calls_are_those_of_single_requests() {
    let world = World::new().await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let too_many = json!([ping, ping, ping, ping]).to_string();
    assert_eq!(world.post(too_many).await.refusal(), (400, INVALID_REQUEST));
    assert_eq!(world.post("[]").await.refusal(), (400, INVALID_REQUEST));
    let notification = json!([{"jsonrpc": "2.0", "method": "notifications/initialized"}]);
    assert_eq!(world.post(notification.to_string()).await.status, 202);

    let list = |id: i64| {
        let params = json!({"name": crate::world::LIST, "arguments": {"task_id": "task-1"}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    let answers = world
        .post(json!([list(1), list(2), 7]).to_string())
        .await
        .json();
    assert_eq!(answers[0]["result"]["isError"], false);
    assert_eq!(answers[1]["result"], answers[0]["result"]);
    assert_eq!(answers[2]["error"]["code"], INVALID_REQUEST);

    let initialize = json!({"protocolVersion": "2025-03-26", "capabilities": {}});
    let initialize =
        json!([{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize}]);
    let answer = world.post(initialize.to_string()).await.json();
    assert_eq!(answer[0]["error"]["code"], INVALID_REQUEST);
}
