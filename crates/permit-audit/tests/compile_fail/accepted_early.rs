//! Success is told of a recorded end alone.

use permit_audit::{Accepted, Claimed, Dispatched, Finalized};
use permit_domain::ClaimRecord;
use permit_policy::SessionGrant;

fn of_claimed(claimed: Claimed) -> (SessionGrant, Option<Accepted>) {
    claimed.accepted()
}

fn of_dispatched(dispatched: Dispatched) -> (SessionGrant, Option<Accepted>) {
    dispatched.accepted()
}

fn of_record(record: ClaimRecord) -> Accepted {
    record.into()
}

fn unchecked(finalized: Finalized) -> Accepted {
    let (_, accepted) = finalized.accepted();
    accepted
}

fn main() {}
