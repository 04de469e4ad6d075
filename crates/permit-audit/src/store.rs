//! The port to durable storage.

use std::sync::Arc;

use async_trait::async_trait;
use permit_domain::{
    Attempt, AttemptId, AuditResult, ClaimId, ClaimRecord, ExpiryReason, IdSource, Message,
    MessageStatus, PendingId, PromptSnapshot, RequestId, SessionId, TaskId,
};
use permit_policy::{MaintenanceGrant, SessionGrant, SessionScope, StoreUnavailable, Upkeep};
use time::OffsetDateTime;

/// What is recorded of one request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Its claim, if there ever was one.
    pub claim: Option<ClaimRecord>,
    /// Its message in the transcript, if it was ever seen.
    pub message: Option<Message>,
}

/// A claim to insert, with the first row of its attempt. Only `AuditLog` makes one.
#[derive(Debug)]
pub struct NewClaim {
    pub(crate) record: ClaimRecord,
    pub(crate) attempt: Attempt,
}

impl NewClaim {
    /// The claim's row, dispatching.
    #[must_use]
    pub fn record(&self) -> &ClaimRecord {
        &self.record
    }

    /// The attempt's row.
    #[must_use]
    pub fn attempt(&self) -> &Attempt {
        &self.attempt
    }
}

/// Who holds a request's claim after an insert was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimDecision {
    /// The new claim does.
    Won,
    /// An earlier one does; nothing was written.
    Lost(Box<ClaimRecord>),
}

/// A refused attempt to append. Only `AuditLog` makes one.
#[derive(Debug)]
pub struct NewAttempt {
    pub(crate) attempt: Attempt,
    pub(crate) expire: Option<ExpiryReason>,
}

impl NewAttempt {
    /// The row.
    #[must_use]
    pub fn attempt(&self) -> &Attempt {
        &self.attempt
    }

    /// Whether the request's message, if it is pending and unclaimed, expires with it.
    #[must_use]
    pub fn expire(&self) -> Option<ExpiryReason> {
        self.expire
    }
}

/// From which result a claim may be ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettleFrom {
    /// The first end of a claim.
    Dispatching,
    /// The one sharpening of an indeterminate end by a later settle.
    Indeterminate,
}

impl SettleFrom {
    /// The result that the claim must have.
    #[must_use]
    pub const fn result(self) -> AuditResult {
        match self {
            Self::Dispatching => AuditResult::Dispatching,
            Self::Indeterminate => AuditResult::Indeterminate,
        }
    }
}

/// The end of a claim to record. Only `AuditLog` makes one.
#[derive(Debug)]
pub struct ClaimEnd {
    pub(crate) from: SettleFrom,
    pub(crate) attempt: Attempt,
    pub(crate) claim_id: ClaimId,
}

impl ClaimEnd {
    /// The result the claim must have for this to take effect. A claim is sharpened at most once.
    #[must_use]
    pub fn from(&self) -> SettleFrom {
        self.from
    }

    /// The claim.
    #[must_use]
    pub fn claim_id(&self) -> &ClaimId {
        &self.claim_id
    }

    /// The row to append; its result and time are the claim's.
    #[must_use]
    pub fn attempt(&self) -> &Attempt {
        &self.attempt
    }
}

/// A prompt that can no longer be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    /// The generation.
    pub request_id: RequestId,
    /// The provider's id for it.
    pub pending_id: PendingId,
    /// When it had opened, UTC.
    pub created_at: OffsetDateTime,
    /// Why it ended.
    pub reason: ExpiryReason,
}

impl Closed {
    /// The message of a prompt that was gone before it was seen.
    #[must_use]
    pub fn message(&self, task_id: TaskId, session_id: SessionId) -> Message {
        Message {
            task_id,
            session_id,
            request_id: self.request_id.clone(),
            pending_id: self.pending_id.clone(),
            tool_call_id: None,
            title: String::new(),
            action: None,
            options: Vec::new(),
            created_at: self.created_at,
            status: MessageStatus::Expired,
            expiry_reason: Some(self.reason),
        }
    }
}

/// Makes the attempt rows of prompts that expired: nobody acted, so that they have no actor.
#[derive(Clone)]
pub struct ExpiryRows {
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) at: OffsetDateTime,
}

impl ExpiryRows {
    /// The row for one prompt of a session.
    #[must_use]
    pub fn row(
        &self,
        task_id: &TaskId,
        session_id: &SessionId,
        request_id: &RequestId,
        pending_id: &PendingId,
    ) -> Attempt {
        Attempt {
            attempt_id: self.ids.fresh().into(),
            task_id: task_id.clone(),
            session_id: session_id.clone(),
            request_id: request_id.clone(),
            pending_id: pending_id.clone(),
            claim_id: None,
            option_id: None,
            option_kind: None,
            actor_user_id: None,
            actor_kind: None,
            source: None,
            result: AuditResult::Expired,
            code: None,
            selected_at: None,
            recorded_at: self.at,
        }
    }
}

/// Where the audit and the transcript are kept.
///
/// Every method is atomic: it takes effect as a whole or not at all, and an error means that
/// nothing was written. `store_conformance!` checks an implementation.
#[async_trait]
pub trait AuditStore: Send + Sync + 'static {
    /// What is recorded of one request of the session.
    async fn known(
        &self,
        grant: &SessionGrant,
        request_id: &RequestId,
    ) -> Result<Known, StoreUnavailable>;

    /// Which of these requests have a claim, in any state.
    async fn claims_among(
        &self,
        scope: &dyn SessionScope,
        requests: &[RequestId],
    ) -> Result<Vec<ClaimRecord>, StoreUnavailable>;

    /// Inserts the claim unless the request has one: the unique key on (session, request) is the
    /// compare-and-set (invariant I4). With it, in one transaction, its attempt is appended and
    /// its message becomes resolving. A message's status never gates a claim. An attempt id that
    /// is taken is an error.
    async fn claim(&self, new: &NewClaim) -> Result<ClaimDecision, StoreUnavailable>;

    /// Ends the claim if it still has the result it is to be ended from; appends the attempt and
    /// changes the message with it. Answers the claim's result afterwards, whoever set it; a claim
    /// that does not exist is an error.
    async fn finalize(&self, end: &ClaimEnd) -> Result<AuditResult, StoreUnavailable>;

    /// Appends a refused attempt and, where it says so, expires the message.
    async fn append(&self, attempt: &NewAttempt) -> Result<(), StoreUnavailable>;

    /// Inserts a message for each of these prompts that has none: pending, or as its claim stands
    /// where there is one. Never changes one.
    async fn observe(
        &self,
        scope: &dyn SessionScope,
        prompts: &[PromptSnapshot],
    ) -> Result<(), StoreUnavailable>;

    /// Expires the pending messages of these prompts; one that was never seen is inserted
    /// expired. A request that has a claim is left to its claim. Each expiry appends the attempt
    /// row that `rows` makes of it, which has no actor.
    async fn close(
        &self,
        scope: &dyn Upkeep,
        closed: &[Closed],
        rows: &ExpiryRows,
    ) -> Result<(), StoreUnavailable>;

    /// Expires every pending, unclaimed message of the session that is not among the live ones,
    /// as [`AuditStore::close`] does, and answers how many there were.
    async fn close_absent(
        &self,
        scope: &dyn Upkeep,
        live: &[RequestId],
        reason: ExpiryReason,
        rows: &ExpiryRows,
    ) -> Result<u64, StoreUnavailable>;

    /// The session's claims that are dispatching.
    async fn open_claims(&self, scope: &dyn Upkeep) -> Result<Vec<ClaimRecord>, StoreUnavailable>;

    /// Every session with a dispatching claim or a pending message.
    async fn unsettled_sessions(
        &self,
        grant: &MaintenanceGrant,
    ) -> Result<Vec<(TaskId, SessionId)>, StoreUnavailable>;

    /// Up to `limit` attempts of the session after a row, in the order in which they were
    /// recorded. A row that is not one of the session's is an error.
    async fn attempts(
        &self,
        scope: &dyn SessionScope,
        after: Option<&AttemptId>,
        limit: usize,
    ) -> Result<Vec<Attempt>, StoreUnavailable>;
}
