//! What each situation of a resolution answers and records, with an agent that behaves so.

use permit_tests::{Gateway, Sidecar, eventually};
use serde_json::{Value, json};

use crate::support::{attempts, claim, message, message_becomes, refused};

/// A gateway with an agent that waits for one command.
async fn waiting(prompt: &str) -> (Gateway, Sidecar, Value) {
    let gateway = Gateway::start().await;
    let sidecar = Sidecar::start(&gateway, prompt);
    let client = gateway.owner_client();
    let permission = client.waiting(&gateway.owner.task_id, 1).await.remove(0);
    (gateway, sidecar, permission)
}

#[tokio::test]
async fn arguments_that_are_missing_empty_overlong_or_unknown_store_nothing() {
    let (gateway, _sidecar, permission) = waiting("touch never").await;
    let client = gateway.owner_client();
    let complete = json!({
        "task_id": permission["task_id"],
        "session_id": permission["session_id"],
        "request_id": permission["request_id"],
        "pending_id": permission["pending_id"],
        "option_id": "allow-once",
    });
    for field in [
        "task_id",
        "session_id",
        "request_id",
        "pending_id",
        "option_id",
    ] {
        for wrong in [Value::Null, "".into(), 1.into(), "x".repeat(5000).into()] {
            let mut arguments = complete.clone();
            arguments[field] = wrong;
            let answer = client.resolve_with(arguments).await;
            assert_eq!(answer.code(), "invalid_arguments");
            assert!(answer.text.contains(field), "{}", answer.text);
            assert!(!answer.text.contains("xxx"), "{}", answer.text);
        }
        let mut arguments = complete.clone();
        arguments.as_object_mut().expect("an object").remove(field);
        let answer = client.resolve_with(arguments).await;
        assert_eq!(answer.code(), "invalid_arguments");
        assert!(answer.text.contains(field), "{}", answer.text);
    }
    for (name, value) in [("cancelled", json!(true)), ("command", json!("rm -rf /"))] {
        let mut arguments = complete.clone();
        arguments[name] = value;
        assert_eq!(
            client.resolve_with(arguments).await.code(),
            "invalid_arguments"
        );
    }
    let audit = gateway.audit().await;
    assert_eq!(audit["attempts"], json!([]));
    assert_eq!(audit["claims"], json!([]));
    client.waiting(&gateway.owner.task_id, 1).await;
}

#[tokio::test]
async fn a_request_that_was_never_seen_is_not_found_and_leaves_no_trace() {
    let (gateway, _sidecar, mut permission) = waiting("touch never").await;
    let odd = "never\u{202e}seen\n' OR 1=1";
    permission["request_id"] = odd.into();
    let answer = gateway
        .owner_client()
        .resolve(&permission, "allow-once")
        .await;
    assert_eq!(answer.code(), "permission_not_found");
    assert!(!answer.text.contains("OR 1=1"));
    assert_eq!(gateway.audit().await["attempts"], json!([]));
    assert!(!gateway.output().contains("OR 1=1"));
}

#[tokio::test]
async fn a_request_of_another_session_is_not_found() {
    let (gateway, _sidecar, mut permission) = waiting("touch never").await;
    let task = &gateway.owner.task_id;
    let other = gateway.admin(&["session", "add", "--task", task]).await;
    permission["session_id"] = other["session_id"].clone();
    let client = gateway.owner_client();
    let answer = client.resolve(&permission, "allow-once").await;
    assert_eq!(answer.code(), "permission_not_found");
    client.waiting(task, 1).await;
}

#[tokio::test]
async fn another_pending_id_is_not_found_and_recorded_in_stored_ids_only() {
    let (gateway, _sidecar, permission) = waiting("touch never").await;
    let mut wrong = permission.clone();
    wrong["pending_id"] = "made-up-by-the-caller".into();
    let client = gateway.owner_client();
    let answer = client.resolve(&wrong, "allow-once").await;
    assert_eq!(answer.code(), "permission_not_found");
    let audit = gateway.audit().await;
    let rows = refused(&audit, "permission_not_found");
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["pending_id"], permission["pending_id"]);
    assert!(!audit.to_string().contains("made-up-by-the-caller"));
    assert_eq!(message(&audit, &permission)["status"], "pending");
}

#[tokio::test]
async fn an_option_that_is_not_offered_is_refused_and_the_prompt_stays() {
    let (gateway, mut sidecar, permission) = waiting("touch allowed").await;
    let client = gateway.owner_client();
    let made_up = ["Allow-Once", "allow-once ", "allow", "yes; rm -rf made-up"];
    for option in made_up {
        let answer = client.resolve(&permission, option).await;
        assert_eq!(answer.code(), "permission_option_not_offered", "{option}");
    }
    let audit = gateway.audit().await;
    let rows = refused(&audit, "permission_option_not_offered");
    assert_eq!(rows.len(), made_up.len());
    assert!(rows.iter().all(|row| row["option_id"].is_null()));
    assert!(!audit.to_string().contains("rm -rf made-up"));
    assert_eq!(audit["claims"], json!([]));
    assert!(!client.resolve(&permission, "allow-once").await.is_error);
    assert!(sidecar.process.wait().await.success());
    assert!(sidecar.path("allowed").exists());
}

#[tokio::test]
async fn options_are_kept_verbatim_and_what_is_ambiguous_cannot_be_chosen() {
    let options = json!([
        {"optionId": "allow-once", "name": "Allow once", "kind": "reject_once"},
        {"optionId": "x", "name": "Deny", "kind": "allow_once"},
        {"optionId": "x", "name": "Deny 2", "kind": "reject_once"},
        {"optionId": "", "name": "", "kind": "allow_once"},
        {"optionId": "later", "name": "Save", "kind": "allow_persistent"},
    ]);
    let (gateway, mut sidecar, permission) =
        waiting(&format!("#options {options}\ntouch allowed")).await;
    let listed = permission["options"].as_array().expect("options");
    let ids: Vec<_> = listed.iter().map(|o| o["option_id"].as_str()).collect();
    let expected = ["allow-once", "x", "x", "", "later"].map(Some);
    assert_eq!(ids, expected);
    assert_eq!(listed[4]["kind"], "allow_persistent");
    let client = gateway.owner_client();
    let answer = client.resolve(&permission, "x").await;
    assert_eq!(answer.code(), "permission_option_not_offered");
    let answer = client.resolve(&permission, "allow-once").await;
    assert_eq!(answer.content["option_kind"], "reject_once");
    assert!(sidecar.process.wait().await.success());
    let audit = gateway.audit().await;
    assert_eq!(claim(&audit, &permission)["option_kind"], "reject_once");
    assert_eq!(message(&audit, &permission)["status"], "rejected");
}

#[tokio::test]
async fn a_prompt_without_options_is_listed_and_cannot_be_resolved() {
    let (gateway, _sidecar, permission) = waiting("#options []\ntouch never").await;
    assert_eq!(permission["options"], json!([]));
    let answer = gateway
        .owner_client()
        .resolve(&permission, "allow-once")
        .await;
    assert_eq!(answer.code(), "permission_option_not_offered");
}

#[tokio::test]
async fn a_prompt_that_ended_is_stale_and_recorded_as_it_ended() {
    for (line, reason, result) in [
        ("#withdraw touch never", "withdrawn", "stale"),
        ("#fail touch never", "withdrawn", "stale"),
        ("#leave touch never", "turn_ended", "expired"),
    ] {
        let (gateway, sidecar, permission) = waiting(line).await;
        sidecar.release();
        message_becomes(&gateway, &permission, "expired").await;
        let client = gateway.owner_client();
        let answer = client.resolve(&permission, "allow-once").await;
        assert_eq!(answer.code(), "permission_stale", "{line}");
        let audit = gateway.audit().await;
        let rows = refused(&audit, "permission_stale");
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0]["result"], result, "{line}");
        assert_eq!(rows[0]["actor_user_id"], gateway.owner.user_id);
        let expiry = attempts(&audit, |row| row["actor_user_id"].is_null());
        assert_eq!(expiry.len(), 1);
        assert_eq!(expiry[0]["result"], "expired");
        assert_eq!(message(&audit, &permission)["expiry_reason"], reason);
        assert_eq!(audit["claims"], json!([]));
        assert!(!sidecar.path("never").exists());
    }
}

#[tokio::test]
async fn a_newer_prompt_with_the_same_pending_id_is_never_reached_by_the_old_identity() {
    let prompt = "#id 7\n#withdraw touch old\n#id 7\ntouch new";
    let (gateway, sidecar, old) = waiting(prompt).await;
    sidecar.release();
    message_becomes(&gateway, &old, "expired").await;
    let client = gateway.owner_client();
    let new = client.waiting(&gateway.owner.task_id, 1).await.remove(0);
    assert_eq!(new["pending_id"], old["pending_id"]);
    assert_ne!(new["request_id"], old["request_id"]);
    let answer = client.resolve(&old, "allow-once").await;
    assert_eq!(answer.code(), "permission_stale");
    let still = client.waiting(&gateway.owner.task_id, 1).await.remove(0);
    assert_eq!(still, new);
    assert!(!client.resolve(&new, "allow-once").await.is_error);
}

#[tokio::test]
async fn an_agent_that_exits_expires_its_prompts() {
    let (gateway, mut sidecar, permission) = waiting("#exit touch never").await;
    sidecar.release();
    assert!(!sidecar.process.wait().await.success());
    message_becomes(&gateway, &permission, "expired").await;
    let client = gateway.owner_client();
    let answer = client.resolve(&permission, "allow-once").await;
    assert_eq!(answer.code(), "permission_stale");
    let audit = gateway.audit().await;
    assert_eq!(refused(&audit, "permission_stale")[0]["result"], "expired");
    let empty = json!({"task_id": gateway.owner.task_id, "permissions": [], "total": 0});
    assert_eq!(client.list(&gateway.owner.task_id).await.content, empty);
}

#[tokio::test]
async fn a_closed_way_to_the_agent_is_a_failed_delivery() {
    let (gateway, sidecar, permission) = waiting("#deaf touch never").await;
    sidecar.release();
    eventually("the agent reads no more", || async {
        sidecar.path("deaf").exists().then_some(())
    })
    .await;
    let client = gateway.owner_client();
    let answer = client.resolve(&permission, "allow-once").await;
    assert_eq!(answer.code(), "permission_delivery_failed");
    assert_eq!(answer.content["error"]["outcome"], "not_delivered");
    let audit = gateway.audit().await;
    let claim = claim(&audit, &permission);
    assert_eq!(claim["result"], "failed");
    assert!(claim["finalized_at"].is_string());
    let replay = client.resolve(&permission, "allow-once").await;
    assert_eq!(replay.code(), "permission_already_resolved");
    assert_eq!(replay.content["error"]["recorded"]["result"], "failed");
}

#[tokio::test]
async fn prompts_in_parallel_are_answered_each_by_its_own_request() {
    let gateway = Gateway::start().await;
    let prompt = "#parallel touch one ;; touch two ;; touch three";
    let mut sidecar = Sidecar::start(&gateway, prompt);
    let client = gateway.owner_client();
    let permissions = client.waiting(&gateway.owner.task_id, 3).await;
    for permission in permissions.iter().rev() {
        let command = permission["action"]["command"].as_str().expect("a command");
        let option = if command.ends_with("two") {
            "reject-once"
        } else {
            "allow-once"
        };
        assert!(!client.resolve(permission, option).await.is_error);
    }
    assert!(sidecar.process.wait().await.success());
    let ran = ["one", "two", "three"].map(|name| sidecar.path(name).exists());
    assert_eq!(ran, [true, false, true]);
}
