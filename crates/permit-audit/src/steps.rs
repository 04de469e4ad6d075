//! The steps of one resolution as types (invariant I3).

use permit_domain::{
    AuditResult, ClaimRecord, DeliverOrder, DeliverReply, NotSelectable, OfferedOption, OptionId,
    PendingId, PromptSnapshot, RequestId, SettleReply, select_option,
};
use permit_policy::{Caller, SessionGrant, SessionScope as _};

/// An authorized caller's choice of one offered option of one live prompt. Nothing is recorded
/// and nothing is sent yet.
#[derive(Debug)]
pub struct Selection {
    pub(crate) grant: SessionGrant,
    pub(crate) caller: Caller,
    pub(crate) request_id: RequestId,
    pub(crate) pending_id: PendingId,
    pub(crate) option: OfferedOption,
}

/// A choice that cannot be made, with what it was tried with.
#[derive(Debug)]
pub struct Unselected {
    /// The grant, given back.
    pub grant: SessionGrant,
    /// The caller, given back.
    pub caller: Caller,
    /// Why not.
    pub why: NotSelectable,
}

impl Selection {
    /// Chooses one option of the live prompt by its exact id.
    ///
    /// # Errors
    /// [`Unselected`] when no offered option can be selected by this id.
    pub fn choose(
        grant: SessionGrant,
        caller: Caller,
        prompt: &PromptSnapshot,
        option_id: &OptionId,
    ) -> Result<Self, Box<Unselected>> {
        match select_option(&prompt.options, option_id) {
            Ok(option) => Ok(Self {
                grant,
                caller,
                request_id: prompt.request_id.clone(),
                pending_id: prompt.pending_id.clone(),
                option: option.clone(),
            }),
            Err(why) => Err(Box::new(Unselected { grant, caller, why })),
        }
    }
}

/// A choice whose claim is durable: the only thing that may be delivered.
#[derive(Debug)]
pub struct Claimed {
    pub(crate) grant: SessionGrant,
    pub(crate) record: ClaimRecord,
}

impl Claimed {
    /// The session it may be delivered in.
    #[must_use]
    pub fn grant(&self) -> &SessionGrant {
        &self.grant
    }

    /// The claim as recorded.
    #[must_use]
    pub fn record(&self) -> &ClaimRecord {
        &self.record
    }

    /// What the sidecar is to hand over.
    #[must_use]
    pub fn order(&self) -> DeliverOrder {
        DeliverOrder {
            claim_id: self.record.claim_id.clone(),
            request_id: self.record.request_id.clone(),
            pending_id: self.record.pending_id.clone(),
            option_id: self.record.option_id.clone(),
        }
    }

    /// The sidecar answered the order.
    #[must_use]
    pub fn delivered(self, reply: DeliverReply) -> Dispatched {
        self.dispatched(reply.as_result())
    }

    /// The order was not answered, and the sidecar told later what became of the claim.
    #[must_use]
    pub fn settled(self, reply: &SettleReply) -> Dispatched {
        let result = reply.as_result().unwrap_or(AuditResult::Indeterminate);
        self.dispatched(result)
    }

    /// Nobody answered in time.
    #[must_use]
    pub fn unanswered(self, _: NoAnswer) -> Dispatched {
        self.dispatched(AuditResult::Indeterminate)
    }

    fn dispatched(self, result: AuditResult) -> Dispatched {
        Dispatched {
            grant: self.grant,
            record: self.record,
            result,
        }
    }
}

/// Neither the order nor a settle was answered in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoAnswer;

/// A claimed choice that has been sent, or has been found not to arrive. Its end is not recorded
/// yet.
#[derive(Debug)]
pub struct Dispatched {
    pub(crate) grant: SessionGrant,
    pub(crate) record: ClaimRecord,
    pub(crate) result: AuditResult,
}

impl Dispatched {
    /// How the claim is to end.
    #[must_use]
    pub fn result(&self) -> AuditResult {
        self.result
    }

    /// The claim, dispatching.
    #[must_use]
    pub fn record(&self) -> &ClaimRecord {
        &self.record
    }

    /// The session it was delivered in.
    #[must_use]
    pub fn grant(&self) -> &SessionGrant {
        &self.grant
    }
}

/// A claim whose end is recorded.
#[derive(Debug)]
pub struct Finalized {
    pub(crate) grant: SessionGrant,
    pub(crate) record: ClaimRecord,
}

impl Finalized {
    /// The claim as it ended.
    #[must_use]
    pub fn record(&self) -> &ClaimRecord {
        &self.record
    }

    /// The session it ended in.
    #[must_use]
    pub fn grant(&self) -> &SessionGrant {
        &self.grant
    }

    /// The accepted claim, if it was accepted: the only thing a success answer is built of. The
    /// grant is given back either way.
    #[must_use]
    pub fn accepted(self) -> (SessionGrant, Option<Accepted>) {
        let accepted = self.record.result == AuditResult::Accepted;
        let record = self.record;
        (self.grant, accepted.then_some(Accepted { record }))
    }
}

/// A claim whose option the provider has, durably recorded as accepted.
#[derive(Debug)]
pub struct Accepted {
    record: ClaimRecord,
}

impl Accepted {
    /// The claim.
    #[must_use]
    pub fn into_record(self) -> ClaimRecord {
        self.record
    }
}

impl Selection {
    pub(crate) fn record(
        &self,
        claim_id: permit_domain::ClaimId,
        selected_at: time::OffsetDateTime,
    ) -> ClaimRecord {
        ClaimRecord {
            claim_id,
            task_id: self.grant.task_id().clone(),
            session_id: self.grant.session_id().clone(),
            request_id: self.request_id.clone(),
            pending_id: self.pending_id.clone(),
            option_id: self.option.option_id.clone(),
            option_kind: self.option.kind.clone(),
            actor_user_id: self.caller.user_id().clone(),
            actor_kind: self.caller.actor_kind(),
            source: self.caller.source(),
            selected_at,
            finalized_at: None,
            result: AuditResult::Dispatching,
        }
    }
}
