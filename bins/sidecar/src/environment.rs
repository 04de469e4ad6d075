//! The agent's environment: ours, without any credential of this system.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::account::Account;

/// Our environment as the agent may have it. Gives the number of variables left out as well.
pub(crate) fn for_agent(
    ours: impl Iterator<Item = (OsString, OsString)>,
    credential: &str,
    credential_file: &Path,
    account: Option<&Account>,
) -> (Vec<(OsString, OsString)>, usize) {
    let needles = [
        credential.as_bytes(),
        credential_file.as_os_str().as_bytes(),
    ];
    let mut left_out = 0;
    let mut env: Vec<_> = ours
        .filter(|(name, value)| {
            let value = value.as_bytes();
            let secret = is_ours(name)
                || holds_token(value)
                || needles.iter().any(|needle| contains(value, needle));
            left_out += usize::from(secret);
            !secret
        })
        .collect();
    if let Some(account) = account {
        let own = ["HOME", "USER", "LOGNAME", "MAIL", "XDG_RUNTIME_DIR"];
        env.retain(|(name, _)| !own.iter().any(|own| name == own));
        env.push(("HOME".into(), account.home.clone().into()));
        env.push(("USER".into(), account.name.clone().into()));
        env.push(("LOGNAME".into(), account.name.clone().into()));
    }
    (env, left_out)
}

/// A variable that configures this system, or carries one of its credentials by its name.
fn is_ours(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    let secret = [
        "TOKEN",
        "SECRET",
        "KEY",
        "CREDENTIAL",
        "PASSWORD",
        "AUTH",
        "PAT",
    ];
    name.starts_with("PERMIT_")
        || name.starts_with("KANDEV_") && secret.iter().any(|word| name.contains(word))
}

/// Whether one of this system's tokens is in it: its prefix and enough behind it.
fn holds_token(value: &[u8]) -> bool {
    const PREFIX: &[u8] = b"kandev_";
    let mut starts = value.windows(PREFIX.len()).enumerate();
    starts.any(|(at, window)| {
        let rest = value.get(at + PREFIX.len()..).unwrap_or_default();
        let token = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        window == PREFIX && rest.iter().take_while(token).count() >= 12
    })
}

fn contains(value: &[u8], needle: &[u8]) -> bool {
    !needle.is_empty() && value.windows(needle.len()).any(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(vars: &[(&str, &str)], account: Option<&Account>) -> Vec<String> {
        let vars = vars.iter().map(|(n, v)| ((*n).into(), (*v).into()));
        let file = Path::new("/run/credential");
        let (env, _) = for_agent(vars, "the-credential", file, account);
        let shown = env
            .iter()
            .map(|(n, v)| format!("{}={}", n.display(), v.display()));
        shown.collect()
    }

    #[test]
    fn credentials_go_by_name_and_by_value() {
        let token = format!("x {}_pat_{}", "kandev", "0".repeat(20));
        let vars = [
            ("PATH", "/bin"),
            ("KANDEV_TASK_ID", "t"),
            ("ANTHROPIC_API_KEY", "theirs"),
            ("NOTE", "kandev_x"),
            ("PERMIT_CREDENTIAL_FILE", "x"),
            ("PERMIT_GATEWAY", "x"),
            ("KANDEV_API_KEY", "x"),
            ("kandev_token", "x"),
            ("MCP", &token),
            ("A", "Bearer the-credential"),
            ("B", "file:///run/credential"),
        ];
        assert_eq!(
            left(&vars, None),
            [
                "PATH=/bin",
                "KANDEV_TASK_ID=t",
                "ANTHROPIC_API_KEY=theirs",
                "NOTE=kandev_x"
            ]
        );
    }

    #[test]
    fn another_account_has_its_own_home() {
        let account = Account {
            name: "agent".to_owned(),
            uid: 1,
            gid: 1,
            home: "/home/agent".into(),
        };
        let vars = [("HOME", "/root"), ("USER", "root"), ("A", "b")];
        assert_eq!(
            left(&vars, Some(&account)),
            ["A=b", "HOME=/home/agent", "USER=agent", "LOGNAME=agent"]
        );
    }
}
