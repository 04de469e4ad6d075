//! Lines to the agent: one task writes them all, whole and in order.

use permit_registry::{AnswerError, Go};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc::{self, OwnedPermit};
use tokio::sync::oneshot;

/// How many lines may wait to be written. Every open prompt holds a place for its answer, so this
/// is above what a registry admits.
const PLACES: usize = 4096;

/// Queues lines.
#[derive(Clone)]
pub(crate) struct Writer {
    queue: mpsc::Sender<Outgoing>,
}

/// A place in the queue: what is sent through it neither blocks nor fails for want of room.
pub(crate) struct Slot {
    place: OwnedPermit<Outgoing>,
}

/// The agent does not read what it is sent, or is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the agent does not take messages any more")]
pub(crate) struct Unwritable;

struct Outgoing {
    line: String,
    /// Asked right before the line is written, when there is one to ask.
    go: Option<Go>,
    written: Written,
    last: bool,
}

/// Tells the sender how far its line went, also when the task ends before or within it.
struct Written {
    reply: Option<oneshot::Sender<Result<(), AnswerError>>>,
    begun: bool,
}

impl Writer {
    /// Starts the writing task.
    pub(crate) fn start(to: impl AsyncWrite + Unpin + Send + 'static) -> Self {
        let (queue, lines) = mpsc::channel(PLACES);
        tokio::spawn(write_lines(to, lines));
        Self { queue }
    }

    /// Queues a line that nobody waits for.
    pub(crate) fn queue(&self, line: String) -> Result<(), Unwritable> {
        let unheard = Outgoing::new(line, None);
        self.queue.try_send(unheard).map_err(|_| Unwritable)
    }

    /// Reserves the place of one line.
    pub(crate) fn slot(&self) -> Result<Slot, Unwritable> {
        let place = self.queue.clone().try_reserve_owned();
        place.map(|place| Slot { place }).map_err(|_| Unwritable)
    }

    /// Writes what is queued and closes the way to the agent.
    pub(crate) async fn close(&self) {
        let (reply, written) = oneshot::channel();
        let mut last = Outgoing::new(String::new(), Some(reply));
        last.last = true;
        if self.queue.send(last).await.is_ok() {
            // Either way nothing more is written.
            let _ = written.await;
        }
    }
}

impl Slot {
    /// Queues a line that nobody waits for.
    pub(crate) fn queue(self, line: String) {
        drop(self.place.send(Outgoing::new(line, None)));
    }

    /// Queues a line and waits until it was flushed. A line whose `go` says no is left out.
    pub(crate) async fn write(self, line: String, go: Option<Go>) -> Result<(), AnswerError> {
        let (reply, written) = oneshot::channel();
        let mut outgoing = Outgoing::new(line, Some(reply));
        outgoing.go = go;
        drop(self.place.send(outgoing));
        written.await.unwrap_or(Err(AnswerError::NothingWritten))
    }
}

async fn write_lines(mut to: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<Outgoing>) {
    while let Some(mut outgoing) = lines.recv().await {
        if outgoing.go.take().is_some_and(|go| !go.ahead()) {
            outgoing.written.tell(Err(AnswerError::NothingWritten));
            continue;
        }
        let result = outgoing.write(&mut to).await;
        outgoing.written.tell(result);
        if result.is_err() || outgoing.last {
            break;
        }
    }
    drop(to);
    // Places that are still held can be used until they are given back: who uses one is told.
    lines.close();
    while lines.recv().await.is_some() {}
}

impl Outgoing {
    fn new(mut line: String, reply: Option<oneshot::Sender<Result<(), AnswerError>>>) -> Self {
        if !line.is_empty() {
            line.push('\n');
        }
        Self {
            line,
            go: None,
            written: Written {
                reply,
                begun: false,
            },
            last: false,
        }
    }

    async fn write(&mut self, to: &mut (impl AsyncWrite + Unpin)) -> Result<(), AnswerError> {
        let mut left = self.line.as_bytes();
        while !left.is_empty() {
            match to.write(left).await {
                Ok(count) if count > 0 => {
                    self.written.begun = true;
                    left = left.get(count..).unwrap_or_default();
                }
                Ok(_) | Err(_) => return Err(self.written.failure()),
            }
        }
        to.flush().await.map_err(|_| self.written.failure())
    }
}

impl Written {
    fn failure(&self) -> AnswerError {
        if self.begun {
            AnswerError::Broken
        } else {
            AnswerError::NothingWritten
        }
    }

    fn tell(&mut self, result: Result<(), AnswerError>) {
        if let Some(reply) = self.reply.take() {
            // The sender may have stopped waiting.
            let _ = reply.send(result);
        }
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        self.tell(Err(self.failure()));
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, duplex};

    use super::*;

    #[tokio::test]
    async fn lines_are_written_whole_and_in_order() {
        let (ours, mut theirs) = duplex(1024);
        let writer = Writer::start(ours);
        let slot = writer.slot().expect("a place");
        writer.queue("1".to_owned()).expect("queued");
        assert_eq!(slot.write("2".to_owned(), None).await, Ok(()));
        writer.close().await;
        let mut seen = String::new();
        theirs.read_to_string(&mut seen).await.expect("read");
        assert_eq!(seen, "1\n2\n");
    }

    #[tokio::test]
    async fn a_closed_pipe_says_that_nothing_was_written() {
        let (ours, theirs) = duplex(1024);
        let writer = Writer::start(ours);
        let (first, second) = (writer.slot().expect("a"), writer.slot().expect("b"));
        drop(theirs);
        assert_eq!(
            first.write("x".to_owned(), None).await,
            Err(AnswerError::NothingWritten)
        );
        assert_eq!(
            second.write("x".to_owned(), None).await,
            Err(AnswerError::NothingWritten)
        );
        assert!(writer.slot().is_err());
    }

    #[tokio::test]
    async fn a_pipe_that_breaks_within_a_line_says_so() {
        let (ours, mut theirs) = duplex(4);
        let writer = Writer::start(ours);
        let slot = writer.slot().expect("a place");
        let writing = tokio::spawn(slot.write("0123456789".to_owned(), None));
        let mut first = [0; 4];
        theirs.read_exact(&mut first).await.expect("read");
        drop(theirs);
        assert_eq!(writing.await.expect("task"), Err(AnswerError::Broken));
    }

    #[tokio::test]
    async fn after_closing_nothing_is_written() {
        let (ours, _theirs) = duplex(1024);
        let writer = Writer::start(ours);
        let slot = writer.slot().expect("a place");
        writer.close().await;
        assert_eq!(
            slot.write("x".to_owned(), None).await,
            Err(AnswerError::NothingWritten)
        );
    }
}
