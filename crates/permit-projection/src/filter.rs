//! The redactor alone, for one text: what corpora and benchmarks measure.

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
    let (marked, redacted) = redactor.redact(text, reading)?;
    Some((marked.text, redacted))
}
