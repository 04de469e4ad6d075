//! What a store is given to write is made by the audit log alone.

use permit_audit::{ClaimEnd, NewAttempt, NewClaim, SettleFrom};
use permit_domain::{Attempt, ClaimId, ClaimRecord};

fn claim(record: ClaimRecord, attempt: Attempt) -> NewClaim {
    NewClaim { record, attempt }
}

fn end(claim_id: ClaimId, attempt: Attempt) -> ClaimEnd {
    ClaimEnd {
        from: SettleFrom::Dispatching,
        attempt,
        claim_id,
    }
}

fn refused(attempt: Attempt) -> NewAttempt {
    NewAttempt {
        attempt,
        expire: None,
    }
}

fn main() {}
