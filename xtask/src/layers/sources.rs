//! What the sources of a library may not say.

use std::fs;
use std::path::{Path, PathBuf};

use super::{LayersError, unreadable};

/// A text that library code does not contain.
struct Forbidden {
    text: &'static str,
    why: &'static str,
    /// Beginnings of the paths that may contain it all the same.
    except: &'static [&'static str],
}

const FORBIDDEN: [Forbidden; 2] = [
    Forbidden {
        text: "CompositionRoot::new",
        why: "only a program or a test puts the parts together",
        except: &[
            "crates/permit-policy/src/attest.rs",
            "crates/permit-audit/src/conformance",
        ],
    },
    Forbidden {
        text: "process::exit",
        why: "only a program's main ends the program",
        except: &[],
    },
];

/// Every line of `crates/*/src` that says what it may not. Comments and unit tests may.
pub(super) fn check(root: &Path) -> Result<Vec<String>, LayersError> {
    let mut broken = Vec::new();
    for folder in entries(&root.join("crates"))? {
        let mut files = Vec::new();
        collect(&folder.join("src"), &mut files)?;
        let mut sources = Vec::new();
        for file in files {
            let text = fs::read_to_string(&file).map_err(unreadable(&file))?;
            let path = file.strip_prefix(root).unwrap_or(&file).to_owned();
            sources.push((path, text));
        }
        broken.extend(check_crate(&sources));
    }
    Ok(broken)
}

fn check_crate(sources: &[(PathBuf, String)]) -> Vec<String> {
    let library = sources
        .iter()
        .filter(|(path, _)| !is_unit_test(path, sources));
    library
        .flat_map(|(path, text)| check_source(&path.to_string_lossy(), text))
        .collect()
}

/// Whether the file is a module that its crate declares for unit tests alone.
fn is_unit_test(path: &Path, sources: &[(PathBuf, String)]) -> bool {
    let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else {
        return false;
    };
    let by_name = format!("mod {stem};");
    let by_path = format!("#[path = \"{stem}.rs\"]");
    let declarations: Vec<_> = sources
        .iter()
        .flat_map(|(_, text)| {
            let before = std::iter::once("").chain(text.lines());
            text.lines().zip(before)
        })
        .filter(|(line, _)| line.trim().ends_with(&by_name) || line.trim() == by_path)
        .map(|(_, before)| before.trim() == "#[cfg(test)]")
        .collect();
    !declarations.is_empty() && declarations.iter().all(|for_tests| *for_tests)
}

fn check_source(path: &str, text: &str) -> Vec<String> {
    let mut broken = Vec::new();
    for forbidden in &FORBIDDEN {
        if forbidden
            .except
            .iter()
            .any(|except| path.starts_with(except))
        {
            continue;
        }
        for (at, line) in text.lines().enumerate() {
            let comment = line.trim_start().starts_with("//");
            if !comment && line.contains(forbidden.text) {
                let line = at + 1;
                let Forbidden { text, why, .. } = forbidden;
                broken.push(format!("{path}:{line}: `{text}`: {why}"));
            }
        }
    }
    broken
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), LayersError> {
    for path in entries(folder)? {
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, LayersError> {
    let mut paths = fs::read_dir(folder)
        .and_then(|entries| {
            entries
                .map(|entry| Ok(entry?.path()))
                .collect::<Result<Vec<_>, _>>()
        })
        .map_err(unreadable(folder))?;
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sources: &[(&str, &str)], expected: &[&str]) {
        let sources: Vec<_> = sources
            .iter()
            .map(|(path, text)| (PathBuf::from(path), (*text).to_owned()))
            .collect();
        assert_eq!(check_crate(&sources), expected);
    }

    #[test]
    fn a_library_makes_no_composition_root_and_does_not_exit() {
        check(
            &[(
                "crates/permit-x/src/lib.rs",
                "fn f() {\n    let root = CompositionRoot::new();\n    std::process::exit(1);\n}\n",
            )],
            &[
                "crates/permit-x/src/lib.rs:2: `CompositionRoot::new`: only a program or a test puts the parts together",
                "crates/permit-x/src/lib.rs:3: `process::exit`: only a program's main ends the program",
            ],
        );
    }

    #[test]
    fn a_comment_may_speak_of_it_and_the_witnesss_own_file_and_the_suite_may_make_one() {
        let making = "let root = CompositionRoot::new();";
        check(
            &[
                (
                    "crates/permit-x/src/lib.rs",
                    "/// As [`CompositionRoot::new`] does.",
                ),
                ("crates/permit-policy/src/attest.rs", making),
                ("crates/permit-audit/src/conformance.rs", making),
                ("crates/permit-audit/src/conformance/world.rs", making),
            ],
            &[],
        );
    }

    #[test]
    fn a_module_declared_for_unit_tests_alone_may() {
        let tests = (
            "crates/permit-x/src/rpc_tests.rs",
            "CompositionRoot::new();",
        );
        for declaration in [
            "#[cfg(test)]\nmod rpc_tests;",
            "#[cfg(test)]\n#[path = \"rpc_tests.rs\"]\nmod tests;",
        ] {
            check(&[("crates/permit-x/src/lib.rs", declaration), tests], &[]);
        }
    }

    #[test]
    fn a_name_alone_makes_no_unit_test() {
        let tests = (
            "crates/permit-x/src/rpc_tests.rs",
            "CompositionRoot::new();",
        );
        let told = "crates/permit-x/src/rpc_tests.rs:1: `CompositionRoot::new`: only a program or a test puts the parts together";
        check(
            &[("crates/permit-x/src/lib.rs", "mod rpc_tests;"), tests],
            &[told],
        );
        check(&[tests], &[told]);
        let both = "#[cfg(test)]\nmod rpc_tests;\npub mod rpc_tests;";
        check(&[("crates/permit-x/src/lib.rs", both), tests], &[told]);
    }
}
