//! JSON-RPC messages, taken apart without reading what is inside.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::rpc_id::RpcId;

/// A message from the agent.
pub(crate) enum Message<'a> {
    Request {
        id: RpcId,
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    Notification {
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    Response {
        id: RpcId,
        result: Result<&'a str, Refusal>,
    },
}

/// An agent's error answer.
#[derive(Deserialize)]
pub(crate) struct Refusal {
    #[serde(default)]
    pub(crate) code: i64,
    #[serde(default)]
    pub(crate) message: String,
}

/// The messages of one line: one, or those of a batch. `None` when it holds none.
pub(crate) fn read(line: &str) -> Option<Vec<Message<'_>>> {
    if line.trim_ascii_start().starts_with('[') {
        let batch: Vec<Envelope<'_>> = serde_json::from_str(line).ok()?;
        return batch.into_iter().map(Envelope::open).collect();
    }
    let one: Envelope<'_> = serde_json::from_str(line).ok()?;
    one.open().map(|message| vec![message])
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// A `null` is there, other than nothing.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    Deserialize::deserialize(from).map(Some)
}

impl<'a> Envelope<'a> {
    fn open(self) -> Option<Message<'a>> {
        let params = self.params;
        match (self.id.map(RpcId::read), self.method) {
            (Some(id), Some(method)) => Some(Message::Request { id, method, params }),
            (None, Some(method)) => Some(Message::Notification { method, params }),
            (Some(id), None) => {
                let result = match self.error {
                    Some(error) => Err(Refusal::read(error)),
                    None => Ok(self.result.map_or("null", RawValue::get)),
                };
                Some(Message::Response { id, result })
            }
            (None, None) => None,
        }
    }
}

impl Refusal {
    fn read(raw: &RawValue) -> Self {
        serde_json::from_str(raw.get()).unwrap_or(Self {
            code: 0,
            message: String::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(line: &str) -> Vec<String> {
        let Some(messages) = read(line) else {
            return Vec::new();
        };
        let shown = messages.iter().map(|message| match message {
            Message::Request { id, method, .. } => format!("request {} {method}", id.raw()),
            Message::Notification { method, .. } => format!("notification {method}"),
            Message::Response { id, result } => match result {
                Ok(result) => format!("result {} {result}", id.raw()),
                Err(refusal) => format!("error {} {}", id.raw(), refusal.code),
            },
        });
        shown.collect()
    }

    #[test]
    fn a_null_id_is_a_request_and_a_missing_one_is_not() {
        assert_eq!(kinds(r#"{"id":null,"method":"m"}"#), ["request null m"]);
        assert_eq!(kinds(r#"{"method":"m","params":[]}"#), ["notification m"]);
    }

    #[test]
    fn results_errors_and_batches_are_told_apart() {
        assert_eq!(kinds(r#"{"id":1,"result":null}"#), ["result 1 null"]);
        assert_eq!(
            kinds(r#"{"id":1,"result":{"a":1}}"#),
            [r#"result 1 {"a":1}"#]
        );
        assert_eq!(
            kinds(r#"{"id":1,"error":{"code":-32000,"message":"no"}}"#),
            ["error 1 -32000"]
        );
        assert_eq!(kinds(r#"{"id":1,"error":"odd"}"#), ["error 1 0"]);
        assert_eq!(
            kinds(r#"[{"id":1,"method":"a"},{"method":"b"}]"#),
            ["request 1 a", "notification b"]
        );
    }

    #[test]
    fn what_is_no_message_is_none() {
        for line in ["hello", "{}", "7", "[1]", "{\"id\":1"] {
            assert!(
                kinds(line).iter().all(|kind| kind.starts_with("result")),
                "{line}"
            );
        }
    }
}
