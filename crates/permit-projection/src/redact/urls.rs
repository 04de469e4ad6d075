//! Credentials inside URLs: user information and secret paths. Queries are `pairs`.

use std::sync::LazyLock;

use memchr::memmem;
use regex::bytes::Regex;

use super::{Found, Kind, View, labels, values};

/// How far a password may reach past a byte that should have been percent-encoded.
const REACH: usize = 256;

/// Paths whose last part lets anyone act. Every repeat is bounded.
static SECRET_PATHS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i-u)(?:hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/([A-Za-z0-9_/-]{8,200})",
        r"|discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{1,24}/([A-Za-z0-9_-]{16,200})",
        r"|/bot(\d{6,12}:[A-Za-z0-9_-]{20,64})",
        r"|hooks\.zapier\.com/hooks/catch/([A-Za-z0-9/]{6,100})",
        r"|(?:outlook|[a-z0-9-]{1,60}\.webhook)\.office\.com/webhookb?2?/([A-Za-z0-9@/_-]{16,300})",
        r"|/t/([A-Za-z0-9_-]{16,200})/",
        r"|/(?:reset-password|password-reset|reset|magic|magic-link|invite|activate|verify)/([A-Za-z0-9_-]{20,200}))",
    ))
    .ok()
});

pub(super) fn scan(view: &View<'_>, found: &mut Found) {
    let bytes = view.bytes.as_ref();
    for at in memmem::find_iter(bytes, b"://") {
        user_information(view, at + 3, found);
    }
    if bytes.starts_with(b"//") {
        user_information(view, 2, found);
    }
    let Some(paths) = SECRET_PATHS.as_ref() else {
        return;
    };
    for hit in paths.captures_iter(bytes) {
        for part in hit.iter().skip(1).flatten() {
            found.add(view, part.start(), part.end(), Kind::Webhook);
        }
    }
}

/// Masks the password, or a token in the user's place, before a URL's host.
fn user_information(view: &View<'_>, start: usize, found: &mut Found) {
    let bytes = view.bytes.as_ref();
    let until = |stops: fn(u8) -> bool, most: usize| {
        let rest = bytes.get(start..).unwrap_or_default();
        let length = rest
            .iter()
            .take(most)
            .take_while(|&&byte| !stops(byte))
            .count();
        super::work::walked(length);
        rest.get(..length).unwrap_or_default()
    };
    let strict = until(ends_authority, usize::MAX);
    let at = strict.iter().rposition(|&byte| byte == b'@').or_else(|| {
        // `user:pa/ss@host`: the slash was not encoded, and what looks like a port is none.
        let port = strict
            .iter()
            .position(|&byte| byte == b':')
            .map(|at| at + 1)?;
        if strict.get(port..)?.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let loose = until(ends_url, REACH);
        let query = loose.iter().position(|&byte| byte == b'?');
        let loose = loose.get(..query.unwrap_or(loose.len()))?;
        loose.iter().rposition(|&byte| byte == b'@')
    });
    let Some(at) = at else { return };
    let pair = bytes.get(start..start + at).unwrap_or_default();
    match pair.iter().position(|&byte| byte == b':') {
        Some(colon) => {
            password(view, start + colon + 1, start + at, found);
            let user = pair.get(..colon).unwrap_or_default();
            if is_token_user(user) {
                found.add(view, start, start + colon, Kind::Token);
            }
        }
        None if is_token_user(pair) => found.add(view, start, start + at, Kind::Token),
        None => {}
    }
}

/// Masks one password and learns how it reads when it is decoded.
pub(super) fn password(view: &View<'_>, start: usize, end: usize, found: &mut Found) {
    let text = view.bytes.get(start..end).unwrap_or_default();
    let placeholder = values::is_reference(text) || values::is_placeholder(text);
    if text.is_empty() || (placeholder && text != b"password") || text == b"x-oauth-basic" {
        return;
    }
    if text.contains(&values::EXPANSION) {
        return;
    }
    found.add(view, start, end, Kind::Password);
    if text.contains(&b'%') {
        found.learned.push(labels::decode_percent(text));
    }
}

fn is_token_user(user: &[u8]) -> bool {
    user.len() >= 16 && !values::is_reference(user) && values::is_tokenish(user)
}

fn ends_authority(byte: u8) -> bool {
    ends_url(byte) || matches!(byte, b'/' | b'?' | b'#')
}

fn ends_url(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'|' | b')')
}
