//! Whether a labelled value is a secret, or a reference, a placeholder or nothing at all.

use super::Kind;
use super::labels::Label;

/// Whether the value of such a label is a secret's own bytes.
pub(super) fn is_secret(value: &[u8], label: Label) -> bool {
    if value.len() < 3 || is_reference(value) || is_placeholder(value) {
        return false;
    }
    if label.strong {
        return !looks_like_path(value);
    }
    if label.kind == Kind::Password {
        return is_mixed(value) && value.len() >= 6 && !looks_like_path(value);
    }
    is_tokenish(value) && !looks_like_path(value)
}

/// Points at a secret without holding it.
pub(super) fn is_reference(value: &[u8]) -> bool {
    // In `'password='"$X"` a quote that closes one part looks like one that opens the value.
    if let Some((b'"' | b'\'', rest)) = value.split_first() {
        let end = rest.iter().rposition(|byte| !matches!(byte, b'"' | b'\''));
        return end.is_some_and(|end| is_reference(rest.get(..=end).unwrap_or_default()));
    }
    let starts = |prefix: &[u8]| value.starts_with(prefix);
    if starts(b"$") {
        return is_whole_expansion(value);
    }
    if starts(b"`") || starts(b"@") || starts(b"<(") || starts(b"{{") || starts(&[EXPANSION]) {
        return true;
    }
    if let Some(inner) = value
        .strip_prefix(b"%")
        .and_then(|rest| rest.strip_suffix(b"%"))
    {
        return inner.iter().all(|&byte| is_name_byte(byte));
    }
    if let Some(rest) = value.strip_prefix(b"!") {
        return rest.iter().all(|&byte| is_name_byte(byte) || byte == b'!');
    }
    let schemes = [
        &b"env:"[..],
        b"file:",
        b"vault:",
        b"op://",
        b"arn:",
        b"ref+",
        b"keyring:",
        b"secret://",
        b"sm://",
        b"ssm:",
        b"fd:",
        b"stdin",
        b"projects/",
    ];
    schemes.iter().any(|scheme| value.starts_with(scheme))
}

/// Stands in a word for what the shell puts there.
pub(super) const EXPANSION: u8 = 1;

fn is_whole_expansion(value: &[u8]) -> bool {
    let rest = value.get(1..).unwrap_or_default();
    match rest.first() {
        Some(b'{') => !has_default(rest),
        Some(b'(') => true,
        Some(byte) if byte.is_ascii_alphabetic() || *byte == b'_' => rest
            .iter()
            .all(|&byte| is_name_byte(byte) || matches!(byte, b':' | b'.' | b'[' | b']' | b'$')),
        Some(_) => rest.len() == 1,
        None => true,
    }
}

/// `${NAME:-literal}` holds the literal.
fn has_default(rest: &[u8]) -> bool {
    let name = rest
        .iter()
        .skip(1)
        .take_while(|&&byte| is_name_byte(byte))
        .count();
    let after = rest.get(1 + name..).unwrap_or_default();
    (after.starts_with(b":-") || after.starts_with(b":="))
        && !after.get(2..).unwrap_or_default().starts_with(b"$")
        && after.get(2).is_some_and(|&byte| byte != b'}')
}

/// Nothing that anyone could use: a mask, a sample, a word of a programming language.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let starts = |prefix: &[u8]| lower.starts_with(prefix);
    if starts(b"[redacted") || starts(b"<") && lower.ends_with(b">") || starts(b"***") {
        return true;
    }
    let first = lower.first().copied().unwrap_or_default();
    if lower.iter().all(|&byte| byte == first) {
        return true;
    }
    WORDS.contains(&lower.as_slice()) || CODE.iter().any(|code| starts(code))
}

/// Reads like a name of a file or of a place.
fn looks_like_path(value: &[u8]) -> bool {
    let starts = |prefix: &[u8]| value.starts_with(prefix);
    if starts(b"./") || starts(b"../") || starts(b"~/") || starts(b"C:\\") {
        return true;
    }
    if !starts(b"/") || value.len() < 2 {
        return false;
    }
    let slashes = value.iter().filter(|&&byte| byte == b'/').count();
    let wild = value
        .iter()
        .any(|&byte| !(is_name_byte(byte) || matches!(byte, b'/' | b'.' | b'-')));
    let mixed = value.iter().any(u8::is_ascii_uppercase)
        && value.iter().any(u8::is_ascii_digit)
        && value.len() > 16 * slashes;
    !wild && !mixed
}

fn is_mixed(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic)
}

/// Long and mixed enough to be made by a machine.
pub(super) fn is_tokenish(value: &[u8]) -> bool {
    let has = |class: fn(&u8) -> bool| value.iter().any(class);
    if value.iter().any(u8::is_ascii_whitespace) || is_uuid(value) {
        return false;
    }
    let (digit, upper, lower) = (
        has(u8::is_ascii_digit),
        has(u8::is_ascii_uppercase),
        has(u8::is_ascii_lowercase),
    );
    (value.len() >= 12 && digit && (upper || lower)) || (value.len() >= 20 && upper && lower)
}

fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| {
            if matches!(at, 8 | 13 | 18 | 23) {
                *byte == b'-'
            } else {
                byte.is_ascii_hexdigit()
            }
        })
}

/// An expression of a programming language, when the value is not quoted.
pub(super) fn is_code(value: &[u8]) -> bool {
    let words = value
        .iter()
        .all(|&byte| is_name_byte(byte) || matches!(byte, b'.' | b'[' | b']' | b'?'));
    let call = value
        .iter()
        .position(|&byte| byte == b'(')
        .is_some_and(|at| at > 0 && value.iter().take(at).all(|&b| is_name_byte(b) || b == b'.'));
    let path = words
        && value.contains(&b'.')
        && !value.iter().any(u8::is_ascii_digit)
        && value
            .first()
            .is_some_and(|&first| first.is_ascii_alphabetic() || first == b'.');
    call || path
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

static WORDS: &[&[u8]] = &[
    b"true",
    b"false",
    b"null",
    b"none",
    b"nil",
    b"undefined",
    b"required",
    b"optional",
    b"yes",
    b"string",
    b"str",
    b"text",
    b"bytes",
    b"int",
    b"integer",
    b"number",
    b"bool",
    b"boolean",
    b"password",
    b"passwd",
    b"token",
    b"secret",
    b"key",
    b"auto",
    b"prompt",
    b"ask",
    b"any",
    b"...",
    b"redacted",
    b"hidden",
    b"masked",
    b"missing",
    b"invalid",
    b"expired",
    b"incorrect",
    b"wrong",
    b"field",
    b"changeme",
    b"write",
    b"read",
    b"bearer",
    b"basic",
];

static CODE: &[&[u8]] = &[
    b"process.env",
    b"os.environ",
    b"os.getenv",
    b"getenv(",
    b"env[",
    b"env(",
    b"system.getenv",
    b".*",
    b"get-",
    b"new-",
    b"read-host",
    b"convertto-",
    b"self.",
    b"this.",
    b"config.",
    b"args.",
    b"secrets.",
    b"var.",
    b"local.",
    b"data.",
    b"import.meta",
    b"settings.",
    b"std::env",
    b"opts.",
    b"options.",
];

#[cfg(test)]
mod tests {
    use super::*;

    const STRONG: Label = Label {
        kind: Kind::Token,
        strong: true,
    };

    #[test]
    fn references_and_placeholders_stay() {
        for value in [
            "$TOKEN",
            "${TOKEN}",
            "$(cat f)",
            "`pass x`",
            "%TOKEN%",
            "$env:TOKEN",
            "@file",
            "env:TOKEN",
            "{{ token }}",
            "<token>",
            "***",
            "xxxx",
            "true",
            "-",
            "./token.txt",
            "/run/secrets/token",
            "~/token",
            "[redacted:token]",
            "${{ secrets.X }}",
        ] {
            assert!(!is_secret(value.as_bytes(), STRONG), "{value}");
        }
    }

    #[test]
    fn literals_do_not() {
        for value in [
            "hunter2",
            "pa$$word",
            "${T:-abcdef}",
            "S+IOB9W",
            "/aB3dEfGhIjKlMnOpQrStUv",
        ] {
            assert!(is_secret(value.as_bytes(), STRONG), "{value}");
        }
    }
}
