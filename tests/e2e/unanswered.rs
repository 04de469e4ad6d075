//! The link spoken by hand: deliveries that fail, get lost or are never answered, and a sidecar
//! that lies.

use permit_tests::{Gateway, HandSidecar, McpClient, dial, prompt};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::support::{attempts, claim, message, refused};

/// A gateway with a sidecar that reports one waiting prompt, and that prompt as it is listed.
async fn waiting() -> (Gateway, HandSidecar, Value) {
    let gateway = Gateway::start().await;
    let mut sidecar = HandSidecar::attach(&gateway).await;
    sidecar.report(&[prompt("r")], &[]).await;
    let permission = json!({
        "task_id": gateway.owner.task_id,
        "session_id": gateway.owner.session_id,
        "request_id": "r",
        "pending_id": "7",
    });
    (gateway, sidecar, permission)
}

fn resolving(client: &McpClient, permission: &Value) -> JoinHandle<permit_tests::Answer> {
    let (client, permission) = (client.clone(), permission.clone());
    tokio::spawn(async move { client.resolve(&permission, "yes").await })
}

/// Starts a resolution and gives back the deliver command that comes of it.
async fn delivering(
    client: &McpClient,
    sidecar: &mut HandSidecar,
    permission: &Value,
) -> (JoinHandle<permit_tests::Answer>, Value) {
    let resolution = resolving(client, permission);
    let command = sidecar.command(&[prompt("r")]).await;
    assert_eq!(command["body"]["deliver"]["option_id"], "yes", "{command}");
    (resolution, command)
}

#[tokio::test]
async fn while_a_claim_is_dispatching_others_are_told_so_and_it_is_not_listed() {
    let (gateway, mut sidecar, permission) = waiting().await;
    let client = gateway.owner_client();
    let (resolution, command) = delivering(&client, &mut sidecar, &permission).await;
    let second = client.resolve(&permission, "no").await;
    assert_eq!(second.code(), "permission_resolution_in_progress");
    let task = gateway.owner.task_id.clone();
    let listing = {
        let client = client.clone();
        tokio::spawn(async move { client.list(&task).await })
    };
    let quiet = tokio::time::timeout(std::time::Duration::from_secs(5), async {
        sidecar.command(&[prompt("r")]).await
    });
    tokio::select! {
        listed = listing => assert_eq!(listed.expect("no panic").content["total"], 0),
        command = quiet => panic!("a second command: {command:?}"),
    }
    let answered = sidecar.answer(&command, json!({"deliver": "delivered"}));
    answered.await.expect("answered");
    let resolved = resolution.await.expect("no panic");
    assert_eq!(resolved.content["status"], "resolved", "{}", resolved.text);
    let audit = gateway.audit().await;
    assert_eq!(
        refused(&audit, "permission_resolution_in_progress").len(),
        1
    );
}

#[tokio::test]
async fn each_way_a_delivery_fails_is_recorded_as_it_was() {
    for (reply, outcome, result, status) in [
        (
            json!({"gone": "withdrawn"}),
            "not_delivered",
            "stale",
            "expired",
        ),
        (json!("not_written"), "not_delivered", "failed", "expired"),
        (
            json!("broken"),
            "unknown",
            "indeterminate",
            "outcome_unknown",
        ),
    ] {
        let (gateway, mut sidecar, permission) = waiting().await;
        let client = gateway.owner_client();
        let (resolution, command) = delivering(&client, &mut sidecar, &permission).await;
        let answered = sidecar.answer(&command, json!({"deliver": reply}));
        answered.await.expect("answered");
        let answer = resolution.await.expect("no panic");
        assert_eq!(answer.code(), "permission_delivery_failed");
        assert_eq!(answer.content["error"]["outcome"], outcome);
        let audit = gateway.audit().await;
        assert_eq!(claim(&audit, &permission)["result"], result);
        assert_eq!(message(&audit, &permission)["status"], status);
        let replay = client.resolve(&permission, "yes").await;
        assert_eq!(replay.code(), "permission_already_resolved");
        assert_eq!(replay.content["error"]["recorded"]["result"], result);
    }
}

#[tokio::test]
async fn a_delivery_that_nobody_answers_is_indeterminate_and_sharpened_when_the_truth_comes() {
    let (gateway, mut sidecar, permission) = waiting().await;
    let client = gateway.owner_client();
    let (resolution, command) = delivering(&client, &mut sidecar, &permission).await;
    let claim_id = command["body"]["deliver"]["claim_id"].clone();
    let welcome = sidecar.welcome.clone();
    drop(sidecar);
    let answer = resolution.await.expect("no panic");
    assert_eq!(answer.code(), "permission_delivery_failed");
    assert_eq!(answer.content["error"]["outcome"], "unknown");
    let recorded = claim(&gateway.audit().await, &permission);
    assert_eq!(recorded["result"], "indeterminate");

    let mut sidecar = HandSidecar::resume(&gateway, &welcome).await;
    let consumed = json!({"request_id": "r", "claim_id": claim_id, "reply": "delivered"});
    sidecar.report(&[], &[consumed]).await;
    let audit = permit_tests::eventually("the claim is sharpened", || async {
        let audit = gateway.audit().await;
        (claim(&audit, &permission)["result"] == "accepted").then_some(audit)
    })
    .await;
    let rows = attempts(&audit, |row| row["claim_id"] == claim_id);
    let results: Vec<_> = rows.iter().map(|row| &row["result"]).collect();
    assert_eq!(results, ["dispatching", "indeterminate", "accepted"]);
    assert_eq!(message(&audit, &permission)["status"], "approved");
}

#[tokio::test]
async fn an_answer_that_is_lost_with_the_link_is_settled_at_the_next_attach() {
    let (gateway, mut sidecar, permission) = waiting().await;
    let client = gateway.owner_client();
    let (resolution, command) = delivering(&client, &mut sidecar, &permission).await;
    let claim_id = command["body"]["deliver"]["claim_id"].clone();
    let welcome = sidecar.welcome.clone();
    drop(sidecar);
    let mut sidecar = HandSidecar::resume(&gateway, &welcome).await;
    assert!(sidecar.epoch().as_u64() > welcome["epoch"].as_u64());
    let consumed = json!({"request_id": "r", "claim_id": claim_id, "reply": "delivered"});
    sidecar.report(&[], &[consumed]).await;
    let settle = sidecar.command(&[]).await;
    assert_eq!(settle["body"]["settle"]["claim_id"], claim_id);
    let settled = sidecar.answer(&settle, json!({"settle": {"consumed": "delivered"}}));
    settled.await.expect("answered");
    let resolved = resolution.await.expect("no panic");
    assert_eq!(resolved.content["status"], "resolved", "{}", resolved.text);
    let recorded = claim(&gateway.audit().await, &permission);
    assert_eq!(recorded["result"], "accepted");
}

#[tokio::test]
async fn a_sidecar_can_forge_neither_a_session_nor_a_source_nor_an_actor_nor_a_decision() {
    let gateway = Gateway::start().await;
    let other = gateway.another("other").await;
    let credential = gateway.owner.credential_file.clone();
    let client = dial(&gateway, &credential, &[]).await.expect("connected");
    drop(client);
    let mut sidecar = HandSidecar::attach(&gateway).await;
    assert_eq!(sidecar.welcome["session_id"], gateway.owner.session_id);
    let epoch = sidecar.epoch();

    let sync = json!({"epoch": epoch, "seq": 1, "full": true, "opened": [prompt("r")]});
    for (field, value) in [
        ("task_id", json!(other.task_id)),
        ("session_id", json!(other.session_id)),
        ("source", json!("external_mcp")),
        ("actor_user_id", json!(other.user_id)),
        ("result", json!("accepted")),
    ] {
        let mut forged = sync.clone();
        forged[field] = value.clone();
        assert!(sidecar.call("link_sync", forged).await.is_err(), "{field}");
        let mut forged = sync.clone();
        forged["opened"][0][field] = value;
        assert!(sidecar.call("link_sync", forged).await.is_err(), "{field}");
    }
    let mut stale = sync.clone();
    stale["epoch"] = json!(0);
    assert!(sidecar.call("link_sync", stale).await.is_err());
    sidecar.report(&[prompt("r")], &[]).await;

    // A claim that was never made cannot be reported as consumed.
    let consumed = json!({"request_id": "r", "claim_id": "made-up", "reply": "delivered"});
    sidecar.report(&[prompt("r")], &[consumed]).await;
    // An answer that nobody asked for is nothing.
    let unasked = json!({"id": 999_999});
    let _ = sidecar
        .answer(&unasked, json!({"deliver": "delivered"}))
        .await;
    let stranger = gateway.client(other.token.as_deref());
    let empty = stranger.list(&other.task_id).await;
    assert_eq!(empty.content["total"], 0);
    let audit = gateway.audit().await;
    assert_eq!(audit["claims"], json!([]));
    assert_eq!(audit["attempts"], json!([]));
    let of_other = gateway
        .admin(&["audit", "show", "--task", &other.task_id])
        .await;
    assert_eq!(of_other["messages"], json!([]));
}

#[tokio::test]
async fn the_link_opens_for_an_execution_credential_alone_and_never_for_a_page() {
    let gateway = Gateway::start().await;
    let credential = gateway.owner.credential_file.clone();
    let page = [("origin", "http://localhost:3000")];
    let refused = dial(&gateway, &credential, &page).await;
    assert!(refused.expect_err("refused").contains("403"));

    let wrong = gateway.directory().join("wrong.credential");
    let token = gateway.owner.token.as_deref().expect("a token");
    let unknown = format!("kandev_exec_{}", "0".repeat(64));
    for secret in [token, unknown.as_str(), "x"] {
        std::fs::write(&wrong, secret).expect("written");
        let refused = dial(&gateway, &wrong, &[]).await;
        assert!(refused.expect_err("refused").contains("401"));
    }
}
