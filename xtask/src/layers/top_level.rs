//! What the top level of the repository holds.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::{LayersError, unreadable};

/// All that is there, besides dotfiles.
const ALLOWED: [&str; 10] = [
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "bins",
    "crates",
    "docs",
    "rust-toolchain.toml",
    "tests",
    "xtask",
];

/// Where cargo builds; not part of the repository.
const BUILT: &str = "target";

/// Every entry of the top level that belongs to the repository and not there. What git ignores, a
/// database of one's own for example, is nobody else's business.
pub(super) fn check(root: &Path) -> Result<Vec<String>, LayersError> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(unreadable(root))?;
    let files = String::from_utf8_lossy(&listed.stdout);
    let names = files.lines().filter_map(|file| file.split('/').next());
    let names: BTreeSet<&str> = names.collect();
    Ok(names.into_iter().filter_map(check_name).collect())
}

fn check_name(name: &str) -> Option<String> {
    let belongs = ALLOWED.contains(&name) || name == BUILT || name.starts_with('.');
    (!belongs).then(|| format!("{name}: does not belong at the top level"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_level_holds_what_it_must_and_dotfiles() {
        for name in ALLOWED.into_iter().chain([BUILT, ".gitignore", ".cargo"]) {
            assert_eq!(check_name(name), None);
        }
    }

    #[test]
    fn anything_else_is_told() {
        for name in ["fuzz", "CHANGELOG.md", "scripts", "cargo.toml", "a.db"] {
            let told = format!("{name}: does not belong at the top level");
            assert_eq!(check_name(name), Some(told));
        }
    }
}
