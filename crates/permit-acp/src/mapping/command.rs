//! Commands: the whole of what runs, and where.

use permit_projection::RawDetails;
use serde_json::Value;

use super::Call;

/// Whether the input holds a command.
pub(super) fn is_given(call: &Call<'_>) -> bool {
    from_input(call).is_some()
}

pub(super) fn fill(call: &Call<'_>, details: &mut RawDetails) {
    let said = said_in_text(call);
    details.command = from_input(call).or_else(|| from_title(call, said.is_some()));
    details.cwd = CWD_KEYS
        .iter()
        .find_map(|key| call.input_text(key))
        .or(said.as_ref().map(|said| said.cwd))
        .map(str::to_owned);
    if details.description.is_none() {
        details.description = said.and_then(|said| said.description).map(str::to_owned);
    }
}

const CWD_KEYS: [&str; 5] = [
    "cwd",
    "workdir",
    "workingDirectory",
    "working_directory",
    "dir_path",
];

fn from_input(call: &Call<'_>) -> Option<String> {
    let commands = || {
        let commands = call.input("commands")?.as_array()?;
        let lines: Vec<_> = commands.iter().filter_map(text_of).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    };
    let command = ["command", "cmd", "argv"]
        .iter()
        .find_map(|key| call.input(key).and_then(text_of))
        .or_else(commands)?;
    match call.input("args").and_then(text_of) {
        Some(args) => Some(format!("{command} {args}")),
        None => Some(command),
    }
}

/// A command as it is, or as words that a shell would take apart again.
fn text_of(command: &Value) -> Option<String> {
    let text = match command {
        Value::String(text) => text.clone(),
        Value::Array(words) => {
            let words = words
                .iter()
                .map(|word| word.as_str().map_or_else(|| word.to_string(), quoted));
            words.collect::<Vec<_>>().join(" ")
        }
        Value::Object(fields) => text_of(fields.get("command")?)?,
        Value::Null | Value::Bool(_) | Value::Number(_) => return None,
    };
    (!text.is_empty()).then_some(text)
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// One agent sends no input and puts the command into the title. Others put a name of the tool
/// or the model's words there, so the title serves only where that agent is recognized.
fn from_title(call: &Call<'_>, said_cwd: bool) -> Option<String> {
    let shell = call
        .id
        .is_some_and(|id| id.starts_with("run_shell_command"));
    let silent = call.raw_input.is_none();
    (silent && (said_cwd || shell)).then(|| call.title.map(str::to_owned))?
}

struct Said<'a> {
    cwd: &'a str,
    description: Option<&'a str>,
}

/// `[current working directory /some/where] (what the model says)`; nothing when the end of the
/// directory is a guess.
fn said_in_text<'a>(call: &Call<'a>) -> Option<Said<'a>> {
    let text = call
        .texts()
        .find_map(|text| text.strip_prefix("[current working directory "))?;
    let mut ends = text.match_indices(']').map(|(at, _)| at).filter(|at| {
        let after = text.get(at + 1..).unwrap_or_default();
        after.is_empty() || after.starts_with(" (") || after.starts_with('\n')
    });
    let end = ends.next()?;
    if ends.next().is_some() {
        return None;
    }
    let description = text.get(end + 1..)?.strip_prefix(" (");
    Some(Said {
        cwd: text.get(..end)?,
        description: description.and_then(|rest| rest.strip_suffix(')')),
    })
}
