//! The durable audit: one claim per request, an append-only record of attempts, and the order
//! *claim, deliver, finalize* held by types.
//!
//! [`Selection`] becomes [`Claimed`] becomes [`Dispatched`] becomes [`Finalized`]; each step
//! consumes the last, and only [`AuditLog`] takes the durable ones (invariants I3 and I4). An
//! [`AuditStore`] is where it is kept. With the feature `conformance` there is the suite that any
//! store must pass, `store_conformance!`.

#[cfg(feature = "conformance")]
pub mod conformance;
mod log;
mod memory;
mod steps;
mod store;

pub use log::{AuditLog, ClaimError, FinalizeError, Refusal};
pub use memory::MemoryStore;
pub use steps::{Accepted, Claimed, Dispatched, Finalized, NoAnswer, Selection, Unselected};
pub use store::{
    AuditStore, ClaimDecision, ClaimEnd, Closed, ExpiryRows, Known, NewAttempt, NewClaim,
    SettleFrom,
};
