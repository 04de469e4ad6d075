//! A permission request, read leniently: whatever is odd in it, it is not lost.

use permit_domain::ToolCallId;
use permit_projection::RawOption;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::lenient::read_object;

/// What an agent sent as the parameters of `session/request_permission`.
#[derive(Default)]
pub(crate) struct PermissionRequest {
    /// The agent's session, when it names one.
    pub(crate) session: Option<String>,
    /// The tool call, empty when it names none.
    pub(crate) tool_call: Map<String, Value>,
    /// The request's own `_meta`.
    pub(crate) meta: Map<String, Value>,
    options: Vec<Value>,
}

impl PermissionRequest {
    pub(crate) fn read(params: Option<&RawValue>) -> Self {
        let params = params.map(|raw| read_object(raw.get()));
        Self::of(Value::Object(params.unwrap_or_default()))
    }

    pub(crate) fn of(mut params: Value) -> Self {
        let mut take = |key: &str| params.get_mut(key).map(Value::take).unwrap_or_default();
        Self {
            session: into_string(take("sessionId")),
            tool_call: into_object(take("toolCall")),
            meta: into_object(take("_meta")),
            options: into_items(take("options")),
        }
    }

    pub(crate) fn tool_call_id(&self) -> Option<ToolCallId> {
        tool_call_id(&self.tool_call)
    }

    /// Every option in the agent's order. One without a usable id has an empty one and can never
    /// be selected, and so has one whose id could not be read whole; a kind is kept as it is.
    pub(crate) fn options(&self) -> Vec<RawOption> {
        let options = self.options.iter().map(|option| {
            let text = |key: &str| option.get(key).and_then(Value::as_str).unwrap_or_default();
            let id = Some(text("optionId")).filter(|id| !id.contains('\u{fffd}'));
            RawOption::new(id.unwrap_or_default(), text("name"), text("kind"))
        });
        options.collect()
    }
}

/// The id of a tool call, when it is usable. Numbers serve as their digits.
pub(crate) fn tool_call_id(tool_call: &Map<String, Value>) -> Option<ToolCallId> {
    let id = tool_call.get("toolCallId")?;
    let text = id.as_str().map(str::to_owned);
    let text = text.or_else(|| id.as_number().map(ToString::to_string));
    ToolCallId::parse(text?).ok()
}

fn into_string(value: Value) -> Option<String> {
    if let Value::String(text) = value {
        Some(text)
    } else {
        None
    }
}

fn into_items(value: Value) -> Vec<Value> {
    if let Value::Array(items) = value {
        items
    } else {
        Vec::new()
    }
}

pub(crate) fn into_object(value: Value) -> Map<String, Value> {
    if let Value::Object(object) = value {
        object
    } else {
        Map::new()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn odd_options_are_kept_and_those_without_an_id_get_an_empty_one() {
        let request = PermissionRequest::of(json!({"options": [
            {"optionId": "a", "name": "A", "kind": "allow_forever"},
            {"optionId": 7, "name": "B", "kind": "allow_once"},
            {"name": "C", "kind": null},
            {"optionId": "cut\u{fffd}", "name": "D", "kind": "reject_once"},
            "nonsense",
        ]}));
        let options = request.options();
        let ids: Vec<_> = options.iter().map(|o| o.option_id.as_str()).collect();
        let kinds: Vec<_> = options.iter().map(|o| o.kind.as_str()).collect();
        assert_eq!(ids, ["a", "", "", "", ""]);
        assert_eq!(
            kinds,
            ["allow_forever", "allow_once", "", "reject_once", ""]
        );
    }

    #[test]
    fn nothing_at_all_is_still_a_request() {
        for params in [
            json!(null),
            json!([]),
            json!({"options": {}, "toolCall": 1}),
        ] {
            let request = PermissionRequest::of(params);
            assert!(request.options().is_empty() && request.tool_call_id().is_none());
        }
    }
}
