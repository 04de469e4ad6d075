//! Each step consumes the last.

use permit_audit::{AuditLog, Claimed, Dispatched, Finalized, NoAnswer, Selection};
use permit_domain::DeliverReply;

async fn selection(log: &AuditLog, selection: Selection) {
    let _ = log.claim(selection).await;
    let _ = log.claim(selection).await;
}

fn claimed(claimed: Claimed) -> [Dispatched; 2] {
    [
        claimed.delivered(DeliverReply::Delivered),
        claimed.unanswered(NoAnswer),
    ]
}

async fn dispatched(log: &AuditLog, dispatched: Dispatched) {
    let _ = log.finalize(dispatched).await;
    let _ = log.finalize(dispatched).await;
}

fn finalized(finalized: Finalized) {
    let _ = finalized.accepted();
    let _ = finalized.accepted();
}

fn main() {}
