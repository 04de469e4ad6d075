//! Handing one claimed option to the provider, once.

use permit_domain::{
    DeliverOrder, DeliverReply, Effect, ExpiryReason, OptionKind, PromptEvent, PromptState,
    RequestId, apply, select_option,
};
use tokio::sync::watch;

use crate::entry::{AnswerError, Consumption, Go, Responder};
use crate::registry::{Inner, Registry};
use crate::report::RegistryEvent;

/// What an order met under the lock.
enum Met {
    /// It is settled without the provider.
    Reply(DeliverReply),
    /// Its claim has consumed the prompt before.
    Earlier(watch::Receiver<Option<DeliverReply>>),
    /// It has consumed the prompt just now: the answer has to be written.
    Consumed {
        responder: Box<dyn Responder>,
        kind: OptionKind,
        reply: watch::Receiver<Option<DeliverReply>>,
    },
}

impl Registry {
    /// Hands the ordered option to the provider, at most once per claim and per prompt
    /// (invariant I5). The same order again is answered with what became of the first.
    ///
    /// Dropping the returned future does not cut a delivery that has begun.
    pub async fn deliver(&self, order: &DeliverOrder) -> DeliverReply {
        let consumed = self.shared.limits.consumed;
        let reply = match self.change(|inner| inner.consume(order, consumed)) {
            Met::Reply(reply) => return reply,
            Met::Earlier(reply) => reply,
            Met::Consumed {
                responder,
                kind,
                reply,
            } => {
                let (registry, order) = (self.clone(), order.clone());
                let (asked, request_id) = (self.clone(), order.request_id.clone());
                let go = Go::new(move || asked.with(|inner| inner.begin_answer(&request_id)));
                tokio::spawn(async move {
                    let answered = responder.select(&order.option_id, go).await;
                    registry.answered(&order, kind, answered);
                });
                reply
            }
        };
        known(reply).await
    }

    fn answered(&self, order: &DeliverOrder, kind: OptionKind, answered: Result<(), AnswerError>) {
        let reply = self.change(|inner| inner.answered(order, answered));
        self.announce(RegistryEvent::Answered {
            request_id: order.request_id.clone(),
            option_id: order.option_id.clone(),
            option_kind: kind,
            reply,
        });
    }
}

/// Waits until the answer is written or has failed. A writer that vanished leaves it open whether
/// something was written.
async fn known(mut reply: watch::Receiver<Option<DeliverReply>>) -> DeliverReply {
    let known = reply.wait_for(Option::is_some).await;
    known
        .ok()
        .and_then(|reply| *reply)
        .unwrap_or(DeliverReply::Broken)
}

impl Inner {
    fn consume(&mut self, order: &DeliverOrder, bound: usize) -> Met {
        let remembered = self.entries.values().filter(|e| e.consumption.is_some());
        let full = remembered.count() >= bound;
        let Some(entry) = self.entries.get_mut(&order.request_id) else {
            let reason = self.closed.reason(&order.request_id);
            let reason = reason.unwrap_or(ExpiryReason::ExecutionEnded);
            return Met::Reply(DeliverReply::Gone(reason));
        };
        if let Some(consumption) = &entry.consumption {
            return if consumption.claim_id == order.claim_id {
                Met::Earlier(consumption.reply.subscribe())
            } else {
                Met::Reply(DeliverReply::Refused)
            };
        }
        let option = select_option(&entry.snapshot.options, &order.option_id);
        let Some(option) = option.ok().filter(|_| !full) else {
            return Met::Reply(DeliverReply::Refused);
        };
        if entry.snapshot.pending_id != order.pending_id {
            return Met::Reply(DeliverReply::Refused);
        }
        let kind = option.kind.clone();
        let select = PromptEvent::Select(order.claim_id.clone());
        let (Ok((state, Some(Effect::Deliver))), Some(responder)) =
            (apply(&entry.state, select), entry.responder.take())
        else {
            return Met::Reply(DeliverReply::Refused);
        };
        let (sender, reply) = watch::channel(None);
        entry.state = state;
        entry.consumption = Some(Consumption {
            claim_id: order.claim_id.clone(),
            begun: false,
            reply: sender,
        });
        self.advance();
        Met::Consumed {
            responder,
            kind,
            reply,
        }
    }

    /// The answer is about to be written: whether the prompt still wants it.
    fn begin_answer(&mut self, request_id: &RequestId) -> bool {
        let Some(entry) = self.entries.get_mut(request_id) else {
            return false;
        };
        let wanted = matches!(entry.state, PromptState::Resolving(_));
        if let Some(consumption) = &mut entry.consumption {
            consumption.begun = wanted;
        }
        wanted
    }

    fn answered(
        &mut self,
        order: &DeliverOrder,
        answered: Result<(), AnswerError>,
    ) -> DeliverReply {
        let Some(entry) = self.entries.get_mut(&order.request_id) else {
            return DeliverReply::Broken;
        };
        let reply = match (answered, &entry.state) {
            (Ok(()), PromptState::Resolving(_)) => DeliverReply::Delivered,
            (Err(AnswerError::NothingWritten), PromptState::Expired(reason)) => {
                DeliverReply::Gone(*reason)
            }
            (Err(AnswerError::NothingWritten), _) => DeliverReply::NotWritten,
            (Ok(()) | Err(AnswerError::Broken), _) => DeliverReply::Broken,
        };
        let event = match reply {
            DeliverReply::Delivered => PromptEvent::Delivered,
            DeliverReply::Broken
            | DeliverReply::NotWritten
            | DeliverReply::Gone(_)
            | DeliverReply::Refused => PromptEvent::DeliveryFailed,
        };
        if let Ok((state, _)) = apply(&entry.state, event) {
            entry.state = state;
        }
        if let Some(consumption) = &entry.consumption {
            consumption.reply.send_replace(Some(reply));
        }
        self.advance();
        reply
    }
}
