//! What the agent does, for whoever shows it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use permit_projection::Projected;
use permit_registry::Refused;
use tokio::sync::mpsc;

/// How many events may wait to be shown.
const EVENTS: usize = 4096;

/// Something to show. The agent's own texts are as it sent them: they must be escaped before they
/// reach a terminal, and never logged.
pub enum AgentEvent {
    /// The agent answered and says what it is.
    Started {
        /// Its name and version, when it gives them.
        name: Option<String>,
    },
    /// The session's mode, which decides what the agent asks about.
    Mode {
        /// The mode it is in.
        current: String,
        /// The modes it could be in.
        available: Vec<String>,
    },
    /// The agent has no modes: what it asks about is its own choice.
    NoModes,
    /// The agent did not take this mode, and goes on as it is.
    ModeNotSet {
        /// The mode that was wanted.
        wanted: String,
    },
    /// A piece of the agent's message.
    Text(String),
    /// A piece of what the agent thinks.
    Thought(String),
    /// The agent begins a tool call.
    ToolCall(Box<Projected>),
    /// A tool call ended.
    ToolCallEnded {
        /// Its title, safe for output.
        title: String,
        /// Whether it failed or was cancelled.
        failed: bool,
    },
    /// A line on the agent's standard error.
    Stderr(String),
    /// A line on the agent's standard output that is no message.
    Stray {
        /// Its length.
        bytes: usize,
    },
    /// The agent asked for something this client does not do.
    Declined {
        /// The method it called.
        method: String,
    },
    /// A permission request could not be listed and was answered `cancelled`.
    PromptRefused(Refused),
    /// So many events came faster than they could be shown.
    Missed(u64),
}

/// Where events go. Never blocks: what comes faster than it is shown is counted instead.
#[derive(Clone)]
pub struct EventSink {
    sender: mpsc::Sender<AgentEvent>,
    missed: Arc<AtomicU64>,
}

/// A sink and the end where its events come out.
#[must_use]
pub fn event_channel() -> (EventSink, mpsc::Receiver<AgentEvent>) {
    let (sender, receiver) = mpsc::channel(EVENTS);
    let missed = Arc::default();
    (EventSink { sender, missed }, receiver)
}

impl EventSink {
    pub(crate) fn send(&self, event: AgentEvent) {
        let missed = self.missed.swap(0, Ordering::Relaxed);
        if missed > 0 && self.sender.try_send(AgentEvent::Missed(missed)).is_err() {
            self.missed.fetch_add(missed + 1, Ordering::Relaxed);
        } else if self.sender.try_send(event).is_err() {
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
    }
}
