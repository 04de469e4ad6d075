//! The one place that mints claims and ends them.

use std::sync::Arc;

use permit_domain::{
    Attempt, AttemptId, AuditResult, ClaimId, ClaimRecord, Clock, ExpiryReason, FailureCode,
    IdSource, OfferedOption, PendingId, PromptSnapshot, RequestId, SessionId, SettleReply, TaskId,
};
use permit_policy::{
    Caller, MaintenanceGrant, SessionGrant, SessionScope, StoreUnavailable, Upkeep,
};

use crate::{
    AuditStore, ClaimDecision, ClaimEnd, Claimed, Closed, Dispatched, ExpiryRows, Finalized, Known,
    NewAttempt, NewClaim, Selection, SettleFrom,
};

/// Writes the audit. Cheap to clone.
#[derive(Clone)]
pub struct AuditLog {
    store: Arc<dyn AuditStore>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
}

/// Why a selection did not become a claim.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// Another claim holds the request.
    #[error("another claim holds the request")]
    Lost {
        /// That claim.
        holder: Box<ClaimRecord>,
        /// Whether the refused attempt was appended.
        recorded: Result<(), StoreUnavailable>,
    },
    /// The store could not record it: nothing was written, nothing may be sent.
    #[error(transparent)]
    Unavailable(#[from] StoreUnavailable),
}

/// The end of a claim could not be recorded. The claim stays dispatching; try again.
#[derive(Debug, thiserror::Error)]
#[error("the end of the claim could not be recorded")]
pub struct FinalizeError {
    /// The step to try again with.
    pub dispatched: Box<Dispatched>,
    /// What the store said.
    #[source]
    pub cause: StoreUnavailable,
}

/// A refused attempt to record, in ids we stored before: nothing of the caller's own text.
#[derive(Clone, Copy, Debug)]
pub struct Refusal<'a> {
    /// The exact generation.
    pub request_id: &'a RequestId,
    /// The provider's id for it.
    pub pending_id: &'a PendingId,
    /// The option, if the provider had offered it.
    pub option: Option<&'a OfferedOption>,
    /// How the attempt ends.
    pub result: AuditResult,
    /// What the caller is told.
    pub code: FailureCode,
    /// Whether the request's message expires with it, and why.
    pub expire: Option<ExpiryReason>,
}

impl AuditLog {
    /// A log over a store.
    #[must_use]
    pub fn new(store: Arc<dyn AuditStore>, clock: Arc<dyn Clock>, ids: Arc<dyn IdSource>) -> Self {
        Self { store, clock, ids }
    }

    /// Records a durable claim for the selection.
    ///
    /// # Errors
    /// [`ClaimError::Lost`] when the request has a claim, [`ClaimError::Unavailable`] when none
    /// could be recorded.
    pub async fn claim(&self, selection: Selection) -> Result<Claimed, ClaimError> {
        let now = self.clock.now();
        let record = selection.record(self.ids.fresh().into(), now);
        let new = NewClaim {
            attempt: self.attempt_of(&record),
            record,
        };
        match self.store.claim(&new).await? {
            ClaimDecision::Won => Ok(Claimed {
                grant: selection.grant,
                record: new.record,
            }),
            ClaimDecision::Lost(holder) => {
                let recorded = self
                    .refuse(
                        &selection.grant,
                        &selection.caller,
                        Refusal {
                            request_id: &selection.request_id,
                            pending_id: &selection.pending_id,
                            option: Some(&selection.option),
                            result: AuditResult::Failed,
                            code: code_of(&holder),
                            expire: None,
                        },
                    )
                    .await;
                Err(ClaimError::Lost { holder, recorded })
            }
        }
    }

    /// Records the end of a claim.
    ///
    /// # Errors
    /// [`FinalizeError`] when the store cannot; the claim then stays dispatching.
    pub async fn finalize(&self, dispatched: Dispatched) -> Result<Finalized, FinalizeError> {
        let end = self.end(
            &dispatched.record,
            dispatched.result,
            SettleFrom::Dispatching,
        );
        match self.store.finalize(&end).await {
            Ok(result) => {
                let mut record = dispatched.record;
                if result == end.attempt.result {
                    record.finalized_at = Some(end.attempt.recorded_at);
                }
                record.result = result;
                Ok(Finalized {
                    grant: dispatched.grant,
                    record,
                })
            }
            Err(cause) => Err(FinalizeError {
                dispatched: Box::new(dispatched),
                cause,
            }),
        }
    }

    /// Ends, or sharpens, a claim that its own task no longer holds, by what the sidecar told.
    /// Answers the claim's result afterwards; a claim that ended otherwise is left alone.
    ///
    /// # Errors
    /// [`StoreUnavailable`] when the store cannot record it.
    pub async fn settle(
        &self,
        scope: &dyn Upkeep,
        record: &ClaimRecord,
        reply: &SettleReply,
    ) -> Result<AuditResult, StoreUnavailable> {
        let Some(result) = reply.as_result() else {
            return Ok(record.result);
        };
        self.end_by_upkeep(scope, record, result).await
    }

    /// Ends a claim that nobody can settle any more as indeterminate.
    ///
    /// # Errors
    /// [`StoreUnavailable`] when the store cannot record it.
    pub async fn abandon(
        &self,
        scope: &dyn Upkeep,
        record: &ClaimRecord,
    ) -> Result<AuditResult, StoreUnavailable> {
        let result = AuditResult::Indeterminate;
        self.end_by_upkeep(scope, record, result).await
    }

    async fn end_by_upkeep(
        &self,
        scope: &dyn Upkeep,
        record: &ClaimRecord,
        result: AuditResult,
    ) -> Result<AuditResult, StoreUnavailable> {
        if scope.session_id() != &record.session_id {
            return Err(StoreUnavailable::new("the claim is of another session"));
        }
        let from = match record.result {
            AuditResult::Dispatching => SettleFrom::Dispatching,
            AuditResult::Indeterminate if result != AuditResult::Indeterminate => {
                SettleFrom::Indeterminate
            }
            AuditResult::Indeterminate
            | AuditResult::Accepted
            | AuditResult::Stale
            | AuditResult::Expired
            | AuditResult::Failed => return Ok(record.result),
        };
        self.store.finalize(&self.end(record, result, from)).await
    }

    /// Appends a refused attempt.
    ///
    /// # Errors
    /// [`StoreUnavailable`] when the store cannot record it.
    pub async fn refuse(
        &self,
        grant: &SessionGrant,
        caller: &Caller,
        refusal: Refusal<'_>,
    ) -> Result<(), StoreUnavailable> {
        let now = self.clock.now();
        let attempt = Attempt {
            attempt_id: self.attempt_id(),
            task_id: grant.task_id().clone(),
            session_id: grant.session_id().clone(),
            request_id: refusal.request_id.clone(),
            pending_id: refusal.pending_id.clone(),
            claim_id: None,
            option_id: refusal.option.map(|option| option.option_id.clone()),
            option_kind: refusal.option.map(|option| option.kind.clone()),
            actor_user_id: Some(caller.user_id().clone()),
            actor_kind: Some(caller.actor_kind()),
            source: Some(caller.source()),
            result: refusal.result,
            code: Some(refusal.code),
            selected_at: Some(now),
            recorded_at: now,
        };
        let expire = refusal.expire;
        self.store.append(&NewAttempt { attempt, expire }).await
    }

    /// What is recorded of one request.
    ///
    /// # Errors
    /// [`StoreUnavailable`] when the store cannot be read.
    pub async fn known(
        &self,
        grant: &SessionGrant,
        request_id: &RequestId,
    ) -> Result<Known, StoreUnavailable> {
        self.store.known(grant, request_id).await
    }

    /// The claims among these requests, in any state.
    ///
    /// # Errors
    /// [`StoreUnavailable`] when the store cannot be read.
    pub async fn claims_among(
        &self,
        scope: &dyn SessionScope,
        requests: &[RequestId],
    ) -> Result<Vec<ClaimRecord>, StoreUnavailable> {
        if requests.is_empty() {
            return Ok(Vec::new());
        }
        self.store.claims_among(scope, requests).await
    }

    /// Makes sure that each of these prompts has a message.
    ///
    /// # Errors
    /// [`StoreUnavailable`] when the store cannot record them.
    pub async fn observe(
        &self,
        scope: &dyn SessionScope,
        prompts: &[PromptSnapshot],
    ) -> Result<(), StoreUnavailable> {
        if prompts.is_empty() {
            return Ok(());
        }
        self.store.observe(scope, prompts).await
    }

    /// Expires the messages of prompts that can no longer be answered.
    ///
    /// # Errors
    /// [`StoreUnavailable`] when the store cannot record it.
    pub async fn close(
        &self,
        scope: &dyn Upkeep,
        closed: &[Closed],
    ) -> Result<(), StoreUnavailable> {
        if closed.is_empty() {
            return Ok(());
        }
        self.store.close(scope, closed, &self.expiry_rows()).await
    }

    /// Expires the messages of every prompt of the session that is not among the live ones.
    /// Answers how many there were.
    ///
    /// # Errors
    /// [`StoreUnavailable`] when the store cannot record it.
    pub async fn close_absent(
        &self,
        scope: &dyn Upkeep,
        live: &[RequestId],
        reason: ExpiryReason,
    ) -> Result<u64, StoreUnavailable> {
        let rows = self.expiry_rows();
        self.store.close_absent(scope, live, reason, &rows).await
    }

    /// The session's claims that are dispatching.
    ///
    /// # Errors
    /// [`StoreUnavailable`] when the store cannot be read.
    pub async fn open_claims(
        &self,
        scope: &dyn Upkeep,
    ) -> Result<Vec<ClaimRecord>, StoreUnavailable> {
        self.store.open_claims(scope).await
    }

    /// Every session with a dispatching claim or a pending message.
    ///
    /// # Errors
    /// [`StoreUnavailable`] when the store cannot be read.
    pub async fn unsettled_sessions(
        &self,
        grant: &MaintenanceGrant,
    ) -> Result<Vec<(TaskId, SessionId)>, StoreUnavailable> {
        self.store.unsettled_sessions(grant).await
    }

    fn end(&self, record: &ClaimRecord, result: AuditResult, from: SettleFrom) -> ClaimEnd {
        let mut attempt = self.attempt_of(record);
        attempt.result = result;
        attempt.recorded_at = self.clock.now();
        ClaimEnd {
            from,
            claim_id: record.claim_id.clone(),
            attempt,
        }
    }

    fn attempt_of(&self, record: &ClaimRecord) -> Attempt {
        Attempt {
            attempt_id: self.attempt_id(),
            task_id: record.task_id.clone(),
            session_id: record.session_id.clone(),
            request_id: record.request_id.clone(),
            pending_id: record.pending_id.clone(),
            claim_id: Some(ClaimId::clone(&record.claim_id)),
            option_id: Some(record.option_id.clone()),
            option_kind: Some(record.option_kind.clone()),
            actor_user_id: Some(record.actor_user_id.clone()),
            actor_kind: Some(record.actor_kind),
            source: Some(record.source),
            result: record.result,
            code: None,
            selected_at: Some(record.selected_at),
            recorded_at: record.selected_at,
        }
    }

    fn expiry_rows(&self) -> ExpiryRows {
        ExpiryRows {
            ids: Arc::clone(&self.ids),
            at: self.clock.now(),
        }
    }

    fn attempt_id(&self) -> AttemptId {
        self.ids.fresh().into()
    }
}

/// What a caller is told when this claim holds the request it asks for.
fn code_of(holder: &ClaimRecord) -> FailureCode {
    match holder.result {
        AuditResult::Dispatching => FailureCode::PermissionResolutionInProgress,
        AuditResult::Accepted
        | AuditResult::Stale
        | AuditResult::Expired
        | AuditResult::Failed
        | AuditResult::Indeterminate => FailureCode::PermissionAlreadyResolved,
    }
}
