//! Our own requests, waiting for the agent's answers.

use std::collections::{HashMap, HashSet};

use tokio::sync::oneshot;

use crate::message::Refusal;

/// Why a request of ours was not answered as it should.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The agent answered with an error. Its text is the agent's own.
    #[error("the agent refused with code {code}")]
    Refused {
        /// The JSON-RPC error code.
        code: i64,
        /// The agent's words.
        message: String,
    },
    /// The agent is gone, or takes no more messages.
    #[error("the agent closed the connection")]
    Closed,
    /// The answer does not have the shape the protocol gives it.
    #[error("the agent's answer cannot be read")]
    Malformed,
}

impl From<Refusal> for CallError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused {
            code: refusal.code,
            message: refusal.message,
        }
    }
}

/// Shared by whoever calls and the driver that reads the answers.
#[derive(Default)]
pub(crate) struct Calls {
    next: u64,
    closed: bool,
    waiting: HashMap<u64, Call>,
    /// Sessions whose turn we have cancelled and that has not ended yet.
    pub(crate) cancelling: HashSet<String>,
    /// The session that a message without one is about.
    pub(crate) session: Option<String>,
}

pub(crate) struct Call {
    pub(crate) answer: oneshot::Sender<Result<String, CallError>>,
    /// The session whose turn ends with the answer.
    pub(crate) turn_of: Option<String>,
}

impl Calls {
    /// Takes in a call and gives its id; nothing when no answer can come any more.
    pub(crate) fn add(&mut self, call: Call) -> Option<u64> {
        if self.closed {
            return None;
        }
        let id = self.next;
        self.next += 1;
        self.waiting.insert(id, call);
        Some(id)
    }

    pub(crate) fn take(&mut self, id: u64) -> Option<Call> {
        self.waiting.remove(&id)
    }

    /// No answers come any more: whoever waits is told by its sender's end.
    pub(crate) fn close(&mut self) {
        self.closed = true;
        self.waiting.clear();
    }
}
