//! No credential of a prompt reaches a log, a file or an answer.

use std::path::Path;

use permit_tests::{Gateway, Sidecar};
use serde_json::json;

/// A credential of a shape that masks know, made at run time.
fn canary(name: &str) -> String {
    format!("{}{}{name}{}", "gh", "p_", "C4n4ry".repeat(5))
}

fn read_all(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    let files = entries.map(|entry| entry.expect("an entry").path());
    files
        .filter(|path| path.is_file())
        .map(|path| {
            (
                path.display().to_string(),
                std::fs::read(&path).expect("read"),
            )
        })
        .collect()
}

fn holds(haystack: &[u8], needle: &str) -> bool {
    haystack
        .windows(needle.len())
        .any(|window| window == needle.as_bytes())
}

#[tokio::test]
async fn canaries_in_every_field_are_in_no_log_no_file_and_no_answer() {
    let names = ["Title", "Command", "Header", "Query", "Option"];
    let canaries = names.map(canary);
    let [title, command, header, query, option] = &canaries;
    let options = json!([
        {"optionId": "allow-once", "name": "Allow once", "kind": "allow_once"},
        {"optionId": "always", "name": format!("Always allow curl -H 'Authorization: Bearer {option}'"), "kind": "allow_always"},
        {"optionId": "reject-once", "name": "Reject", "kind": "reject_once"},
    ]);
    let prompt = format!(
        "#title Fetch with token {title}\n#options {options}\necho ran > ran; DEPLOY_TOKEN={command} curl -m 1 -H 'Authorization: Bearer {header}' 'http://127.0.0.1:9/x?token={query}'"
    );
    let gateway = Gateway::start().await;
    let mut sidecar = Sidecar::start(&gateway, &prompt);
    let client = gateway.owner_client();
    let permission = client.waiting(&gateway.owner.task_id, 1).await.remove(0);
    let shown = permission.to_string();
    assert_eq!(permission["action"]["redacted"], true);
    for kept in [
        "echo ran > ran; DEPLOY_TOKEN=",
        "curl -m 1 -H",
        "127.0.0.1:9/x",
    ] {
        assert!(shown.contains(kept), "{shown}");
    }
    let wrong = client.resolve(&permission, option).await;
    assert_eq!(wrong.code(), "permission_option_not_offered");
    let resolved = client.resolve(&permission, "allow-once").await;
    assert!(!resolved.is_error, "{}", resolved.text);
    assert!(sidecar.process.wait().await.success());
    assert!(sidecar.path("ran").exists(), "the command ran as it was");

    let audit = gateway.audit().await.to_string();
    let mut sinks = vec![
        ("the list".to_owned(), shown.into_bytes()),
        ("the refusal".to_owned(), wrong.text.into_bytes()),
        ("the answer".to_owned(), resolved.text.into_bytes()),
        ("the audit".to_owned(), audit.into_bytes()),
        (
            "the gateway's log".to_owned(),
            gateway.output().into_bytes(),
        ),
        (
            "the sidecar's output".to_owned(),
            sidecar.process.output().into_bytes(),
        ),
    ];
    let files = read_all(gateway.directory());
    assert!(
        files.iter().any(|(name, _)| name.ends_with("-wal")),
        "{files:?}"
    );
    sinks.extend(files);
    let token = gateway.owner.token.as_deref().expect("a token");
    for (sink, bytes) in &sinks {
        for (name, canary) in names.iter().zip(&canaries) {
            let text = String::from_utf8_lossy(bytes);
            assert!(!holds(bytes, canary), "{name} is in {sink}: {text}");
        }
        assert!(!holds(bytes, token), "the token is in {sink}");
    }
    let credential = std::fs::read_to_string(&gateway.owner.credential_file).expect("read");
    for (sink, bytes) in &sinks {
        if !sink.ends_with(".credential") {
            assert!(
                !holds(bytes, credential.trim()),
                "the credential is in {sink}"
            );
        }
    }
}
