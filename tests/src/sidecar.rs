//! A running sidecar with the example agent.

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tokio::process::Command;

use crate::{Gateway, Process, example_agent, sidecar_program};

/// The file that the agent waits for.
const GATE: &str = "gate";

/// A sidecar and the directory its agent works in.
pub struct Sidecar {
    directory: TempDir,
    /// The sidecar's process.
    pub process: Process,
}

impl Sidecar {
    /// Starts the example agent beside a sidecar for the gateway's first session. Each line of
    /// the prompt is a command that the agent asks for and runs when allowed.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn start(gateway: &Gateway, prompt: &str) -> Self {
        Self::start_with(gateway, &gateway.owner.credential_file, prompt)
    }

    /// As [`Sidecar::start`], with another credential.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn start_with(gateway: &Gateway, credential_file: &Path, prompt: &str) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let process = Process::start(
            Command::new(sidecar_program())
                .args(["run", "--gateway", &gateway.url(), "--credential-file"])
                .arg(credential_file)
                .arg("--cwd")
                .arg(directory.path())
                .args(["--log-format", "json", "-vv", "--prompt", prompt, "--"])
                .arg(example_agent())
                .env("EXAMPLE_AGENT_GATE", directory.path().join(GATE)),
        );
        Self { directory, process }
    }

    /// Lets the agent go on where a line of its prompt makes it wait.
    ///
    /// # Panics
    /// When the file cannot be written.
    pub fn release(&self) {
        std::fs::write(self.path(GATE), "").expect("written");
    }

    /// A path in the agent's directory.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}
