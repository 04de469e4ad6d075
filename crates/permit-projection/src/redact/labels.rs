//! Names that announce a secret.

use super::Kind;

/// What a name says about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) kind: Kind,
    /// Whether any value is a secret, or only one that looks like it.
    pub(super) strong: bool,
}

/// Longest name that is looked at.
pub(super) const NAME: usize = 96;

/// Judges a name such as `DB_PASSWORD`, `client-secret`, `apiKey` or `PGPASSWORD`.
pub(super) fn classify(name: &[u8]) -> Option<Label> {
    let name = std::str::from_utf8(name).ok()?;
    if name.len() > NAME || matches!(name, "PWD" | "OLDPWD") {
        return None;
    }
    let parts = split(name);
    let mut parts: &[String] = &parts;
    while let [first, rest @ ..] = parts {
        if !rest.is_empty() && NEUTRAL_HEADS.contains(&first.as_str()) {
            parts = rest;
        } else {
            break;
        }
    }
    while let [rest @ .., last] = parts {
        if !rest.is_empty() && NEUTRAL_TAILS.contains(&last.as_str()) {
            parts = rest;
        } else {
            break;
        }
    }
    let (last, before) = parts.split_last()?;
    if before.iter().any(|part| VETO.contains(&part.as_str())) {
        return None;
    }
    judge(last, before, name)
}

fn judge(last: &str, before: &[String], name: &str) -> Option<Label> {
    let label = |kind, strong| Some(Label { kind, strong });
    // `PassWord` is one word, however it is cased.
    if last == "word" && before.last().is_some_and(|part| part == "pass") {
        return label(Kind::Password, true);
    }
    match last {
        "password" | "passwd" | "passphrase" | "pwd" | "passwort" => label(Kind::Password, true),
        "pw" => label(Kind::Password, true),
        "pass" => label(Kind::Password, !before.is_empty()),
        "secret" | "secrets" | "credential" => label(Kind::Secret, last == "secret"),
        "otp" | "totp" => label(Kind::Secret, true),
        "credentials" | "creds" | "mnemonic" | "seed" | "pin" => label(Kind::Secret, false),
        "token" | "jwt" | "bearer" => label(Kind::Token, true),
        "pat" | "sas" => label(Kind::Token, false),
        "auth" => label(Kind::Token, !before.is_empty()),
        "apikey" | "secretkey" | "accesskey" | "privatekey" | "authkey" => label(Kind::Key, true),
        "cookie" | "cookies" => label(Kind::Cookie, false),
        "sessionid" | "sessid" | "phpsessid" | "jsessionid" => label(Kind::Cookie, false),
        "id" if before.last().is_some_and(|part| part == "session") => label(Kind::Cookie, false),
        "key" | "keys" => judge_key(before, name),
        "sig" | "signature" | "hmac" => label(Kind::Key, false),
        _ => {
            let glued = GLUED.iter().find(|(tail, _)| last.ends_with(tail))?;
            label(glued.1, true)
        }
    }
}

fn judge_key(before: &[String], name: &str) -> Option<Label> {
    if before
        .iter()
        .any(|part| NOT_SECRET_KEYS.contains(&part.as_str()))
    {
        return None;
    }
    let strong = before
        .iter()
        .any(|part| SECRET_KEYS.contains(&part.as_str()));
    let variable = !before.is_empty() && !name.bytes().any(|byte| byte.is_ascii_lowercase());
    let known = strong || variable || before.is_empty();
    known.then_some(Label {
        kind: Kind::Key,
        strong,
    })
}

/// A query parameter's name, where a few short names are secrets too.
pub(super) fn classify_query(name: &[u8]) -> Option<Label> {
    let name = decode_percent(name);
    let lower = name.to_ascii_lowercase();
    let kind = match lower.as_slice() {
        b"sig" | b"signature" | b"x-amz-signature" | b"x-goog-signature" | b"hmac" => Kind::Key,
        b"x-amz-security-token" | b"auth" | b"sid" | b"ticket" | b"jwt" => Kind::Token,
        b"key" => Kind::Key,
        b"code" => {
            return Some(Label {
                kind: Kind::Token,
                strong: false,
            });
        }
        _ => return classify(&name),
    };
    Some(Label { kind, strong: true })
}

/// Resolves `%41` and keeps what is not such an escape.
pub(super) fn decode_percent(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let hex = |offset: usize| {
            text.get(at + offset)
                .and_then(|&digit| char::from(digit).to_digit(16))
        };
        if let (b'%', Some(high), Some(low)) = (byte, hex(1), hex(2)) {
            out.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
            at += 3;
        } else {
            out.push(byte);
            at += 1;
        }
    }
    out
}

/// Splits on punctuation and case: `apiKey` and `API_KEY` are both `api`, `key`.
fn split(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() {
            parts.push(String::new());
            was_lower = false;
            continue;
        }
        if c.is_ascii_uppercase() && was_lower {
            parts.push(String::new());
        }
        was_lower = c.is_ascii_lowercase();
        if let Some(part) = parts.last_mut() {
            part.push(c.to_ascii_lowercase());
        }
    }
    for part in &mut parts {
        let letters = part.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        if letters > 0 {
            part.truncate(letters);
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

static GLUED: &[(&str, Kind)] = &[
    ("password", Kind::Password),
    ("passwd", Kind::Password),
    ("passphrase", Kind::Password),
    ("requirepass", Kind::Password),
    ("storepass", Kind::Password),
    ("keypass", Kind::Password),
    ("userpass", Kind::Password),
    ("passin", Kind::Password),
    ("apikey", Kind::Key),
    ("secretkey", Kind::Key),
    ("accesskey", Kind::Key),
    ("privatekey", Kind::Key),
    ("secret", Kind::Secret),
    ("token", Kind::Token),
];

/// Words in front that turn a name into something else: `max_token`, `no-password`.
static VETO: &[&str] = &[
    "max",
    "min",
    "num",
    "no",
    "ask",
    "prompt",
    "count",
    "with",
    "use",
    "has",
    "is",
    "show",
    "get",
    "list",
    "reset",
    "forgot",
    "skip",
    "per",
    "enable",
    "disable",
    "require",
    "allow",
    "next",
    "page",
    "continuation",
    "cancellation",
    "pad",
    "eos",
    "bos",
    "unk",
    "stop",
    "csrf",
    "public",
];

static NEUTRAL_HEADS: &[&str] = &["export", "env", "set"];

/// Endings that leave a name a secret's: `SECRET_KEY_BASE`, `token_prod`.
static NEUTRAL_TAILS: &[&str] = &[
    "base",
    "value",
    "string",
    "text",
    "plain",
    "b",
    "old",
    "new",
    "prod",
    "production",
    "dev",
    "staging",
    "test",
    "current",
    "data",
];

static NOT_SECRET_KEYS: &[&str] = &[
    "public",
    "pub",
    "sort",
    "primary",
    "foreign",
    "partition",
    "cache",
    "host",
    "registry",
    "map",
    "row",
    "object",
    "dict",
    "index",
    "hot",
    "group",
    "publishable",
    "order",
    "join",
    "range",
    "hash",
    "unique",
    "config",
    "json",
    "file",
    "idempotency",
    "site",
    "known",
];

static SECRET_KEYS: &[&str] = &[
    "api",
    "access",
    "secret",
    "private",
    "auth",
    "signing",
    "sign",
    "encryption",
    "encrypt",
    "master",
    "account",
    "storage",
    "subscription",
    "functions",
    "shared",
    "jwt",
    "webhook",
    "openai",
    "stripe",
    "license",
    "service",
    "deploy",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known() {
        for name in [
            "PASSWORD",
            "PGPASSWORD",
            "MYSQL_PWD",
            "AWS_SECRET_ACCESS_KEY",
            "client_secret",
            "clientSecret",
            "accessToken",
            "GH_TOKEN",
            "X-Api-Key",
            "_authToken",
            "rpcpassword",
            "SECRET_KEY_BASE",
            "db.password",
            "REDISCLI_AUTH",
            "token2",
            "STRIPE_KEY",
        ] {
            assert!(classify(name.as_bytes()).is_some(), "{name}");
        }
    }

    #[test]
    fn other_names_are_not() {
        for name in [
            "PWD",
            "max_tokens",
            "MAX_TOKENS",
            "tokenizer",
            "key-file",
            "token-file",
            "sort-key",
            "passes",
            "author",
            "per_layer_token_embd.weight",
            "password-stdin",
            "with-token",
            "public_key",
            "TOKEN_TTL",
            "secret_name",
            "monkey",
            "bypass",
            "compass",
            "keyboard",
        ] {
            assert_eq!(classify(name.as_bytes()), None, "{name}");
        }
    }

    #[test]
    fn a_query_name_is_read_as_the_server_reads_it() {
        assert!(classify_query(b"pass%77ord").is_some());
        assert!(classify_query(b"PassWord").is_some());
        assert!(classify_query(b"sslmode").is_none());
    }
}
