//! `name=value` and `name: value` in any notation: assignments, flags, forms, queries, JSON,
//! YAML, INI, connection strings, code.

use memchr::memchr2_iter;

use super::{Found, Kind, Reading, View, headers, labels, values};
use labels::{Label, NAME};

/// How much of a value is judged: a bound on the work for each label.
const JUDGED: usize = 256;

pub(super) fn scan(view: &View<'_>, reading: Reading, found: &mut Found) {
    let bytes = view.bytes.as_ref();
    let (mut done, mut bare) = (0, 0);
    for at in memchr2_iter(b'=', b':', bytes) {
        if at < done {
            continue;
        }
        let Some(pair) = Pair::around(bytes, at) else {
            continue;
        };
        if let Some(end) = headers::scan(view, &pair, found) {
            done = end;
            continue;
        }
        let Some(label) = pair.label() else { continue };
        let value = Value::at(bytes, &pair, &mut bare);
        let text = bytes.get(value.start..value.end).unwrap_or_default();
        let judged = text.get(..JUDGED).unwrap_or(text);
        if is_secret(judged, label, &pair, &value, reading) {
            let (start, end) = default_of(text).map_or((value.start, value.end), |(from, to)| {
                (value.start + from, value.start + to)
            });
            found.add(view, start, end, label.kind);
            done = value.end;
        }
    }
}

fn is_secret(text: &[u8], label: Label, pair: &Pair<'_>, value: &Value, reading: Reading) -> bool {
    if !values::is_secret(text, label) || text.eq_ignore_ascii_case(pair.name) {
        return false;
    }
    // A word after `token:` is as often part of a sentence or of a program.
    let word = text.iter().all(u8::is_ascii_alphabetic)
        && (reading == Reading::Prose || label.kind != Kind::Password);
    if !value.quoted && pair.spaced && (word || values::is_code(text)) {
        return false;
    }
    if !value.quoted && values::is_code(text) && text.contains(&b'(') {
        return false;
    }
    // `token:` without a space is as often a path, a type or an address.
    pair.separator == b'=' || pair.spaced || pair.name_quoted || value.quoted || label.strong
}

/// The literal of `${NAME:-literal}`.
fn default_of(text: &[u8]) -> Option<(usize, usize)> {
    if !text.starts_with(b"${") {
        return None;
    }
    let from = text.iter().position(|&byte| byte == b':')? + 2;
    let to = text
        .iter()
        .rposition(|&byte| byte == b'}')
        .unwrap_or(text.len());
    (from < to).then_some((from, to))
}

/// A separator with its name in front.
pub(super) struct Pair<'a> {
    pub(super) name: &'a [u8],
    /// The byte before the name and its opening quote.
    before: Option<u8>,
    pub(super) separator: u8,
    /// Whether there is space around the separator.
    spaced: bool,
    name_quoted: bool,
    /// Where the value begins, its opening quote included.
    pub(super) value: usize,
}

impl<'a> Pair<'a> {
    fn around(bytes: &'a [u8], at: usize) -> Option<Self> {
        let byte = |at: usize| bytes.get(at).copied();
        let separator = byte(at)?;
        let mut value = at + 1;
        if separator == b'=' {
            let compared = at
                .checked_sub(1)
                .and_then(byte)
                .is_some_and(|before| matches!(before, b'!' | b'<' | b'>' | b'='));
            if compared || byte(value) == Some(b'=') || byte(value) == Some(b'~') {
                return None;
            }
            if byte(value) == Some(b'>') {
                value += 1;
            }
        } else if byte(value) == Some(b'=') {
            value += 1;
        } else if byte(value) == Some(b':') || bytes.get(value..)?.starts_with(b"//") {
            return None;
        }
        let spaces_after = spaces(bytes, value);
        let mut end = at;
        while end > 0 && at - end < 4 && matches!(byte(end - 1), Some(b' ' | b'\t')) {
            end -= 1;
        }
        let spaced = spaces_after > 0 || end < at;
        // A shell takes `NAME= word` as an empty value and a command.
        if separator == b'=' && spaces_after > 0 && end == at {
            return None;
        }
        let unquoted = strip_closing(bytes, end);
        let floor = unquoted.saturating_sub(NAME);
        let mut start = unquoted;
        while start > floor && byte(start - 1).is_some_and(is_name_byte) {
            start -= 1;
        }
        if separator == b':' {
            start = with_word_before(bytes, start, unquoted);
        }
        let back = |steps: usize| start.checked_sub(steps).and_then(byte);
        let mut name = bytes.get(start..unquoted)?;
        if back(1) == Some(b'\\') {
            // The letter of a literal `\n`.
            name = name.strip_prefix(b"n").unwrap_or(name);
        }
        if back(1) == Some(b'{') && back(2) == Some(b'$') {
            // `${NAME:-literal}` holds a value, `${NAME:?message}` does not.
            if !matches!(byte(at + 1), Some(b'-' | b'=')) {
                return None;
            }
            value = at + 2;
        }
        if name.is_empty() {
            return None;
        }
        Some(Self {
            name,
            before: start.checked_sub(1).and_then(byte),
            separator,
            spaced,
            name_quoted: unquoted < end,
            value: value + spaces_after,
        })
    }

    fn label(&self) -> Option<Label> {
        if self.separator == b'=' && matches!(self.before, Some(b'?' | b'&')) {
            return labels::classify_query(self.name);
        }
        if self.name.contains(&b'%') {
            return labels::classify(&labels::decode_percent(self.name));
        }
        labels::classify(self.name)
    }
}

/// "API key: x" names two words.
fn with_word_before(bytes: &[u8], start: usize, end: usize) -> usize {
    let last = bytes.get(start..end).unwrap_or_default();
    if !last.eq_ignore_ascii_case(b"key") || bytes.get(start.wrapping_sub(1)) != Some(&b' ') {
        return start;
    }
    let mut first = start - 1;
    while first > 0
        && start - first < 16
        && bytes.get(first - 1).is_some_and(u8::is_ascii_alphabetic)
    {
        first -= 1;
    }
    first
}

/// Steps back over what closes a quoted or an indexed name: `"`, `\"`, `'`, `"]`.
fn strip_closing(bytes: &[u8], mut end: usize) -> usize {
    for closing in [b']', b'"', b'\'', b'`', b'\\'] {
        if end > 0 && bytes.get(end - 1) == Some(&closing) {
            end -= 1;
        }
    }
    end
}

fn spaces(bytes: &[u8], from: usize) -> usize {
    bytes
        .get(from..)
        .unwrap_or_default()
        .iter()
        .take(64)
        .take_while(|&&byte| matches!(byte, b' ' | b'\t'))
        .count()
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'%')
}

/// Where a value begins and ends, without its quotes.
struct Value {
    start: usize,
    end: usize,
    quoted: bool,
}

impl Value {
    fn at(bytes: &[u8], pair: &Pair<'_>, bare: &mut usize) -> Self {
        let start = pair.value;
        let escaped = bytes.get(start) == Some(&b'\\');
        let open = start + usize::from(escaped);
        if let Some(&quote @ (b'"' | b'\'' | b'`')) = bytes.get(open)
            && let Some(end) = quoted_end(bytes, open + 1, quote, escaped)
        {
            return Self {
                start: open + 1,
                end,
                quoted: true,
            };
        }
        // A run that was walked from an earlier label ends where it ended then.
        if start >= *bare {
            *bare = bare_end(bytes, start);
        }
        Self {
            start,
            end: (*bare).max(start),
            quoted: false,
        }
    }
}

/// The closing quote on the same line; nothing when there is none or something runs before it.
fn quoted_end(bytes: &[u8], from: usize, quote: u8, escaped: bool) -> Option<usize> {
    if quote == b'`' {
        return None;
    }
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        super::work::walked(1);
        match byte {
            b'\n' => return None,
            b'$' if quote == b'"' && bytes.get(at + 1) == Some(&b'(') && at > from => {
                return Some(at);
            }
            b'`' if at > from => return Some(at),
            b'\\' if escaped && bytes.get(at + 1) == Some(&quote) => return Some(at),
            b'\\' if !escaped && quote == b'"' => at += 1,
            _ if byte == quote => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// The end of a value without quotes.
fn bare_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    if bytes
        .get(at..)
        .is_some_and(|rest| rest.starts_with(b"$(") || rest.starts_with(b"`"))
    {
        return at;
    }
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1).copied();
        match byte {
            b if b.is_ascii_whitespace() => break,
            b'"' | b'\'' | b'`' | b'&' | b';' | b'|' | b'<' | b'>' | b')' => break,
            b'}' if bytes.get(start) != Some(&b'$') && bytes.get(start) != Some(&b'{') => break,
            b']' => break,
            b'$' if next == Some(b'(') => break,
            b',' if next.is_none_or(|b| {
                b.is_ascii_whitespace() || b.is_ascii_alphabetic() || b == b'"'
            }) =>
            {
                break;
            }
            b'\\' if matches!(next, Some(b'n' | b'r' | b't' | b'"' | b'\'')) => break,
            b'\\' if next.is_some() => at += 1,
            _ => {}
        }
        at += 1;
    }
    super::work::walked(at - start);
    at.min(bytes.len())
}
