//! Reads JSON objects that a strict reader gives up on, as far as they can be understood.
//!
//! Agents cut texts in the middle of a character, which leaves half of a surrogate pair behind,
//! and nest their own data deeper than a reader follows. Neither may cost a prompt.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// How many levels of an object are read field by field when the whole cannot be.
const LEVELS: u8 = 4;

/// The object's fields; those that cannot be read are left out. Halves of characters become
/// U+FFFD.
pub(crate) fn read_object(raw: &str) -> Map<String, Value> {
    if let Ok(object) = serde_json::from_str(raw) {
        return object;
    }
    fields(&mend(raw), LEVELS).unwrap_or_default()
}

fn fields(raw: &str, levels: u8) -> Option<Map<String, Value>> {
    if let Ok(object) = serde_json::from_str(raw) {
        return Some(object);
    }
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(raw).ok()?;
    let fields = fields.into_iter();
    let read = fields.filter_map(|(name, raw)| Some((name, value(raw.get(), levels)?)));
    Some(read.collect())
}

fn value(raw: &str, levels: u8) -> Option<Value> {
    if let Ok(value) = serde_json::from_str(raw) {
        return Some(value);
    }
    let levels = levels.checked_sub(1)?;
    if raw.starts_with('[') {
        let items: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
        let items = items.into_iter();
        let read = items.map(|raw| value(raw.get(), levels).unwrap_or_default());
        return Some(Value::Array(read.collect()));
    }
    fields(raw, levels).map(Value::Object)
}

/// Replaces `\uD83D` without its other half.
fn mend(raw: &str) -> Cow<'_, str> {
    let mut mended = String::new();
    let mut done = 0;
    let mut at = 0;
    while let Some(found) = raw.get(at..).and_then(|rest| rest.find('\\')) {
        let start = at + found;
        at = match escape(raw, start) {
            None => start + 2,
            Some(0xd800..=0xdbff) if matches!(escape(raw, start + 6), Some(0xdc00..=0xdfff)) => {
                start + 12
            }
            Some(0xd800..=0xdfff) => {
                mended.push_str(raw.get(done..start).unwrap_or_default());
                mended.push('\u{fffd}');
                done = start + 6;
                done
            }
            Some(_) => start + 6,
        };
    }
    if done == 0 {
        return Cow::Borrowed(raw);
    }
    mended.push_str(raw.get(done..).unwrap_or_default());
    Cow::Owned(mended)
}

/// The code unit that an escape at this place stands for.
fn escape(raw: &str, at: usize) -> Option<u16> {
    let digits = raw.get(at..)?.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn halves_of_characters_do_not_cost_the_rest() {
        for (raw, read) in [
            (
                r#"{"a":"x\ud83d","b":1}"#,
                json!({"a": "x\u{fffd}", "b": 1}),
            ),
            (r#"{"a":"\udc00\ud83d\ude00"}"#, json!({"a": "\u{fffd}😀"})),
            (
                r#"{"a":"\\ud83d\ud83dé\n"}"#,
                json!({"a": "\\ud83d\u{fffd}é\n"}),
            ),
            (
                r#"{"\ud83d":{"c":["\ud83d\ud83d"]}}"#,
                json!({"\u{fffd}": {"c": ["\u{fffd}\u{fffd}"]}}),
            ),
        ] {
            assert_eq!(Value::Object(read_object(raw)), read, "{raw}");
        }
    }

    #[test]
    fn what_is_nested_too_deep_is_left_out_alone() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let raw = format!(
            r#"{{"options":[{{"optionId":"a","_meta":{deep}}}],"toolCall":{{"title":"t","rawInput":{{"command":"ls","x":{deep}}}}}}}"#
        );
        let read = read_object(&raw);
        assert_eq!(read["options"][0]["optionId"], "a");
        assert_eq!(read["toolCall"]["title"], "t");
        assert_eq!(read["toolCall"]["rawInput"]["command"], "ls");
    }

    #[test]
    fn what_is_no_object_is_empty() {
        for raw in ["", "7", "[1]", "{", "\"\\", "null"] {
            assert!(read_object(raw).is_empty(), "{raw}");
        }
    }
}
