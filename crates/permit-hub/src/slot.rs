//! The place of one session.

use std::sync::Arc;

use permit_domain::{ExecutionId, SessionId, TaskId};
use permit_policy::ExecutionGrant;
use tokio::sync::{Mutex, watch};
use tokio::time::{Instant, timeout_at};

use crate::attachment::Attachment;

/// The place of one session.
pub(crate) struct Slot {
    pub(crate) task_id: TaskId,
    pub(crate) session_id: SessionId,
    /// Held while an execution attaches or ends.
    pub(crate) attaching: Mutex<()>,
    /// Held while what an execution reported, or its end, is written.
    pub(crate) recording: Mutex<()>,
    state: watch::Sender<State>,
}

/// How a session's execution stands.
#[derive(Clone)]
pub(crate) enum State {
    /// There is none.
    Vacant,
    /// A former process of the gateway left one, or something unsettled; it may come back.
    Recovering,
    /// It is away and may come back.
    Lost(Arc<Execution>),
    /// It is attached; live when its first report is recorded.
    Attached {
        attachment: Arc<Attachment>,
        live: bool,
    },
}

/// An execution at one epoch.
#[derive(Debug)]
pub(crate) struct Execution {
    pub(crate) grant: Arc<ExecutionGrant>,
    pub(crate) execution_id: ExecutionId,
    pub(crate) epoch: u64,
}

/// Whether a session can be read.
pub(crate) enum Presence {
    Live(Arc<Attachment>),
    Vacant,
    Recovering,
    Away,
}

impl Slot {
    pub(crate) fn new(task_id: TaskId, session_id: SessionId, state: State) -> Self {
        Self {
            task_id,
            session_id,
            attaching: Mutex::default(),
            recording: Mutex::default(),
            state: watch::Sender::new(state),
        }
    }

    /// The live execution, other than `than`; one that has just attached is waited for.
    pub(crate) async fn presence(
        &self,
        than: Option<&Arc<Attachment>>,
        deadline: Instant,
    ) -> Presence {
        let mut state = self.state.subscribe();
        let known = state.wait_for(|state| match state {
            State::Vacant | State::Recovering | State::Lost(_) => true,
            State::Attached { attachment, live } => {
                *live && than.is_none_or(|than| !Arc::ptr_eq(than, attachment))
            }
        });
        let Ok(Ok(state)) = timeout_at(deadline, known).await else {
            return Presence::Away;
        };
        match &*state {
            State::Vacant => Presence::Vacant,
            State::Recovering => Presence::Recovering,
            State::Lost(_) => Presence::Away,
            State::Attached { attachment, .. } => Presence::Live(attachment.clone()),
        }
    }

    /// The attached execution, live or not.
    pub(crate) fn attached(&self) -> Option<Arc<Attachment>> {
        self.state.borrow().attachment().cloned()
    }

    /// The attached execution other than `than`; one that is away is waited for.
    pub(crate) async fn reattached(
        &self,
        than: Option<&Arc<Attachment>>,
        deadline: Instant,
    ) -> Option<Arc<Attachment>> {
        let mut state = self.state.subscribe();
        let known = state.wait_for(|state| match state {
            State::Vacant => true,
            State::Recovering | State::Lost(_) => false,
            State::Attached { attachment, .. } => {
                than.is_none_or(|than| !Arc::ptr_eq(than, attachment))
            }
        });
        let state = timeout_at(deadline, known).await.ok()?.ok()?;
        state.attachment().cloned()
    }

    /// Waits until the execution is no longer away at this epoch.
    pub(crate) async fn until_not_lost(&self, execution: &Arc<Execution>) {
        let mut state = self.state.subscribe();
        // The sender is this slot's own.
        let _ = state.wait_for(|state| !state.is_lost(execution)).await;
    }

    pub(crate) fn is_lost(&self, execution: &Arc<Execution>) -> bool {
        self.state.borrow().is_lost(execution)
    }

    pub(crate) fn is_vacant(&self) -> bool {
        matches!(*self.state.borrow(), State::Vacant)
    }

    pub(crate) fn is_recovering(&self) -> bool {
        matches!(*self.state.borrow(), State::Recovering)
    }

    pub(crate) fn holds(&self, attachment: &Arc<Attachment>) -> bool {
        self.state.borrow().holds(attachment)
    }

    /// Whether this is the session's execution at its newest epoch, attached or away.
    pub(crate) fn is_of(&self, execution: &Arc<Execution>) -> bool {
        let state = self.state.borrow();
        let attached = state.attachment();
        state.is_lost(execution)
            || attached.is_some_and(|attached| Arc::ptr_eq(&attached.execution, execution))
    }

    /// Puts a newer execution, or a newer epoch, in the place of whatever was there, and answers
    /// the attachment that was.
    pub(crate) fn expect(&self, execution: &Arc<Execution>) -> Option<Arc<Attachment>> {
        let before = self.state.send_replace(State::Lost(execution.clone()));
        before.attachment().cloned()
    }

    /// Attaches the execution that is expected.
    pub(crate) fn attach(&self, attachment: &Arc<Attachment>) -> bool {
        self.state.send_if_modified(|state| {
            let expected = state.is_lost(&attachment.execution);
            if expected {
                *state = State::Attached {
                    attachment: attachment.clone(),
                    live: false,
                };
            }
            expected
        })
    }

    pub(crate) fn set_live(&self, attachment: &Arc<Attachment>, is: bool) {
        self.state.send_if_modified(|state| match state {
            State::Attached {
                attachment: attached,
                live,
            } if Arc::ptr_eq(attached, attachment) => std::mem::replace(live, is) != is,
            State::Vacant | State::Recovering | State::Lost(_) | State::Attached { .. } => false,
        });
    }

    /// The connection of an attachment broke. Answers whether it was the slot's own.
    pub(crate) fn lose(&self, attachment: &Arc<Attachment>) -> bool {
        self.state.send_if_modified(|state| {
            let held = state.holds(attachment);
            if held {
                *state = State::Lost(attachment.execution.clone());
            }
            held
        })
    }

    /// The session's execution is over.
    pub(crate) fn vacate(&self) {
        self.state.send_replace(State::Vacant);
    }
}

impl State {
    fn attachment(&self) -> Option<&Arc<Attachment>> {
        match self {
            Self::Attached { attachment, .. } => Some(attachment),
            Self::Vacant | Self::Recovering | Self::Lost(_) => None,
        }
    }

    fn holds(&self, attachment: &Arc<Attachment>) -> bool {
        self.attachment()
            .is_some_and(|held| Arc::ptr_eq(held, attachment))
    }

    fn is_lost(&self, execution: &Arc<Execution>) -> bool {
        match self {
            Self::Lost(lost) => Arc::ptr_eq(lost, execution),
            Self::Vacant | Self::Recovering | Self::Attached { .. } => false,
        }
    }
}
