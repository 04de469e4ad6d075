//! Telling the gateway what changes in the registry.

use permit_domain::Seq;
use permit_link::{Closed, Consumed, MAX_CONTENT_BYTES, Prompt, SYNC, Sync};
use permit_registry::{ClosedPrompt, ConsumedPrompt, Delta, Registry};
use serde::Serialize;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::call::{CallFailed, Connection, call};
use crate::uplink::LinkState;

/// Reports everything, then every change. Ends when everything is reported that had changed before
/// `leaving`, or when a report fails.
pub(crate) async fn report(
    connection: &Connection,
    registry: &Registry,
    epoch: u64,
    state: &watch::Sender<LinkState>,
    leaving: &CancellationToken,
) -> Result<(), CallFailed> {
    let mut changed = registry.changed();
    let mut since = Seq::default();
    loop {
        let last = leaving.is_cancelled();
        changed.borrow_and_update();
        let delta = registry.delta(since);
        since = delta.seq;
        for part in parts(epoch, delta) {
            call(connection, SYNC, part).await?;
        }
        state.send_if_modified(|state| {
            std::mem::replace(state, LinkState::Attached) != LinkState::Attached
        });
        if last {
            return Ok(());
        }
        tokio::select! {
            // The registry outlives this.
            _ = changed.changed() => {}
            () = leaving.cancelled() => {}
        }
    }
}

/// The report of a change, in as many parts as it needs; none when nothing changed that the
/// gateway has to know.
fn parts(epoch: u64, delta: Delta) -> Vec<Sync> {
    let (seq, full) = (delta.seq, delta.full);
    let part = || Sync {
        epoch,
        seq,
        full,
        more: true,
        ..Sync::default()
    };
    let mut parts = Parts {
        done: Vec::new(),
        current: part(),
        room: MAX_CONTENT_BYTES,
        part,
    };
    for prompt in delta.opened.into_iter().map(Prompt::from) {
        let size = size_of(&prompt);
        if size > MAX_CONTENT_BYTES {
            // Listing says so, too: the answer is too large.
            tracing::error!(size, "a prompt is too large to be reported");
            continue;
        }
        parts.make_room(size).opened.push(prompt);
    }
    for closed in delta.closed.into_iter().map(as_closed) {
        parts.make_room(size_of(&closed)).closed.push(closed);
    }
    for consumed in delta.consumed.into_iter().map(as_consumed) {
        parts.make_room(size_of(&consumed)).consumed.push(consumed);
    }
    let Parts {
        mut done,
        mut current,
        ..
    } = parts;
    let says_nothing = current.opened.is_empty() && current.closed.is_empty();
    if !full && done.is_empty() && says_nothing {
        return Vec::new();
    }
    current.more = false;
    done.push(current);
    done
}

struct Parts<F> {
    done: Vec<Sync>,
    current: Sync,
    room: usize,
    part: F,
}

impl<F: Fn() -> Sync> Parts<F> {
    fn make_room(&mut self, size: usize) -> &mut Sync {
        if size > self.room {
            let full = std::mem::replace(&mut self.current, (self.part)());
            self.done.push(full);
            self.room = MAX_CONTENT_BYTES;
        }
        self.room = self.room.saturating_sub(size);
        &mut self.current
    }
}

/// How many bytes a value takes in a message.
pub(crate) fn size_of<T: Serialize>(value: &T) -> usize {
    struct Count(usize);

    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let mut count = Count(1);
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.0,
        Err(_) => usize::MAX,
    }
}

fn as_closed(closed: ClosedPrompt) -> Closed {
    Closed {
        request_id: closed.request_id,
        pending_id: closed.pending_id,
        created_at: closed.created_at,
        reason: closed.reason,
        seq: closed.seq,
    }
}

fn as_consumed(consumed: ConsumedPrompt) -> Consumed {
    Consumed {
        request_id: consumed.request_id,
        claim_id: consumed.claim_id,
        reply: consumed.reply,
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
