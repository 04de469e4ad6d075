//! Where the built programs are.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The gateway.
#[must_use]
pub fn gateway_program() -> PathBuf {
    built().join("permit-gateway")
}

/// The sidecar.
#[must_use]
pub fn sidecar_program() -> PathBuf {
    built().join("permit-sidecar")
}

/// The small example agent, which runs what it is allowed to.
#[must_use]
pub fn example_agent() -> PathBuf {
    built().join("examples").join("example_agent")
}

/// Builds the programs once per test run, so that a test never meets an old one.
fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let mut cargo = Command::new(env!("CARGO"));
        // What cargo told this program of itself makes some build scripts run again.
        for (name, _) in std::env::vars_os() {
            let of_package = ["CARGO_PKG_", "CARGO_MANIFEST_"];
            let told = name.to_string_lossy();
            if of_package.iter().any(|prefix| told.starts_with(prefix)) {
                cargo.env_remove(name);
            }
        }
        let built = cargo
            .args(["build", "--quiet", "--manifest-path"])
            .arg(manifest)
            .args(["--package", "permit-gateway", "--package", "permit-sidecar"])
            .args(["--package", "permit-acp", "--bins", "--examples"])
            .status()
            .expect("cargo runs");
        assert!(built.success(), "the programs do not build");
        let program = std::env::current_exe().expect("a program has a path");
        let folder = program.parent().expect("a folder");
        // A test lies in the folder `deps` of where programs are.
        let folder = if folder.ends_with("deps") {
            folder.parent().expect("a target folder")
        } else {
            folder
        };
        folder.to_owned()
    })
}
