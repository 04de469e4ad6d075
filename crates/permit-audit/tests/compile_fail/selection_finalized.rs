//! The end of a claim needs a claim, and one that has been dispatched.

use permit_audit::{AuditLog, Claimed, Selection};

async fn selection(log: &AuditLog, selection: Selection) {
    let _ = log.finalize(selection).await;
}

async fn claimed(log: &AuditLog, claimed: Claimed) {
    let _ = log.finalize(claimed).await;
}

async fn claim_again(log: &AuditLog, claimed: Claimed) {
    let _ = log.claim(claimed).await;
}

fn main() {}
