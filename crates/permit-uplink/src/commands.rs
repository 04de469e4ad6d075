//! Carrying out the gateway's commands.

use std::time::Duration;

use permit_domain::{ClaimId, RequestId, Seq, SettleReply};
use permit_link::{
    ANSWER, Answer, AnswerBody, Command, CommandBody, Found, MAX_CONTENT_BYTES, Prompt,
};
use permit_registry::{FoundPrompt, Registry};
use tokio::time::{Instant, timeout_at};

use crate::call::{Connection, call};
use crate::report::size_of;

/// Carries out one command and answers it. An answer that does not arrive is the gateway's to ask
/// for again.
pub(crate) async fn carry_out(
    connection: &Connection,
    registry: &Registry,
    command: Command,
    patience: Duration,
) {
    let (seq, body) = match command.body {
        CommandBody::List => list(registry),
        CommandBody::Find { request_id } => find(registry, &request_id),
        CommandBody::Deliver(order) => {
            let reply = registry.deliver(&order).await;
            tracing::info!(
                claim = %order.claim_id,
                request = %order.request_id,
                ?reply,
                "an option was to be handed over"
            );
            (now(registry), AnswerBody::Deliver(reply))
        }
        CommandBody::Settle {
            request_id,
            claim_id,
        } => {
            let reply = settle(registry, &request_id, &claim_id, patience).await;
            tracing::info!(claim = %claim_id, request = %request_id, ?reply, "a claim was asked for");
            (now(registry), AnswerBody::Settle(reply))
        }
        CommandBody::Acknowledge {
            request_id,
            claim_id,
        } => return registry.acknowledge(&request_id, &claim_id),
    };
    let answer = Answer {
        epoch: command.epoch,
        id: command.id,
        seq,
        body,
    };
    if let Err(error) = call(connection, ANSWER, answer).await {
        tracing::debug!(%error, "an answer did not arrive");
    }
}

fn list(registry: &Registry) -> (Seq, AnswerBody) {
    let (seq, prompts) = registry.list();
    let prompts: Vec<Prompt> = prompts.into_iter().map(Prompt::from).collect();
    let body = if size_of(&prompts) > MAX_CONTENT_BYTES {
        AnswerBody::TooLarge
    } else {
        AnswerBody::List(prompts)
    };
    (seq, body)
}

fn find(registry: &Registry, request_id: &RequestId) -> (Seq, AnswerBody) {
    let (seq, found) = registry.find(request_id);
    let body = match found {
        FoundPrompt::Live(prompt) => {
            let prompt = Prompt::from(*prompt);
            if size_of(&prompt) > MAX_CONTENT_BYTES {
                AnswerBody::TooLarge
            } else {
                AnswerBody::Find(Found::Live(Box::new(prompt)))
            }
        }
        FoundPrompt::Closed(reason) => AnswerBody::Find(Found::Closed(reason)),
    };
    (seq, body)
}

/// A claim whose answer is being written will be known in a moment.
async fn settle(
    registry: &Registry,
    request_id: &RequestId,
    claim_id: &ClaimId,
    patience: Duration,
) -> SettleReply {
    let mut changed = registry.changed();
    let deadline = Instant::now() + patience;
    loop {
        changed.borrow_and_update();
        let reply = registry.settle(request_id, claim_id);
        let written = reply != SettleReply::Delivering;
        if written || timeout_at(deadline, changed.changed()).await.is_err() {
            return reply;
        }
    }
}

fn now(registry: &Registry) -> Seq {
    *registry.changed().borrow()
}
