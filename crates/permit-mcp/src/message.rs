//! JSON-RPC messages as they arrive, read by borrowing.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use jsonrpsee_types::{ErrorObjectOwned, Id};
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::error::Category;
use serde_json::value::RawValue;

use crate::code::{INVALID_REQUEST, PARSE_ERROR, error};

/// What one message is.
pub(crate) enum Message<'a> {
    /// It wants an answer.
    Request(Request<'a>),
    /// It wants none: a notification, or an answer to a request that we never send.
    Unanswered,
}

/// One request.
pub(crate) struct Request<'a> {
    pub(crate) id: RequestId<'a>,
    pub(crate) method: Text<'a>,
    /// An object, when present.
    pub(crate) params: Option<&'a RawValue>,
}

/// A request's id: a string or an integer of any size, kept as it was written.
#[derive(Clone, Copy, Serialize)]
#[serde(transparent)]
pub(crate) struct RequestId<'a>(&'a RawValue);

/// What is not a message, with its id where it can be read.
pub(crate) struct Unreadable<'a> {
    pub(crate) id: Option<RequestId<'a>>,
    pub(crate) error: ErrorObjectOwned,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

impl<'a> Message<'a> {
    /// Reads one message. Members that JSON-RPC does not know are ignored; one that occurs twice
    /// makes the message unreadable, since two readers could see different ones.
    pub(crate) fn read(text: &'a str) -> Result<Self, Unreadable<'a>> {
        if !text.trim_ascii_start().starts_with('{') {
            return Err(Unreadable::of(&no_object(text)));
        }
        let envelope: Envelope<'a> =
            serde_json::from_str(text).map_err(|cause| Unreadable::of(&cause))?;
        let id = envelope.id.map(RequestId::read);
        let invalid = |message| Unreadable {
            id: id.flatten(),
            error: error(INVALID_REQUEST, message),
        };
        if envelope.jsonrpc.and_then(Text::read).as_deref() != Some("2.0") {
            return Err(invalid("`jsonrpc` must be \"2.0\"."));
        }
        let Some(method) = envelope.method else {
            return if envelope.result.is_some() || envelope.error.is_some() {
                Ok(Self::Unanswered)
            } else {
                Err(invalid("A message needs a `method`."))
            };
        };
        let method = Text::read(method).ok_or_else(|| invalid("`method` must be a string."))?;
        let params = envelope.params.filter(|params| params.get() != "null");
        if params.is_some_and(|params| !params.get().starts_with('{')) {
            return Err(invalid("`params` must be an object."));
        }
        match id {
            None => Ok(Self::Unanswered),
            Some(Some(id)) => Ok(Self::Request(Request { id, method, params })),
            Some(None) => Err(invalid("`id` must be a string or an integer.")),
        }
    }
}

impl Unreadable<'_> {
    pub(crate) fn of(cause: &serde_json::Error) -> Self {
        let error = match cause.classify() {
            Category::Io | Category::Syntax | Category::Eof => {
                error(PARSE_ERROR, "The body is not valid JSON.")
            }
            Category::Data => error(
                INVALID_REQUEST,
                "A message must be an object without repeated members.",
            ),
        };
        Self { id: None, error }
    }
}

/// Why a text that does not begin like an object is none.
fn no_object(text: &str) -> serde_json::Error {
    use serde::de::Error as _;

    serde_json::from_str::<&RawValue>(text)
        .err()
        .unwrap_or_else(|| serde_json::Error::custom("not an object"))
}

impl<'a> RequestId<'a> {
    fn read(raw: &'a RawValue) -> Option<Self> {
        let text = raw.get();
        let is_id = if text.starts_with('"') {
            Text::read(raw).is_some()
        } else {
            let digits = text.strip_prefix('-').unwrap_or(text);
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        is_id.then_some(Self(raw))
    }

    /// The id as `jsonrpsee` can hold it: it knows no negative and no very large numbers.
    pub(crate) fn native(self) -> Option<Id<'a>> {
        match self.0.get().parse() {
            Ok(number) => Some(Id::Number(number)),
            Err(_) => Text::read(self.0).map(|Text(text)| Id::Str(text)),
        }
    }
}

/// A JSON string, borrowed where it has no escapes.
#[derive(Deserialize)]
pub(crate) struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Text<'a> {
    pub(crate) fn read(raw: &'a RawValue) -> Option<Self> {
        serde_json::from_str(raw.get()).ok()
    }

    pub(crate) fn into_owned(self) -> String {
        self.0.into_owned()
    }
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Text<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

/// Reads a member that is there, `null` included.
pub(crate) fn present<'de, D>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error>
where
    D: Deserializer<'de>,
{
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// The messages of a batch, unread: no more than its bound and one, which says that there are too
/// many.
pub(crate) struct Batch<'a>(pub(crate) Vec<&'a RawValue>);

/// Whether a body is an array.
pub(crate) fn is_batch(text: &str) -> bool {
    text.trim_ascii_start().starts_with('[')
}

impl<'a> Batch<'a> {
    /// Splits an array into its elements, of which it keeps one more than `max`.
    pub(crate) fn read(text: &'a str, max: usize) -> Result<Self, Unreadable<'a>> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        deserializer
            .deserialize_seq(Elements { keep: max + 1 })
            .and_then(|elements| deserializer.end().map(|()| Self(elements)))
            .map_err(|cause| Unreadable::of(&cause))
    }
}

struct Elements {
    keep: usize,
}

impl<'de> Visitor<'de> for Elements {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = seq.next_element()? {
            if elements.len() < self.keep {
                elements.push(element);
            }
        }
        Ok(elements)
    }
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
