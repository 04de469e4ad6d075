//! Text as it is read, with the way back to the bytes it was written as.

use std::borrow::Cow;

/// Bytes to search, and for each the source bytes that it stands for.
pub(super) struct View<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    map: Option<Vec<(u32, u32)>>,
}

impl<'a> View<'a> {
    /// The source itself.
    pub(super) fn source(bytes: &'a [u8]) -> Self {
        Self {
            bytes: Cow::Borrowed(bytes),
            map: None,
        }
    }

    /// A decoded text; `map` has one source range for each byte.
    pub(super) fn decoded(bytes: &'a [u8], map: &[(u32, u32)]) -> Self {
        super::work::walked(bytes.len());
        Self {
            bytes: Cow::Borrowed(bytes),
            map: Some(map.to_vec()),
        }
    }

    /// A decoded text that owns its bytes.
    pub(super) fn owned(bytes: Vec<u8>, map: Vec<(u32, u32)>) -> View<'static> {
        View {
            bytes: Cow::Owned(bytes),
            map: Some(map),
        }
    }

    /// The part of this view from `start` to `end`.
    pub(super) fn part(&self, start: usize, end: usize) -> View<'_> {
        super::work::walked(end.saturating_sub(start));
        let map = (start..end).map(|at| self.at(at)).collect();
        View {
            bytes: Cow::Borrowed(self.bytes.get(start..end).unwrap_or_default()),
            map: Some(map),
        }
    }

    /// Whether bytes here differ from those of the source.
    pub(super) fn is_decoded(&self) -> bool {
        self.map.is_some()
    }

    /// The source range of one byte.
    pub(super) fn at(&self, index: usize) -> (u32, u32) {
        match &self.map {
            Some(map) => map.get(index).copied().unwrap_or((u32::MAX, u32::MAX)),
            None => {
                let start = u32::try_from(index).unwrap_or(u32::MAX);
                (start, start.saturating_add(1))
            }
        }
    }

    /// The source range of a range here; nothing when the range is empty or outside.
    pub(super) fn to_source(&self, start: usize, end: usize) -> Option<(usize, usize)> {
        if start >= end || end > self.bytes.len() {
            return None;
        }
        let (from, to) = (self.at(start).0, self.at(end - 1).1);
        (from < to && to != u32::MAX).then_some((from as usize, to as usize))
    }
}

/// The text without terminal escapes and invisible characters, and with full-width forms as the
/// ASCII they stand for; nothing when that is the text itself.
pub(super) fn visible(text: &str) -> Option<View<'static>> {
    let suspicious = |c: char| c != '\n' && c != '\t' && crate::escape::is_invisible(c);
    let narrow = |c: char| match c {
        '\u{ff01}'..='\u{ff5e}' => u8::try_from(u32::from(c) - 0xfee0).ok(),
        _ => None,
    };
    if !text.chars().any(|c| suspicious(c) || narrow(c).is_some()) {
        return None;
    }
    let (mut bytes, mut map) = (Vec::with_capacity(text.len()), Vec::new());
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\u{1b}' {
            skip_terminal_escape(&mut chars);
            continue;
        }
        if suspicious(c) {
            continue;
        }
        let start = u32::try_from(at).unwrap_or(u32::MAX);
        let end = u32::try_from(at + c.len_utf8()).unwrap_or(u32::MAX);
        if let Some(byte) = narrow(c) {
            map.push((start, end));
            bytes.push(byte);
            continue;
        }
        map.extend(std::iter::repeat_n((start, end), c.len_utf8()));
        bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
    Some(View::owned(bytes, map))
}

fn skip_terminal_escape(chars: &mut std::iter::Peekable<std::str::CharIndices<'_>>) {
    if chars.next_if(|&(_, c)| c == '[').is_some() {
        while chars
            .next_if(|&(_, c)| matches!(c, '0'..='9' | ';' | '?'))
            .is_some()
        {}
        chars.next_if(|&(_, c)| matches!(c, '@'..='~'));
    }
}
