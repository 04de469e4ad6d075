//! JSON-RPC request ids, with their type: `0` is not `"0"`.

use permit_domain::{IdSource, PendingId};
use serde_json::value::RawValue;

/// The id of an agent's request.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct RpcId {
    /// As the agent wrote it; this goes into the answer.
    raw: String,
    /// The same for the same id, however a string in it is escaped.
    key: String,
}

impl RpcId {
    pub(crate) fn read(raw: &RawValue) -> Self {
        let raw = raw.get().to_owned();
        let key = as_string(&raw)
            .and_then(|text| serde_json::to_string(&text).ok())
            .unwrap_or_else(|| raw.clone());
        Self { raw, key }
    }

    pub(crate) fn raw(&self) -> &str {
        &self.raw
    }

    /// Tells apart ids of different types: a string keeps its quotes.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// The id to list: a string's content, a number's digits, or a fresh one when the agent's is
    /// unusable.
    pub(crate) fn pending_id(&self, ids: &dyn IdSource) -> PendingId {
        let usable = match self.raw.as_bytes().first() {
            Some(b'"') => as_string(&self.raw),
            Some(b'-' | b'0'..=b'9') => Some(self.raw.clone()),
            _ => None,
        };
        usable
            .and_then(|text| PendingId::parse(text).ok())
            .or_else(|| PendingId::parse(format!("fallback-{}", ids.fresh())).ok())
            .unwrap_or_else(|| unreachable!("a fallback id is neither empty nor overlong"))
    }
}

fn as_string(raw: &str) -> Option<String> {
    serde_json::from_str(raw).ok()
}

#[cfg(test)]
mod tests {
    use permit_system::TimeOrderedIds;

    use super::*;

    fn id(raw: &str) -> RpcId {
        RpcId::read(&RawValue::from_string(raw.to_owned()).expect("json"))
    }

    fn pending(raw: &str) -> String {
        id(raw).pending_id(&TimeOrderedIds).as_str().to_owned()
    }

    #[test]
    fn numbers_and_strings_are_listed_as_they_are_and_kept_apart() {
        assert_eq!(pending("0"), "0");
        assert_eq!(pending("\"0\""), "0");
        assert_ne!(id("0").key(), id("\"0\"").key());
        assert_eq!(id(r#""\u0041""#).key(), id("\"A\"").key());
        assert_eq!(id(r#""\u0041""#).raw(), r#""\u0041""#);
        assert_eq!(
            pending("18446744073709551616123"),
            "18446744073709551616123"
        );
        assert_eq!(pending("-1.5"), "-1.5");
    }

    #[test]
    fn an_unusable_id_gets_a_fallback_that_is_never_reused() {
        let overlong = format!("\"{}\"", "x".repeat(5000));
        for raw in ["null", "\"\"", "true", "[1]", "{}", &overlong] {
            let (first, second) = (pending(raw), pending(raw));
            assert!(first.starts_with("fallback-"), "{raw}: {first}");
            assert_ne!(first, second);
        }
    }
}
