//! Applies the table of programs to a command's words.

use super::commands::{PASSWORD, literal};
use super::shell::Word;
use super::table::{Form, RULES, Rule, SHELLS, WRAPPERS};
use super::{Found, headers, urls};

/// The commands in a command: `sudo env X=1 mysql -pY` is one of `sudo` and one of `mysql`.
pub(super) fn effective<'w, 'a>(words: &'w [&'a Word]) -> Vec<&'w [&'a Word]> {
    let mut commands = Vec::new();
    let first = words
        .iter()
        .position(|word| !is_assignment(word))
        .unwrap_or(0);
    let Some(command) = words.get(first..) else {
        return commands;
    };
    commands.push(command);
    let mut wraps = command
        .first()
        .is_some_and(|word| is_one_of(word, WRAPPERS));
    for at in 1..command.len() {
        if !wraps {
            break;
        }
        let Some(inner) = command.get(at..) else {
            break;
        };
        let Some(word) = inner.first() else { break };
        if is_program(word) {
            commands.push(inner);
            wraps = is_one_of(word, WRAPPERS);
        }
    }
    commands
}

fn is_program(word: &Word) -> bool {
    is_one_of(word, SHELLS)
        || is_one_of(word, WRAPPERS)
        || RULES.iter().any(|rule| is_one_of(word, rule.programs))
}

fn is_assignment(word: &Word) -> bool {
    let name = word
        .bytes
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
        .count();
    name > 0 && word.bytes.get(name) == Some(&b'=')
}

fn base_name(word: &Word) -> &[u8] {
    let name = word
        .bytes
        .rsplit(|&byte| byte == b'/' || byte == b'\\')
        .next();
    let name = name.unwrap_or_default();
    name.strip_suffix(b".exe").unwrap_or(name)
}

pub(super) fn is_one_of(word: &Word, names: &[&str]) -> bool {
    let name = base_name(word);
    names.iter().any(|known| known.as_bytes() == name)
}

pub(super) fn program(command: &[&Word], found: &mut Found) {
    let Some((program, arguments)) = command.split_first() else {
        return;
    };
    for rule in RULES
        .iter()
        .filter(|rule| is_one_of(program, rule.programs))
    {
        let subcommand = rule.subcommand.as_bytes();
        if !subcommand.is_empty()
            && !arguments
                .iter()
                .take(4)
                .any(|word| word.bytes == subcommand)
        {
            continue;
        }
        apply(rule, arguments, found);
    }
    if is_one_of(program, &["curl", "wget"]) {
        for word in arguments {
            bare_user_information(word, found);
        }
    }
}

fn apply(rule: &Rule, arguments: &[&Word], found: &mut Found) {
    if rule.form == Form::Connect {
        for word in arguments {
            connect_string(word, found);
        }
        return;
    }
    let flag = rule.flag.as_bytes();
    if rule.form == Form::Last {
        let flagged = arguments.iter().any(|word| word.bytes.starts_with(flag));
        let last = arguments
            .last()
            .filter(|word| !word.bytes.starts_with(b"-"));
        if let Some(last) = last
            && flagged
            && last.bytes != rule.subcommand.as_bytes()
        {
            literal(last, 0, PASSWORD, found);
        }
        return;
    }
    for (at, word) in arguments.iter().enumerate() {
        let exact = word.bytes == flag || ends_cluster(word, flag);
        let short = flag.len() == 2 && word.bytes.get(1) != Some(&b'-');
        let rest = (!exact && (short || flag.ends_with(b":")))
            .then(|| word.bytes.strip_prefix(flag))
            .flatten();
        if rest.is_some() && rule.form != Form::Next {
            take(rule.form, word, flag.len(), found);
        } else if exact && rule.form != Form::Attached {
            if let Some(next) = arguments.get(at + 1) {
                take(rule.form, next, 0, found);
            }
        } else if let Some(rest) = word.bytes.strip_prefix(flag)
            && flag.starts_with(b"--")
            && rest.starts_with(b"=")
        {
            take(rule.form, word, flag.len() + 1, found);
        }
    }
}

/// `-sSu`: the last flag of a cluster takes the next word.
fn ends_cluster(word: &Word, flag: &[u8]) -> bool {
    let &[b'-', letter] = flag else { return false };
    letter == b'u'
        && word.bytes.len() <= 6
        && word.bytes.first() == Some(&b'-')
        && word.bytes.last() == Some(&letter)
        && word.bytes.iter().skip(1).all(u8::is_ascii_alphabetic)
}

fn take(form: Form, word: &Word, from: usize, found: &mut Found) {
    let value = word.bytes.get(from..).unwrap_or_default();
    let after = |separator: u8| value.iter().position(|&byte| byte == separator);
    match form {
        Form::Value | Form::Attached | Form::Next | Form::Last | Form::Connect => {
            literal(word, from, PASSWORD, found);
        }
        Form::Pair => {
            if let Some(at) = after(b':') {
                literal(word, from + at + 1, PASSWORD, found);
            }
        }
        Form::CommaPair => {
            if let Some(at) = after(b',') {
                literal(word, from + at + 1, PASSWORD, found);
            }
        }
        Form::PercentPair => {
            if let Some(at) = after(b'%') {
                literal(word, from + at + 1, PASSWORD, found);
            }
        }
        Form::Cookies => {
            if value.contains(&b'=') {
                headers::cookies(&word.view(), from, word.bytes.len(), found);
            }
        }
        Form::PassSource => {
            if value.starts_with(b"pass:") {
                literal(word, from + 5, PASSWORD, found);
            }
        }
    }
}

/// `user:SECRET@host/path` without a scheme.
fn bare_user_information(word: &Word, found: &mut Found) {
    let near = word.bytes.get(..256).unwrap_or(&word.bytes);
    let Some(colon) = near.iter().position(|&byte| byte == b':') else {
        return;
    };
    let rest = near.get(colon + 1..).unwrap_or_default();
    if rest.starts_with(b"//")
        || near
            .iter()
            .take(colon)
            .any(|byte| matches!(byte, b'/' | b'=' | b' '))
    {
        return;
    }
    if let Some(at) = rest.iter().position(|&byte| byte == b'@') {
        urls::password(&word.view(), colon + 1, colon + 1 + at, found);
    }
}

/// `user/SECRET@database`.
fn connect_string(word: &Word, found: &mut Found) {
    let near = word.bytes.get(..256).unwrap_or(&word.bytes);
    let slash = near.iter().position(|&byte| byte == b'/');
    let at = near.iter().rposition(|&byte| byte == b'@');
    if let (Some(slash), Some(at)) = (slash, at)
        && slash > 0
        && slash < at
    {
        urls::password(&word.view(), slash + 1, at, found);
    }
}
