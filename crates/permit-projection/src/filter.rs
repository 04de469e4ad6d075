//! Single texts: by the redactor alone, as corpora and benchmarks measure it, and by the escapes
//! alone, for what an agent says beside its prompts.

use crate::bound::Marked;
use crate::escape::{Lines, escape};
use crate::redact::{Reading, Redactor};

/// How a single text is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// A shell command.
    Command,
    /// A title, a description or a label.
    Prose,
    /// A path, a URL or a name.
    Plain,
}

/// Masks the credentials of one text, without escapes and bounds; gives the text and whether it
/// changed, or nothing when it must be left out.
///
/// Presentation goes through [`project`](crate::project), which also knows what the prompt's
/// other texts give away.
#[must_use]
pub fn redact_text(text: &str, kind: TextKind) -> Option<(String, bool)> {
    if text.len() > crate::MAX_RAW_BYTES {
        return None;
    }
    let reading = match kind {
        TextKind::Command => Reading::Command,
        TextKind::Prose => Reading::Prose,
        TextKind::Plain => Reading::Plain,
    };
    let redactor = Redactor::learn(std::iter::empty(), std::iter::once((text, reading)));
    let done = redactor.redact(text, reading)?;
    Some((done.marked.text, done.redacted))
}

/// Shows control, invisible and direction-changing characters as visible escapes, so that a text
/// from elsewhere can neither paint a terminal nor pretend to be another. Line breaks and tabs
/// stay.
#[must_use]
pub fn visible(text: &str) -> String {
    escaped(text, Lines::Many)
}

/// As [`visible`], in one line: a line break is an escape, too.
#[must_use]
pub fn visible_line(text: &str) -> String {
    escaped(text, Lines::One)
}

fn escaped(text: &str, lines: Lines) -> String {
    let marked = Marked {
        text: text.to_owned(),
        atoms: Vec::new(),
    };
    escape(marked, lines).0.text
}
