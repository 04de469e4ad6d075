//! The prompt state machine (contract: State machine).

use serde::{Deserialize, Serialize};

use crate::{AuditResult, ClaimId};

/// Where one generation of a prompt stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PromptState {
    /// It waits for a choice.
    Pending,
    /// One claim has consumed it and its answer is on the way to the provider.
    Resolving(ClaimId),
    /// The provider has the answer. Terminal.
    Resolved(ClaimId),
    /// It can no longer be answered. Terminal.
    Expired(ExpiryReason),
}

impl PromptState {
    /// Whether nothing can happen any more.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Resolved(_) | Self::Expired(_))
    }
}

/// Why a prompt can no longer be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExpiryReason {
    /// The provider took it back.
    Withdrawn,
    /// The same provider prompt goes on under a fresh generation.
    Superseded,
    /// The agent's turn ended.
    TurnEnded,
    /// The execution ended or was replaced.
    ExecutionEnded,
    /// The answer could not be handed to the provider.
    DeliveryFailed,
}

impl ExpiryReason {
    /// The reason as it is stored and shown.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Withdrawn => "withdrawn",
            Self::Superseded => "superseded",
            Self::TurnEnded => "turn_ended",
            Self::ExecutionEnded => "execution_ended",
            Self::DeliveryFailed => "delivery_failed",
        }
    }

    /// How an attempt on such a prompt is recorded: `expired` when the turn or the execution
    /// ended, `stale` when the provider withdrew or replaced the prompt, `failed` when its answer
    /// could not be handed over.
    #[must_use]
    pub fn as_result(self) -> AuditResult {
        match self {
            Self::Withdrawn | Self::Superseded => AuditResult::Stale,
            Self::TurnEnded | Self::ExecutionEnded => AuditResult::Expired,
            Self::DeliveryFailed => AuditResult::Failed,
        }
    }
}

/// What can happen to a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PromptEvent {
    /// A durable claim selects one of the offered options.
    Select(ClaimId),
    /// The answer was written and flushed to the provider.
    Delivered,
    /// The answer could not be handed over, or broke off.
    DeliveryFailed,
    /// The provider took the request back.
    Withdrawn,
    /// The provider's turn ended.
    TurnEnded,
    /// The execution ended or another took its place.
    ExecutionReplaced,
    /// The same provider prompt is to go on under a fresh generation.
    Superseded,
}

/// What the shell around the machine has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Hand the selected option to the provider, once.
    Deliver,
    /// Tell the provider that its request is cancelled.
    Cancel,
}

/// An event that this state does not admit. The state is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Illegal {
    /// The prompt is resolved or expired.
    #[error("the prompt has ended")]
    Terminal,
    /// Another claim has consumed the prompt.
    #[error("the prompt is already being resolved")]
    AlreadyResolving,
    /// No answer is under way.
    #[error("no answer is under way")]
    NotResolving,
}

/// Decides what an event does to a prompt.
///
/// An answer that is under way cannot be called back: when the prompt ends meanwhile, there is
/// nothing left to tell the provider.
///
/// # Errors
/// [`Illegal`] when the state does not admit the event; nothing changes then.
pub fn apply(
    state: &PromptState,
    event: PromptEvent,
) -> Result<(PromptState, Option<Effect>), Illegal> {
    use PromptEvent as E;
    use PromptState as S;

    let expired = |reason, effect| Ok((S::Expired(reason), effect));
    match (state, event) {
        (S::Pending, E::Select(claim)) => Ok((S::Resolving(claim), Some(Effect::Deliver))),
        (S::Pending, E::Withdrawn) => expired(ExpiryReason::Withdrawn, Some(Effect::Cancel)),
        (S::Pending, E::TurnEnded) => expired(ExpiryReason::TurnEnded, Some(Effect::Cancel)),
        (S::Pending, E::ExecutionReplaced) => {
            expired(ExpiryReason::ExecutionEnded, Some(Effect::Cancel))
        }
        (S::Pending, E::Superseded) => expired(ExpiryReason::Superseded, None),
        (S::Pending, E::Delivered | E::DeliveryFailed) => Err(Illegal::NotResolving),

        (S::Resolving(claim), E::Delivered) => Ok((S::Resolved(claim.clone()), None)),
        (S::Resolving(_), E::DeliveryFailed) => expired(ExpiryReason::DeliveryFailed, None),
        (S::Resolving(_), E::Withdrawn) => expired(ExpiryReason::Withdrawn, None),
        (S::Resolving(_), E::TurnEnded) => expired(ExpiryReason::TurnEnded, None),
        (S::Resolving(_), E::ExecutionReplaced) => expired(ExpiryReason::ExecutionEnded, None),
        (S::Resolving(_), E::Select(_) | E::Superseded) => Err(Illegal::AlreadyResolving),

        (
            S::Resolved(_) | S::Expired(_),
            E::Select(_)
            | E::Delivered
            | E::DeliveryFailed
            | E::Withdrawn
            | E::TurnEnded
            | E::ExecutionReplaced
            | E::Superseded,
        ) => Err(Illegal::Terminal),
    }
}
