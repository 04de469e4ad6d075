//! Executions that come, go and come back.

use permit_tests::{Gateway, Sidecar, eventually};
use serde_json::json;

use crate::support::{claim, message, message_becomes, refused};

#[tokio::test]
async fn a_gateway_restart_lists_the_same_generation_again_and_forgets_nothing() {
    let mut gateway = Gateway::start().await;
    let mut sidecar = Sidecar::start(&gateway, "touch first\ntouch second");
    let client = gateway.owner_client();
    let task = gateway.owner.task_id.clone();
    let first = client.waiting(&task, 1).await.remove(0);
    assert!(!client.resolve(&first, "allow-once").await.is_error);
    let second = client.waiting(&task, 1).await.remove(0);

    gateway.crash_and_restart().await;

    let replay = client.resolve(&first, "allow-once").await;
    assert_eq!(replay.code(), "permission_already_resolved");
    let again = client.waiting(&task, 1).await.remove(0);
    assert_eq!(again, second);
    assert!(!client.resolve(&again, "allow-once").await.is_error);
    assert!(sidecar.process.wait().await.success());
    assert!(sidecar.path("second").exists());
    let audit = gateway.audit().await;
    assert_eq!(claim(&audit, &first)["result"], "accepted");
    assert_eq!(claim(&audit, &second)["result"], "accepted");
}

#[tokio::test]
async fn a_sidecar_that_never_comes_back_after_a_restart_lists_nothing() {
    let mut gateway = Gateway::start().await;
    let mut sidecar = Sidecar::start(&gateway, "touch never");
    let client = gateway.owner_client();
    let task = gateway.owner.task_id.clone();
    let permission = client.waiting(&task, 1).await.remove(0);
    sidecar.process.kill().await;
    gateway.crash_and_restart().await;
    let empty = json!({"task_id": task, "permissions": [], "total": 0});
    assert_eq!(client.list(&task).await.content, empty);
    let answer = client.resolve(&permission, "allow-once").await;
    assert_eq!(answer.code(), "permission_runtime_unavailable");
    let audit = gateway.audit().await;
    assert_eq!(message(&audit, &permission)["status"], "pending");
}

#[tokio::test]
async fn a_new_execution_replaces_the_old_one_which_cancels_its_prompts_and_exits() {
    let gateway = Gateway::start().await;
    let mut old = Sidecar::start(&gateway, "touch old");
    let client = gateway.owner_client();
    let task = &gateway.owner.task_id;
    let permission = client.waiting(task, 1).await.remove(0);
    let mut new = Sidecar::start(&gateway, "touch new");
    assert!(!old.process.wait().await.success());
    message_becomes(&gateway, &permission, "expired").await;
    let answer = client.resolve(&permission, "allow-once").await;
    assert_eq!(answer.code(), "permission_stale");
    let audit = gateway.audit().await;
    assert_eq!(refused(&audit, "permission_stale")[0]["result"], "expired");
    let fresh = client.waiting(task, 1).await.remove(0);
    assert_eq!(fresh["action"]["command"], "touch new");
    assert!(!client.resolve(&fresh, "allow-once").await.is_error);
    assert!(new.process.wait().await.success());
    assert!(new.path("new").exists());
    assert!(!old.path("old").exists());
}

#[tokio::test]
async fn a_revoked_credential_ends_its_execution() {
    let gateway = Gateway::start().await;
    let mut sidecar = Sidecar::start(&gateway, "touch never");
    let client = gateway.owner_client();
    let permission = client.waiting(&gateway.owner.task_id, 1).await.remove(0);
    let session = &gateway.owner.session_id;
    let listed = gateway
        .admin(&["execution", "list", "--session", session])
        .await;
    let id = listed["credentials"][0]["credential_id"].as_str();
    gateway
        .admin(&["execution", "revoke", id.expect("an id")])
        .await;
    assert!(!sidecar.process.wait().await.success());
    message_becomes(&gateway, &permission, "expired").await;
    assert!(!sidecar.path("never").exists());
}

#[tokio::test]
async fn a_revoked_token_opens_nothing_from_the_next_request_on() {
    let gateway = Gateway::start().await;
    let client = gateway.owner_client();
    let task = &gateway.owner.task_id;
    assert!(!client.list(task).await.is_error);
    let listed = gateway.admin(&["token", "list"]).await;
    let id = listed["tokens"][0]["credential_id"]
        .as_str()
        .expect("an id");
    gateway.admin(&["token", "revoke", id]).await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let refused = client.post(&ping).await;
    assert_eq!(refused.status(), 401);
    assert!(refused.headers().contains_key("www-authenticate"));
}

#[tokio::test]
async fn a_graceful_stop_ends_well_and_a_later_start_goes_on() {
    let mut gateway = Gateway::start().await;
    let mut sidecar = Sidecar::start(&gateway, "touch allowed");
    let client = gateway.owner_client();
    let task = gateway.owner.task_id.clone();
    let permission = client.waiting(&task, 1).await.remove(0);
    assert!(gateway.stop().await, "{}", gateway.output());
    gateway.resume().await;
    let again = client.waiting(&task, 1).await.remove(0);
    assert_eq!(again["request_id"], permission["request_id"]);
    assert!(!client.resolve(&again, "allow-once").await.is_error);
    assert!(sidecar.process.wait().await.success());
}

#[tokio::test]
async fn a_database_that_cannot_be_written_sends_nothing_and_burns_nothing() {
    let gateway = Gateway::start().await;
    let mut sidecar = Sidecar::start(&gateway, "touch allowed");
    let client = gateway.owner_client();
    let permission = client.waiting(&gateway.owner.task_id, 1).await.remove(0);
    let blocker = rusqlite::Connection::open(gateway.database()).expect("opened");
    blocker.execute_batch("BEGIN IMMEDIATE").expect("locked");
    let answer = client.resolve(&permission, "allow-once").await;
    assert_eq!(answer.code(), "permission_audit_failed");
    for leak in ["sqlite", "locked", "permit.db", "claims"] {
        assert!(
            !answer.text.to_lowercase().contains(leak),
            "{}",
            answer.text
        );
    }
    assert!(!sidecar.path("allowed").exists());
    blocker.execute_batch("ROLLBACK").expect("unlocked");
    let resolved = eventually("the prompt can be resolved", || async {
        let answer = client.resolve(&permission, "allow-once").await;
        (!answer.is_error).then_some(answer)
    })
    .await;
    assert_eq!(resolved.content["status"], "resolved");
    assert!(sidecar.process.wait().await.success());
    assert!(sidecar.path("allowed").exists());
}
