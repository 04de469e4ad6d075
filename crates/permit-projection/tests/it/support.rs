//! Prompts to project, and credentials that no scanner of this repository takes for real.

use permit_domain::ActionType;
use permit_projection::{Projected, RawDetails, RawOption, project};

pub(crate) fn github_token() -> String {
    format!("{}{}", "ghp", "_FAKEtoken0123456789abcdefghijklmnopq")
}

pub(crate) fn openai_key() -> String {
    format!("{}{}{}", "sk-", "proj-", "FAKE0123456789abcdef".repeat(3))
}

pub(crate) fn command(text: impl Into<String>) -> RawDetails {
    let mut raw = RawDetails::new(ActionType::Command);
    raw.title = Some("Run command".to_owned());
    raw.command = Some(text.into());
    raw.cwd = Some("/workspace/project".to_owned());
    raw.options = vec![
        RawOption::new("allow-once", "Allow once", "allow_once"),
        RawOption::new("reject-once", "Deny", "reject_once"),
    ];
    raw
}

/// The command as it is shown, and whether anything was redacted.
pub(crate) fn shown(text: &str) -> (String, bool) {
    let projected = project(command(text));
    (
        projected.action.command.unwrap_or_default(),
        projected.action.redacted,
    )
}

/// Every text of a projection.
pub(crate) fn texts(projected: &Projected) -> String {
    let options = projected.options.iter().map(|option| {
        format!(
            "{} {} {}",
            option.option_id.as_str(),
            option.name,
            option.kind.as_str()
        )
    });
    format!(
        "{} {:?} {:?}",
        projected.title,
        projected.action,
        options.collect::<Vec<_>>()
    )
}

#[track_caller]
pub(crate) fn stays(text: &str) {
    assert_eq!(shown(text), (text.to_owned(), false));
}

#[track_caller]
pub(crate) fn becomes(text: &str, expected: &str) {
    assert_eq!(shown(text), (expected.to_owned(), true));
}
