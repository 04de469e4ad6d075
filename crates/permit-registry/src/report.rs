//! What a registry tells: to whoever shows it, to the gateway, and to a provider it refuses.

use permit_domain::{
    ClaimId, DeliverReply, ExpiryReason, OptionId, OptionKind, PromptSnapshot, RequestId, Seq,
};

use crate::closed::ClosedPrompt;
use crate::entry::Responder;

/// Something a listener at the sidecar may want to show. A listener that falls far behind misses
/// some; the gateway is told by [`Registry::delta`](crate::Registry::delta) instead, which misses nothing.
#[derive(Clone, Debug)]
pub enum RegistryEvent {
    /// A prompt waits.
    Opened(Box<PromptSnapshot>),
    /// A prompt can no longer be answered.
    Closed {
        /// The generation.
        request_id: RequestId,
        /// Why.
        reason: ExpiryReason,
    },
    /// A claimed option was handed to the provider, or could not be.
    Answered {
        /// The generation.
        request_id: RequestId,
        /// The option.
        option_id: OptionId,
        /// What it means.
        option_kind: OptionKind,
        /// What became of it.
        reply: DeliverReply,
    },
}

/// A prompt that cannot be listed. Its provider is owed an answer.
pub struct OpenRefused {
    /// Why.
    pub why: Refused,
    /// The way back to the provider.
    pub responder: Box<dyn Responder>,
}

/// Why a prompt cannot be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// As many prompts wait as may.
    #[error("too many prompts wait")]
    Full,
    /// The prompt offers more options than can be carried.
    #[error("the prompt offers too many options")]
    TooManyOptions,
    /// The execution has ended.
    #[error("the execution has ended")]
    Ended,
}

/// What is known of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundPrompt {
    /// It waits.
    Live(Box<PromptSnapshot>),
    /// It does not; with the reason, when it is remembered.
    Closed(Option<ExpiryReason>),
}

/// What changed in the registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delta {
    /// The point in the registry's history that this leads to.
    pub seq: Seq,
    /// Whether this is everything, not only what changed: a prompt that it does not name is gone.
    pub full: bool,
    /// The prompts that opened since and still wait; all that wait, when full.
    pub opened: Vec<PromptSnapshot>,
    /// The prompts that ended since; all that are remembered, when full.
    pub closed: Vec<ClosedPrompt>,
    /// The consumed prompts whose end is not acknowledged, when full.
    pub consumed: Vec<ConsumedPrompt>,
}

/// A prompt that a claim has consumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumedPrompt {
    /// The generation.
    pub request_id: RequestId,
    /// The claim.
    pub claim_id: ClaimId,
    /// What became of it; `None` while its answer is being written.
    pub reply: Option<DeliverReply>,
}
