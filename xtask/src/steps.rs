//! The steps that commands are made of: each shows what it runs and fails with it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A step that failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StepError {
    /// The program could not be started.
    #[error("`{line}` could not be started: {cause}")]
    Start {
        line: String,
        #[source]
        cause: std::io::Error,
    },
    /// The program failed.
    #[error("`{line}` failed")]
    Failed { line: String },
    /// A file could not be written.
    #[error("cannot write {}: {cause}", path.display())]
    Write {
        path: PathBuf,
        #[source]
        cause: std::io::Error,
    },
}

/// Cargo, as this program was started by.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root()).args(arguments);
    // What cargo told this program of itself makes some build scripts run again.
    for (name, _) in std::env::vars_os() {
        let of_package = ["CARGO_PKG_", "CARGO_MANIFEST_"];
        if of_package
            .iter()
            .any(|prefix| name.to_string_lossy().starts_with(prefix))
        {
            command.env_remove(name);
        }
    }
    command
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Result<(), StepError> {
    let line = line(command);
    eprintln!("$ {line}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(StepError::Failed { line }),
        Err(cause) => Err(StepError::Start { line, cause }),
    }
}

/// The workspace's folder.
pub(crate) fn root() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest)
}

/// The folder for what is built and installed.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

fn line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    let words: Vec<_> = std::iter::once(name)
        .chain(command.get_args())
        .map(OsStr::to_string_lossy)
        .collect();
    words.join(" ")
}
