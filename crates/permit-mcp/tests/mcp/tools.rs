//! The two tools.

use permit_domain::DeliverReply;
use serde_json::{Value, json};

use crate::agents::prompt;
use crate::world::{
    FOREIGN_SESSION, FOREIGN_TASK, LIST, OTHER_SESSION, RESOLVE, SESSION, TASK, Tools, World,
    choice,
};

/// The error of a result, which must be told alike to programs and to models.
fn error(result: &Value) -> Value {
    assert_eq!(result["isError"], true);
    let text = result["content"][0]["text"].as_str().expect("text");
    let text: Value = serde_json::from_str(text).expect("json");
    assert_eq!(text, result["structuredContent"]);
    result["structuredContent"]["error"].clone()
}

#[tokio::test]
async fn there_are_exactly_two_tools_as_documented() {
    let Tools(expected) = Tools::documented();
    let world = World::new().await;
    let legacy = world.legacy("tools/list", &json!({})).send().await.result();
    let actual = serde_json::to_string_pretty(&legacy["tools"]).expect("json");
    assert_eq!(legacy["tools"], expected, "tools.json should be:\n{actual}");
    let modern = world.modern("tools/list", json!({})).send().await.result();
    assert_eq!(modern["tools"], expected);
    let names: Vec<_> = expected
        .as_array()
        .expect("tools")
        .iter()
        .map(|tool| tool["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, [LIST, RESOLVE]);
}

#[tokio::test]
async fn a_list_has_the_contracts_fields() {
    let world = World::new().await;
    world.agents.ask(OTHER_SESSION, prompt("request-2"));
    world.agents.ask(SESSION, prompt("request-1"));
    let result = world.list(TASK).await;
    let permission = |session_id, request_id| {
        json!({
            "task_id": TASK,
            "session_id": session_id,
            "request_id": request_id,
            "pending_id": "pending",
            "tool_call_id": "call",
            "title": "Run command",
            "action": {
                "type": "command",
                "description": "Run a command",
                "command": "git status",
                "cwd": "/workspace/project",
                "redacted": false,
            },
            "options": [
                {"option_id": "allow-once", "name": "Allow once", "kind": "allow_once"},
                {"option_id": "reject-once", "name": "Deny", "kind": "reject_once"},
            ],
            "created_at": "2026-08-11T12:00:00Z",
            "status": "pending",
        })
    };
    let listed = json!({
        "task_id": TASK,
        "permissions": [permission(SESSION, "request-1"), permission(OTHER_SESSION, "request-2")],
        "total": 2,
    });
    assert_eq!(result["structuredContent"], listed);
    let text = result["content"][0]["text"].as_str().expect("text");
    assert_eq!(serde_json::from_str::<Value>(text).expect("json"), listed);

    let one = json!({"task_id": TASK, "session_id": OTHER_SESSION});
    let one = world.call(LIST, one).await;
    assert_eq!(one["structuredContent"]["total"], 1);
    assert_eq!(
        one["structuredContent"]["permissions"][0]["session_id"],
        OTHER_SESSION
    );
}

#[tokio::test]
async fn a_task_without_requests_has_an_empty_list() {
    let world = World::new().await;
    let result = world.list(TASK).await;
    let empty = json!({"task_id": TASK, "permissions": [], "total": 0});
    assert_eq!(result["structuredContent"], empty);
}

#[tokio::test]
async fn a_resolution_names_what_was_resolved() {
    let world = World::new().await;
    world.agents.ask(SESSION, prompt("request-1"));
    let result = world.call(RESOLVE, choice("allow-once")).await;
    let mut expected = choice("allow-once");
    expected["option_kind"] = json!("allow_once");
    expected["source"] = json!("external_mcp");
    expected["status"] = json!("resolved");
    assert_eq!(result["structuredContent"], expected);
    assert_eq!(result["isError"], false);
}

#[tokio::test]
async fn unknown_and_foreign_tasks_are_answered_alike_to_the_byte() {
    let world = World::new().await;
    world.agents.ask(FOREIGN_SESSION, prompt("request-1"));
    let answer = |tool, arguments: Value| {
        let params = json!({"name": tool, "arguments": arguments});
        world.legacy("tools/call", &params).send()
    };
    let unknown = answer(LIST, json!({"task_id": "nothing"})).await.timeless();
    assert_eq!(
        error(&unknown.result())["code"],
        "task_or_session_not_found"
    );
    for arguments in [
        json!({"task_id": FOREIGN_TASK}),
        json!({"task_id": FOREIGN_TASK, "session_id": FOREIGN_SESSION}),
        json!({"task_id": TASK, "session_id": FOREIGN_SESSION}),
        json!({"task_id": TASK, "session_id": "nothing"}),
        json!({"task_id": " "}),
        json!({"task_id": "../\u{202e}\0"}),
    ] {
        assert_eq!(answer(LIST, arguments).await.timeless(), unknown);
    }
    for (task_id, session_id) in [
        (FOREIGN_TASK, FOREIGN_SESSION),
        (TASK, FOREIGN_SESSION),
        ("nothing", "nothing"),
    ] {
        let mut arguments = choice("allow-once");
        arguments["task_id"] = json!(task_id);
        arguments["session_id"] = json!(session_id);
        assert_eq!(answer(RESOLVE, arguments).await.timeless(), unknown);
    }
    assert!(world.agents.delivered().is_empty());
}

#[tokio::test]
async fn failures_carry_their_stable_code() {
    let world = World::new().await;
    let resolve = |option_id| world.call(RESOLVE, choice(option_id));
    let code = |result: &Value| error(result)["code"].clone();
    assert_eq!(code(&resolve("allow-once").await), "permission_not_found");

    world.agents.ask(SESSION, prompt("request-1"));
    let mut elsewhere = choice("allow-once");
    elsewhere["pending_id"] = json!("other");
    let result = world.call(RESOLVE, elsewhere).await;
    assert_eq!(code(&result), "permission_not_found");
    let result = resolve("invented").await;
    assert_eq!(code(&result), "permission_option_not_offered");
    assert!(!result.to_string().contains("invented"));

    assert_eq!(resolve("reject-once").await["isError"], false);
    let replay = error(&resolve("allow-once").await);
    assert_eq!(replay["code"], "permission_already_resolved");
    let recorded = json!({
        "result": "accepted",
        "option_id": "reject-once",
        "option_kind": "reject_once",
    });
    assert_eq!(replay["recorded"], recorded);
    assert_eq!(world.agents.delivered(), ["reject-once"]);
}

#[tokio::test]
async fn a_withdrawn_request_is_stale() {
    let world = World::new().await;
    world.agents.ask(SESSION, prompt("request-1"));
    world.list(TASK).await;
    world.agents.withdraw_all();
    let result = world.call(RESOLVE, choice("allow-once")).await;
    assert_eq!(error(&result)["code"], "permission_stale");
}

#[tokio::test]
async fn a_failed_delivery_says_whether_the_option_arrived() {
    for (reply, outcome) in [
        (DeliverReply::NotWritten, "not_delivered"),
        (DeliverReply::Broken, "unknown"),
    ] {
        let world = World::new().await;
        world.agents.ask(SESSION, prompt("request-1"));
        world.agents.reply_with(reply);
        let failure = error(&world.call(RESOLVE, choice("allow-once")).await);
        assert_eq!(failure["code"], "permission_delivery_failed");
        assert_eq!(failure["outcome"], outcome);
    }
}

#[tokio::test]
async fn a_session_that_cannot_be_listed_fails_the_list_and_is_named() {
    let world = World::new().await;
    world.agents.set_unreachable();
    let failure = error(&world.list(TASK).await);
    assert_eq!(failure["code"], "permission_runtime_unavailable");
    assert_eq!(failure["session_id"], SESSION);
}

#[tokio::test]
async fn wrong_arguments_are_named_and_nothing_of_them_is_repeated() {
    let world = World::new().await;
    world.agents.ask(SESSION, prompt("request-1"));
    let long = format!("secret{}", "x".repeat(4096));
    for (tool, name, value, problem) in [
        (LIST, "task_id", json!(""), "must not be empty"),
        (LIST, "task_id", json!(null), "must be a string"),
        (LIST, "task_id", json!(["secret"]), "must be a string"),
        (LIST, "task_id", json!(long), "must be at most 256 bytes"),
        (LIST, "session_id", json!(""), "must not be empty"),
        (LIST, "session_id", json!(null), "must be a string"),
        (LIST, "session_id", json!(7), "must be a string"),
        (RESOLVE, "session_id", json!(""), "must not be empty"),
        (
            RESOLVE,
            "request_id",
            json!(long),
            "must be at most 256 bytes",
        ),
        (
            RESOLVE,
            "pending_id",
            json!(long),
            "must be at most 4096 bytes",
        ),
        (RESOLVE, "option_id", json!(""), "must not be empty"),
        (
            RESOLVE,
            "option_id",
            json!({"secret": 1}),
            "must be a string",
        ),
    ] {
        let mut arguments = match tool {
            LIST => json!({"task_id": TASK}),
            _ => choice("allow-once"),
        };
        arguments[name] = value;
        let failure = error(&world.call(tool, arguments).await);
        assert_eq!(failure["code"], "invalid_arguments");
        assert_eq!(failure["field"], name);
        let message = failure["message"].as_str().expect("a message");
        assert!(
            message.starts_with(&format!("`{name}` {problem}.")),
            "{message}"
        );
        assert!(!message.contains("secret"));
    }
    assert!(world.agents.delivered().is_empty());
}

#[tokio::test]
async fn missing_unknown_and_repeated_arguments_are_refused() {
    let world = World::new().await;
    world.agents.ask(SESSION, prompt("request-1"));
    for name in [
        "task_id",
        "session_id",
        "request_id",
        "pending_id",
        "option_id",
    ] {
        let mut arguments = choice("allow-once");
        arguments.as_object_mut().expect("an object").remove(name);
        let failure = error(&world.call(RESOLVE, arguments).await);
        assert_eq!(failure["field"], name);
        let message = failure["message"].as_str().expect("a message");
        assert!(message.starts_with(&format!("`{name}` is missing.")));
    }
    for extra in ["cancelled", "command", "secret", "Task_id"] {
        let mut arguments = choice("allow-once");
        arguments[extra] = json!("secret");
        let failure = error(&world.call(RESOLVE, arguments).await);
        assert_eq!(failure["code"], "invalid_arguments");
        assert_eq!(
            failure["message"],
            "Unknown argument. Accepted arguments, all strings: `task_id`, `session_id`, \
             `request_id`, `pending_id`, `option_id`."
        );
    }
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{LIST}",
        "arguments":{{"task_id":"{TASK}","session_id":"{SESSION}","session_id":"x"}}}}}}"#
    );
    let ask = world.ask().with("MCP-Protocol-Version", "2025-11-25");
    let result = ask.body(body).send().await.result();
    assert_eq!(error(&result)["field"], "session_id");
    assert!(world.agents.delivered().is_empty());
}

#[tokio::test]
async fn a_call_that_is_malformed_is_an_error_of_the_protocol() {
    let world = World::new().await;
    for params in [
        json!({}),
        json!({"name": 5}),
        json!({"name": "resolve_permission"}),
        json!({"name": LIST, "arguments": "secret"}),
        json!({"name": LIST, "arguments": ["secret"]}),
        json!({"name": LIST, "arguments": null}),
    ] {
        let answer = world.legacy("tools/call", &params).send().await;
        assert_eq!(answer.refusal(), (200, -32602), "{params}");
        assert!(!answer.body.contains("secret"));
    }
    let none = world.legacy("tools/call", &json!({"name": LIST}));
    let failure = error(&none.send().await.result());
    assert_eq!(failure["field"], "task_id");
}
