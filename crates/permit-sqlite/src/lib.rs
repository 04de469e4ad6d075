//! Every storage port on one SQLite file.
//!
//! [`SqliteStore`] implements the audit and the transcript ([`AuditStore`]), the records of tasks
//! and sessions ([`Directory`]), the credentials ([`CredentialStore`]) and the executions
//! ([`ExecutionStore`]); its own methods administer them.
//!
//! Writes go through one thread, which takes all commands that wait and commits them together, so
//! that the rate of durable writes is not bound to the rate of flushes. Reads have connections
//! and threads of their own. Both queues are bounded; no async thread ever waits for the disk.
//! There is no clock in this crate: times and ids come in with the commands.
//!
//! [`AuditStore`]: permit_audit::AuditStore
//! [`Directory`]: permit_policy::Directory
//! [`CredentialStore`]: permit_policy::CredentialStore
//! [`ExecutionStore`]: permit_policy::ExecutionStore

mod admin;
mod attempts;
mod audit;
mod claims;
mod command;
mod credentials;
mod directory;
mod executions;
mod fault;
mod messages;
mod open;
mod queue;
mod reader;
mod row;
mod schema;
mod store;
mod task_audit;
mod tokens;
mod writer;

pub use admin::AdminError;
pub use fault::Fault;
pub use open::{Limits, OpenError};
pub use store::{SqliteStore, Stats};
pub use task_audit::{AuditCursor, TaskAudit};
pub use tokens::{
    ListedAccessToken, ListedExecutionCredential, NewAccessToken, NewExecutionCredential,
};
