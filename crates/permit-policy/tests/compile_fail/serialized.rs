//! A witness is nothing to send, and a secret is nothing to write anywhere.

use permit_policy::{Caller, Secret, SecretHash, SessionGrant, TaskGrant};

fn serialized<T: serde::Serialize>() {}

fn displayed<T: std::fmt::Display>() {}

fn main() {
    serialized::<TaskGrant>();
    serialized::<SessionGrant>();
    serialized::<Caller>();
    serialized::<Secret>();
    serialized::<SecretHash>();
    displayed::<Secret>();
    displayed::<SecretHash>();
}
