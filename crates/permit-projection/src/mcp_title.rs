//! A title for an MCP call that gives none of its arguments away.

use aho_corasick::AhoCorasick;
use serde_json::Value;

use crate::RawDetails;

/// More argument values than this are not compared one by one.
const MOST_VALUES: usize = 1024;

/// The provider's title when it is safe, else server and tool.
pub(crate) fn safe(raw: &mut RawDetails) -> Option<String> {
    let title = raw.title.take().filter(|title| !title.trim().is_empty());
    match title {
        Some(title) if !repeats_arguments(&title, raw.arguments.as_deref()) => Some(title),
        _ => Some(match (&raw.server, &raw.tool) {
            (Some(server), Some(tool)) => format!("{server}: {tool}"),
            (Some(name), None) | (None, Some(name)) => name.clone(),
            (None, None) => "MCP tool".to_owned(),
        }),
    }
}

fn repeats_arguments(title: &str, arguments: Option<&str>) -> bool {
    if title.contains(['{', '}']) || title.trim_start().starts_with('[') {
        return true;
    }
    let Some(arguments) = arguments.filter(|arguments| arguments.len() > 2) else {
        return false;
    };
    if title.contains(arguments) || arguments.len() > crate::MAX_RAW_BYTES {
        return true;
    }
    let Ok(arguments) = serde_json::from_str::<Value>(arguments) else {
        return false;
    };
    let mut values = Vec::new();
    let mut waiting = vec![arguments];
    while let Some(value) = waiting.pop() {
        match value {
            Value::String(text) if text.len() >= 4 => values.push(text),
            Value::Array(items) => waiting.extend(items),
            Value::Object(fields) => waiting.extend(fields.into_iter().map(|(_, value)| value)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        if values.len() > MOST_VALUES {
            return true;
        }
    }
    AhoCorasick::new(values).map_or(true, |finder| finder.is_match(title))
}
