//! Finds credentials in a prompt's texts and masks their bytes, and nothing else.
//!
//! A [`Redactor`] first learns from every text of a prompt, shown or not, and then masks: what
//! one text gives away is masked in all of them. Every scanner is linear in its input: names,
//! flags and look-aheads are bounded, and each byte of a value is visited by one owner.

mod ansi;
mod commands;
mod headers;
mod known;
mod labels;
mod pairs;
mod pem;
mod programs;
mod prose;
mod shell;
mod table;
mod tokens;
mod urls;
mod values;
mod view;
mod work;

use known::Known;
use view::View;

use crate::Marked;

/// What a masked value was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A token with its vendor's prefix.
    Vendor(&'static str),
    PrivateKey,
    Jwt,
    Header,
    Cookie,
    Password,
    Token,
    Key,
    Secret,
    Webhook,
    /// A value that another part of the prompt gave away.
    Value,
}

impl Kind {
    fn mask(self) -> String {
        let name = match self {
            Self::Vendor(name) => name,
            Self::PrivateKey => "private-key",
            Self::Jwt => "jwt",
            Self::Header => "header",
            Self::Cookie => "cookie",
            Self::Password => "password",
            Self::Token => "token",
            Self::Key => "key",
            Self::Secret => "secret",
            Self::Webhook => "webhook",
            Self::Value => "value",
        };
        format!("[redacted:{name}]")
    }
}

/// How a text is to be read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// A shell command: what runs is never masked.
    Command,
    /// Prose that may quote a command.
    Prose,
    /// A path, a URL, a name.
    Plain,
}

/// Bytes of the source that are a credential's.
struct Span {
    start: usize,
    end: usize,
    kind: Kind,
    /// The value as its reader decodes it, when that differs from how it is written.
    decoded: Option<Vec<u8>>,
}

/// What scanners report.
struct Found {
    spans: Vec<Span>,
    /// Bytes at which the shell ends a word or runs something; empty when nothing is run.
    breaks: Vec<bool>,
    /// Values to know that are not written in this form anywhere, such as a decoded pair.
    learned: Vec<Vec<u8>>,
}

impl Found {
    fn add(&mut self, view: &View<'_>, start: usize, end: usize, kind: Kind) {
        if let Some((from, to)) = view.to_source(start, end) {
            let decoded = view
                .is_decoded()
                .then(|| view.bytes.get(start..end).map(<[u8]>::to_vec))
                .flatten();
            self.spans.push(Span {
                start: from,
                end: to,
                kind,
                decoded,
            });
        }
    }

    fn mark_break(&mut self, view: &View<'_>, at: usize) {
        let (from, to) = view.at(at);
        if let Some(bytes) = self.breaks.get_mut(from as usize..to as usize) {
            bytes.fill(true);
        }
    }

    /// Ends each span where the shell ends the word that it began in.
    fn respect_breaks(&mut self) {
        for span in &mut self.spans {
            let Some(within) = self.breaks.get(span.start..span.end) else {
                continue;
            };
            if let Some(at) = within.iter().position(|&ends| ends) {
                span.end = span.start + at;
                span.decoded = None;
            }
        }
        self.spans.retain(|span| span.start < span.end);
    }
}

/// A text with its credentials masked.
pub(crate) struct Redacted {
    pub(crate) marked: Marked,
    /// Whether anything was masked.
    pub(crate) redacted: bool,
    /// Whether what is masked could be shell text that runs, should its command hand it to a shell
    /// after all. What a mask covers cannot be judged, so that has to be said.
    pub(crate) over_syntax: bool,
}

/// Bytes that separate, substitute or quote in a shell.
const SYNTAX: &[u8] = b" \t\r\n\x0b\x0c;|&<>()`$\\{}";

/// The values of one prompt that are known to be secret.
pub(crate) struct Redactor {
    known: Known,
}

impl Redactor {
    /// Learns from values that are secret by themselves and from every text of the prompt.
    pub(crate) fn learn<'a>(
        secrets: impl Iterator<Item = &'a str>,
        texts: impl Iterator<Item = (&'a str, Reading)>,
    ) -> Self {
        let mut values = Vec::new();
        for secret in secrets {
            values.push(secret.as_bytes().to_vec());
            values.extend(secret.lines().map(|line| line.trim().as_bytes().to_vec()));
        }
        for (text, reading) in texts {
            let mut found = scan(text, reading);
            for span in &mut found.spans {
                values.extend(
                    text.as_bytes()
                        .get(span.start..span.end)
                        .map(<[u8]>::to_vec),
                );
                values.extend(span.decoded.take());
            }
            values.append(&mut found.learned);
        }
        Self {
            known: Known::new(values),
        }
    }

    /// Masks every credential of the text; nothing when that cannot be done safely.
    pub(crate) fn redact(&self, text: &str, reading: Reading) -> Option<Redacted> {
        let spans = self.spans(text, reading);
        let mut masked = spans
            .iter()
            .filter_map(|span| text.as_bytes().get(span.start..span.end));
        let over_syntax = masked.any(|masked| masked.iter().any(|byte| SYNTAX.contains(byte)));
        Some(Redacted {
            marked: apply(text, &spans)?,
            redacted: !spans.is_empty(),
            over_syntax,
        })
    }

    /// Whether the text holds a credential.
    pub(crate) fn finds_in(&self, text: &str, reading: Reading) -> bool {
        !self.spans(text, reading).is_empty()
    }

    fn spans(&self, text: &str, reading: Reading) -> Vec<Span> {
        let mut found = scan(text, reading);
        self.known.scan(&View::source(text.as_bytes()), &mut found);
        if let Some(view) = view::visible(text) {
            self.known.scan(&view, &mut found);
        }
        found.respect_breaks();
        merge(text, found.spans)
    }
}

fn scan(text: &str, reading: Reading) -> Found {
    let mut found = Found {
        spans: Vec::new(),
        breaks: Vec::new(),
        learned: Vec::new(),
    };
    if reading == Reading::Command {
        found.breaks = vec![false; text.len()];
    }
    let source = View::source(text.as_bytes());
    scan_view(&source, reading, &mut found);
    if let Some(view) = view::visible(text) {
        scan_view(&view, reading, &mut found);
    }
    found.respect_breaks();
    found
}

fn scan_view(view: &View<'_>, reading: Reading, found: &mut Found) {
    scan_flat(view, reading, found);
    if reading != Reading::Plain {
        shell::scan(view, 0, found);
        prose::scan(view, found);
    }
}

/// The scanners that need no shell.
fn scan_flat(view: &View<'_>, reading: Reading, found: &mut Found) {
    tokens::scan(view, found);
    pem::scan(view, found);
    pairs::scan(view, reading, found);
    urls::scan(view, found);
}

/// Puts spans in order, joins those that touch one another and ends each at its line's end.
fn merge(text: &str, mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by(|a, b| (a.start, b.end).cmp(&(b.start, a.end)));
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for mut span in spans {
        span.start = text.floor_char_boundary(span.start);
        span.end = text.ceil_char_boundary(span.end);
        match merged.last_mut() {
            Some(last) if span.start < last.end => {
                last.end = last.end.max(span.end);
                last.kind = last.kind.min(span.kind);
            }
            _ => merged.push(span),
        }
    }
    merged
        .into_iter()
        .flat_map(|span| lines_of(text, span))
        .collect()
}

/// A span never takes a line break away.
fn lines_of(text: &str, span: Span) -> Vec<Span> {
    let inside = text
        .as_bytes()
        .get(span.start..span.end)
        .unwrap_or_default();
    if !inside.contains(&b'\n') {
        return vec![span];
    }
    let mut lines = Vec::new();
    let mut start = span.start;
    for line in inside.split(|&byte| byte == b'\n') {
        if !line.trim_ascii().is_empty() {
            lines.push(Span {
                start,
                end: start + line.len(),
                kind: span.kind,
                decoded: None,
            });
        }
        start += line.len() + 1;
    }
    lines
}

fn apply(text: &str, spans: &[Span]) -> Option<Marked> {
    let mut out = String::with_capacity(text.len() + 16);
    let mut atoms = Vec::with_capacity(spans.len());
    let mut done = 0;
    for span in spans {
        out.push_str(text.get(done..span.start)?);
        let start = out.len();
        out.push_str(&span.kind.mask());
        atoms.push(start..out.len());
        done = span.end;
    }
    out.push_str(text.get(done..)?);
    Some(Marked { text: out, atoms })
}
