//! Keeping the records true to what the sidecars report (invariant I7).

use permit_audit::Closed;
use permit_domain::{
    AuditResult, ClaimId, ClaimRecord, DeliverReply, ExpiryReason, PromptSnapshot, RequestId,
    SessionId, SettleReply, TaskId,
};
use permit_policy::{ExecutionGrant, MaintenanceGrant, StoreUnavailable, Upkeep};

use crate::PermissionService;

/// A prompt that a claim has consumed, as the sidecar remembers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consumed {
    /// The generation.
    pub request_id: RequestId,
    /// The claim that consumed it.
    pub claim_id: ClaimId,
    /// What became of it; `None` while its answer is being written.
    pub reply: Option<DeliverReply>,
}

/// All that a sidecar knows at an attach.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Every live prompt.
    pub live: Vec<PromptSnapshot>,
    /// The prompts it remembers to have ended.
    pub closed: Vec<Closed>,
    /// The consumed prompts whose end it has not been told of.
    pub consumed: Vec<Consumed>,
}

impl PermissionService {
    /// Records what changed in an attached execution.
    ///
    /// # Errors
    /// [`StoreUnavailable`] when it could not be recorded; the same change may be reported again.
    pub async fn observe(
        &self,
        grant: &ExecutionGrant,
        opened: &[PromptSnapshot],
        closed: &[Closed],
    ) -> Result<(), StoreUnavailable> {
        self.audit.observe(grant, opened).await?;
        self.audit.close(grant, closed).await
    }

    /// Brings the records of a session in line with its execution after an attach: what it no
    /// longer has expires, every claim that no task of this process carries out is settled, and
    /// a prompt that such a claim bars is listed under a fresh id.
    ///
    /// # Errors
    /// [`StoreUnavailable`] when something could not be recorded; the next attach tries again.
    pub async fn reconcile(
        &self,
        grant: &ExecutionGrant,
        report: &Report,
    ) -> Result<(), StoreUnavailable> {
        self.observe(grant, &report.live, &report.closed).await?;
        let live: Vec<RequestId> = report.live.iter().map(|p| p.request_id.clone()).collect();
        let ended = ExpiryReason::ExecutionEnded;
        self.audit.close_absent(grant, &live, ended).await?;

        let consumed: Vec<RequestId> = report
            .consumed
            .iter()
            .map(|entry| entry.request_id.clone())
            .collect();
        for record in self.audit.claims_among(grant, &consumed).await? {
            let entry = report.consumed.iter().find(|entry| {
                entry.request_id == record.request_id && entry.claim_id == record.claim_id
            });
            if let Some(reply) = entry.and_then(|entry| entry.reply) {
                self.settle(grant, &record, &SettleReply::Consumed(reply))
                    .await?;
            }
        }
        let mut barred = self.audit.claims_among(grant, &live).await?;
        barred.extend(self.audit.open_claims(grant).await?);
        for record in barred {
            if self.inflight.holds(&record.claim_id) {
                continue;
            }
            let (request_id, claim_id) = (&record.request_id, &record.claim_id);
            if let Ok(reply) = self.agents.settle(grant, request_id, claim_id).await {
                self.settle(grant, &record, &reply).await?;
            }
        }
        Ok(())
    }

    /// The session's execution is over: its prompts expire and its open claims can no longer be
    /// settled.
    ///
    /// # Errors
    /// [`StoreUnavailable`] when something could not be recorded.
    pub async fn end_execution(&self, scope: &dyn Upkeep) -> Result<(), StoreUnavailable> {
        let ended = ExpiryReason::ExecutionEnded;
        let expired = self.audit.close_absent(scope, &[], ended).await?;
        tracing::info!(session = %scope.session_id(), expired, "an execution ended");
        for record in self.audit.open_claims(scope).await? {
            if !self.inflight.holds(&record.claim_id) {
                self.audit.abandon(scope, &record).await?;
            }
        }
        Ok(())
    }

    /// Every session with something unsettled: what a start has to wait for or to end.
    ///
    /// # Errors
    /// [`StoreUnavailable`] when the store cannot be read.
    pub async fn unsettled_sessions(
        &self,
        grant: &MaintenanceGrant,
    ) -> Result<Vec<(TaskId, SessionId)>, StoreUnavailable> {
        self.audit.unsettled_sessions(grant).await
    }

    async fn settle(
        &self,
        grant: &ExecutionGrant,
        record: &ClaimRecord,
        reply: &SettleReply,
    ) -> Result<(), StoreUnavailable> {
        if self.inflight.holds(&record.claim_id) {
            return Ok(());
        }
        let result = self.audit.settle(grant, record, reply).await?;
        tracing::info!(
            claim = %record.claim_id,
            request = %record.request_id,
            result = result.as_str(),
            "a claim was settled"
        );
        if result != AuditResult::Dispatching {
            let (request_id, claim_id) = (&record.request_id, &record.claim_id);
            self.agents.acknowledge(grant, request_id, claim_id).await;
        }
        Ok(())
    }
}
