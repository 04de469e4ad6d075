//! What the agent said about its tool calls before it asked (bounded).

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value};

/// The most tool calls to remember.
const MOST_CALLS: usize = 512;

/// The most bytes of messages to remember.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// By session and tool call id. The oldest is forgotten first.
#[derive(Default)]
pub(crate) struct ToolCalls {
    calls: HashMap<Key, Remembered>,
    order: VecDeque<Key>,
    bytes: usize,
}

type Key = (String, String);

struct Remembered {
    tool_call: Map<String, Value>,
    bytes: usize,
}

impl ToolCalls {
    /// Takes in what an update of this many bytes says.
    pub(crate) fn update(
        &mut self,
        session: &str,
        id: &str,
        mut update: Map<String, Value>,
        bytes: usize,
    ) {
        update.retain(|key, _| KEPT.contains(&key.as_str()));
        let key = (session.to_owned(), id.to_owned());
        let known = self.calls.entry(key.clone()).or_insert_with(|| {
            self.order.push_back(key);
            Remembered {
                tool_call: Map::new(),
                bytes: 0,
            }
        });
        merge(&mut known.tool_call, update);
        known.bytes += bytes;
        self.bytes += bytes;
        while self.order.len() > MOST_CALLS || self.bytes > MOST_BYTES {
            let Some(oldest) = self.order.pop_front() else {
                break;
            };
            self.drop_call(&oldest);
        }
    }

    pub(crate) fn get(&self, session: &str, id: &str) -> Option<&Map<String, Value>> {
        let known = self.calls.get(&(session.to_owned(), id.to_owned()));
        known.map(|known| &known.tool_call)
    }

    /// The request's own details over what was known before.
    pub(crate) fn merged(
        &self,
        session: &str,
        id: Option<&str>,
        request: Map<String, Value>,
    ) -> Map<String, Value> {
        let known = id.and_then(|id| self.get(session, id));
        let Some(mut tool_call) = known.cloned() else {
            return request;
        };
        merge(&mut tool_call, request);
        tool_call
    }

    pub(crate) fn forget(&mut self, session: &str, id: &str) {
        let key = (session.to_owned(), id.to_owned());
        self.order.retain(|known| *known != key);
        self.drop_call(&key);
    }

    fn drop_call(&mut self, key: &Key) {
        if let Some(dropped) = self.calls.remove(key) {
            self.bytes -= dropped.bytes;
        }
    }
}

/// What a request for permission may be about; results are not.
const KEPT: [&str; 8] = [
    "toolCallId",
    "title",
    "kind",
    "name",
    "rawInput",
    "content",
    "locations",
    "_meta",
];

/// Fields of a tool call's input that say the same thing in different words: a newer word for it
/// replaces all the older ones, so that never the old is shown beside the new.
const SYNONYMS: [&[&str]; 3] = [
    &["command", "commands", "cmd", "args", "argv"],
    &[
        "file_path",
        "filePath",
        "filepath",
        "path",
        "paths",
        "fileName",
        "file_name",
        "notebook_path",
        "target_file",
        "absolute_path",
        "changes",
    ],
    &["url", "urls", "uri"],
];

/// What the newer says counts; what it leaves out or leaves empty stays.
fn merge(older: &mut Map<String, Value>, newer: Map<String, Value>) {
    for (key, value) in newer {
        if value.is_null() || (is_empty(&value) && older.contains_key(&key)) {
            continue;
        }
        match (key.as_str(), older.get_mut(&key), value) {
            ("rawInput" | "_meta", Some(Value::Object(older)), Value::Object(newer)) => {
                merge_fields(older, newer);
            }
            (_, _, value) => {
                older.insert(key, value);
            }
        }
    }
}

fn merge_fields(older: &mut Map<String, Value>, newer: Map<String, Value>) {
    for group in SYNONYMS {
        if group.iter().any(|word| newer.contains_key(*word)) {
            older.retain(|key, _| !group.contains(&key.as_str()));
        }
    }
    older.extend(newer.into_iter().filter(|(_, value)| !value.is_null()));
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::permission::into_object;

    fn object(value: Value) -> Map<String, Value> {
        into_object(value)
    }

    #[test]
    fn the_request_counts_and_what_it_leaves_out_comes_from_before() {
        let mut calls = ToolCalls::default();
        let first = json!({"title": "read", "kind": "read", "rawInput": {}, "locations": []});
        calls.update("s", "c", object(first), 10);
        let second = json!({"locations": [{"path": "/f"}], "rawInput": {"filePath": "/f"}});
        calls.update("s", "c", object(second), 10);
        let asked = json!({"title": "Read", "locations": [], "rawInput": {}});
        assert_eq!(
            Value::Object(calls.merged("s", Some("c"), object(asked))),
            json!({"title": "Read", "kind": "read", "rawInput": {"filePath": "/f"},
                   "locations": [{"path": "/f"}]})
        );
    }

    #[test]
    fn an_older_word_for_the_same_thing_is_never_shown_beside_the_new() {
        let mut calls = ToolCalls::default();
        let before = json!({"rawInput": {"command": "rm -r /", "cwd": "/w"}});
        calls.update("s", "c", object(before), 10);
        let asked = object(json!({"rawInput": {"commands": ["ls"]}}));
        assert_eq!(
            Value::Object(calls.merged("s", Some("c"), asked)),
            json!({"rawInput": {"cwd": "/w", "commands": ["ls"]}})
        );
    }

    #[test]
    fn sessions_do_not_mix_and_memory_is_bounded() {
        let mut calls = ToolCalls::default();
        calls.update("s", "c", object(json!({"title": "one"})), 10);
        assert!(calls.merged("t", Some("c"), Map::new()).is_empty());
        for call in 0..MOST_CALLS {
            calls.update("s", &call.to_string(), object(json!({"title": "x"})), 10);
        }
        assert!(calls.merged("s", Some("c"), Map::new()).is_empty());
        calls.update("s", "big", object(json!({"title": "x"})), MOST_BYTES + 1);
        assert_eq!((calls.calls.len(), calls.bytes), (0, 0));
        calls.update("s", "c", object(json!({"title": "one"})), 10);
        calls.forget("s", "c");
        assert_eq!(
            (calls.calls.len(), calls.order.len(), calls.bytes),
            (0, 0, 0)
        );
    }
}
