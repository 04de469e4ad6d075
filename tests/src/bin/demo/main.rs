//! `cargo xtask demo`: a gateway, a sidecar and a small agent that asks before it runs, for a
//! person to answer, or with `--auto` for a real MCP client.
//!
//! Exit codes: 0 the prompts were answered and the agent ended well, 1 something failed.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a person reads this at the terminal"
)]

mod auto;
mod guide;

use std::path::Path;
use std::process::{ExitCode, Stdio};

use permit_tests::{Gateway, example_agent, sidecar_program};
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};

/// What the agent wants to run, a prompt for each line.
const PROMPT: &str = "echo 'hello from the agent' > hello.txt\nrm -rf ./hello.txt";

#[tokio::main]
async fn main() -> ExitCode {
    let auto = std::env::args().any(|argument| argument == "--auto");
    println!("Starting a gateway, a sidecar and a small agent ...");
    let gateway = Gateway::start().await;
    let Ok(work) = tempfile::tempdir() else {
        eprintln!("demo: no temporary directory can be made");
        return ExitCode::FAILURE;
    };
    let agent = match start(&gateway, work.path(), auto) {
        Ok(agent) => agent,
        Err(cause) => {
            eprintln!("demo: the sidecar could not be started: {cause}");
            return ExitCode::FAILURE;
        }
    };
    let answered = async {
        if auto {
            auto::play(&gateway, work.path(), agent).await
        } else {
            print!("{}", guide::text(&gateway));
            wait(&gateway, agent).await
        }
    };
    let done = tokio::select! {
        done = answered => done,
        () = stopped() => Err("stopped before every prompt was answered".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("demo: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Completes when the person or the system ends the demo, so that what it started ends with it.
async fn stopped() {
    let listen = |kind| async move {
        match signal(kind) {
            Ok(mut signal) => signal.recv().await,
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = listen(SignalKind::interrupt()) => {}
        _ = listen(SignalKind::terminate()) => {}
        _ = listen(SignalKind::hangup()) => {}
    }
}

/// Starts the agent beside a sidecar. Its output goes to the terminal, unless a client plays.
fn start(gateway: &Gateway, work: &Path, auto: bool) -> std::io::Result<Child> {
    let output = || {
        if auto {
            Stdio::null()
        } else {
            Stdio::inherit()
        }
    };
    Command::new(sidecar_program())
        .args(["run", "--gateway", &gateway.url(), "--credential-file"])
        .arg(&gateway.owner.credential_file)
        .arg("--cwd")
        .arg(work)
        .args(["--prompt", PROMPT, "--"])
        .arg(example_agent())
        .stdin(Stdio::null())
        .stdout(output())
        .stderr(output())
        .kill_on_drop(true)
        .spawn()
}

/// Waits until the person has answered everything, or goes.
async fn wait(gateway: &Gateway, mut agent: Child) -> Result<(), String> {
    let ended = agent.wait().await.map_err(|cause| cause.to_string())?;
    println!("\nThe audit:\n{}", guide::audit(&gateway.audit().await));
    if ended.success() {
        Ok(())
    } else {
        Err(format!("the sidecar ended with {ended}"))
    }
}
