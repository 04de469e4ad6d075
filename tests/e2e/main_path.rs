//! An agent asks, a client lists and selects, the agent goes on, the audit tells the story.

use permit_tests::{Gateway, Sidecar, rmcp_call, rmcp_connect};
use serde_json::json;

use crate::support::{attempts, claim, fields, message, refused};

#[tokio::test]
async fn what_is_allowed_runs_what_is_rejected_does_not_and_the_audit_tells() {
    let gateway = Gateway::start().await;
    let mut sidecar = Sidecar::start(&gateway, "touch allowed\ntouch rejected");
    let client = gateway.owner_client();
    let task = &gateway.owner.task_id;

    let first = client.waiting(task, 1).await.remove(0);
    assert_eq!(
        fields(&first),
        [
            "action",
            "created_at",
            "options",
            "pending_id",
            "request_id",
            "session_id",
            "status",
            "task_id",
            "title",
            "tool_call_id"
        ]
    );
    assert_eq!(first["task_id"], *task);
    assert_eq!(first["session_id"], gateway.owner.session_id);
    assert_eq!(first["status"], "pending");
    assert_eq!(first["action"]["type"], "command");
    assert_eq!(first["action"]["command"], "touch allowed");
    assert_eq!(first["action"]["redacted"], false);
    for option in first["options"].as_array().expect("options") {
        assert_eq!(fields(option), ["kind", "name", "option_id"]);
    }
    assert!(!sidecar.path("allowed").exists());

    let answer = client.resolve(&first, "allow-once").await;
    assert!(!answer.is_error, "{}", answer.text);
    assert_eq!(
        answer.content,
        json!({
            "task_id": task,
            "session_id": gateway.owner.session_id,
            "request_id": first["request_id"],
            "pending_id": first["pending_id"],
            "option_id": "allow-once",
            "option_kind": "allow_once",
            "source": "external_mcp",
            "status": "resolved",
        })
    );

    let second = client.waiting(task, 1).await.remove(0);
    assert!(sidecar.path("allowed").exists());
    let answer = client.resolve(&second, "reject-once").await;
    assert_eq!(answer.content["option_kind"], "reject_once");
    assert!(sidecar.process.wait().await.success());
    assert!(!sidecar.path("rejected").exists());

    let audit = gateway.audit().await;
    for (permission, kind, status) in [
        (&first, "allow_once", "approved"),
        (&second, "reject_once", "rejected"),
    ] {
        let claim = claim(&audit, permission);
        assert_eq!(claim["pending_id"], permission["pending_id"]);
        assert_eq!(claim["actor_user_id"], gateway.owner.user_id);
        assert_eq!(claim["actor_kind"], "personal_access_token");
        assert_eq!(claim["source"], "external_mcp");
        assert_eq!(claim["option_kind"], kind);
        assert_eq!(claim["result"], "accepted");
        assert!(claim["selected_at"].as_str() <= claim["finalized_at"].as_str());
        assert_eq!(message(&audit, permission)["status"], status);
        let rows = attempts(&audit, |row| row["claim_id"] == claim["claim_id"]);
        let results: Vec<_> = rows.iter().map(|row| &row["result"]).collect();
        assert_eq!(results, ["dispatching", "accepted"]);
    }
}

#[tokio::test]
async fn a_replay_is_refused_and_names_what_is_recorded() {
    let gateway = Gateway::start().await;
    let mut sidecar = Sidecar::start(&gateway, "echo ran >> ran");
    let client = gateway.owner_client();
    let task = &gateway.owner.task_id;
    let permission = client.waiting(task, 1).await.remove(0);
    assert!(!client.resolve(&permission, "allow-once").await.is_error);
    for option in ["allow-once", "reject-once", "never-offered"] {
        let replay = client.resolve(&permission, option).await;
        assert_eq!(replay.code(), "permission_already_resolved");
        assert_eq!(
            replay.content["error"]["recorded"],
            json!({"result": "accepted", "option_id": "allow-once", "option_kind": "allow_once"})
        );
    }
    assert!(sidecar.process.wait().await.success());
    let ran = std::fs::read_to_string(sidecar.path("ran")).expect("it ran");
    assert_eq!(ran, "ran\n");
    let audit = gateway.audit().await;
    assert_eq!(refused(&audit, "permission_already_resolved").len(), 3);
    assert_eq!(claim(&audit, &permission)["result"], "accepted");
}

#[tokio::test]
async fn of_many_racing_clients_one_option_reaches_the_agent() {
    let gateway = Gateway::start().await;
    let mut sidecar = Sidecar::start(&gateway, "echo ran >> ran");
    let client = gateway.owner_client();
    let permission = client.waiting(&gateway.owner.task_id, 1).await.remove(0);
    let racing = (0..16).map(|racer| {
        let (client, permission) = (client.clone(), permission.clone());
        let option = ["allow-once", "reject-once"][racer % 2];
        tokio::spawn(async move { client.resolve(&permission, option).await })
    });
    let mut winners = Vec::new();
    for racer in racing.collect::<Vec<_>>() {
        let answer = racer.await.expect("no panic");
        if answer.is_error {
            let lost = [
                "permission_resolution_in_progress",
                "permission_already_resolved",
            ];
            assert!(lost.contains(&answer.code()), "{}", answer.text);
        } else {
            winners.push(answer);
        }
    }
    assert_eq!(winners.len(), 1);
    assert!(sidecar.process.wait().await.success());
    let allowed = winners[0].content["option_kind"] == "allow_once";
    assert_eq!(sidecar.path("ran").exists(), allowed);
    let claim = claim(&gateway.audit().await, &permission);
    assert_eq!(claim["option_id"], winners[0].content["option_id"]);
}

#[tokio::test]
async fn the_official_client_lists_and_resolves() {
    let gateway = Gateway::start().await;
    let mut sidecar = Sidecar::start(&gateway, "touch allowed");
    let task = &gateway.owner.task_id;
    let permission = gateway.owner_client().waiting(task, 1).await.remove(0);
    let token = gateway.owner.token.clone().expect("a token");
    let client = rmcp_connect(&gateway.url(), &token).await;
    let tools = client.list_all_tools().await.expect("tools");
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(
        names,
        [
            "list_pending_agent_permissions_kandev",
            "resolve_agent_permission_kandev"
        ]
    );
    let listed = rmcp_call(
        &client,
        "list_pending_agent_permissions_kandev",
        &json!({"task_id": task}),
    )
    .await;
    assert_eq!(listed.content["permissions"][0], permission);
    assert_eq!(listed.content["total"], 1);
    let arguments = json!({
        "task_id": task,
        "session_id": permission["session_id"],
        "request_id": permission["request_id"],
        "pending_id": permission["pending_id"],
        "option_id": "allow-once",
    });
    let resolved = rmcp_call(&client, "resolve_agent_permission_kandev", &arguments).await;
    assert_eq!(resolved.content["status"], "resolved", "{}", resolved.text);
    client.cancel().await.expect("the client ends");
    assert!(sidecar.process.wait().await.success());
    assert!(sidecar.path("allowed").exists());
}

#[tokio::test]
async fn without_authentication_the_synthetic_user_answers() {
    let gateway = Gateway::with(permit_tests::Setup {
        auth_disabled: true,
        ..Default::default()
    })
    .await;
    let mut sidecar = Sidecar::start(&gateway, "touch allowed");
    let client = gateway.client(None);
    let task = &gateway.owner.task_id;
    let permission = client.waiting(task, 1).await.remove(0);
    assert!(!client.resolve(&permission, "allow-once").await.is_error);
    assert!(sidecar.process.wait().await.success());
    let claim = claim(&gateway.audit().await, &permission);
    assert_eq!(claim["actor_kind"], "synthetic");
    assert_eq!(claim["source"], "external_mcp");
    // Another user's workspace in the same database stays hidden.
    let other = gateway.another("other").await;
    let answer = client.list(&other.task_id).await;
    assert_eq!(answer.code(), "task_or_session_not_found");
}
