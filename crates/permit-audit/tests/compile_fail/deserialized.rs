//! A step never comes out of bytes: stored claims do, claims to insert do not.

use permit_audit::{
    Accepted, ClaimEnd, Claimed, Dispatched, Finalized, NewAttempt, NewClaim, Selection,
};

fn deserialized<T: serde::Deserialize<'static>>() {}

fn main() {
    deserialized::<permit_domain::ClaimRecord>();
    deserialized::<Selection>();
    deserialized::<Claimed>();
    deserialized::<Dispatched>();
    deserialized::<Finalized>();
    deserialized::<Accepted>();
    deserialized::<NewClaim>();
    deserialized::<NewAttempt>();
    deserialized::<ClaimEnd>();
}
