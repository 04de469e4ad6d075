//! The steps have private fields: only the audit log and the step before make one.

use permit_audit::{Accepted, Claimed, Dispatched, Finalized, Selection};
use permit_domain::{AuditResult, ClaimRecord, OfferedOption, PendingId, RequestId};
use permit_policy::{Caller, SessionGrant};

fn selection(
    grant: SessionGrant,
    caller: Caller,
    request_id: RequestId,
    pending_id: PendingId,
    option: OfferedOption,
) -> Selection {
    Selection {
        grant,
        caller,
        request_id,
        pending_id,
        option,
    }
}

fn claimed(grant: SessionGrant, record: ClaimRecord) -> Claimed {
    Claimed { grant, record }
}

fn dispatched(grant: SessionGrant, record: ClaimRecord) -> Dispatched {
    Dispatched {
        grant,
        record,
        result: AuditResult::Accepted,
    }
}

fn finalized(grant: SessionGrant, record: ClaimRecord) -> Finalized {
    Finalized { grant, record }
}

fn accepted(record: ClaimRecord) -> Accepted {
    Accepted { record }
}

fn main() {}
