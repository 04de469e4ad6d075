//! A witness never comes out of bytes.

use permit_policy::{
    Caller, ExecutionGrant, MaintenanceGrant, Principal, SessionGrant, SessionUpkeep, TaskGrant,
};

fn deserialized<T: serde::Deserialize<'static>>() {}

fn main() {
    deserialized::<TaskGrant>();
    deserialized::<SessionGrant>();
    deserialized::<ExecutionGrant>();
    deserialized::<MaintenanceGrant>();
    deserialized::<SessionUpkeep>();
    deserialized::<Caller>();
    deserialized::<Principal>();
}
