//! Claude Code by its ACP adapter.

use std::collections::HashMap;
use std::path::Path;

use permit_tests::stub_model::{call, serve};
use permit_tests::{Gateway, Process, rmcp_call, rmcp_connect, sidecar_program};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::installed;

const LIST: &str = "list_pending_agent_permissions_kandev";
const RESOLVE: &str = "resolve_agent_permission_kandev";

/// Starts Claude Code beside a sidecar, with a home and an environment of its own.
fn start(gateway: &Gateway, model: &str, work: &Path, home: &Path) -> Process {
    let node = installed().join("node_modules/node/bin/node");
    let adapter = "node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js";
    let path = std::env::var("PATH").unwrap_or_default();
    let node_directory = node.parent().expect("a directory").display();
    Process::start(
        Command::new(sidecar_program())
            .args(["run", "--gateway", &gateway.url(), "--credential-file"])
            .arg(&gateway.owner.credential_file)
            .arg("--cwd")
            .arg(work)
            .args(["--log-format", "json"])
            .args([
                "--mode",
                "default",
                "--prompt",
                "Please do script:shell",
                "--",
            ])
            .arg(&node)
            .arg(installed().join(adapter))
            .env_clear()
            .env("PATH", format!("{node_directory}:{path}"))
            .env("HOME", home)
            .env("ANTHROPIC_BASE_URL", model)
            .env("ANTHROPIC_API_KEY", format!("{}-FAKE", "sk-ant"))
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_AUTOUPDATER", "1"),
    )
}

fn resolve(permission: &Value, kind: &str) -> Value {
    let options = permission["options"].as_array().expect("options");
    let option = options.iter().find(|option| option["kind"] == kind);
    json!({
        "task_id": permission["task_id"],
        "session_id": permission["session_id"],
        "request_id": permission["request_id"],
        "pending_id": permission["pending_id"],
        "option_id": option.expect("such an option")["option_id"],
    })
}

#[tokio::test]
async fn claude_asks_is_listed_answered_once_and_audited() {
    let gateway = Gateway::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let (work, home) = (directory.path().join("work"), directory.path().join("home"));
    std::fs::create_dir(&work).expect("made");
    std::fs::create_dir(&home).expect("made");
    let (allowed, rejected) = (work.join("allowed"), work.join("rejected"));
    let touch = |path: &Path| {
        let command = format!("touch {}", path.display());
        vec![call(
            "Bash",
            json!({"command": command, "description": "Make a file"}),
        )]
    };
    let script = vec![touch(&allowed), touch(&rejected)];
    let model = serve(HashMap::from([("shell", script)])).await;
    let mut agent = start(&gateway, &model, &work, &home);

    // The agent asks, and the official client lists it.
    let task = gateway.owner.task_id.clone();
    let token = gateway.owner.token.clone().expect("a token");
    gateway.owner_client().waiting(&task, 1).await;
    let client = rmcp_connect(&gateway.url(), &token).await;
    let listed = rmcp_call(&client, LIST, &json!({"task_id": task})).await;
    assert!(!listed.is_error, "{}", listed.text);
    let first = listed.content["permissions"][0].clone();
    assert_eq!(first["action"]["type"], "command");
    assert_eq!(
        first["action"]["command"],
        format!("touch {}", allowed.display())
    );
    assert!(!allowed.exists());

    // The selected option reaches it, and it goes on.
    let answer = rmcp_call(&client, RESOLVE, &resolve(&first, "allow_once")).await;
    assert!(!answer.is_error, "{}", answer.text);
    assert_eq!(answer.content["status"], "resolved");
    assert_eq!(answer.content["source"], "external_mcp");

    // The second prompt is rejected.
    let second = gateway.owner_client().waiting(&task, 1).await.remove(0);
    assert!(allowed.exists());
    assert_ne!(second["request_id"], first["request_id"]);
    let answer = rmcp_call(&client, RESOLVE, &resolve(&second, "reject_once")).await;
    assert!(!answer.is_error, "{}", answer.text);

    // A replay does nothing.
    let replay = rmcp_call(&client, RESOLVE, &resolve(&first, "allow_once")).await;
    assert_eq!(replay.code(), "permission_already_resolved");

    let status = agent.wait().await;
    assert!(status.success(), "{}", agent.output());
    assert!(!rejected.exists());

    // The audit names actor, source, option, times and result.
    let audit = gateway.audit().await;
    let claims = audit["claims"].as_array().expect("claims");
    assert_eq!(claims.len(), 2);
    for (claim, kind) in claims.iter().zip(["allow_once", "reject_once"]) {
        assert_eq!(claim["actor_user_id"], gateway.owner.user_id);
        assert_eq!(claim["actor_kind"], "personal_access_token");
        assert_eq!(claim["source"], "external_mcp");
        assert_eq!(claim["option_kind"], kind);
        assert_eq!(claim["result"], "accepted");
        assert!(claim["selected_at"].is_string());
        assert!(claim["finalized_at"].is_string());
    }
    let attempts = audit["attempts"].as_array().expect("attempts");
    let replayed = |attempt: &&Value| attempt["code"] == "permission_already_resolved";
    assert_eq!(attempts.iter().filter(replayed).count(), 1);
    client.cancel().await.expect("the client ends");
}
