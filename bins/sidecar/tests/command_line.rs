//! What the program refuses before it starts an agent, and how it says so.

#![expect(clippy::expect_used, reason = "tests say what they expect")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

fn sidecar(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_permit-sidecar"));
    command.env_clear().args(args).output().expect("it runs")
}

fn run(credential: &Path, more: &[&str]) -> Output {
    let file = credential.to_str().expect("a path");
    let gateway = [
        "run",
        "--gateway",
        "ws://127.0.0.1:9",
        "--credential-file",
        file,
    ];
    sidecar(&[&gateway[..], more].concat())
}

/// A file with these rights that holds something in the form of a credential.
fn credential(dir: &Path, mode: u32) -> std::path::PathBuf {
    let file = dir.join(format!("credential-{mode:o}"));
    let text = format!("{}_exec_{}\n", "kandev", "0".repeat(40));
    std::fs::write(&file, text).expect("written");
    let permissions = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(&file, permissions).expect("set");
    file
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_help_tells_the_exit_codes() {
    let output = sidecar(&["run", "--help"]);
    assert_eq!(output.status.code(), Some(0));
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    for code in 0..=6 {
        assert!(help.contains(&format!("\n  {code}  ")), "{help}");
    }
}

#[test]
fn a_command_line_that_is_not_valid_exits_2() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = credential(dir.path(), 0o600);
    for more in [
        &["--", "agent"][..],
        &["--prompt", "x"],
        &["--prompt", "x", "--prompt-file", "-", "--", "agent"],
        &["--prompt", "x", "--credential", "x", "--", "agent"],
    ] {
        assert_eq!(run(&file, more).status.code(), Some(2), "{more:?}");
    }
}

#[test]
fn what_cannot_be_used_exits_1_and_no_agent_starts() {
    let dir = tempfile::tempdir().expect("a directory");
    let good = credential(dir.path(), 0o600);
    let mark = dir.path().join("started");
    let touch = ["--", "touch", mark.to_str().expect("a path")];
    let refused = |file: &Path, more: &[&str]| {
        let output = run(file, &[more, &touch[..]].concat());
        assert_eq!(output.status.code(), Some(1), "{more:?}");
        told(&output)
    };
    let exposed = credential(dir.path(), 0o644);
    let text = refused(&exposed, &["--prompt", "x"]);
    assert!(text.contains("chmod 600"), "{text}");
    assert!(!text.contains("_exec_0"), "{text}");
    let missing = dir.path().join("missing");
    refused(&missing, &["--prompt", "x"]);
    refused(&good, &["--prompt", "  "]);
    refused(&good, &["--prompt-file", "/nonexistent"]);
    refused(&good, &["--prompt", "x", "--cwd", "/nonexistent"]);
    refused(&good, &["--prompt", "x", "--agent-user", "no such user"]);
    for gateway in ["ws://gateway.example", "ftp://127.0.0.1", "nonsense"] {
        let file = good.to_str().expect("a path");
        let base = [
            "run",
            "--gateway",
            gateway,
            "--credential-file",
            file,
            "--prompt",
            "x",
        ];
        let output = sidecar(&[&base[..], &touch[..]].concat());
        assert_eq!(output.status.code(), Some(1), "{gateway}");
    }
    assert!(!mark.exists());
}
