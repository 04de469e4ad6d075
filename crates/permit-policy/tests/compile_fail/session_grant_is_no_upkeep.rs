//! A caller may resolve; to expire prompts and to settle claims is not a caller's.

use permit_policy::{SessionGrant, SessionScope, TaskGrant, Upkeep};

fn upkeep(grant: &SessionGrant) -> &dyn Upkeep {
    grant
}

fn session(grant: &TaskGrant) -> &dyn SessionScope {
    grant
}

fn main() {}
