//! Files: which ones, never what is in them.

use permit_projection::RawDetails;
use serde_json::Value;

use super::Call;

/// The most paths to name; what is beyond is counted.
const MOST_PATHS: usize = 64;

const PATH_KEYS: [&str; 9] = [
    "file_path",
    "filePath",
    "filepath",
    "path",
    "fileName",
    "file_name",
    "notebook_path",
    "target_file",
    "absolute_path",
];

/// Where something is moved from and to.
const MOVE_KEYS: [&str; 10] = [
    "source",
    "from",
    "old_path",
    "oldPath",
    "source_path",
    "destination",
    "to",
    "new_path",
    "newPath",
    "destination_path",
];

const CONTENT_KEYS: [&str; 10] = [
    "content",
    "new_string",
    "old_string",
    "newText",
    "newString",
    "oldString",
    "edits",
    "diff",
    "patch",
    "changes",
];

pub(super) fn fill(call: &Call<'_>, details: &mut RawDetails) {
    let mut paths = paths(call);
    let beyond = paths.len().saturating_sub(MOST_PATHS);
    paths.truncate(MOST_PATHS);
    let mut shown = paths.join(", ");
    if beyond > 0 {
        shown.push_str(&format!(" (and {beyond} more)"));
    }
    details.path = (!shown.is_empty()).then_some(shown);
    details.cwd = call.input_text("cwd").map(str::to_owned);
}

/// Whether the input names a file.
pub(super) fn is_given(call: &Call<'_>) -> bool {
    PATH_KEYS.iter().any(|key| call.input_text(key).is_some())
}

/// Whether this is a change of a file, told by its shape alone.
pub(super) fn is_change(call: &Call<'_>) -> bool {
    let diffs = call.diffs().next().is_some();
    let named = is_given(call) && CONTENT_KEYS.iter().any(|key| call.input(key).is_some());
    diffs || named || call.input("changes").is_some_and(Value::is_object)
}

/// Whether the input holds what is in a file.
pub(super) fn has_content(call: &Call<'_>) -> bool {
    CONTENT_KEYS.iter().any(|key| call.input(key).is_some())
}

/// Whether this field of the input is shown as a path.
pub(super) fn is_path_key(key: &str) -> bool {
    PATH_KEYS.contains(&key) || MOVE_KEYS.contains(&key) || matches!(key, "paths" | "cwd")
}

pub(super) fn is_content_key(key: &str) -> bool {
    CONTENT_KEYS.contains(&key)
}

/// Every file that the agent names, once. A shorter spelling of one already named is passed over.
fn paths(call: &Call<'_>) -> Vec<String> {
    let mut named: Vec<&str> = Vec::new();
    named.extend(PATH_KEYS.iter().filter_map(|key| call.input_text(key)));
    if let Some(Value::Array(paths)) = call.input("paths") {
        named.extend(paths.iter().filter_map(Value::as_str));
    }
    if let Some(Value::Object(changes)) = call.input("changes") {
        named.extend(changes.keys().map(String::as_str));
    }
    if call.kind == Some("move") {
        named.extend(MOVE_KEYS.iter().filter_map(|key| call.input_text(key)));
    }
    let path_of = |item: &'static str| {
        move |value: &'_ Value| -> Option<String> { Some(value.get(item)?.as_str()?.to_owned()) }
    };
    let mut all: Vec<String> = named.into_iter().map(str::to_owned).collect();
    all.extend(call.diffs().filter_map(path_of("path")));
    all.extend(call.locations.iter().filter_map(path_of("path")));
    let mut distinct: Vec<String> = Vec::new();
    for path in all {
        if !path.is_empty() && !distinct.iter().any(|known| is_same(known, &path)) {
            distinct.push(path);
        }
    }
    distinct
}

fn is_same(known: &str, path: &str) -> bool {
    let tail = |long: &str, short: &str| {
        long.strip_suffix(short)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('/') && !short.starts_with('/'))
    };
    tail(known, path) || path.starts_with('/') && known == path
}
