//! Which crate may use which.

use cargo_metadata::camino::Utf8Path;
use cargo_metadata::{DependencyKind, Metadata, Package};

/// What each crate may use, without the common prefix of their names. Arrows run downward only.
/// Programs, the end-to-end tests and this crate may use any.
const MAY_USE: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("logging", &[]),
    ("projection", &["domain"]),
    ("policy", &["domain"]),
    ("system", &["domain", "policy"]),
    ("audit", &["domain", "policy"]),
    ("sqlite", &["domain", "policy", "audit"]),
    ("registry", &["domain", "projection"]),
    ("service", &["domain", "policy", "audit"]),
    ("http", &["policy"]),
    ("link", &["domain"]),
    (
        "hub",
        &["link", "domain", "policy", "audit", "service", "http"],
    ),
    ("uplink", &["link", "domain", "policy", "registry"]),
    ("acp", &["domain", "projection", "registry"]),
    ("mcp", &["domain", "policy", "service", "http"]),
];

const PREFIX: &str = "permit-";

/// Every package of the workspace that is not in the table or uses what it may not.
pub(super) fn check(metadata: &Metadata) -> Vec<String> {
    let packages = metadata.workspace_packages();
    let members: Vec<_> = packages.iter().map(|p| p.name.as_str()).collect();
    let mut broken = Vec::new();
    for package in &packages {
        if may_use_any(package, &metadata.workspace_root) {
            continue;
        }
        let used = used_by(package, &members);
        broken.extend(check_folder(package));
        broken.extend(check_crate(&package.name, &used));
    }
    broken
}

fn may_use_any(package: &Package, root: &Utf8Path) -> bool {
    let folder = package.manifest_path.strip_prefix(root);
    folder.is_ok_and(|folder| {
        ["bins", "tests", "xtask"]
            .iter()
            .any(|top| folder.starts_with(top))
    })
}

/// The members that the package builds on, optional ones and those of one platform included.
fn used_by<'a>(package: &'a Package, members: &[&str]) -> Vec<&'a str> {
    let dependencies = package.dependencies.iter();
    dependencies
        .filter(|used| used.kind != DependencyKind::Development)
        .map(|used| used.name.as_str())
        .filter(|used| members.contains(used))
        .collect()
}

fn check_folder(package: &Package) -> Option<String> {
    let folder = package.manifest_path.parent()?.file_name()?;
    (folder != package.name.as_str())
        .then(|| format!("{}: its folder is named `{folder}`", package.name))
}

fn check_crate(name: &str, used: &[&str]) -> Vec<String> {
    let short = |name: &str| name.strip_prefix(PREFIX).unwrap_or(name).to_owned();
    let row = MAY_USE.iter().find(|(row, _)| *row == short(name));
    let Some((_, may_use)) = row else {
        return vec![format!(
            "{name}: not in the table of xtask/src/layers/dependencies.rs; say there what it may use"
        )];
    };
    used.iter()
        .filter(|used| !may_use.contains(&short(used).as_str()))
        .map(|used| format!("{name}: uses {used}; it may use {}", listed(may_use)))
        .collect()
}

fn listed(may_use: &[&str]) -> String {
    if may_use.is_empty() {
        return "no crate of the workspace".to_owned();
    }
    let names: Vec<_> = may_use
        .iter()
        .map(|name| format!("{PREFIX}{name}"))
        .collect();
    format!("only {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_may_use_what_its_row_names() {
        assert!(check_crate("permit-domain", &[]).is_empty());
        assert!(check_crate("permit-http", &["permit-policy"]).is_empty());
        assert!(check_crate("permit-audit", &["permit-policy", "permit-domain"]).is_empty());
    }

    #[test]
    fn a_crate_that_uses_more_is_told_what_it_may_use() {
        assert_eq!(
            check_crate("permit-http", &["permit-policy", "permit-service"]),
            ["permit-http: uses permit-service; it may use only permit-policy"]
        );
        assert_eq!(
            check_crate("permit-domain", &["permit-policy"]),
            ["permit-domain: uses permit-policy; it may use no crate of the workspace"]
        );
    }

    #[test]
    fn a_crate_without_a_row_is_told_to_get_one() {
        let told = check_crate("permit-extra", &[]);
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("permit-extra: not in the table"));
    }

    #[test]
    fn arrows_run_downward_only() {
        for (at, (name, may_use)) in MAY_USE.iter().enumerate() {
            for used in *may_use {
                let below = MAY_USE[..at].iter().any(|(row, _)| row == used);
                assert!(below, "{name} may use {used}, which is not above it");
            }
        }
    }
}
