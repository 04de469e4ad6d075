//! The bounded memory of prompts that ended without a claim.

use std::collections::VecDeque;

use permit_domain::{ExpiryReason, PendingId, RequestId, Seq};
use time::OffsetDateTime;

/// A prompt that can no longer be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosedPrompt {
    /// The generation.
    pub request_id: RequestId,
    /// The provider's id for it.
    pub pending_id: PendingId,
    /// When it had opened, UTC.
    pub created_at: OffsetDateTime,
    /// Why it ended.
    pub reason: ExpiryReason,
    /// When in the registry's history it ended.
    pub seq: Seq,
}

/// In order of `seq`.
#[derive(Default)]
pub(crate) struct ClosedLog {
    prompts: VecDeque<ClosedPrompt>,
    forgotten: Seq,
}

impl ClosedLog {
    pub(crate) fn push(&mut self, prompt: ClosedPrompt, bound: usize) {
        if self.prompts.len() >= bound
            && let Some(oldest) = self.prompts.pop_front()
        {
            self.forgotten = oldest.seq;
        }
        self.prompts.push_back(prompt);
    }

    pub(crate) fn reason(&self, request_id: &RequestId) -> Option<ExpiryReason> {
        let mut newest_first = self.prompts.iter().rev();
        newest_first
            .find(|prompt| prompt.request_id == *request_id)
            .map(|prompt| prompt.reason)
    }

    /// Whether nothing that ended after `seq` has been forgotten.
    pub(crate) fn reaches_back_to(&self, seq: Seq) -> bool {
        self.forgotten <= seq
    }

    pub(crate) fn since(&self, seq: Seq) -> Vec<ClosedPrompt> {
        let from = self.prompts.partition_point(|prompt| prompt.seq <= seq);
        self.prompts.range(from..).cloned().collect()
    }
}
