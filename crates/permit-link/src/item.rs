//! What the gateway sends.

use permit_domain::{ClaimId, DeliverOrder, ExecutionId, RequestId, SessionId, TaskId};
use serde::{Deserialize, Serialize};

use crate::ExecutionSecret;

/// One item of the subscription.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToSidecar {
    /// The sidecar is attached. Always the first item.
    Welcome(Welcome),
    /// Something to do.
    Command(Command),
    /// The gateway ends the connection. Always the last item.
    Goodbye(Goodbye),
}

/// What a sidecar is told when it has attached.
#[derive(Debug, Serialize, Deserialize)]
pub struct Welcome {
    /// The task it serves.
    pub task_id: TaskId,
    /// The session it serves.
    pub session_id: SessionId,
    /// Its execution.
    pub execution_id: ExecutionId,
    /// The secret to re-attach with; only for a new execution, and never again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_secret: Option<ExecutionSecret>,
    /// The epoch of this attach, higher than every earlier one of the execution.
    pub epoch: u64,
    /// Whether the execution had been given up: every prompt that still waits needs a fresh
    /// generation before the first sync.
    pub relist: bool,
}

/// Something the sidecar has to do.
#[derive(Debug, Serialize, Deserialize)]
pub struct Command {
    /// The epoch it is for. A command of another one is not carried out.
    pub epoch: u64,
    /// What an answer has to name; unique within the epoch.
    pub id: u64,
    /// What to do.
    pub body: CommandBody,
}

/// The commands.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandBody {
    /// Tell every waiting prompt.
    List,
    /// Tell what is known of one request.
    Find {
        /// The generation.
        request_id: RequestId,
    },
    /// Hand a claimed option to the provider, once.
    Deliver(DeliverOrder),
    /// Tell what became of a claim.
    Settle {
        /// The generation.
        request_id: RequestId,
        /// The claim.
        claim_id: ClaimId,
    },
    /// Forget a claim: its end is recorded. Not answered.
    Acknowledge {
        /// The generation.
        request_id: RequestId,
        /// The claim.
        claim_id: ClaimId,
    },
}

/// The gateway ends the connection.
#[derive(Debug, Serialize, Deserialize)]
pub struct Goodbye {
    /// The epoch it ends.
    pub epoch: u64,
    /// Why.
    pub reason: GoodbyeReason,
}

/// Why the gateway ends a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoodbyeReason {
    /// A new execution took the session: the sidecar cancels its prompts and exits.
    Replaced,
    /// The credential was revoked or ran out: likewise.
    Revoked,
    /// The gateway shuts down: the sidecar re-attaches.
    ShuttingDown,
}
