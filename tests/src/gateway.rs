//! A running gateway with its records.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;

use crate::{McpClient, Process, gateway_program};

/// What `quickstart` makes.
#[derive(Clone, Debug, Deserialize)]
pub struct Identity {
    /// The user.
    pub user_id: String,
    /// The workspace.
    pub workspace_id: String,
    /// The task.
    pub task_id: String,
    /// The session.
    pub session_id: String,
    /// The user's token; absent where authentication is disabled.
    pub token: Option<String>,
    /// Where the sidecar's credential is.
    pub credential_file: PathBuf,
}

/// How to start a gateway.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Further arguments of `serve`.
    pub serve: Vec<String>,
    /// Whether users authenticate.
    pub auth_disabled: bool,
}

/// A gateway on a port of its own, over a database of its own.
pub struct Gateway {
    directory: TempDir,
    setup: Setup,
    address: String,
    process: Process,
    /// The first user and what it owns.
    pub owner: Identity,
}

impl Gateway {
    /// Starts a gateway with one user, task and session.
    pub async fn start() -> Self {
        Self::with(Setup::default()).await
    }

    /// Starts a gateway in a certain way.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn with(setup: Setup) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let owner = quickstart(directory.path(), "owner", setup.auth_disabled).await;
        let (process, address) = serve(directory.path(), &setup, "127.0.0.1:0").await;
        Self {
            directory,
            setup,
            address,
            process,
            owner,
        }
    }

    /// A further user with a workspace, task and session of its own.
    pub async fn another(&self, name: &str) -> Identity {
        quickstart(self.directory.path(), name, false).await
    }

    /// Where it listens, as `host:port`.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The base URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The directory of its files.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The database file.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        database(self.directory.path())
    }

    /// A client with a token, or without.
    #[must_use]
    pub fn client(&self, token: Option<&str>) -> McpClient {
        McpClient::new(&self.url(), token)
    }

    /// The first user's client.
    #[must_use]
    pub fn owner_client(&self) -> McpClient {
        self.client(self.owner.token.as_deref())
    }

    /// Runs an administrative command and answers its JSON.
    pub async fn admin(&self, arguments: &[&str]) -> Value {
        admin(self.directory.path(), arguments).await
    }

    /// The audit of the first user's task.
    pub async fn audit(&self) -> Value {
        self.admin(&["audit", "show", "--task", &self.owner.task_id])
            .await
    }

    /// What the gateway has printed and logged.
    #[must_use]
    pub fn output(&self) -> String {
        self.process.output()
    }

    /// Kills the gateway and starts it again on the same port.
    pub async fn crash_and_restart(&mut self) {
        self.process.kill().await;
        self.resume().await;
    }

    /// Asks the gateway to stop and answers whether it ended well.
    ///
    /// # Panics
    /// When it cannot be asked.
    pub async fn stop(&mut self) -> bool {
        let id = self.process.id().to_string();
        let asked = Command::new("kill").arg(id).status().await;
        assert!(asked.expect("kill runs").success());
        self.process.wait().await.success()
    }

    /// Starts it again after it stopped.
    pub async fn resume(&mut self) {
        let address = self.address.clone();
        let (process, _) = serve(self.directory.path(), &self.setup, &address).await;
        self.process = process;
    }
}

fn database(directory: &Path) -> PathBuf {
    directory.join("permit.db")
}

async fn quickstart(directory: &Path, name: &str, auth_disabled: bool) -> Identity {
    let credential = directory.join(format!("{name}.credential"));
    let auth = if auth_disabled {
        "disabled"
    } else {
        "required"
    };
    let arguments = ["quickstart", "--user", name, "--auth", auth];
    let credential = credential.to_str().expect("a plain path");
    let arguments = [&arguments[..], &["--credential-file", credential]].concat();
    let made = admin(directory, &arguments).await;
    serde_json::from_value(made).expect("what quickstart makes")
}

async fn admin(directory: &Path, arguments: &[&str]) -> Value {
    let output = Command::new(gateway_program())
        .args(arguments)
        .arg("--json")
        .arg("--database")
        .arg(database(directory))
        .output()
        .await
        .expect("the program runs");
    assert!(
        output.status.success(),
        "{arguments:?} failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("JSON")
}

async fn serve(directory: &Path, setup: &Setup, listen: &str) -> (Process, String) {
    let auth = if setup.auth_disabled {
        "disabled"
    } else {
        "required"
    };
    let mut process = Process::start(
        Command::new(gateway_program())
            .args(["serve", "--listen", listen, "--auth", auth])
            .args(["--log-format", "json", "--log", "trace", "--database"])
            .arg(database(directory))
            .args(&setup.serve),
    );
    let line = process.line("MCP endpoint").await;
    let url = line.split_whitespace().last().expect("a URL");
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    (process, address.to_owned())
}
