//! A live prompt as it may leave the sidecar.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::{Action, OfferedOption, PendingId, RequestId, ToolCallId};

/// The most options a prompt may offer. A prompt with more is refused to its provider.
pub const MAX_OPTIONS: usize = 256;

/// A position in one registry's history of changes. Taken under the registry's lock, so that of
/// two facts about one request the one with the higher number is the newer.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl Seq {
    /// The next position.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// One generation of a live prompt: its identity, its immutable options and its safe
/// presentation. Raw provider details are not in it (invariant I8).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptSnapshot {
    /// The generation.
    pub request_id: RequestId,
    /// The provider's id for the waiting request.
    pub pending_id: PendingId,
    /// The provider's id for the tool call, when it gave a usable one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<ToolCallId>,
    /// The provider's title, safe for output; empty when it could not be projected.
    pub title: String,
    /// What is to be done, safe for output.
    pub action: Action,
    /// Every choice offered, in the provider's order.
    pub options: Vec<OfferedOption>,
    /// When the prompt opened, UTC.
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
}
