//! A lexer for shell text that never fails: words with the way back to their bytes, simple
//! commands, pipes, substitutions, here-documents. It keeps an explicit stack and looks at each
//! byte once; what it cannot read is still covered by the flat scanners.

use super::commands::{self, Feed};
use super::values::EXPANSION;
use super::{Found, View, ansi};

/// How deep commands inside arguments of commands are read.
const DEPTH: usize = 4;
/// Longest `${...}` that is taken as one.
const BRACES: usize = 256;

/// A word as the shell reads it.
#[derive(Default)]
pub(super) struct Word {
    pub(super) bytes: Vec<u8>,
    pub(super) map: Vec<(u32, u32)>,
    pub(super) role: Role,
    /// Whether quotes or escapes took part.
    pub(super) quoted: bool,
    /// Whether its first byte is inside quotes.
    pub(super) opens_quoted: bool,
}

impl Word {
    pub(super) fn view(&self) -> View<'_> {
        View::decoded(&self.bytes, &self.map)
    }
}

/// What a word is to its command.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Role {
    #[default]
    Argument,
    Redirection,
    HereString,
}

/// Reads the text as shell and reports what its commands take as secrets.
pub(super) fn scan(view: &View<'_>, depth: usize, found: &mut Found) {
    if depth < DEPTH {
        Lexer::new(view, depth, found).run();
    }
}

#[derive(Default)]
struct Frame {
    words: Vec<Word>,
    word: Option<Word>,
    next_role: Role,
    in_quotes: bool,
    closer: u8,
    piped: Option<Vec<Word>>,
    feed: Feed,
}

struct Lexer<'v, 'f> {
    view: &'v View<'v>,
    at: usize,
    depth: usize,
    found: &'f mut Found,
    stack: Vec<Frame>,
    top: Frame,
    here_documents: Vec<Vec<u8>>,
    /// No single quote follows, so that one is an ordinary byte.
    no_quote_follows: bool,
}

impl<'v, 'f> Lexer<'v, 'f> {
    fn new(view: &'v View<'v>, depth: usize, found: &'f mut Found) -> Self {
        Self {
            view,
            at: 0,
            depth,
            found,
            stack: Vec::new(),
            top: Frame::default(),
            here_documents: Vec::new(),
            no_quote_follows: false,
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.view.bytes.get(self.at + ahead).copied()
    }

    fn run(mut self) {
        while let Some(byte) = self.peek(0) {
            if self.top.in_quotes {
                self.quoted(byte);
            } else {
                self.bare(byte);
            }
        }
        self.end_command(false);
        while let Some(outer) = self.stack.pop() {
            self.top = outer;
            self.end_command(false);
        }
    }

    fn quoted(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.top.in_quotes = false;
                self.at += 1;
            }
            b'\\' => match self.peek(1) {
                Some(b'\n') => self.at += 2,
                Some(next @ (b'$' | b'`' | b'"' | b'\\')) => self.push(next, 2),
                _ => self.push(byte, 1),
            },
            b'$' => self.dollar(),
            b'`' => self.backtick(),
            _ => self.push(byte, 1),
        }
    }

    fn bare(&mut self, byte: u8) {
        match byte {
            b' ' | b'\t' | b'\r' => {
                self.end_word();
                self.skip_break(1);
            }
            b'\n' => {
                self.end_command(false);
                self.skip_break(1);
                self.read_here_documents();
            }
            b';' => {
                self.end_command(false);
                self.skip_break(1);
            }
            b'&' | b'|' => self.operator(byte),
            b'<' | b'>' => self.redirection(byte),
            b'(' => {
                self.end_word();
                self.skip_break(1);
                self.open(b')');
            }
            b')' => {
                self.end_command(false);
                self.skip_break(1);
                if self.top.closer == b')' {
                    self.close();
                }
            }
            b'\'' => self.single_quotes(),
            b'"' => {
                self.top.in_quotes = true;
                self.begin_quoted();
                self.at += 1;
            }
            b'$' if self.peek(1) == Some(b'\'') => self.ansi_quotes(),
            b'$' if self.peek(1) == Some(b'"') => self.at += 1,
            b'$' => self.dollar(),
            b'`' => self.backtick(),
            b'#' if self.top.word.is_none() => {
                while self.peek(0).is_some_and(|byte| byte != b'\n') {
                    self.at += 1;
                }
            }
            b'\\' => match self.peek(1) {
                Some(b'\n') => self.at += 2,
                Some(next) => {
                    self.begin_quoted();
                    self.push(next, 2);
                }
                None => self.push(byte, 1),
            },
            _ => self.push(byte, 1),
        }
    }

    fn operator(&mut self, byte: u8) {
        let doubled = self.peek(1) == Some(byte);
        self.end_command(byte == b'|' && !doubled);
        self.skip_break(if doubled { 2 } else { 1 });
    }

    fn redirection(&mut self, byte: u8) {
        let is_descriptor = |word: &Word| word.bytes.iter().all(u8::is_ascii_digit);
        if self.top.word.as_ref().is_some_and(is_descriptor) {
            self.top.word = None;
        }
        self.end_word();
        match (byte, self.peek(1), self.peek(2)) {
            (_, Some(b'('), _) => {
                self.skip_break(2);
                self.open(b')');
            }
            (b'<', Some(b'<'), Some(b'<')) => {
                self.skip_break(3);
                self.top.next_role = Role::HereString;
            }
            (b'<', Some(b'<'), _) => {
                self.skip_break(2);
                self.here_document();
            }
            (_, Some(b'>' | b'&' | b'|'), _) => {
                self.skip_break(2);
                self.top.next_role = Role::Redirection;
            }
            _ => {
                self.skip_break(1);
                self.top.next_role = Role::Redirection;
            }
        }
    }

    fn single_quotes(&mut self) {
        let rest = self.view.bytes.get(self.at + 1..).unwrap_or_default();
        let length = if self.no_quote_follows {
            None
        } else {
            memchr::memchr(b'\'', rest)
        };
        let Some(length) = length else {
            self.no_quote_follows = true;
            self.push(b'\'', 1);
            return;
        };
        self.begin_quoted();
        self.at += 1;
        for _ in 0..length {
            if let Some(byte) = self.peek(0) {
                self.push(byte, 1);
            }
        }
        self.at += 1;
    }

    /// `$'...'` with its escapes.
    fn ansi_quotes(&mut self) {
        self.begin_quoted();
        self.at += 2;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\'' => {
                    self.at += 1;
                    return;
                }
                b'\\' => {
                    let (byte, length) =
                        ansi::escape(self.view.bytes.get(self.at..).unwrap_or_default());
                    self.push(byte, length);
                }
                _ => self.push(byte, 1),
            }
        }
    }

    fn dollar(&mut self) {
        match self.peek(1) {
            Some(b'(') => {
                self.push(EXPANSION, 0);
                self.skip_break(2);
                self.open(b')');
            }
            Some(b'{') => {
                let rest = self.view.bytes.get(self.at..).unwrap_or_default();
                let near = rest.get(..BRACES).unwrap_or(rest);
                match memchr::memchr(b'}', near) {
                    Some(end) => self.push(EXPANSION, end + 1),
                    None => self.push(b'$', 1),
                }
            }
            Some(byte) if byte.is_ascii_alphanumeric() || b"_@*#?!-$".contains(&byte) => {
                let rest = self.view.bytes.get(self.at + 1..).unwrap_or_default();
                let name = rest
                    .iter()
                    .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
                    .count();
                let length = if byte.is_ascii_digit() {
                    1
                } else {
                    name.max(1)
                };
                self.push(EXPANSION, 1 + length);
            }
            _ => self.push(b'$', 1),
        }
    }

    fn backtick(&mut self) {
        if self.top.closer == b'`' {
            self.end_command(false);
            self.skip_break(1);
            self.close();
        } else {
            self.push(EXPANSION, 0);
            self.skip_break(1);
            self.open(b'`');
        }
    }

    fn open(&mut self, closer: u8) {
        let inner = Frame {
            closer,
            ..Frame::default()
        };
        self.stack.push(std::mem::replace(&mut self.top, inner));
    }

    fn close(&mut self) {
        if let Some(outer) = self.stack.pop() {
            self.top = outer;
        }
    }

    fn begin_quoted(&mut self) {
        let role = std::mem::take(&mut self.top.next_role);
        let word = self.top.word.get_or_insert_with(|| Word {
            role,
            opens_quoted: true,
            ..Word::default()
        });
        word.quoted = true;
    }

    /// Adds a byte that stands for the next `length` bytes and moves past them.
    fn push(&mut self, byte: u8, length: usize) {
        let start = self.view.at(self.at).0;
        let end = match length {
            0 => start,
            _ => self.view.at(self.at + length - 1).1,
        };
        let role = std::mem::take(&mut self.top.next_role);
        let word = self.top.word.get_or_insert_with(|| Word {
            role,
            ..Word::default()
        });
        super::work::walked(1);
        word.bytes.push(byte);
        word.map.push((start, end));
        self.at += length;
    }

    /// Moves past bytes that are no part of a word.
    fn skip_break(&mut self, length: usize) {
        for at in self.at..self.at + length {
            self.found.mark_break(self.view, at);
        }
        self.at += length;
    }

    fn end_word(&mut self) {
        if let Some(word) = self.top.word.take() {
            self.top.words.push(word);
        }
    }

    fn end_command(&mut self, pipes_on: bool) {
        self.end_word();
        let words = std::mem::take(&mut self.top.words);
        let piped = self.top.piped.take();
        if !words.is_empty() {
            self.top.feed = commands::scan(&words, piped.as_deref(), self.depth, self.found);
        }
        if pipes_on {
            self.top.piped = Some(words);
        }
    }

    fn here_document(&mut self) {
        while matches!(self.peek(0), Some(b'-' | b' ' | b'\t')) {
            self.at += 1;
        }
        let mut delimiter = Vec::new();
        while let Some(byte) = self.peek(0) {
            if byte.is_ascii_whitespace() || matches!(byte, b';' | b'|' | b'&' | b'<' | b'>' | b')')
            {
                break;
            }
            if !matches!(byte, b'\'' | b'"' | b'\\') {
                delimiter.push(byte);
            }
            self.at += 1;
        }
        if !delimiter.is_empty() {
            self.here_documents.push(delimiter);
        }
    }

    /// The lines up to the delimiter are data of the command before them.
    fn read_here_documents(&mut self) {
        for delimiter in std::mem::take(&mut self.here_documents) {
            let start = self.at;
            let mut end = start;
            while let Some(rest) = self
                .view
                .bytes
                .get(self.at..)
                .filter(|rest| !rest.is_empty())
            {
                let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                let line = rest.get(..length).unwrap_or_default();
                self.at += (length + 1).min(rest.len());
                if line.trim_ascii() == delimiter.as_slice() {
                    break;
                }
                end = self.at;
            }
            let body = self.view.part(start, end);
            commands::here_document(&body, self.top.feed, self.depth, self.found);
        }
    }
}
