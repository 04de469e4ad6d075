//! One attached execution: its commands and what it reported.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jsonrpsee::server::{SubscriptionMessage, SubscriptionSink};
use permit_domain::{ClaimId, RequestId, Seq};
use permit_link::{
    Answer, AnswerBody, Command, CommandBody, Goodbye, GoodbyeReason, ITEM, LinkError,
    MAX_COMMANDS, ToSidecar,
};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::facts::Facts;
use crate::slot::Execution;

/// One attached execution.
pub(crate) struct Attachment {
    pub(crate) execution: Arc<Execution>,
    commands: Mutex<Commands>,
    facts: Mutex<Facts>,
    reporting: AtomicBool,
    cut: CancellationToken,
}

struct Commands {
    /// Absent once the attachment is closed.
    sink: Option<SubscriptionSink>,
    next: u64,
    waiting: HashMap<u64, oneshot::Sender<Answered>>,
}

/// An answer and the point in the registry's history at which it was taken.
pub(crate) type Answered = (Seq, AnswerBody);

/// Why a command was not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// Too many commands wait; it was not sent.
    Full,
    /// The connection is gone; it may have been sent.
    Closed,
    /// The deadline passed.
    Late,
}

impl Attachment {
    /// Cancelling `cut` closes the connection.
    pub(crate) fn new(
        execution: Arc<Execution>,
        sink: SubscriptionSink,
        cut: CancellationToken,
    ) -> Self {
        Self {
            execution,
            commands: Mutex::new(Commands {
                sink: Some(sink),
                next: 1,
                waiting: HashMap::new(),
            }),
            facts: Mutex::default(),
            reporting: AtomicBool::new(false),
            cut,
        }
    }

    /// Sends the first item and lets `publish` make the attachment known, so that no command can
    /// come before it.
    pub(crate) fn open(&self, first: &ToSidecar, publish: impl FnOnce() -> bool) -> bool {
        let mut commands = self.commands();
        publish() && commands.send(first).is_ok()
    }

    /// Sends a command and waits for its answer.
    pub(crate) async fn ask(
        &self,
        body: CommandBody,
        deadline: Instant,
    ) -> Result<Answered, Unanswered> {
        let (id, answer) = self.send(body)?;
        let _waiting = Waiting {
            attachment: self,
            id,
        };
        match timeout_at(deadline, answer).await {
            Ok(Ok(answered)) => Ok(answered),
            Ok(Err(_)) => Err(Unanswered::Closed),
            Err(_) => Err(Unanswered::Late),
        }
    }

    /// Tells that the end of a claim is recorded. Waits for room; a sidecar that has none in time
    /// is cut off and told at its next attach.
    pub(crate) async fn acknowledge(
        &self,
        request_id: &RequestId,
        claim_id: &ClaimId,
        deadline: Instant,
    ) {
        let Some((sink, message)) = self.acknowledgement(request_id, claim_id) else {
            return;
        };
        if timeout_at(deadline, sink.send(message)).await.is_err() {
            self.cut();
        }
    }

    /// Takes an answer. One that nobody waits for any more is ignored.
    pub(crate) fn answered(&self, answer: Answer) {
        let waiting = self.commands().waiting.remove(&answer.id);
        if let Some(waiting) = waiting {
            let _ = waiting.send((answer.seq, answer.body));
        }
    }

    pub(crate) fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports are taken one at a time.
    pub(crate) fn begin_report(&self) -> Result<impl Drop + use<'_>, LinkError> {
        if self.reporting.swap(true, Ordering::AcqRel) {
            return Err(LinkError::Busy);
        }
        Ok(Reporting(&self.reporting))
    }

    /// Says good-bye and closes the connection.
    pub(crate) fn dismiss(&self, reason: GoodbyeReason) {
        let goodbye = ToSidecar::Goodbye(Goodbye {
            epoch: self.execution.epoch,
            reason,
        });
        let _ = self.commands().send(&goodbye);
        self.close();
        self.cut();
    }

    /// Closes the connection.
    pub(crate) fn cut(&self) {
        self.cut.cancel();
    }

    /// Completes when the connection is to close.
    pub(crate) async fn cut_off(&self) {
        self.cut.cancelled().await;
    }

    /// Nothing is sent any more, and nobody waits for an answer any more.
    pub(crate) fn close(&self) {
        let mut commands = self.commands();
        let (sink, waiting) = (commands.sink.take(), std::mem::take(&mut commands.waiting));
        drop(commands);
        drop((sink, waiting));
    }

    fn send(&self, body: CommandBody) -> Result<(u64, oneshot::Receiver<Answered>), Unanswered> {
        let mut commands = self.commands();
        if commands.waiting.len() >= MAX_COMMANDS {
            return Err(Unanswered::Full);
        }
        let id = commands.next;
        commands.next += 1;
        commands.send(&ToSidecar::Command(Command {
            epoch: self.execution.epoch,
            id,
            body,
        }))?;
        let (sender, answer) = oneshot::channel();
        // The lock is held: no answer can have come yet.
        commands.waiting.insert(id, sender);
        Ok((id, answer))
    }

    fn acknowledgement(
        &self,
        request_id: &RequestId,
        claim_id: &ClaimId,
    ) -> Option<(SubscriptionSink, SubscriptionMessage)> {
        let mut commands = self.commands();
        let id = commands.next;
        commands.next += 1;
        let item = ToSidecar::Command(Command {
            epoch: self.execution.epoch,
            id,
            body: CommandBody::Acknowledge {
                request_id: request_id.clone(),
                claim_id: claim_id.clone(),
            },
        });
        let sink = commands.sink.clone()?;
        let message = message(&sink, &item)?;
        Some((sink, message))
    }

    fn commands(&self) -> MutexGuard<'_, Commands> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Commands {
    fn send(&mut self, item: &ToSidecar) -> Result<(), Unanswered> {
        let sink = self.sink.as_mut().ok_or(Unanswered::Closed)?;
        if sink.is_closed() {
            return Err(Unanswered::Closed);
        }
        let message = message(sink, item).ok_or(Unanswered::Closed)?;
        sink.try_send(message).map_err(|_| Unanswered::Full)
    }
}

fn message(sink: &SubscriptionSink, item: &ToSidecar) -> Option<SubscriptionMessage> {
    SubscriptionMessage::new(ITEM, sink.subscription_id(), item).ok()
}

/// A command that waits; forgotten when its asker is gone.
struct Waiting<'a> {
    attachment: &'a Attachment,
    id: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.attachment.commands().waiting.remove(&self.id);
    }
}

struct Reporting<'a>(&'a AtomicBool);

impl Drop for Reporting<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}
