//! The choices a provider offers.

use serde::{Deserialize, Serialize};

use crate::OptionId;

/// What an option means, kept verbatim: a kind we do not know survives unchanged.
///
/// The kind alone decides whether an option allows or rejects, never its id or name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OptionKind(String);

impl OptionKind {
    /// Keeps the provider's word for it.
    #[must_use]
    pub fn new(kind: impl Into<String>) -> Self {
        Self(kind.into())
    }

    /// The kind as the provider spelled it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is one of the two kinds known to allow. An unknown kind never is.
    #[must_use]
    pub fn allows(&self) -> bool {
        matches!(self.as_str(), "allow_once" | "allow_always")
    }

    /// Whether this is one of the two kinds known to reject.
    #[must_use]
    pub fn rejects(&self) -> bool {
        matches!(self.as_str(), "reject_once" | "reject_always")
    }
}

/// One choice as the provider offered it. The id is identity and never changed; the name is
/// presentation and has been through the projection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedOption {
    /// The provider's id, byte for byte.
    pub option_id: OptionId,
    /// The label to show, safe for output.
    pub name: String,
    /// What the option means, verbatim.
    pub kind: OptionKind,
}

/// Why an option id selects nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSelectable {
    /// No offered option has this id, or none may be named.
    #[error("the option was not offered")]
    NotOffered,
    /// Several offered options share this id, so that a choice would be a guess.
    #[error("several offered options share this id")]
    Ambiguous,
}

/// Finds the one offered option with exactly these id bytes.
///
/// # Errors
/// [`NotSelectable`] when there is none, when the id is empty or overlong, or when it is not
/// unique: what cannot be answered safely cannot be answered.
pub fn select_option<'a>(
    offered: &'a [OfferedOption],
    id: &OptionId,
) -> Result<&'a OfferedOption, NotSelectable> {
    let mut matching = offered.iter().filter(|option| option.option_id == *id);
    let option = matching.next().ok_or(NotSelectable::NotOffered)?;
    if matching.next().is_some() {
        return Err(NotSelectable::Ambiguous);
    }
    if !option.option_id.is_nameable() {
        return Err(NotSelectable::NotOffered);
    }
    Ok(option)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(id: &str, kind: &str) -> OfferedOption {
        OfferedOption {
            option_id: OptionId::offered(id),
            name: id.to_owned(),
            kind: OptionKind::new(kind),
        }
    }

    #[test]
    fn an_unknown_kind_survives_and_never_allows() {
        let kind: OptionKind = serde_json::from_str("\"allow_persistent\"").expect("a kind");
        assert_eq!(kind.as_str(), "allow_persistent");
        assert!(!kind.allows());
        assert!(!kind.rejects());
        assert_eq!(
            serde_json::to_string(&kind).expect("json"),
            "\"allow_persistent\""
        );
    }

    #[test]
    fn an_option_is_found_by_its_exact_bytes_only() {
        let offered = [option("allow-once", "allow_once")];
        let select = |id: &str| select_option(&offered, &OptionId::offered(id)).map(|o| &o.kind);
        assert_eq!(select("allow-once"), Ok(&OptionKind::new("allow_once")));
        for other in ["Allow-Once", "allow-once ", "allow", "", "allow-once\0"] {
            assert_eq!(select(other), Err(NotSelectable::NotOffered), "{other:?}");
        }
    }

    #[test]
    fn a_duplicate_or_empty_option_id_is_never_selected() {
        let offered = [
            option("x", "allow_once"),
            option("x", "reject_once"),
            option("", "allow_once"),
        ];
        assert_eq!(
            select_option(&offered, &OptionId::offered("x")),
            Err(NotSelectable::Ambiguous)
        );
        assert_eq!(
            select_option(&offered, &OptionId::offered("")),
            Err(NotSelectable::NotOffered)
        );
    }
}
