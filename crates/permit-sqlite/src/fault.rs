//! What can go wrong inside the store.

use std::sync::Arc;

use permit_policy::StoreUnavailable;

/// Why a command was not carried out. It is the source of a [`StoreUnavailable`]: for logs, never
/// for clients. None of its texts holds a stored value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// As many commands wait as may.
    #[error("the queue is full")]
    QueueFull,
    /// The command was not begun in time and has been called back: nothing was written.
    #[error("the command was not begun in time")]
    TimedOut,
    /// The store is closed, or its thread has ended.
    #[error("the store is closed")]
    Closed,
    /// The database refused a statement.
    #[error("the database refused")]
    Database(#[from] rusqlite::Error),
    /// The group of commands was not committed: nothing of it was written.
    #[error("the transaction was not committed")]
    NotCommitted(#[source] Arc<rusqlite::Error>),
    /// A stored value is not one that this crate writes.
    #[error("the column `{0}` holds an impossible value")]
    Corrupt(&'static str),
    /// A value does not fit its column.
    #[error("the value is out of range for the column `{0}`")]
    OutOfRange(&'static str),
    /// The claim to end does not exist.
    #[error("there is no such claim")]
    NoSuchClaim,
    /// The attempt after which to read is not one of the session's.
    #[error("there is no such attempt in the session")]
    NoSuchAttempt,
}

impl From<Fault> for StoreUnavailable {
    fn from(fault: Fault) -> Self {
        Self::new(fault)
    }
}
