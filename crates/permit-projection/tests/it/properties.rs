//! What holds for any text.

use permit_projection::{TextKind, redact_text};
use proptest::prelude::*;

/// Pieces that scanners react to, in any order.
fn shellish() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "password",
            "token",
            "=",
            ":",
            " ",
            "'",
            "\"",
            "\\",
            "`",
            "$(",
            ")",
            "${",
            "}",
            "$'",
            ";",
            "|",
            "&",
            "\n",
            "<<EOF",
            "EOF",
            "<<<",
            "curl",
            "-u",
            "-b",
            "mysql",
            "-p",
            "a:b@",
            "://",
            "Authorization",
            "Cookie",
            "Bearer ",
            "eyJ",
            ".",
            "-----BEGIN PRIVATE KEY-----",
            "sh -c ",
            "echo ",
            "sudo -S",
            "%41",
            "\u{1b}[1m",
            "\u{200b}",
            "é",
            "ｐ",
            "🙂",
            "a1B2c3D4e5F6g7H8i9J0",
            "hunter22",
            "[redacted:token]",
            "#",
        ])
        .prop_map(str::to_owned),
        "[ -~]{1,4}",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_outside_a_mask_changes(text in shellish()) {
        for kind in [TextKind::Command, TextKind::Prose, TextKind::Plain] {
            let (shown, redacted) = redact_text(&text, kind).expect("a text");
            prop_assert_eq!(redacted, shown != text);
            prop_assert_eq!(shown.matches('\n').count(), text.matches('\n').count());
            let mut rest = text.as_str();
            for part in outside_masks(&shown) {
                let at = rest.find(&part);
                prop_assert!(at.is_some(), "{:?} is not in {:?}", part, rest);
                rest = &rest[at.unwrap_or(0) + part.len()..];
            }
        }
    }
}

/// The parts between masks. A mask in the input is a part of both sides and may go.
fn outside_masks(shown: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = shown;
    while let Some(start) = rest.find("[redacted:") {
        parts.push(rest[..start].to_owned());
        let length = rest[start..]
            .find(']')
            .map_or(rest.len() - start, |end| end + 1);
        rest = &rest[start + length..];
    }
    parts.push(rest.to_owned());
    parts
}
