//! One prompt and the way back to its provider.

use async_trait::async_trait;
use permit_domain::{
    ClaimId, DeliverReply, OptionId, PendingId, PromptSnapshot, PromptState, Seq, ToolCallId,
};
use permit_projection::Projected;
use tokio::sync::watch;

/// The way back to the provider that asked. It is used at most once.
#[async_trait]
pub trait Responder: Send + 'static {
    /// Answers with one option. Returns when the answer was written and flushed, not when it was
    /// queued. Right before the first byte it asks `go`; a prompt that has ended by then is not
    /// answered.
    ///
    /// # Errors
    /// [`AnswerError`] when the answer did not go out whole.
    async fn select(self: Box<Self>, option_id: &OptionId, go: Go) -> Result<(), AnswerError>;

    /// Answers that the request is cancelled. Best effort; does not block.
    fn cancel(self: Box<Self>);
}

/// The last word before an answer is written. From then on its fate is that of the writing: what
/// the provider does next may well be its consequence.
pub struct Go(Box<dyn FnOnce() -> bool + Send>);

impl Go {
    pub(crate) fn new(ask: impl FnOnce() -> bool + Send + 'static) -> Self {
        Self(Box::new(ask))
    }

    /// Whether to write the answer. If not, nothing may be written.
    #[must_use]
    pub fn ahead(self) -> bool {
        (self.0)()
    }
}

/// Why an answer did not go out whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// The way to the provider was closed before a byte was written.
    #[error("nothing was written")]
    NothingWritten,
    /// The way to the provider broke within the answer.
    #[error("the answer broke off")]
    Broken,
}

/// A provider's request for permission, projected.
pub struct NewPrompt {
    /// The provider's session.
    pub provider_session: String,
    /// The provider's own id for the request, unambiguous within its session.
    pub provider_request: String,
    /// The id to show for it.
    pub pending_id: PendingId,
    /// The provider's id for the tool call, when it gave a usable one.
    pub tool_call_id: Option<ToolCallId>,
    /// What may be shown.
    pub projected: Projected,
    /// The way back.
    pub responder: Box<dyn Responder>,
}

pub(crate) struct Entry {
    pub(crate) snapshot: PromptSnapshot,
    pub(crate) provider_session: String,
    pub(crate) provider_request: String,
    pub(crate) state: PromptState,
    pub(crate) opened: Seq,
    pub(crate) responder: Option<Box<dyn Responder>>,
    pub(crate) consumption: Option<Consumption>,
}

/// By which claim a prompt was consumed, and what became of it.
pub(crate) struct Consumption {
    pub(crate) claim_id: ClaimId,
    /// Whether the answer has begun to be written.
    pub(crate) begun: bool,
    pub(crate) reply: watch::Sender<Option<DeliverReply>>,
}

impl Entry {
    pub(crate) fn is_pending(&self) -> bool {
        self.state == PromptState::Pending
    }

    pub(crate) fn is_being_answered(&self) -> bool {
        self.consumption
            .as_ref()
            .is_some_and(|consumption| consumption.begun)
    }
}
