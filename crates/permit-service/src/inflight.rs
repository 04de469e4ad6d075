//! Which claims are being carried out by a task of this process: those are that task's to end.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use permit_domain::ClaimId;

#[derive(Clone, Default)]
pub(crate) struct InFlight(Arc<Mutex<HashSet<ClaimId>>>);

impl InFlight {
    pub(crate) fn begin(&self, claim_id: &ClaimId) -> InFlightGuard {
        self.with(|claims| claims.insert(claim_id.clone()));
        InFlightGuard {
            claims: self.clone(),
            claim_id: claim_id.clone(),
        }
    }

    pub(crate) fn holds(&self, claim_id: &ClaimId) -> bool {
        self.with(|claims| claims.contains(claim_id))
    }

    fn with<T>(&self, f: impl FnOnce(&mut HashSet<ClaimId>) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Ends the claim's time in flight when dropped.
pub(crate) struct InFlightGuard {
    claims: InFlight,
    claim_id: ClaimId,
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.claims.with(|claims| claims.remove(&self.claim_id));
    }
}
