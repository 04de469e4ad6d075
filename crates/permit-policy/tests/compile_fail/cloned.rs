//! A witness is one: it is handed on, never copied.

use permit_policy::{
    Caller, CompositionRoot, ExecutionGrant, ExternalMcpAttestor, MaintenanceGrant, Principal,
    Secret, SessionGrant, SessionUpkeep, TaskGrant,
};

fn cloned<T: Clone>() {}

fn main() {
    cloned::<TaskGrant>();
    cloned::<SessionGrant>();
    cloned::<ExecutionGrant>();
    cloned::<MaintenanceGrant>();
    cloned::<SessionUpkeep>();
    cloned::<Caller>();
    cloned::<Principal>();
    cloned::<ExternalMcpAttestor>();
    cloned::<CompositionRoot>();
    cloned::<Secret>();
}
