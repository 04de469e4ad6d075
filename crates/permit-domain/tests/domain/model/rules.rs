//! Who and what is in the small world, what can happen in it, and how it works.

use permit_domain::{ClaimId, Effect, Illegal, PendingId, PromptEvent, PromptState, apply};

/// A generation of the prompt. Stands for its request id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Generation {
    Older,
    Newer,
}

impl Generation {
    pub(crate) const BOTH: [Self; 2] = [Self::Older, Self::Newer];

    /// The provider uses one and the same id for both.
    pub(crate) fn pending_id(self) -> PendingId {
        PendingId::parse("toolu_1").expect("an id")
    }
}

/// Who chooses. Each makes one choice, and would make it as one claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Caller {
    A,
    B,
}

pub(crate) const CALLERS: [Caller; 2] = [Caller::A, Caller::B];

impl Caller {
    pub(crate) fn claim(self) -> ClaimId {
        ClaimId::parse(format!("claim-{self:?}")).expect("an id")
    }
}

/// What a machine decides of an event.
pub(crate) type Decision = Result<(PromptState, Option<Effect>), Illegal>;

pub(crate) type Machine = fn(&PromptState, PromptEvent) -> Decision;

/// How the world works. [`Rules::REAL`] is the design; the others are wrong on purpose.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    pub(crate) machine: Machine,
    pub(crate) fault: Option<Fault>,
}

impl Rules {
    pub(crate) const REAL: Self = Self {
        machine: apply,
        fault: None,
    };

    pub(crate) fn have(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }
}

/// One way for the shell around the machine to be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// An order is for the newest prompt under its pending id.
    EntriesByPendingId,
    /// An answer is written to the newest prompt under its pending id.
    AnswersByPendingId,
    /// The claim table's unique key is the pending id.
    ClaimsByPendingId,
    /// The claim table has no unique key.
    ClaimsWithoutKey,
    /// A claim whose delivery failed is taken back.
    FailedClaimsReopen,
    /// An order needs no claim.
    OrderBeforeClaim,
    /// A written answer is written again.
    WritesTwice,
}

/// What can happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The provider asks with the newer generation, under the same pending id.
    Open,
    /// A caller takes an identity from a list.
    Name(Caller, Generation),
    /// Its claim is inserted.
    Claim(Caller),
    /// Its order reaches the sidecar; it may do so again and late.
    Order(Caller),
    /// The answer reaches the provider.
    Write(Generation),
    /// The writer tells how it went: it may break off after the answer arrived.
    Delivered(Generation),
    DeliveryFailed(Generation),
    Withdrawn(Generation),
    TurnEnded(Generation),
    ExecutionReplaced(Generation),
    Superseded(Generation),
}

/// A kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EventKind {
    Select,
    Delivered,
    DeliveryFailed,
    Withdrawn,
    TurnEnded,
    ExecutionReplaced,
    Superseded,
}

impl EventKind {
    pub(crate) const ALL: [Self; 7] = [
        Self::Select,
        Self::Delivered,
        Self::DeliveryFailed,
        Self::Withdrawn,
        Self::TurnEnded,
        Self::ExecutionReplaced,
        Self::Superseded,
    ];

    /// The event; a selection is by this claim.
    pub(crate) fn by(self, claim: &ClaimId) -> PromptEvent {
        match self {
            Self::Select => PromptEvent::Select(claim.clone()),
            Self::Delivered => PromptEvent::Delivered,
            Self::DeliveryFailed => PromptEvent::DeliveryFailed,
            Self::Withdrawn => PromptEvent::Withdrawn,
            Self::TurnEnded => PromptEvent::TurnEnded,
            Self::ExecutionReplaced => PromptEvent::ExecutionReplaced,
            Self::Superseded => PromptEvent::Superseded,
        }
    }
}

/// A kind of state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StateKind {
    Pending,
    Resolving,
    Resolved,
    Expired,
}

impl StateKind {
    pub(crate) fn of(state: &PromptState) -> Self {
        match state {
            PromptState::Pending => Self::Pending,
            PromptState::Resolving(_) => Self::Resolving,
            PromptState::Resolved(_) => Self::Resolved,
            PromptState::Expired(_) => Self::Expired,
        }
    }
}

/// An event that a generation's machine was fed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fed {
    pub(crate) generation: Generation,
    pub(crate) state: StateKind,
    pub(crate) event: EventKind,
    /// Whether the machine admitted it.
    pub(crate) admitted: bool,
}
