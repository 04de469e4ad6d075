//! What the gateway asks of a sidecar about one prompt, and what the sidecar answers.

use serde::{Deserialize, Serialize};

use crate::{AuditResult, ClaimId, ExpiryReason, OptionId, PendingId, RequestId};

/// One claimed choice to hand to the provider. Idempotent by `claim_id`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliverOrder {
    /// The durable claim behind this order.
    pub claim_id: ClaimId,
    /// The exact generation.
    pub request_id: RequestId,
    /// The provider's id for it.
    pub pending_id: PendingId,
    /// The chosen option, byte for byte.
    pub option_id: OptionId,
}

/// What became of a deliver order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliverReply {
    /// The answer was written and flushed to the provider.
    Delivered,
    /// The way to the provider was closed before a byte was written.
    NotWritten,
    /// The way to the provider broke within the answer, or the prompt ended while the answer was
    /// under way: whether the provider acts on it cannot be known.
    Broken,
    /// The prompt had ended before the order came.
    Gone(ExpiryReason),
    /// The order does not fit the prompt, or the sidecar cannot take it: nothing was written.
    Refused,
}

impl DeliverReply {
    /// How the claim ends.
    #[must_use]
    pub fn as_result(self) -> AuditResult {
        match self {
            Self::Delivered => AuditResult::Accepted,
            Self::NotWritten | Self::Refused => AuditResult::Failed,
            Self::Broken => AuditResult::Indeterminate,
            Self::Gone(_) => AuditResult::Stale,
        }
    }
}

/// What the sidecar knows of a claim on a request, answered under the registry's lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettleReply {
    /// The claim consumed the prompt, with this result.
    Consumed(DeliverReply),
    /// The claim consumed the prompt and its answer is still being written: ask again.
    Delivering,
    /// The claim never came. The prompt still waits and goes on under a fresh generation; a late
    /// order of the old claim is refused.
    Retired {
        /// The generation under which the provider's prompt is listed now.
        fresh: RequestId,
    },
    /// The prompt ended without this claim.
    Gone(ExpiryReason),
    /// The sidecar never knew, or no longer knows, the request.
    Unknown,
}

impl SettleReply {
    /// How the claim ends; `None` while its answer is still being written.
    #[must_use]
    pub fn as_result(&self) -> Option<AuditResult> {
        match self {
            Self::Consumed(reply) => Some(reply.as_result()),
            Self::Delivering => None,
            Self::Retired { .. } => Some(AuditResult::Failed),
            Self::Gone(_) => Some(AuditResult::Stale),
            Self::Unknown => Some(AuditResult::Indeterminate),
        }
    }
}

/// Whether the provider got the option of a claim that did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It did.
    Delivered,
    /// It did not and will not.
    NotDelivered,
    /// Nobody can know, or not yet.
    Unknown,
}

impl From<AuditResult> for Outcome {
    fn from(result: AuditResult) -> Self {
        match result {
            AuditResult::Accepted => Self::Delivered,
            AuditResult::Stale | AuditResult::Expired | AuditResult::Failed => Self::NotDelivered,
            AuditResult::Dispatching | AuditResult::Indeterminate => Self::Unknown,
        }
    }
}
