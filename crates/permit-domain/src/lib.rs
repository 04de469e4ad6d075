//! The vocabulary of live permission resolution and its one state machine.
//!
//! Everything here is plain values and pure decisions. There is no IO, no clock and no
//! randomness: time and ids come in through [`Clock`] and [`IdSource`].

mod action;
mod audit;
mod delivery;
mod failure;
mod id;
mod option;
mod ports;
mod prompt;
mod state;

pub use action::{Action, ActionType};
pub use audit::{ActorKind, Attempt, AuditResult, ClaimRecord, Message, MessageStatus, Source};
pub use delivery::{DeliverOrder, DeliverReply, Outcome, SettleReply};
pub use failure::FailureCode;
pub use id::{
    AttemptId, ClaimId, CredentialId, ExecutionId, InvalidId, MAX_ID_BYTES, MAX_PROVIDER_ID_BYTES,
    OptionId, PendingId, RequestId, SessionId, TaskId, ToolCallId, UserId, WorkspaceId,
};
pub use option::{NotSelectable, OfferedOption, OptionKind, select_option};
pub use ports::{Clock, IdSource};
pub use prompt::{MAX_OPTIONS, PromptSnapshot, Seq};
pub use state::{Effect, ExpiryReason, Illegal, PromptEvent, PromptState, apply};
