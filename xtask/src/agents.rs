//! `cargo xtask agents`: real agents, installed under the target folder and asked over real
//! processes.

use std::path::Path;
use std::process::Command;

use crate::steps::{StepError, cargo, run, target};

/// What is installed from npm: the agents, and the Node that they need.
const PACKAGES: [&str; 2] = [
    "node@24.21.0",
    "@agentclientprotocol/claude-agent-acp@0.101.0",
];

pub(crate) fn run_all() -> Result<(), StepError> {
    let folder = target().join("agents");
    install(&folder)?;
    let test = ["test", "--package", "permit-tests", "--features", "agents"];
    let test = [&test[..], &["--test", "agents"]].concat();
    run(cargo(&test).env("PERMIT_AGENTS", &folder))
}

/// Installs the packages unless the very same are there.
fn install(folder: &Path) -> Result<(), StepError> {
    let wanted = PACKAGES.join("\n");
    let stamp = folder.join("installed");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    let write = |path: &Path, text: &str| {
        std::fs::write(path, text).map_err(|cause| StepError::Write {
            path: path.to_owned(),
            cause,
        })
    };
    std::fs::create_dir_all(folder).map_err(|cause| StepError::Write {
        path: folder.to_owned(),
        cause,
    })?;
    // A manifest of its own keeps npm from looking for one further up.
    write(&folder.join("package.json"), "{\"private\": true}\n")?;
    let npm = ["install", "--no-audit", "--no-fund", "--loglevel=error"];
    run(Command::new("npm")
        .args(npm)
        .args(PACKAGES)
        .current_dir(folder))?;
    write(&stamp, &wanted)
}
