//! A step is one.

use permit_audit::{
    Accepted, ClaimEnd, Claimed, Dispatched, Finalized, NewAttempt, NewClaim, Selection,
};

fn cloned<T: Clone>() {}

fn main() {
    cloned::<Selection>();
    cloned::<Claimed>();
    cloned::<Dispatched>();
    cloned::<Finalized>();
    cloned::<Accepted>();
    cloned::<NewClaim>();
    cloned::<NewAttempt>();
    cloned::<ClaimEnd>();
}
