//! Makes what cannot be seen visible (invariant I9).

use crate::Marked;

/// Whether a field may show line breaks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    /// Newlines and tabs stay.
    Many,
    /// A newline is an escape too.
    One,
}

/// Replaces each invisible, control or direction-changing character with a visible `\u{..}`.
/// Gives the text back and whether anything was replaced.
pub(crate) fn escape(marked: Marked, lines: Lines) -> (Marked, bool) {
    let Marked { text, atoms } = marked;
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return (Marked { text, atoms }, false);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut moved = Vec::with_capacity(atoms.len());
    let mut pending = atoms.into_iter().peekable();
    let mut escaped = false;
    let mut before = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        while let Some(atom) = pending.next_if(|atom| atom.start <= at) {
            let start = out.len();
            moved.push(start..start + atom.len());
        }
        let next = chars.peek().map(|&(_, next)| next);
        if shows_itself(c, before, next, lines) {
            out.push(c);
        } else {
            let start = out.len();
            out.push_str("\\u{");
            push_hex(&mut out, u32::from(c));
            out.push('}');
            moved.push(start..out.len());
            escaped = true;
        }
        before = Some(c);
    }
    (
        Marked {
            text: out,
            atoms: moved,
        },
        escaped,
    )
}

fn push_hex(out: &mut String, code: u32) {
    let digits = (1..8)
        .find(|digits| code >> (4 * digits) == 0)
        .unwrap_or(8u32);
    for place in (0..digits).rev() {
        if let Some(digit) = char::from_digit((code >> (4 * place)) & 0xf, 16) {
            out.push(digit);
        }
    }
}

fn shows_itself(c: char, before: Option<char>, next: Option<char>, lines: Lines) -> bool {
    match c {
        '\n' | '\t' => lines == Lines::Many,
        ' '..='~' => true,
        // Joiners and presentation selectors are ordinary inside emoji and nowhere else.
        '\u{200d}' => before.is_some_and(is_emoji_part) && next.is_some_and(is_emoji),
        '\u{fe0e}' | '\u{fe0f}' => {
            before.is_some_and(is_emoji)
                || (next == Some('\u{20e3}')
                    && before.is_some_and(|b| matches!(b, '0'..='9' | '#' | '*')))
        }
        _ => !is_invisible(c),
    }
}

fn is_emoji_part(c: char) -> bool {
    is_emoji(c) || c == '\u{fe0f}'
}

fn is_emoji(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{24c2}'
        | '\u{25a0}'..='\u{27bf}' | '\u{2934}'..='\u{2935}' | '\u{2b00}'..='\u{2bff}'
        | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

/// Control characters, default-ignorable code points, separators that look like nothing or like
/// a line break, and code points with no agreed shape.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}'
        | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{13430}'..='\u{1345f}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{e0fff}' | '\u{f0000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn many(text: &str) -> (String, bool) {
        let (marked, escaped) = escape(Marked::plain(text), Lines::Many);
        (marked.text, escaped)
    }

    #[test]
    fn what_cannot_be_seen_becomes_visible() {
        for (raw, shown) in [
            ("a\u{202e}b", "a\\u{202e}b"),
            ("\u{1b}[31m", "\\u{1b}[31m"),
            ("a\rb", "a\\u{d}b"),
            ("\0", "\\u{0}"),
            ("x\u{200b}\u{2028}\u{ad}", "x\\u{200b}\\u{2028}\\u{ad}"),
            ("\u{e0041}", "\\u{e0041}"),
            ("rm\u{fe0f}", "rm\\u{fe0f}"),
            ("a\u{200d}b", "a\\u{200d}b"),
        ] {
            assert_eq!(many(raw), (shown.to_owned(), true), "{raw:?}");
        }
    }

    #[test]
    fn ordinary_text_of_any_script_stays() {
        for text in [
            "שלום עולם",
            "مرحبا",
            "データ 中文 한국어",
            "naïve résumé",
            "🙂 👩‍👩‍👧‍👦 ❤️ 1️⃣ 👍🏽",
            "a\n\tb",
        ] {
            assert_eq!(many(text), (text.to_owned(), false), "{text:?}");
        }
    }

    #[test]
    fn a_one_line_field_shows_its_line_breaks() {
        let (marked, escaped) = escape(Marked::plain("a\nb"), Lines::One);
        assert_eq!((marked.text.as_str(), escaped), ("a\\u{a}b", true));
    }
}
