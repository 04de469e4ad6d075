//! The gateway's command line: clear errors, exit codes, nothing shown twice.

use std::process::Output;

use permit_tests::{Gateway, gateway_program, sidecar_program};
use tokio::process::Command;

async fn gateway(arguments: &[&str]) -> Output {
    let mut command = Command::new(gateway_program());
    command.args(arguments).output().await.expect("it runs")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test]
async fn help_and_version_are_there_for_both_programs() {
    for program in [gateway_program(), sidecar_program()] {
        for argument in ["--help", "--version"] {
            let output = Command::new(&program).arg(argument).output().await;
            let output = output.expect("it runs");
            assert!(output.status.success());
            assert!(!output.stdout.is_empty());
        }
        let output = Command::new(&program).arg("no-such").output().await;
        assert_eq!(output.expect("it runs").status.code(), Some(2));
    }
}

#[tokio::test]
async fn authentication_cannot_be_disabled_off_loopback() {
    let directory = tempfile::tempdir().expect("a directory");
    let database = directory.path().join("permit.db");
    let output = gateway(&[
        "serve",
        "--listen",
        "0.0.0.0:0",
        "--auth",
        "disabled",
        "--database",
        database.to_str().expect("plain"),
    ])
    .await;
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("loopback"), "{}", stderr(&output));
    assert!(!database.exists(), "nothing is made of a refused command");
}

#[tokio::test]
async fn unknown_records_are_named_and_change_nothing() {
    let gateway_running = Gateway::start().await;
    let database = gateway_running.database();
    let database = database.to_str().expect("plain");
    for (arguments, named) in [
        (
            vec!["task", "add", "--workspace", "none", "Title"],
            "workspace",
        ),
        (vec!["session", "add", "--task", "none"], "task"),
        (vec!["execution", "create", "--session", "none"], "session"),
        (vec!["token", "create", "--user", "none"], "user"),
        (vec!["token", "revoke", "none"], "token"),
        (vec!["audit", "show", "--task", "none"], "task"),
    ] {
        let output = gateway(&[&arguments[..], &["--database", database]].concat()).await;
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(stderr(&output).contains(named), "{}", stderr(&output));
    }
}

#[tokio::test]
async fn a_token_is_shown_once_and_stored_as_a_hash() {
    let gateway = Gateway::start().await;
    let user = &gateway.owner.user_id;
    let made = gateway
        .admin(&[
            "token",
            "create",
            "--user",
            user,
            "--scope",
            "list",
            "--expires",
            "1d",
            "--label",
            "phone",
        ])
        .await;
    let token = made["token"].as_str().expect("a token");
    assert!(token.starts_with("kandev_pat_"));
    let listed = gateway.admin(&["token", "list", "--user", user]).await;
    let listed = listed.to_string();
    assert!(listed.contains("phone"));
    assert!(!listed.contains(token));
    let task = &gateway.owner.task_id;
    let client = gateway.client(Some(token));
    assert!(!client.list(task).await.is_error);
    let resolve = serde_json::json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "resolve_agent_permission_kandev", "arguments": {
            "task_id": task, "session_id": gateway.owner.session_id, "request_id": "r",
            "pending_id": "p", "option_id": "o"}},
    });
    let refused = client.post(&resolve).await;
    assert_eq!(refused.status(), 403);
    let challenge = refused.headers()["www-authenticate"].to_str();
    assert!(challenge.expect("text").contains("insufficient_scope"));
}

#[tokio::test]
async fn the_database_and_the_credential_file_are_private() {
    use std::os::unix::fs::PermissionsExt as _;

    let gateway = Gateway::start().await;
    for path in [&gateway.database(), &gateway.owner.credential_file] {
        let mode = std::fs::metadata(path).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", path.display());
    }
}

#[tokio::test]
async fn two_gateways_do_not_serve_one_database() {
    let gateway_running = Gateway::start().await;
    let database = gateway_running.database();
    let output = gateway(&[
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--database",
        database.to_str().expect("plain"),
    ])
    .await;
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("another"), "{}", stderr(&output));
}

#[tokio::test]
async fn health_is_told_without_a_credential() {
    let gateway = Gateway::start().await;
    for path in ["healthz", "readyz"] {
        let response = reqwest_get(&format!("{}/{path}", gateway.url())).await;
        assert_eq!(response, 200, "{path}");
    }
    assert_eq!(reqwest_get(&format!("{}/other", gateway.url())).await, 404);
}

async fn reqwest_get(url: &str) -> u16 {
    let client = reqwest::Client::builder().no_proxy().build();
    let response = client.expect("a client").get(url).send().await;
    response.expect("an answer").status().as_u16()
}
