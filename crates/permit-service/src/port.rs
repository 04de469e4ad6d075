//! The port to the attached agents.

use async_trait::async_trait;
use permit_audit::{Claimed, NoAnswer};
use permit_domain::{ClaimId, DeliverReply, ExpiryReason, PromptSnapshot, RequestId, SettleReply};
use permit_policy::{SessionGrant, SessionScope};

/// The live state of a session cannot be read: its sidecar is away for the moment, or does not
/// answer in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the live state cannot be read")]
pub struct RuntimeUnavailable;

/// What the live state says of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// It waits.
    Live(Box<PromptSnapshot>),
    /// The session's execution is live, and the request is not among its prompts.
    Gone(Option<ExpiryReason>),
    /// The session has no live execution.
    NoExecution,
}

/// The agents behind the sidecars. Each method has a deadline of its own.
#[async_trait]
pub trait AgentPort: Send + Sync + 'static {
    /// The session's live prompts; none when it has no live execution.
    async fn list(&self, grant: &SessionGrant) -> Result<Vec<PromptSnapshot>, RuntimeUnavailable>;

    /// One live prompt of the session.
    async fn find(
        &self,
        grant: &SessionGrant,
        request_id: &RequestId,
    ) -> Result<Found, RuntimeUnavailable>;

    /// Hands a claimed option to the provider, once.
    ///
    /// # Errors
    /// [`NoAnswer`] when the link is down or broke, or the deadline passed: the option may or may
    /// not arrive.
    async fn deliver(&self, claimed: &Claimed) -> Result<DeliverReply, NoAnswer>;

    /// Asks what became of a claim; waits, within its deadline, for a sidecar that re-attaches. A
    /// sidecar that is attached and does not answer in time is cut off, so that it re-attaches
    /// and is asked again.
    ///
    /// # Errors
    /// [`NoAnswer`] when nobody answered in time.
    async fn settle(
        &self,
        scope: &dyn SessionScope,
        request_id: &RequestId,
        claim_id: &ClaimId,
    ) -> Result<SettleReply, NoAnswer>;

    /// Tells the sidecar that the end of a claim is recorded, so that it may forget it. Best
    /// effort: an attach tells it again.
    async fn acknowledge(
        &self,
        scope: &dyn SessionScope,
        request_id: &RequestId,
        claim_id: &ClaimId,
    );
}
