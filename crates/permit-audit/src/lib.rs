//! The durable audit: one claim per request, an append-only record of attempts, and the order
//! *claim, deliver, finalize* held by types.
//!
//! [`Selection`] becomes [`Claimed`] becomes [`Dispatched`] becomes [`Finalized`]; each step
//! consumes the last, and only [`AuditLog`] takes the durable ones (invariants I3 and I4). An

mod log;
mod steps;
mod store;

#[doc(hidden)]
pub use log::{AuditLog, ClaimError, FinalizeError, Refusal};
pub use steps::{Accepted, Claimed, Dispatched, Finalized, NoAnswer, Selection, Unselected};
pub use store::{
    AuditStore, ClaimDecision, ClaimEnd, Closed, ExpiryRows, Known, NewAttempt, NewClaim,
    SettleFrom,
};
