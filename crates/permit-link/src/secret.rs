//! The secret of an execution on its way.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroizing;

/// The secret by which a sidecar re-attaches to its execution. It is wiped when dropped and never
/// printed; it is serialized into an attach or a welcome alone.
#[derive(Clone)]
pub struct ExecutionSecret(Zeroizing<String>);

impl ExecutionSecret {
    /// Takes a secret's text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// The text, for the one place that checks or hands it over.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ExecutionSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExecutionSecret(..)")
    }
}

impl Serialize for ExecutionSecret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for ExecutionSecret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_does_not_print() {
        let secret = ExecutionSecret::new("open sesame");
        assert_eq!(format!("{secret:?}"), "ExecutionSecret(..)");
    }
}
