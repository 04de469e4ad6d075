//! Escapes, bounds and sizes.

use crate::support::{command, github_token, openai_key, shown, texts};
use permit_domain::ActionType;
use permit_projection::{
    MAX_NAME_BYTES, MAX_RAW_BYTES, MAX_TEXT_BYTES, RawDetails, RawOption, project,
};

#[test]
fn a_long_command_is_complete() {
    let text = format!(
        "ssh deploy@host.example 'set -u; {}rm -rf /srv/releases/*'",
        "systemd-analyze verify app.service; printf \"OK %s\\n\" \"$?\"; ".repeat(40)
    );
    assert_eq!(shown(&text), (text, false));
}

#[test]
fn a_text_over_the_bound_keeps_head_and_tail_and_says_so() {
    let projected = project(command(format!(
        "head; {}; rm -rf tail",
        "x".repeat(2 * MAX_TEXT_BYTES)
    )));
    let text = projected.action.command.expect("a command");
    assert!(text.starts_with("head; x") && text.ends_with("; rm -rf tail"));
    assert!(text.len() <= MAX_TEXT_BYTES);
    let left_out = projected.action.truncated;
    assert!(left_out > 0 && text.contains(&format!("[... {left_out} bytes left out ...]")));
}

#[test]
fn redaction_reads_the_whole_text_before_the_bound() {
    let token = github_token();
    for pad in (MAX_TEXT_BYTES / 2 - 80..MAX_TEXT_BYTES / 2 + 40).step_by(7) {
        let raw = command(format!(
            "{} {token} {}",
            "a".repeat(pad),
            "b".repeat(MAX_TEXT_BYTES)
        ));
        let text = project(raw).action.command.expect("a command");
        assert!(!text.contains("FAKEtok") && !text.contains("ghp"), "{pad}");
    }
    let text = format!(
        "python3 - <<'PY'\n{}import shutil; shutil.rmtree('/srv/data')\nTOKEN='{token}'\nPY",
        "# setup line, nothing to see here\n".repeat(12)
    );
    assert_eq!(
        shown(&text),
        (text.replace(&token, "[redacted:github-token]"), true)
    );
}

#[test]
fn what_cannot_be_seen_is_shown_in_every_field() {
    let odd = "a\u{202e}\u{2066}b\u{2069}\u{200b}\u{2028}c\rd";
    let visible = "a\\u{202e}\\u{2066}b\\u{2069}\\u{200b}\\u{2028}c\\u{d}d";
    for action_type in [
        ActionType::Command,
        ActionType::FileWrite,
        ActionType::McpTool,
    ] {
        let mut raw = RawDetails::new(action_type);
        raw.title = Some(odd.to_owned());
        raw.description = Some(odd.to_owned());
        raw.command = Some(odd.to_owned());
        raw.cwd = Some(odd.to_owned());
        raw.path = Some(odd.to_owned());
        raw.server = Some(odd.to_owned());
        raw.tool = Some(odd.to_owned());
        raw.options = vec![RawOption::new("id", odd, "allow_once")];
        let projected = project(raw);
        let action = &projected.action;
        assert!(action.escaped && !action.redacted);
        assert_eq!(projected.title, visible);
        assert_eq!(projected.options[0].name, visible);
        for text in [
            &action.command,
            &action.cwd,
            &action.path,
            &action.server,
            &action.tool,
        ] {
            assert!(
                text.as_deref().is_none_or(|text| text == visible),
                "{text:?}"
            );
        }
    }
}

#[test]
fn line_breaks_stay_in_commands_and_show_in_paths() {
    let mut raw = command("a\nb");
    raw.cwd = Some("/x\ny".to_owned());
    let action = project(raw).action;
    assert_eq!(action.command.as_deref(), Some("a\nb"));
    assert_eq!(action.cwd.as_deref(), Some("/x\\u{a}y"));
}

#[test]
fn a_text_that_is_too_large_is_left_out_alone() {
    let mut raw = command(format!("{{{}", "\"k\": \"v\", ".repeat(200_000)));
    raw.title = Some("Run it".to_owned());
    let projected = project(raw);
    assert_eq!(projected.action.command, None);
    assert_eq!(projected.title, "Run it");
    assert_eq!(projected.action.withheld, ["command (too large)"]);
    assert!(projected.action.redacted);
}

#[test]
fn the_largest_texts_are_taken() {
    for text in [
        "A".repeat(MAX_RAW_BYTES),
        "token=a1b2c3 ".repeat(MAX_RAW_BYTES / 13),
    ] {
        let action = project(command(text)).action;
        assert!(action.truncated > 0 && action.command.is_some());
    }
}

#[test]
fn an_option_keeps_its_id_and_loses_its_secret() {
    let (token, key) = (github_token(), openai_key());
    let mut raw = command("ls");
    raw.options = vec![
        RawOption::new(
            "a\u{202e}b ",
            format!("always `curl -H 'X-Api-Key: {key}'`"),
            "allow_always",
        ),
        RawOption::new(format!("allow {token}"), "Allow", "allow_once"),
        RawOption::new("", "", "allow_persistent"),
        RawOption::new("long", "n".repeat(2 * MAX_NAME_BYTES), "allow_once"),
        RawOption::new("long", "again", token.clone()),
    ];
    let projected = project(raw);
    let all = texts(&projected);
    assert!(!all.contains(&token) && !all.contains(&key), "{all}");
    let ids: Vec<_> = projected
        .options
        .iter()
        .map(|option| option.option_id.as_str())
        .collect();
    assert_eq!(ids, ["a\u{202e}b ", "", "long", "long"]);
    assert_eq!(projected.options[1].kind.as_str(), "allow_persistent");
    assert_eq!(projected.options[3].kind.as_str(), "other");
    assert!(projected.options[2].name.len() <= MAX_NAME_BYTES);
    assert_eq!(projected.action.withheld, ["option"]);
    assert!(projected.action.redacted);
}

/// A mask must not pass for harmless where what it covers might run.
#[test]
fn a_mask_over_shell_syntax_is_told() {
    let told = |text: &str| {
        let withheld = project(command(text)).action.withheld;
        withheld.iter().any(|kind| kind.contains("shell syntax"))
    };
    for hiding in [
        "printf 'DB_TOKEN=abcdefgh\\ntouch\\t/x/a' | sh",
        "TOKEN=abc${x:=$(touch /x/a)} ls",
        "eval 'TOKEN=x;touch${IFS}/x/a'",
        "TOKEN='touch /x/a'; eval $TOKEN",
        "echo 'touch /x/a' | sudo -S sh",
    ] {
        assert!(told(hiding), "{hiding}");
    }
    for plain in [
        "TOKEN=abcdefgh1234 ls",
        "curl -u admin:hunter2hunter2 https://h",
        "mysql -phunter2hunter2 db",
        "git status",
    ] {
        assert!(!told(plain), "{plain}");
    }
}
