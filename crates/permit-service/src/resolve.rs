//! Resolving one prompt (contract: `resolve_agent_permission_kandev`).

use std::time::Duration;

use permit_audit::{ClaimError, Claimed, Dispatched, Finalized, Known, Refusal, Selection};
use permit_domain::{
    AuditResult, ClaimRecord, DeliverReply, ExpiryReason, FailureCode, Message, OptionId, Outcome,
    PendingId, PromptSnapshot, RequestId, SessionId, SettleReply, TaskId,
};
use permit_policy::{Caller, Scope, SessionGrant, SessionScope as _};
use tokio::sync::oneshot;

use crate::inflight::InFlightGuard;
use crate::{Failure, Found, PermissionService, Resolved};

/// The pause before the end of a claim is recorded again, doubled after each failure.
const FIRST_RETRY: Duration = Duration::from_millis(100);
const LONGEST_RETRY: Duration = Duration::from_secs(5);

/// One option of one listed prompt, by the complete identity.
#[derive(Clone, Debug)]
pub struct ResolveRequest {
    /// The task.
    pub task_id: TaskId,
    /// The session.
    pub session_id: SessionId,
    /// The generation.
    pub request_id: RequestId,
    /// The provider's id for it.
    pub pending_id: PendingId,
    /// The chosen option.
    pub option_id: OptionId,
}

/// What the sidecar told of a claim.
#[derive(Clone, Copy)]
enum Heard {
    /// Nothing, or nothing final.
    Nothing,
    /// How it ended there.
    End,
    /// That it cannot take the order, so that the prompt still waits.
    Refusal,
}

impl PermissionService {
    /// Selects one option of one prompt and sees it delivered.
    ///
    /// Dropping the returned future before the claim stops the work; from the claim on, nothing
    /// does.
    ///
    /// # Errors
    /// [`Failure`] with the code of what stood in the way.
    pub async fn resolve(
        &self,
        caller: Caller,
        request: &ResolveRequest,
    ) -> Result<Resolved, Failure> {
        caller.require(Scope::Resolve)?;
        let grant = self
            .authorizer
            .session(&caller, &request.task_id, &request.session_id)
            .await?;
        let known = self.known_unclaimed(&grant, &caller, request).await?;
        let found = self.agents.find(&grant, &request.request_id).await;
        let found = found.map_err(|_| FailureCode::PermissionRuntimeUnavailable)?;
        let reason = match found {
            Found::Live(prompt) => {
                return self
                    .resolve_live(grant, caller, request, &prompt, known)
                    .await;
            }
            Found::Gone(reason) => reason.unwrap_or(ExpiryReason::Withdrawn),
            Found::NoExecution => ExpiryReason::ExecutionEnded,
        };
        // It may be gone because a claim that was made meanwhile has consumed it.
        let known = self.known_unclaimed(&grant, &caller, request).await?;
        Err(self
            .refuse_gone(&grant, &caller, request, known, reason)
            .await)
    }

    /// What is recorded of the request, unless a claim holds exactly this one.
    async fn known_unclaimed(
        &self,
        grant: &SessionGrant,
        caller: &Caller,
        request: &ResolveRequest,
    ) -> Result<Known, Failure> {
        let known = self.audit.known(grant, &request.request_id).await;
        let known = known.map_err(|cause| Failure::unread(&cause))?;
        match &known.claim {
            Some(claim) if claim.pending_id == request.pending_id => {
                Err(self.refuse_held(grant, caller, claim).await)
            }
            Some(_) | None => Ok(known),
        }
    }

    async fn resolve_live(
        &self,
        grant: SessionGrant,
        caller: Caller,
        request: &ResolveRequest,
        prompt: &PromptSnapshot,
        known: Known,
    ) -> Result<Resolved, Failure> {
        if known.message.is_none() {
            let seen = self
                .audit
                .observe(&grant, std::slice::from_ref(prompt))
                .await;
            seen.map_err(|cause| Failure::unrecorded(&cause))?;
        }
        let refusal = |code| Refusal {
            request_id: &prompt.request_id,
            pending_id: &prompt.pending_id,
            option: None,
            result: AuditResult::Failed,
            code,
            expire: None,
        };
        if prompt.pending_id != request.pending_id {
            let refusal = refusal(FailureCode::PermissionNotFound);
            return Err(self.refuse(&grant, &caller, refusal).await);
        }
        match Selection::choose(grant, caller, prompt, &request.option_id) {
            Ok(selection) => self.carry_out(selection).await,
            Err(unselected) => {
                let refusal = refusal(FailureCode::PermissionOptionNotOffered);
                let (grant, caller) = (unselected.grant, unselected.caller);
                Err(self.refuse(&grant, &caller, refusal).await)
            }
        }
    }

    /// Claims, delivers and finalizes in a task of its own, which outlives its caller.
    async fn carry_out(&self, selection: Selection) -> Result<Resolved, Failure> {
        let (answer, answered) = oneshot::channel();
        let service = self.clone();
        self.tasks.spawn(async move {
            match service.audit.claim(selection).await {
                Ok(claimed) => service.deliver(claimed, answer).await,
                Err(ClaimError::Lost { holder, recorded }) => {
                    if let Err(cause) = recorded {
                        tracing::error!(?cause, "a lost race could not be recorded");
                    }
                    let _ = answer.send(Err(Failure::held_by(&holder)));
                }
                Err(ClaimError::Unavailable(cause)) => {
                    let _ = answer.send(Err(Failure::unrecorded(&cause)));
                }
            }
        });
        // The task always answers unless it panicked, and then nobody knows.
        answered
            .await
            .unwrap_or_else(|_| Err(Failure::delivery(Outcome::Unknown)))
    }

    async fn deliver(&self, claimed: Claimed, answer: oneshot::Sender<Result<Resolved, Failure>>) {
        let in_flight = self.inflight.begin(&claimed.record().claim_id);
        let (dispatched, heard) = match self.agents.deliver(&claimed).await {
            Ok(DeliverReply::Refused) => (claimed.delivered(DeliverReply::Refused), Heard::Refusal),
            Ok(reply) => (claimed.delivered(reply), Heard::End),
            Err(_) => self.settle_own(claimed).await,
        };
        match self.audit.finalize(dispatched).await {
            Ok(finalized) => {
                let record = finalized.record().clone();
                let grant = self.answer(finalized, answer);
                drop(in_flight);
                self.after_end(&grant, &record, heard).await;
            }
            Err(failed) => {
                tracing::error!(cause = ?failed.cause, "the end of a claim could not be recorded");
                let outcome = Outcome::from(failed.dispatched.result());
                let _ = answer.send(Err(Failure::delivery(outcome)));
                self.finalize_later(*failed.dispatched, heard, in_flight)
                    .await;
            }
        }
    }

    /// Asks what became of an order that was not answered.
    async fn settle_own(&self, claimed: Claimed) -> (Dispatched, Heard) {
        let record = claimed.record();
        let (request_id, claim_id) = (&record.request_id, &record.claim_id);
        match self
            .agents
            .settle(claimed.grant(), request_id, claim_id)
            .await
        {
            Ok(reply) => {
                let heard = match reply {
                    SettleReply::Delivering => Heard::Nothing,
                    SettleReply::Consumed(_)
                    | SettleReply::Retired { .. }
                    | SettleReply::Gone(_)
                    | SettleReply::Unknown => Heard::End,
                };
                (claimed.settled(&reply), heard)
            }
            Err(no_answer) => (claimed.unanswered(no_answer), Heard::Nothing),
        }
    }

    /// Answers the caller and gives the grant back.
    fn answer(
        &self,
        finalized: Finalized,
        answer: oneshot::Sender<Result<Resolved, Failure>>,
    ) -> SessionGrant {
        let outcome = Outcome::from(finalized.record().result);
        let (grant, accepted) = finalized.accepted();
        let result = accepted
            .map(Resolved::from)
            .ok_or_else(|| Failure::delivery(outcome));
        // The caller may have gone; the record stands.
        let _ = answer.send(result);
        grant
    }

    /// Records the end of a claim as soon as the store can, or leaves it to the next start.
    async fn finalize_later(
        &self,
        mut dispatched: Dispatched,
        heard: Heard,
        in_flight: InFlightGuard,
    ) {
        let mut pause = FIRST_RETRY;
        loop {
            let stopping = tokio::time::timeout(pause, self.stopping.cancelled())
                .await
                .is_ok();
            match self.audit.finalize(dispatched).await {
                Ok(finalized) => {
                    drop(in_flight);
                    self.after_end(finalized.grant(), finalized.record(), heard)
                        .await;
                    return;
                }
                Err(_) if stopping => return,
                Err(failed) => dispatched = *failed.dispatched,
            }
            pause = (pause * 2).min(LONGEST_RETRY);
        }
    }

    /// Lets the sidecar forget the claim; a prompt that could not take its option is listed anew.
    async fn after_end(&self, grant: &SessionGrant, record: &ClaimRecord, heard: Heard) {
        let (request_id, claim_id) = (&record.request_id, &record.claim_id);
        tracing::info!(
            claim = %claim_id,
            request = %request_id,
            session = %record.session_id,
            source = record.source.as_str(),
            result = record.result.as_str(),
            "a claim ended"
        );
        match heard {
            // A later settle may still tell.
            Heard::Nothing => {}
            Heard::End => self.agents.acknowledge(grant, request_id, claim_id).await,
            Heard::Refusal => {
                let _ = self.agents.settle(grant, request_id, claim_id).await;
            }
        }
    }

    async fn refuse_held(
        &self,
        grant: &SessionGrant,
        caller: &Caller,
        claim: &ClaimRecord,
    ) -> Failure {
        let failure = Failure::held_by(claim);
        let Failure::Refused(refused) = &failure else {
            return failure;
        };
        let refusal = Refusal {
            request_id: &claim.request_id,
            pending_id: &claim.pending_id,
            option: None,
            result: AuditResult::Failed,
            code: refused.code,
            expire: None,
        };
        match self.audit.refuse(grant, caller, refusal).await {
            Ok(()) => failure,
            Err(cause) => Failure::unrecorded(&cause),
        }
    }

    async fn refuse_gone(
        &self,
        grant: &SessionGrant,
        caller: &Caller,
        request: &ResolveRequest,
        known: Known,
        reason: ExpiryReason,
    ) -> Failure {
        let Some(message) = known.message else {
            return FailureCode::PermissionNotFound.into();
        };
        let refusal = if message.pending_id == request.pending_id {
            stale(&message, reason)
        } else {
            Refusal {
                request_id: &message.request_id,
                pending_id: &message.pending_id,
                option: None,
                result: AuditResult::Failed,
                code: FailureCode::PermissionNotFound,
                expire: None,
            }
        };
        self.refuse(grant, caller, refusal).await
    }

    async fn refuse(&self, grant: &SessionGrant, caller: &Caller, refusal: Refusal<'_>) -> Failure {
        tracing::info!(
            request = %refusal.request_id,
            session = %grant.session_id(),
            code = refusal.code.as_str(),
            "a resolution was refused"
        );
        match self.audit.refuse(grant, caller, refusal).await {
            Ok(()) => refusal.code.into(),
            Err(cause) => Failure::unrecorded(&cause),
        }
    }
}

/// The refusal of a prompt that was seen and is no longer live.
fn stale(message: &Message, reason: ExpiryReason) -> Refusal<'_> {
    let reason = message.expiry_reason.unwrap_or(reason);
    Refusal {
        request_id: &message.request_id,
        pending_id: &message.pending_id,
        option: None,
        result: reason.as_result(),
        code: FailureCode::PermissionStale,
        expire: Some(reason),
    }
}
