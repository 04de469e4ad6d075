//! What the top level of the repository holds.

use std::fs;
use std::path::Path;

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

/// Every entry of the top level that does not belong there.
pub(super) fn check(root: &Path) -> Result<Vec<String>, LayersError> {
    let mut broken = Vec::new();
    for entry in fs::read_dir(root).map_err(unreadable(root))? {
        let name = entry.map_err(unreadable(root))?.file_name();
        broken.extend(check_name(&name.to_string_lossy()));
    }
    broken.sort();
    Ok(broken)
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
