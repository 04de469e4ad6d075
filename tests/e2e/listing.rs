//! Listing: who sees what, and what is never partial.

use permit_tests::{Gateway, Sidecar};
use serde_json::json;

#[tokio::test]
async fn a_task_with_nothing_live_lists_nothing() {
    let gateway = Gateway::start().await;
    let owner = &gateway.owner;
    let client = gateway.owner_client();
    let empty = json!({"task_id": owner.task_id, "permissions": [], "total": 0});
    assert_eq!(client.list(&owner.task_id).await.content, empty);
    let answer = client.list_session(&owner.task_id, &owner.session_id).await;
    assert_eq!(answer.content, empty);
}

#[tokio::test]
async fn prompts_of_all_sessions_are_listed_in_order_and_one_session_when_named() {
    let gateway = Gateway::start().await;
    let owner = gateway.owner.clone();
    let second = gateway
        .admin(&["session", "add", "--task", &owner.task_id])
        .await;
    let second_id = second["session_id"].as_str().expect("an id").to_owned();
    let credential = gateway.directory().join("second.credential");
    let file = credential.to_str().expect("a plain path");
    let arguments = ["execution", "create", "--session", &second_id];
    gateway
        .admin(&[&arguments[..], &["--credential-file", file]].concat())
        .await;

    let client = gateway.owner_client();
    let _first = Sidecar::start(&gateway, "#parallel touch a ;; touch b");
    client.waiting(&owner.task_id, 2).await;
    let _second = Sidecar::start_with(&gateway, &credential, "touch c");
    let all = client.waiting(&owner.task_id, 3).await;
    let keys: Vec<_> = all
        .iter()
        .map(|p| (p["created_at"].as_str(), p["request_id"].as_str()))
        .collect();
    assert!(keys.is_sorted(), "{keys:?}");
    assert_eq!(all[2]["session_id"], second_id.as_str());
    assert_eq!(all[2]["action"]["command"], "touch c");

    let of_second = client.list_session(&owner.task_id, &second_id).await;
    assert_eq!(of_second.content["total"], 1);
    assert_eq!(of_second.content["permissions"][0], all[2]);
}

#[tokio::test]
async fn unknown_foreign_and_mismatched_ids_look_the_same() {
    let gateway = Gateway::start().await;
    let owner = gateway.owner.clone();
    let other = gateway.another("other").await;
    let _sidecar = Sidecar::start(&gateway, "touch never");
    let client = gateway.owner_client();
    let permission = client.waiting(&owner.task_id, 1).await.remove(0);
    let stranger = gateway.client(other.token.as_deref());

    let unknown = client.list("no-such-task").await;
    assert_eq!(unknown.code(), "task_or_session_not_found");
    assert_eq!(stranger.list(&owner.task_id).await, unknown);
    assert_eq!(
        client.list_session(&owner.task_id, &other.session_id).await,
        unknown
    );
    assert_eq!(
        client.list_session(&other.task_id, &owner.session_id).await,
        unknown
    );
    assert_eq!(stranger.resolve(&permission, "allow-once").await, unknown);
    let mut mismatched = permission.clone();
    mismatched["session_id"] = other.session_id.into();
    assert_eq!(client.resolve(&mismatched, "allow-once").await, unknown);
    let mut mismatched = permission.clone();
    mismatched["task_id"] = "no-such-task".into();
    assert_eq!(client.resolve(&mismatched, "allow-once").await, unknown);

    let audit = gateway.audit().await;
    assert_eq!(audit["attempts"], json!([]));
    assert_eq!(audit["claims"], json!([]));
    client.waiting(&owner.task_id, 1).await;
}

#[tokio::test]
async fn an_empty_session_is_an_invalid_argument_and_does_not_widen_the_list() {
    let gateway = Gateway::start().await;
    let client = gateway.owner_client();
    let answer = client.list_session(&gateway.owner.task_id, "").await;
    assert_eq!(answer.code(), "invalid_arguments");
    assert!(answer.text.contains("session_id"), "{}", answer.text);
}

#[tokio::test]
async fn a_session_that_cannot_be_listed_fails_the_list_and_is_named() {
    let gateway = Gateway::start().await;
    let mut sidecar = Sidecar::start(&gateway, "touch never");
    let client = gateway.owner_client();
    let task = &gateway.owner.task_id;
    let permission = client.waiting(task, 1).await.remove(0);
    sidecar.process.kill().await;
    let answer = permit_tests::eventually("the loss is noticed", || async {
        let answer = client.list(task).await;
        answer.is_error.then_some(answer)
    })
    .await;
    assert_eq!(answer.code(), "permission_runtime_unavailable");
    let session = &answer.content["error"]["session_id"];
    assert_eq!(*session, gateway.owner.session_id);
    let answer = client.resolve(&permission, "allow-once").await;
    assert_eq!(answer.code(), "permission_runtime_unavailable");
    assert_eq!(gateway.audit().await["attempts"], json!([]));
}
