//! The readers: each has a read-only connection and a thread.

use std::sync::Arc;

use rusqlite::Connection;

use crate::queue::Queue;

/// Carries out reading commands until the queue is closed and empty.
pub(crate) fn run(connection: &Connection, queue: &Arc<Queue>) {
    while let Some(command) = queue.pop() {
        if let Some(mut begun) = command.begin() {
            begun.run(connection);
            begun.answer(Ok(()));
        }
    }
}
