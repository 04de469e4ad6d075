//! Credentials that no separator announces: `Bearer x` in a sentence, "password is x".

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::{Found, Kind, View, headers, values};

static BEARER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i-u)\b(bearer|basic) {1,4}").ok());

static SAID: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?i-u)\b(?:password|passphrase|token|secret|api key|apikey|pin|key)(?: (?:is|was|to|of|as))? ["'`]?([^\s"'`,;)]{6,200})"#,
    )
    .ok()
});

/// Forms of programs other than a shell. Each has one group, and every repeat is bounded.
static FORMS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r#"(?i-u)\bidentified by ['"]([^'"\n]{1,128})['"]"#,
        r#"(?i-u)\bconvertto-securestring (?:-string )?['"]([^'"\n]{1,128})['"]"#,
        r#"(?i-u)\bauth=\(['"][^'"\n]{1,64}['"], ?['"]([^'"\n]{1,128})['"]\)"#,
        r#"(?i-u)\b(?:seed phrase|mnemonic|recovery phrase) ?[:=]? ?["']?((?:[a-z]{3,8} ){11,23}[a-z]{3,8})\b"#,
    ]
    .iter()
    .filter_map(|form| Regex::new(form).ok())
    .collect()
});

pub(super) fn scan(view: &View<'_>, found: &mut Found) {
    let bytes = view.bytes.as_ref();
    if let Some(bearer) = BEARER.as_ref() {
        let mut done = 0;
        for hit in bearer.captures_iter(bytes) {
            let (Some(whole), Some(scheme)) = (hit.get(0), hit.get(1)) else {
                continue;
            };
            if whole.start() < done {
                continue;
            }
            let end = headers::word_end(bytes, whole.end());
            let text = bytes.get(whole.end()..end).unwrap_or_default();
            if values::is_tokenish(text) {
                done = headers::credential(view, scheme.as_bytes(), whole.end(), found);
            }
        }
    }
    for form in FORMS.iter() {
        for value in form.captures_iter(bytes).filter_map(|hit| hit.get(1)) {
            if !values::is_reference(value.as_bytes()) && !values::is_placeholder(value.as_bytes())
            {
                found.add(view, value.start(), value.end(), Kind::Password);
            }
        }
    }
    let Some(said) = SAID.as_ref() else { return };
    for hit in said.captures_iter(bytes) {
        let Some(value) = hit.get(1) else { continue };
        let text = value.as_bytes();
        if is_said_secret(text) {
            let end = text
                .iter()
                .rposition(|&byte| !matches!(byte, b'.' | b':' | b'!'));
            let length = end.map_or(0, |at| at + 1);
            found.add(view, value.start(), value.start() + length, Kind::Secret);
        }
    }
}

/// Only what mixes letters and digits, and is no path, flag, name or digest.
fn is_said_secret(text: &[u8]) -> bool {
    let mixed = text.iter().any(u8::is_ascii_digit) && text.iter().any(u8::is_ascii_alphabetic);
    let plain = text.first() == Some(&b'-')
        || text
            .iter()
            .any(|byte| matches!(byte, b'/' | b'\\' | b'(' | b'='))
        || values::is_reference(text)
        || values::is_placeholder(text);
    let hex = text
        .iter()
        .all(|&byte| byte.is_ascii_hexdigit() || byte == b'-');
    let slug = text.iter().all(|&byte| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.' | b'_')
    }) && text.len() < 20
        && text.iter().any(|&byte| matches!(byte, b'-' | b'.' | b'_'));
    mixed && !plain && !hex && !slug && text.len() >= 8
}
