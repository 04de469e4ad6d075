//! A prompt on its way, without room for anything else.

use permit_domain::{
    Action, ActionType, MAX_OPTIONS, OfferedOption, OptionId, OptionKind, PendingId,
    PromptSnapshot, RequestId, ToolCallId,
};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// A [`PromptSnapshot`] as a sidecar sends it: a field that the protocol does not know is refused,
/// and so is a prompt with more than [`MAX_OPTIONS`] options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prompt(#[serde(with = "PromptWire")] PromptSnapshot);

impl From<PromptSnapshot> for Prompt {
    fn from(snapshot: PromptSnapshot) -> Self {
        Self(snapshot)
    }
}

impl From<Prompt> for PromptSnapshot {
    fn from(prompt: Prompt) -> Self {
        prompt.0
    }
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "PromptSnapshot", deny_unknown_fields)]
struct PromptWire {
    request_id: RequestId,
    pending_id: PendingId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<ToolCallId>,
    title: String,
    #[serde(with = "ActionWire")]
    action: Action,
    #[serde(with = "options")]
    options: Vec<OfferedOption>,
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Action", deny_unknown_fields)]
struct ActionWire {
    #[serde(rename = "type")]
    action_type: ActionType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    destination: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    redacted: bool,
    #[serde(default)]
    escaped: bool,
    #[serde(default)]
    truncated: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    withheld: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "OfferedOption", deny_unknown_fields)]
struct OptionWire {
    option_id: OptionId,
    name: String,
    kind: OptionKind,
}

/// Options with their bound.
mod options {
    use serde::de::Error as _;
    use serde::{Deserializer, Serializer};

    use super::{Deserialize, MAX_OPTIONS, OfferedOption, OptionWire, Serialize};

    #[derive(Deserialize)]
    #[serde(transparent)]
    struct Owned(#[serde(with = "OptionWire")] OfferedOption);

    #[derive(Serialize)]
    #[serde(transparent)]
    struct Borrowed<'a>(#[serde(with = "OptionWire")] &'a OfferedOption);

    pub(super) fn serialize<S: Serializer>(
        options: &[OfferedOption],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(options.iter().map(Borrowed))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<OfferedOption>, D::Error> {
        let options = Vec::<Owned>::deserialize(deserializer)?;
        if options.len() > MAX_OPTIONS {
            return Err(D::Error::custom("too many options"));
        }
        Ok(options.into_iter().map(|option| option.0).collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn wire() -> Value {
        json!({
            "request_id": "r",
            "pending_id": "p",
            "tool_call_id": "t",
            "title": "Run a command",
            "action": {
                "type": "command",
                "command": "ls",
                "redacted": false,
                "truncated": 3,
                "withheld": ["arguments"],
            },
            "options": [{"option_id": "", "name": "Allow", "kind": "allow_once"}],
            "created_at": "2026-08-11T12:00:00Z",
        })
    }

    #[test]
    fn a_prompt_survives_the_way() {
        let prompt: Prompt = serde_json::from_value(wire()).expect("a prompt");
        let again = serde_json::to_value(&prompt).expect("json");
        assert_eq!(
            serde_json::from_value::<Prompt>(again).expect("a prompt"),
            prompt
        );
        let snapshot = PromptSnapshot::from(prompt);
        assert_eq!(snapshot.action.truncated, 3);
        assert_eq!(snapshot.options.len(), 1);
    }

    #[test]
    fn a_prompt_has_no_room_for_anything_else() {
        for at in ["", "/action", "/options/0"] {
            for field in ["session_id", "task_id", "source", "status", "result", "raw"] {
                let mut wire = wire();
                let object = wire.pointer_mut(at).and_then(Value::as_object_mut);
                object
                    .expect("an object")
                    .insert(field.to_owned(), json!("x"));
                assert!(
                    serde_json::from_value::<Prompt>(wire).is_err(),
                    "{at} {field}"
                );
            }
        }
    }

    #[test]
    fn a_prompt_with_too_many_options_is_refused() {
        let mut wire = wire();
        let option = wire["options"][0].clone();
        wire["options"] = Value::Array(vec![option; MAX_OPTIONS + 1]);
        assert!(serde_json::from_value::<Prompt>(wire).is_err());
    }
}
