//! HTTP headers that carry credentials, as `Name: value` in any text.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::pairs::Pair;
use super::{Found, Kind, View, labels, values};

/// Masks the value of such a header; gives its end, or nothing when this is not one.
pub(super) fn scan(view: &View<'_>, pair: &Pair<'_>, found: &mut Found) -> Option<usize> {
    let name = pair.name.to_ascii_lowercase();
    let is_header = pair.separator == b':'
        || matches!(name.as_slice(), b"authorization" | b"proxy-authorization");
    if !is_header {
        return None;
    }
    let bytes = view.bytes.as_ref();
    let mut start = pair.value;
    while matches!(bytes.get(start), Some(b'"' | b'\'' | b'\\' | b'`')) {
        start += 1;
    }
    match name.as_slice() {
        b"authorization" | b"proxy-authorization" => Some(authorization(view, start, found)),
        b"cookie" | b"set-cookie" => Some(cookies(view, start, line_end(bytes, start), found)),
        _ if name.starts_with(b"x-") || name.ends_with(b"-token") || name.ends_with(b"-key") => {
            labels::classify(&name)?;
            let end = word_end(bytes, start);
            let text = bytes.get(start..end)?;
            if is_literal(text) && text.len() >= 4 {
                found.add(view, start, end, Kind::Header);
                return Some(end);
            }
            // A long word is not walked again from each name inside it.
            (text.len() > 256).then_some(end)
        }
        _ => None,
    }
}

/// The scheme word stays; the credential after it goes.
fn authorization(view: &View<'_>, start: usize, found: &mut Found) -> usize {
    let bytes = view.bytes.as_ref();
    let first_end = word_end(bytes, start);
    let first = bytes.get(start..first_end).unwrap_or_default();
    let scheme = SCHEMES
        .iter()
        .any(|scheme| first.eq_ignore_ascii_case(scheme));
    if !scheme {
        if is_literal(first) && first.len() >= 8 && !first.contains(&b'=') {
            found.add(view, start, first_end, Kind::Header);
        }
        return first_end.max(start);
    }
    let from = first_end + usize::from(bytes.get(first_end) == Some(&b'\\'));
    let from = from
        + bytes
            .get(from..)
            .unwrap_or_default()
            .iter()
            .take(8)
            .take_while(|&&b| b == b' ')
            .count();
    credential(view, first, from, found)
}

/// Masks what follows a scheme word.
pub(super) fn credential(view: &View<'_>, scheme: &[u8], from: usize, found: &mut Found) -> usize {
    let bytes = view.bytes.as_ref();
    let end = word_end(bytes, from);
    let text = bytes.get(from..end).unwrap_or_default();
    let digest = scheme.eq_ignore_ascii_case(b"digest") || scheme.starts_with(b"AWS4");
    if digest || !is_literal(text) || text.len() < 3 {
        return end.max(from);
    }
    found.add(view, from, end, Kind::Header);
    if scheme.eq_ignore_ascii_case(b"basic")
        && let Ok(pair) = STANDARD.decode(text)
        && let Some(colon) = pair.iter().position(|&byte| byte == b':')
    {
        found
            .learned
            .push(pair.get(colon + 1..).unwrap_or_default().to_vec());
    }
    end
}

/// Masks the values of `a=b; c=d`.
pub(super) fn cookies(view: &View<'_>, start: usize, end: usize, found: &mut Found) -> usize {
    let bytes = view.bytes.as_ref();
    let mut at = start;
    while at < end {
        let stop = find(bytes, at, end, b';');
        let equals = find(bytes, at, stop, b'=');
        let name = bytes.get(at..equals).unwrap_or_default().trim_ascii();
        let value = bytes.get(equals + 1..stop).unwrap_or_default();
        let plain = PLAIN_COOKIES
            .iter()
            .any(|plain| name.eq_ignore_ascii_case(plain));
        if !plain && value.len() >= 4 && is_literal(value) {
            found.add(view, equals + 1, stop, Kind::Cookie);
        }
        at = stop + 1;
    }
    end
}

fn find(bytes: &[u8], from: usize, to: usize, byte: u8) -> usize {
    bytes
        .get(from..to)
        .and_then(|part| memchr::memchr(byte, part))
        .map_or(to, |at| from + at)
}

fn is_literal(text: &[u8]) -> bool {
    !(text.is_empty() || values::is_reference(text) || values::is_placeholder(text))
}

pub(super) fn word_end(bytes: &[u8], start: usize) -> usize {
    end_at(bytes, start, |byte| {
        byte.is_ascii_whitespace() || matches!(byte, b';' | b',' | b')')
    })
}

fn line_end(bytes: &[u8], start: usize) -> usize {
    end_at(bytes, start, |byte| matches!(byte, b'\n' | b'\r'))
}

fn end_at(bytes: &[u8], start: usize, stops: fn(u8) -> bool) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    let mut last = 0;
    for &byte in rest {
        if stops(byte) || matches!(byte, b'"' | b'\'' | b'`') {
            break;
        }
        last += 1;
    }
    super::work::walked(last);
    // The backslash of an escaped closing quote or of a literal line break is not the value's.
    let text = rest.get(..last).unwrap_or_default();
    let cut = memchr::memmem::find(text, b"\\n").or_else(|| memchr::memmem::find(text, b"\\r"));
    let mut end = cut.unwrap_or(last);
    if end == last && end > 0 && text.last() == Some(&b'\\') {
        end -= 1;
    }
    start + end
}

static SCHEMES: &[&[u8]] = &[
    b"bearer",
    b"basic",
    b"token",
    b"digest",
    b"negotiate",
    b"apikey",
    b"api-key",
    b"key",
    b"bot",
    b"aws4-hmac-sha256",
    b"sso-key",
    b"genieKey",
    b"splunk",
    b"jwt",
    b"oauth",
    b"privatetoken",
];

static PLAIN_COOKIES: &[&[u8]] = &[
    b"theme",
    b"lang",
    b"locale",
    b"path",
    b"domain",
    b"expires",
    b"max-age",
    b"samesite",
    b"tz",
];
