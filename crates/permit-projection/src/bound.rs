//! Bounds a text that is already redacted and escaped (invariants I9 and I12).

use std::ops::Range;

/// A text with ranges that must not be cut: masks and escapes, in order and disjoint.
pub(crate) struct Marked {
    pub(crate) text: String,
    pub(crate) atoms: Vec<Range<usize>>,
}

impl Marked {
    #[cfg(test)]
    pub(crate) fn plain(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            atoms: Vec::new(),
        }
    }
}

/// What the mark may need besides head and tail.
const MARK_ROOM: usize = 64;

/// Keeps head and tail of a text longer than `limit` bytes, with a mark between them that says
/// how many bytes are left out. Gives the text and that number, or nothing when the text cannot
/// be cut.
pub(crate) fn bound(marked: Marked, limit: usize) -> Option<(String, u64)> {
    let Marked { text, atoms } = marked;
    if text.len() <= limit {
        return Some((text, 0));
    }
    let half = limit.saturating_sub(MARK_ROOM) / 2;
    let mut head = text.floor_char_boundary(half);
    if let Some(atom) = around(&atoms, head) {
        head = atom.start;
    }
    let mut tail = text.ceil_char_boundary(text.len() - half);
    if let Some(atom) = around(&atoms, tail) {
        tail = atom.end;
    }
    let left_out = tail.checked_sub(head)?;
    let (first, last) = (text.get(..head)?, text.get(tail..)?);
    Some((
        format!("{first}[... {left_out} bytes left out ...]{last}"),
        u64::try_from(left_out).ok()?,
    ))
}

fn around(atoms: &[Range<usize>], at: usize) -> Option<&Range<usize>> {
    let next = atoms.partition_point(|atom| atom.start < at);
    let atom = atoms.get(next.checked_sub(1)?)?;
    (atom.end > at).then_some(atom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_stays_whole() {
        let (text, left_out) = bound(Marked::plain("ls"), 200).expect("bounded");
        assert_eq!((text.as_str(), left_out), ("ls", 0));
    }

    #[test]
    fn head_and_tail_stay_and_the_cut_says_how_much_is_missing() {
        let long = format!("head {} tail", "é".repeat(400));
        let (text, left_out) = bound(Marked::plain(&long), 200).expect("bounded");
        assert!(
            text.starts_with("head ") && text.ends_with(" tail"),
            "{text}"
        );
        assert!(text.len() <= 200, "{}", text.len());
        assert!(text.contains(&format!("[... {left_out} bytes left out ...]")));
    }

    #[test]
    fn a_cut_never_falls_inside_a_mask() {
        let mask = "[redacted:token]";
        for pad in 30..90 {
            let text = format!(
                "{}{mask}{}{mask}{}",
                "a".repeat(pad),
                "b".repeat(400),
                "c".repeat(pad)
            );
            let second = pad + mask.len() + 400;
            let atoms = vec![pad..pad + mask.len(), second..second + mask.len()];
            let (shown, _) = bound(Marked { text, atoms }, 200).expect("bounded");
            let rest = shown.replace(mask, "");
            assert!(
                !rest.contains("redacted") && !rest.contains("token]"),
                "{pad}: {shown}"
            );
        }
    }
}
