//! Private keys in PEM blocks, also cut off ones and ones written with a literal `\n`.

use memchr::memmem;

use super::{Found, Kind, View};

const BEGIN: &[u8] = b"-----BEGIN ";
/// Longest label between the dashes of a marker line.
const LABEL: usize = 64;

/// Masks the body, line by line. A line that does not read as a key's is never masked, so that
/// no command can hide between markers.
pub(super) fn scan(view: &View<'_>, found: &mut Found) {
    let bytes = view.bytes.as_ref();
    let mut from = 0;
    while let Some(at) = memmem::find(bytes.get(from..).unwrap_or_default(), BEGIN) {
        let label = from + at + BEGIN.len();
        from = label;
        let head = bytes
            .get(label..bytes.len().min(label + LABEL))
            .unwrap_or_default();
        let Some(length) = memmem::find(head, b"-----") else {
            continue;
        };
        let name = head.get(..length).unwrap_or_default();
        if memmem::find(name, b"PRIVATE KEY").is_none() {
            continue;
        }
        from = mask_body(view, label + length + 5, found);
    }
}

fn mask_body(view: &View<'_>, start: usize, found: &mut Found) -> usize {
    let bytes = view.bytes.as_ref();
    let mut at = start;
    let mut any = false;
    loop {
        let (after_break, literal) = skip_break(bytes, at);
        if let Some(end) = header_end(bytes, after_break) {
            at = end;
            continue;
        }
        let length = bytes
            .get(after_break..)
            .unwrap_or_default()
            .iter()
            .take_while(|&&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
            .count();
        super::work::walked(length);
        let end = after_break + length;
        let line = bytes.get(after_break..end).unwrap_or_default();
        if length == 0 || bytes.get(end) == Some(&b':') {
            return after_break.max(start);
        }
        let plain_word = line.iter().all(u8::is_ascii_lowercase);
        let closes = ends_line(bytes, end);
        if !(literal || length >= 24 || (any && closes && !plain_word && length >= 2)) {
            return end;
        }
        found.add(view, after_break, end, Kind::PrivateKey);
        any = true;
        at = end;
    }
}

/// Past spaces and line breaks, and whether a break was a literal `\n`.
fn skip_break(bytes: &[u8], mut at: usize) -> (usize, bool) {
    let mut literal = false;
    loop {
        match (bytes.get(at), bytes.get(at + 1)) {
            (Some(b' ' | b'\t' | b'\r' | b'\n'), _) => at += 1,
            (Some(b'\\'), Some(b'n' | b'r')) => {
                literal = true;
                at += 2;
            }
            (Some(b'\\'), Some(b'\\' | b'\n')) => at += 1,
            _ => return (at, literal),
        }
    }
}

fn ends_line(bytes: &[u8], at: usize) -> bool {
    matches!(
        bytes.get(at),
        Some(b'\n' | b'\r' | b'\\' | b'-' | b'\'' | b'"') | None
    )
}

/// The end of an old-style header line such as `DEK-Info: ...`.
fn header_end(bytes: &[u8], at: usize) -> Option<usize> {
    let line = bytes.get(at..bytes.len().min(at + 96))?;
    let known = [
        &b"Proc-Type:"[..],
        b"DEK-Info:",
        b"Comment:",
        b"Version:",
        b"Hash:",
        b"Charset:",
    ];
    if !known.iter().any(|name| line.starts_with(name)) {
        return None;
    }
    line.iter()
        .position(|&byte| matches!(byte, b'\n' | b'\\'))
        .map(|end| at + end)
}
