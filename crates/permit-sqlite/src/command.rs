//! A command on its way to a thread of the store, and how its caller may give it up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::Fault;

/// Work for a thread, with the ticket that its caller may cancel.
pub(crate) struct Command {
    ticket: Arc<Ticket>,
    work: Box<dyn Work>,
}

impl Command {
    /// A command and what its caller keeps: the ticket and the answer to come.
    pub(crate) fn new<T, E>(
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> (Self, CallerTicket, oneshot::Receiver<Result<T, E>>)
    where
        T: Send + 'static,
        E: From<Fault> + Send + 'static,
    {
        let ticket = Arc::new(Ticket::default());
        let (answer, answered) = oneshot::channel();
        let work = Box::new(Task {
            work: Some(work),
            done: None,
            answer,
        });
        let command = Self {
            ticket: Arc::clone(&ticket),
            work,
        };
        (command, CallerTicket(ticket), answered)
    }

    /// Whether the caller has given it up.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.ticket.0.load(Ordering::Acquire) == CANCELLED
    }

    /// Takes the command: from now on its caller waits for it. `None` when it was given up.
    pub(crate) fn begin(self) -> Option<Begun> {
        self.ticket
            .leave_waiting(BEGUN)
            .then_some(Begun { work: self.work })
    }
}

/// A command that can no longer be given up.
pub(crate) struct Begun {
    work: Box<dyn Work>,
}

impl Begun {
    /// Carries it out. Answers whether what it wrote is to be kept.
    pub(crate) fn run(&mut self, connection: &Connection) -> bool {
        self.work.run(connection)
    }

    /// Answers its caller; with a fault when what it wrote was not committed.
    pub(crate) fn answer(self, committed: Result<(), Fault>) {
        self.work.answer(committed);
    }
}

/// The caller's end of a ticket. Dropping it gives the command up, if it has not begun.
pub(crate) struct CallerTicket(Arc<Ticket>);

impl CallerTicket {
    /// Gives the command up. Answers whether it had not begun, so that it never will.
    pub(crate) fn cancel(&self) -> bool {
        self.0.leave_waiting(CANCELLED)
    }
}

impl Drop for CallerTicket {
    fn drop(&mut self) {
        self.cancel();
    }
}

const WAITING: u8 = 0;
const BEGUN: u8 = 1;
const CANCELLED: u8 = 2;

/// Where a command stands. It leaves `WAITING` once: either it is begun or it is cancelled.
#[derive(Default)]
struct Ticket(AtomicU8);

impl Ticket {
    fn leave_waiting(&self, to: u8) -> bool {
        self.0
            .compare_exchange(WAITING, to, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }
}

trait Work: Send {
    fn run(&mut self, connection: &Connection) -> bool;
    fn answer(self: Box<Self>, committed: Result<(), Fault>);
}

struct Task<F, T, E> {
    work: Option<F>,
    done: Option<Result<T, E>>,
    answer: oneshot::Sender<Result<T, E>>,
}

impl<F, T, E> Work for Task<F, T, E>
where
    F: FnOnce(&Connection) -> Result<T, E> + Send,
    T: Send,
    E: From<Fault> + Send,
{
    fn run(&mut self, connection: &Connection) -> bool {
        if let Some(work) = self.work.take() {
            self.done = Some(work(connection));
        }
        matches!(self.done, Some(Ok(_)))
    }

    fn answer(self: Box<Self>, committed: Result<(), Fault>) {
        let answer = match (self.done, committed) {
            (Some(Err(own)), _) => Err(own),
            (Some(Ok(value)), Ok(())) => Ok(value),
            (Some(Ok(_)) | None, Err(fault)) => Err(fault.into()),
            (None, Ok(())) => Err(Fault::Closed.into()),
        };
        // The caller may have gone; what was committed stands.
        let _ = self.answer.send(answer);
    }
}
