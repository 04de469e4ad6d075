//! The service's way to the attached agents.

use std::sync::Arc;

use async_trait::async_trait;
use permit_audit::{Claimed, NoAnswer};
use permit_domain::{ClaimId, DeliverReply, PromptSnapshot, RequestId, SettleReply};
use permit_link::{AnswerBody, CommandBody};
use permit_policy::{SessionGrant, SessionScope};
use permit_service::{AgentPort, Found, RuntimeUnavailable};
use tokio::time::Instant;

use crate::attachment::{Attachment, Unanswered};
use crate::hub::Hub;
use crate::slot::{Presence, Slot};

#[async_trait]
impl AgentPort for Hub {
    async fn list(&self, grant: &SessionGrant) -> Result<Vec<PromptSnapshot>, RuntimeUnavailable> {
        let Some(slot) = self.slot(grant.session_id()) else {
            return Ok(Vec::new());
        };
        let (attachment, answer) = match self.read(&slot, || CommandBody::List).await {
            Read::Answer(attachment, answer) => (attachment, answer),
            Read::Vacant | Read::Recovering => return Ok(Vec::new()),
            Read::Away => return Err(RuntimeUnavailable),
        };
        match answer {
            Ok((seq, AnswerBody::List(prompts))) => {
                let prompts = prompts.into_iter().map(PromptSnapshot::from);
                let waiting = attachment.facts().still_waiting(seq, prompts);
                waiting.ok_or(RuntimeUnavailable)
            }
            answer => Err(unread(&slot, answer)),
        }
    }

    async fn find(
        &self,
        grant: &SessionGrant,
        request_id: &RequestId,
    ) -> Result<Found, RuntimeUnavailable> {
        let Some(slot) = self.slot(grant.session_id()) else {
            return Ok(Found::NoExecution);
        };
        let find = || CommandBody::Find {
            request_id: request_id.clone(),
        };
        let (attachment, answer) = match self.read(&slot, find).await {
            Read::Answer(attachment, answer) => (attachment, answer),
            Read::Vacant => return Ok(Found::NoExecution),
            Read::Recovering | Read::Away => return Err(RuntimeUnavailable),
        };
        match answer {
            Ok((seq, AnswerBody::Find(permit_link::Found::Live(prompt)))) => {
                let prompt = PromptSnapshot::from(*prompt);
                if prompt.request_id != *request_id {
                    tracing::warn!(session = %slot.session_id, "another request was found");
                    return Err(RuntimeUnavailable);
                }
                let ended = attachment.facts().ended_since(seq, request_id);
                Ok(match ended {
                    Some(reason) => Found::Gone(Some(reason)),
                    None => Found::Live(Box::new(prompt)),
                })
            }
            Ok((_, AnswerBody::Find(permit_link::Found::Closed(reason)))) => {
                Ok(Found::Gone(reason))
            }
            answer => Err(unread(&slot, answer)),
        }
    }

    async fn deliver(&self, claimed: &Claimed) -> Result<DeliverReply, NoAnswer> {
        let slot = self.slot(claimed.grant().session_id()).ok_or(NoAnswer)?;
        let attachment = slot.attached().ok_or(NoAnswer)?;
        let deadline = Instant::now() + self.limits().deadlines.deliver;
        let order = CommandBody::Deliver(claimed.order());
        match attachment.ask(order, deadline).await {
            Ok((_, AnswerBody::Deliver(reply))) => Ok(reply),
            answer => {
                let claim = &claimed.record().claim_id;
                tracing::warn!(%claim, answer = name(&answer), "an order was not answered");
                Err(NoAnswer)
            }
        }
    }

    async fn settle(
        &self,
        scope: &dyn SessionScope,
        request_id: &RequestId,
        claim_id: &ClaimId,
    ) -> Result<SettleReply, NoAnswer> {
        let slot = self.slot(scope.session_id()).ok_or(NoAnswer)?;
        let patience = self.limits().deadlines.settle;
        let return_by = Instant::now() + patience;
        let mut former: Option<Arc<Attachment>> = None;
        loop {
            let attached = tokio::select! {
                attached = slot.reattached(former.as_ref(), return_by) => attached,
                // Nobody comes back any more.
                () = self.stopping().cancelled() => slot.attached(),
            };
            let attachment = attached.filter(|now| !is(former.as_ref(), now));
            let attachment = attachment.ok_or(NoAnswer)?;
            let settle = CommandBody::Settle {
                request_id: request_id.clone(),
                claim_id: claim_id.clone(),
            };
            // A sidecar that came back late is given the time to answer.
            let deadline = return_by.max(Instant::now() + patience / 2);
            match attachment.ask(settle, deadline).await {
                Ok((_, AnswerBody::Settle(reply))) => return Ok(reply),
                Err(Unanswered::Closed) => former = Some(attachment),
                answer => {
                    tracing::warn!(
                        claim = %claim_id,
                        session = %slot.session_id,
                        answer = name(&answer),
                        "a claim could not be settled: the sidecar is cut off"
                    );
                    attachment.cut();
                    return Err(NoAnswer);
                }
            }
        }
    }

    async fn acknowledge(
        &self,
        scope: &dyn SessionScope,
        request_id: &RequestId,
        claim_id: &ClaimId,
    ) {
        let slot = self.slot(scope.session_id());
        if let Some(attachment) = slot.and_then(|slot| slot.attached()) {
            let deadline = Instant::now() + self.limits().deadlines.read;
            attachment.acknowledge(request_id, claim_id, deadline).await;
        }
    }
}

/// What came of reading a session.
enum Read {
    Answer(Arc<Attachment>, Asked),
    Vacant,
    Recovering,
    Away,
}

impl Hub {
    /// Asks the session's live execution. One whose connection closes before it answers has ended
    /// or comes back: whichever it is decides.
    async fn read(&self, slot: &Slot, command: impl Fn() -> CommandBody) -> Read {
        let deadline = Instant::now() + self.limits().deadlines.read;
        let mut former: Option<Arc<Attachment>> = None;
        loop {
            let attachment = match slot.presence(former.as_ref(), deadline).await {
                Presence::Live(attachment) => attachment,
                Presence::Vacant => return Read::Vacant,
                Presence::Recovering => return Read::Recovering,
                Presence::Away => return Read::Away,
            };
            match attachment.ask(command(), deadline).await {
                Err(Unanswered::Closed) => former = Some(attachment),
                answer => return Read::Answer(attachment, answer),
            }
        }
    }
}

fn is(one: Option<&Arc<Attachment>>, other: &Arc<Attachment>) -> bool {
    one.is_some_and(|one| Arc::ptr_eq(one, other))
}

type Asked = Result<crate::attachment::Answered, Unanswered>;

fn unread(slot: &Slot, answer: Asked) -> RuntimeUnavailable {
    tracing::warn!(session = %slot.session_id, answer = name(&answer), "a session could not be read");
    RuntimeUnavailable
}

fn name(answer: &Asked) -> &'static str {
    match answer {
        Err(Unanswered::Full) => "too many commands wait",
        Err(Unanswered::Closed) => "the connection broke",
        Err(Unanswered::Late) => "none in time",
        Ok((_, AnswerBody::TooLarge)) => "too large",
        Ok((_, AnswerBody::List(_))) => "a list",
        Ok((_, AnswerBody::Find(_))) => "a request",
        Ok((_, AnswerBody::Deliver(_))) => "a delivery",
        Ok((_, AnswerBody::Settle(_))) => "a settlement",
    }
}
