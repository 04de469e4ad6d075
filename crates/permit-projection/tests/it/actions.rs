//! The allowlist by action type.

use crate::support::{command, openai_key, texts};
use permit_domain::ActionType;
use permit_projection::{RawDetails, RawOption, project};

/// Details of every kind at once.
fn everything(action_type: ActionType) -> RawDetails {
    let mut raw = RawDetails::new(action_type);
    raw.title = Some("Title".to_owned());
    raw.command = Some("zz-command".to_owned());
    raw.cwd = Some("/zz-cwd".to_owned());
    raw.path = Some("/zz-path".to_owned());
    raw.url = Some("https://zz-url.example/".to_owned());
    raw.server = Some("zz-server".to_owned());
    raw.tool = Some("zz-tool".to_owned());
    raw.arguments = Some("{\"q\":\"zz-argument\"}".to_owned());
    raw
}

#[test]
fn each_type_shows_its_own_details_only() {
    for (action_type, sentence, shown) in [
        (
            ActionType::Command,
            "Run a command",
            &["zz-command", "zz-cwd"][..],
        ),
        (
            ActionType::FileWrite,
            "Write a file",
            &["zz-path", "zz-cwd"],
        ),
        (ActionType::FileRead, "Read a file", &["zz-path", "zz-cwd"]),
        (ActionType::Network, "Make a network request", &["zz-url"]),
        (
            ActionType::McpTool,
            "Call an MCP tool",
            &["zz-server", "zz-tool"],
        ),
        (ActionType::Other, "Other action", &[]),
    ] {
        let projected = project(everything(action_type));
        let all = texts(&projected);
        for detail in [
            "zz-command",
            "zz-cwd",
            "zz-path",
            "zz-url",
            "zz-server",
            "zz-tool",
            "zz-argument",
        ] {
            assert_eq!(
                all.contains(detail),
                shown.contains(&detail),
                "{action_type:?} {detail}"
            );
        }
        assert_eq!(projected.action.description.as_deref(), Some(sentence));
        assert!(projected.action.withheld.contains(&"arguments".to_owned()));
        assert!(!projected.action.redacted);
    }
}

#[test]
fn a_title_never_replaces_the_command() {
    let mut raw = command("cd /var/www/html && rm -rf *");
    raw.title = Some("rm -rf *".to_owned());
    raw.description = Some("Clean up".to_owned());
    let projected = project(raw);
    assert_eq!(projected.title, "rm -rf *");
    assert_eq!(projected.action.description.as_deref(), Some("Clean up"));
    assert_eq!(
        projected.action.command.as_deref(),
        Some("cd /var/www/html && rm -rf *")
    );
}

#[test]
fn every_option_is_offered_in_order_with_its_own_kind() {
    let offered = [
        ("allow_once", "Allow", "allow_once"),
        ("allow_session", "Allow `ls` this session", "allow_always"),
        ("switch_bypass", "Switch to bypass mode", "allow_always"),
        ("allow-once", "Allow once", "reject_once"),
        ("x", "Deny", "allow_once"),
        ("x", "Deny 2", "reject_once"),
    ];
    let mut raw = command("ls");
    raw.options = offered
        .iter()
        .map(|&(id, name, kind)| RawOption::new(id, name, kind))
        .collect();
    let options = project(raw).options;
    let shown: Vec<_> = options
        .iter()
        .map(|option| {
            (
                option.option_id.as_str(),
                option.name.as_str(),
                option.kind.as_str(),
            )
        })
        .collect();
    assert_eq!(shown, offered);
}

#[test]
fn an_mcp_call_shows_no_argument() {
    let key = openai_key();
    let arguments =
        format!("{{\"entities\":[{{\"note\":\"secret note\"}}],\"api_key\":\"{key}\"}}");
    for title in [
        "memory_create_entities".to_owned(),
        arguments.clone(),
        "Save secret note".to_owned(),
        String::new(),
    ] {
        let mut raw = RawDetails::new(ActionType::McpTool);
        raw.title = Some(title.clone());
        raw.server = Some("memory".to_owned());
        raw.tool = Some("create_entities".to_owned());
        raw.arguments = Some(arguments.clone());
        raw.description = Some(arguments.clone());
        let projected = project(raw);
        let all = texts(&projected);
        assert!(!all.contains("secret note") && !all.contains(&key), "{all}");
        let expected = if title.starts_with("memory") {
            title
        } else {
            "memory: create_entities".to_owned()
        };
        assert_eq!(projected.title, expected);
    }
}

#[test]
fn a_destination_has_no_user_no_fragment_and_no_query_secret() {
    let shown = |url: &str| {
        let mut raw = RawDetails::new(ActionType::Network);
        raw.url = Some(url.to_owned());
        project(raw).action
    };
    for (url, destination, redacted) in [
        (
            "https://h.example:8443/a?page=2",
            "https://h.example:8443/a?page=2",
            false,
        ),
        (
            "https://u:FAKEpw123@h.example/x",
            "https://h.example/x",
            true,
        ),
        (
            "https://h.example/?api_key=abc123def&page=2#t",
            "https://h.example/?api_key=[redacted:key]&page=2",
            true,
        ),
        (
            "https://h.example/#access_token=abc123def",
            "https://h.example/",
            true,
        ),
    ] {
        let action = shown(url);
        assert_eq!(action.destination.as_deref(), Some(destination));
        assert_eq!(action.redacted, redacted, "{url}");
    }
    let action = shown("https://good.example\\@evil.example/");
    assert_eq!(action.destination, None);
    assert_eq!(action.withheld, ["destination (unreadable)"]);
}
