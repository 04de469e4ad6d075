//! What became of a claim (invariant I7).

use permit_domain::{ClaimId, ExpiryReason, RequestId, SettleReply};

use crate::registry::Registry;

impl Registry {
    /// Tells what became of a claim on a request. A prompt that the claim never consumed and that
    /// still waits goes on under a fresh generation; a late order of the claim is refused.
    #[must_use]
    pub fn settle(&self, request_id: &RequestId, claim_id: &ClaimId) -> SettleReply {
        self.change(|inner| {
            let Some(entry) = inner.entries.get(request_id) else {
                let reason = inner.closed.reason(request_id);
                return reason.map_or(SettleReply::Unknown, SettleReply::Gone);
            };
            match &entry.consumption {
                Some(consumption) if consumption.claim_id == *claim_id => {
                    let reply = *consumption.reply.borrow();
                    reply.map_or(SettleReply::Delivering, SettleReply::Consumed)
                }
                Some(_) => SettleReply::Gone(ExpiryReason::Superseded),
                None => match self.supersede(inner, request_id) {
                    Some(fresh) => SettleReply::Retired {
                        fresh: fresh.request_id,
                    },
                    None => SettleReply::Unknown,
                },
            }
        })
    }

    /// The end of a claim is recorded: its prompt may be forgotten. A prompt whose answer is
    /// still being written is kept.
    pub fn acknowledge(&self, request_id: &RequestId, claim_id: &ClaimId) {
        self.with(|inner| {
            let consumed = inner.entries.get(request_id).and_then(|entry| {
                let consumption = entry.consumption.as_ref()?;
                Some((&consumption.claim_id, *consumption.reply.borrow()))
            });
            if let Some((claim, Some(_))) = consumed
                && claim == claim_id
            {
                inner.entries.remove(request_id);
            }
        });
    }
}
