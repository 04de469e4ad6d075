//! What the words of a simple command say about secrets.

use super::labels::{self, Label};
use super::programs::{effective, is_one_of, program};
use super::shell::{self, Role, Word};
use super::table::SHELLS;
use super::{Found, Kind, Reading, View, pairs, tokens, urls, values};

/// What a command does with its standard input.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Feed {
    #[default]
    Data,
    /// The first line, or all of it, is a secret.
    Secret,
    /// Lines of `user:SECRET`.
    Pairs,
    /// It is run.
    Shell,
}

/// Reads one command, and the one that pipes into it.
pub(super) fn scan(
    words: &[Word],
    piped: Option<&[Word]>,
    depth: usize,
    found: &mut Found,
) -> Feed {
    for word in words {
        spelled_oddly(word, found);
        assignment(word, found);
    }
    let arguments: Vec<&Word> = words.iter().filter(|w| w.role == Role::Argument).collect();
    long_flags(&arguments, found);
    for command in effective(&arguments) {
        program(command, found);
        nested(command, depth, found);
    }
    let feed = feed_of(&arguments);
    for word in words.iter().filter(|word| word.role == Role::HereString) {
        feed_in(&word.view(), feed, depth, found);
    }
    if let Some(source) = piped {
        piped_in(source, feed, depth, found);
    }
    feed
}

/// A here-document is its command's standard input.
pub(super) fn here_document(body: &View<'_>, feed: Feed, depth: usize, found: &mut Found) {
    feed_in(body, feed, depth, found);
}

/// Words whose quotes or escapes hide what they say are read again as the shell reads them.
fn spelled_oddly(word: &Word, found: &mut Found) {
    let gaps = word
        .map
        .windows(2)
        .any(|pair| matches!(pair, [a, b] if a.1 != b.0));
    let long = word.map.iter().any(|(start, end)| end - start > 1);
    if gaps || long {
        let view = word.view();
        tokens::scan(&view, found);
        pairs::scan(&view, Reading::Command, found);
        urls::scan(&view, found);
    }
}

/// `NAME=value` and `--name=value`, with the value as the shell reads it.
fn assignment(word: &Word, found: &mut Found) {
    let near = word.bytes.get(..labels::NAME).unwrap_or(&word.bytes);
    let Some(equals) = near.iter().position(|&byte| byte == b'=') else {
        return;
    };
    let name = near.get(..equals).unwrap_or_default();
    let plain = name
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+'));
    let value = word.bytes.get(equals + 1..).unwrap_or_default();
    // `'NAME=x command'` is read as text: only the first word of it is the value.
    let text = word.opens_quoted
        && value
            .iter()
            .any(|byte| matches!(byte, b' ' | b'\n' | b'\\'));
    if !plain || text || has_more_pairs(value) {
        return;
    }
    if let Some(label) = labels::classify(name) {
        literal(word, equals + 1, label, found);
    }
}

/// `x&user=y` and `x;Encrypt=true` are read pair by pair elsewhere.
fn has_more_pairs(value: &[u8]) -> bool {
    let Some(at) = value
        .iter()
        .position(|byte| matches!(byte, b'&' | b';' | b','))
    else {
        return false;
    };
    value.get(at..).is_some_and(|rest| rest.contains(&b'='))
}

/// Masks what a word says from `from` on, but for what the shell puts in.
pub(super) fn literal(word: &Word, from: usize, label: Label, found: &mut Found) {
    let value = word.bytes.get(from..).unwrap_or_default();
    if let Some(rest) = value.strip_prefix(b"pass:") {
        return literal(word, from + value.len() - rest.len(), label, found);
    }
    if !values::is_secret(value.get(..256).unwrap_or(value), label) {
        return;
    }
    let view = word.view();
    let mut start = from;
    for part in value.split(|&byte| byte == values::EXPANSION) {
        let whole = part.len() == value.len();
        if whole || (part.len() >= 6 && part.last() != Some(&b':')) {
            found.add(&view, start, start + part.len(), label.kind);
        }
        start += part.len() + 1;
    }
}

pub(super) const PASSWORD: Label = Label {
    kind: Kind::Password,
    strong: true,
};

/// `--token x`, `-password x` and `set NAME x`.
fn long_flags(words: &[&Word], found: &mut Found) {
    for (at, word) in words.iter().enumerate() {
        let Some(next) = words.get(at + 1) else { break };
        let name = word.bytes.as_slice();
        let flag = name
            .strip_prefix(b"--")
            .or_else(|| name.strip_prefix(b"-"))
            .filter(|flag| flag.len() > 2 && !flag.contains(&b'='));
        let set = at > 0
            && words
                .get(at - 1)
                .is_some_and(|before| matches!(before.bytes.as_slice(), b"set" | b"SET" | b"setx"));
        let Some(name) = flag.or(set.then_some(name)) else {
            continue;
        };
        let Some(label) = labels::classify(name) else {
            continue;
        };
        if next.bytes.starts_with(b"-") && !next.quoted {
            continue;
        }
        // `--secret id=x,src=y` names a secret.
        let described =
            name == b"secret" && (next.bytes.starts_with(b"id=") || next.bytes.contains(&b','));
        if !described {
            literal(next, 0, label, found);
        }
    }
    for word in words.windows(3) {
        // `jq --arg pw x`
        if let [flag, name, value] = word
            && flag.bytes == b"--arg"
            && let Some(label) = labels::classify(&name.bytes)
        {
            literal(value, 0, label, found);
        }
    }
    for pair in words.windows(2) {
        // `secret_access_key x`
        if let [name, value] = pair
            && name.bytes.contains(&b'_')
            && name
                .bytes
                .iter()
                .all(|&byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && values::is_tokenish(value.bytes.get(..256).unwrap_or(&value.bytes))
            && let Some(label) = labels::classify(&name.bytes)
        {
            literal(value, 0, label, found);
        }
    }
}

/// Shell text in an argument: `sh -c '...'`, `ssh host '...'`, `eval '...'`.
fn nested(command: &[&Word], depth: usize, found: &mut Found) {
    let Some((program, arguments)) = command.split_first() else {
        return;
    };
    let is = |names: &[&str]| is_one_of(program, names);
    let texts: Vec<&Word> = if is(SHELLS) || is(&["su"]) {
        let runs = |word: &&&Word| {
            word.bytes.first() == Some(&b'-')
                && word.bytes.get(1) != Some(&b'-')
                && word.bytes.last() == Some(&b'c')
        };
        let at = arguments.iter().position(|word| runs(&word));
        at.and_then(|at| arguments.get(at + 1))
            .copied()
            .into_iter()
            .collect()
    } else if is(&["ssh", "eval", "watch", "parallel"]) {
        let text = |word: &&&Word| word.bytes.contains(&b' ') && !word.bytes.starts_with(b"-");
        arguments.iter().filter(text).copied().collect()
    } else {
        Vec::new()
    };
    for text in texts {
        shell::scan(&text.view(), depth + 1, found);
    }
}

fn feed_of(words: &[&Word]) -> Feed {
    let has = |flags: &[&[u8]]| {
        words
            .iter()
            .any(|word| flags.contains(&word.bytes.as_slice()))
    };
    let starts = |names: &[&str]| words.iter().take(6).any(|word| is_one_of(word, names));
    if starts(&["chpasswd"]) {
        Feed::Pairs
    } else if has(&[
        b"--password-stdin",
        b"--with-token",
        b"--stdin",
        b"--passphrase-fd",
    ]) || (starts(&["sudo", "doas"]) && has(&[b"-S", b"-kS", b"-Sk"]))
        || starts(&["kinit", "passwd", "smbpasswd", "vncpasswd", "su"])
    {
        Feed::Secret
    } else if words
        .first()
        .is_some_and(|word| is_one_of(word, SHELLS) || is_one_of(word, &["ssh"]))
    {
        Feed::Shell
    } else {
        Feed::Data
    }
}

fn feed_in(input: &View<'_>, feed: Feed, depth: usize, found: &mut Found) {
    match feed {
        Feed::Data => {}
        Feed::Shell => shell::scan(input, depth + 1, found),
        Feed::Secret | Feed::Pairs => {
            let mut start = 0;
            for line in input.bytes.split(|&byte| byte == b'\n') {
                let from = match feed {
                    Feed::Pairs => line.iter().position(|&byte| byte == b':').map(|at| at + 1),
                    Feed::Secret | Feed::Data | Feed::Shell => Some(0),
                };
                if let Some(from) = from {
                    fed_secret(input, start + from, start + line.len(), found);
                }
                start += line.len() + 1;
            }
        }
    }
}

fn fed_secret(input: &View<'_>, start: usize, end: usize, found: &mut Found) {
    let text = input.bytes.get(start..end).unwrap_or_default();
    if values::is_secret(text.get(..256).unwrap_or(text), PASSWORD)
        && !text.contains(&values::EXPANSION)
    {
        found.add(input, start, end, Kind::Password);
    }
}

/// `echo SECRET | ...`: the words that are printed are the secret.
fn piped_in(source: &[Word], feed: Feed, depth: usize, found: &mut Found) {
    let arguments: Vec<&Word> = source.iter().filter(|w| w.role == Role::Argument).collect();
    let Some((program, printed)) = arguments.split_first() else {
        return;
    };
    if feed == Feed::Data || !is_one_of(program, &["echo", "printf"]) {
        return;
    }
    for word in printed.iter().filter(|word| !word.bytes.starts_with(b"-")) {
        if word.bytes.contains(&b'%') && word.bytes.len() <= 8 {
            continue;
        }
        let view = word.view();
        let trimmed = word.bytes.strip_suffix(b"\\n").unwrap_or(&word.bytes).len();
        feed_in(&view.part(0, trimmed), feed, depth, found);
    }
}
