//! The registry from outside: what a provider and a gateway can make of it.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may give up")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use permit_domain::{
    Action, ActionType, ClaimId, DeliverOrder, DeliverReply, ExpiryReason, OfferedOption, OptionId,
    OptionKind, PendingId, RequestId, Seq, SettleReply, ToolCallId,
};
use permit_projection::Projected;
use permit_registry::{
    AnswerError, FoundPrompt, Go, Limits, NewPrompt, Refused, Registry, Responder,
};
use permit_system::{SystemClock, TimeOrderedIds};
use tokio::sync::{Semaphore, mpsc};

/// What reached the provider.
#[derive(Debug, PartialEq, Eq)]
enum Reached {
    Selected(String),
    Cancelled,
}

struct Provider {
    reached: mpsc::UnboundedSender<Reached>,
    result: Result<(), AnswerError>,
    /// Holds the answer back before it is written.
    queue: Option<Arc<Semaphore>>,
    /// Holds the answer back while it is written.
    gate: Option<Arc<Semaphore>>,
}

#[async_trait]
impl Responder for Provider {
    async fn select(self: Box<Self>, option_id: &OptionId, go: Go) -> Result<(), AnswerError> {
        if let Some(queue) = &self.queue {
            queue.acquire().await.expect("open").forget();
        }
        if !go.ahead() {
            return Err(AnswerError::NothingWritten);
        }
        if let Some(gate) = &self.gate {
            gate.acquire().await.expect("open").forget();
        }
        if self.result.is_ok() {
            let option = option_id.as_str().to_owned();
            self.reached
                .send(Reached::Selected(option))
                .expect("a test");
        }
        self.result
    }

    fn cancel(self: Box<Self>) {
        self.reached.send(Reached::Cancelled).expect("a test");
    }
}

struct World {
    registry: Registry,
    sender: mpsc::UnboundedSender<Reached>,
    reached: mpsc::UnboundedReceiver<Reached>,
    asked: AtomicUsize,
}

impl World {
    fn new() -> Self {
        Self::bounded(Limits::default())
    }

    fn bounded(limits: Limits) -> Self {
        let (sender, reached) = mpsc::unbounded_channel();
        let ids = Arc::new(TimeOrderedIds);
        Self {
            registry: Registry::new(limits, Arc::new(SystemClock), ids),
            sender,
            reached,
            asked: AtomicUsize::new(0),
        }
    }

    fn prompt(&self, pending: &str) -> NewPrompt {
        self.prompt_answering(pending, Ok(()), None)
    }

    fn prompt_answering(
        &self,
        pending: &str,
        result: Result<(), AnswerError>,
        gate: Option<Arc<Semaphore>>,
    ) -> NewPrompt {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        let option = |id: &str, kind: &str| OfferedOption {
            option_id: OptionId::offered(id),
            name: id.to_owned(),
            kind: OptionKind::new(kind),
        };
        NewPrompt {
            provider_session: "s".to_owned(),
            provider_request: asked.to_string(),
            pending_id: PendingId::parse(pending).expect("valid"),
            tool_call_id: ToolCallId::parse("call").ok(),
            projected: Projected {
                title: "Run".to_owned(),
                action: Action::new(ActionType::Command),
                options: vec![option("yes", "allow_once"), option("no", "reject_once")],
            },
            responder: Box::new(Provider {
                reached: self.sender.clone(),
                result,
                queue: None,
                gate,
            }),
        }
    }

    fn open(&self, pending: &str) -> RequestId {
        let opened = self.registry.open(self.prompt(pending));
        opened.unwrap_or_else(|refused| panic!("{}", refused.why))
    }

    fn reached(&mut self) -> Vec<Reached> {
        std::iter::from_fn(|| self.reached.try_recv().ok()).collect()
    }

    fn live(&self) -> Vec<RequestId> {
        let (_, prompts) = self.registry.list();
        prompts.into_iter().map(|p| p.request_id).collect()
    }
}

fn claim(name: &str) -> ClaimId {
    ClaimId::parse(name).expect("valid")
}

fn order(request: &RequestId, pending: &str, option: &str, by: &str) -> DeliverOrder {
    DeliverOrder {
        claim_id: claim(by),
        request_id: request.clone(),
        pending_id: PendingId::parse(pending).expect("valid"),
        option_id: OptionId::offered(option),
    }
}

fn selected(option: &str) -> Reached {
    Reached::Selected(option.to_owned())
}

#[tokio::test]
async fn a_claimed_option_reaches_the_provider_once() {
    let mut world = World::new();
    let request = world.open("0");
    let order = order(&request, "0", "yes", "a");
    assert_eq!(
        world.registry.deliver(&order).await,
        DeliverReply::Delivered
    );
    assert_eq!(
        world.registry.deliver(&order).await,
        DeliverReply::Delivered
    );
    assert_eq!(world.reached(), [selected("yes")]);
    assert!(world.live().is_empty());
}

#[tokio::test]
async fn of_64_racing_claims_one_is_delivered() {
    let mut world = World::new();
    let request = world.open("0");
    let racing = (0..64).map(|n| {
        let (registry, order) = (
            world.registry.clone(),
            order(&request, "0", "yes", &format!("claim-{n}")),
        );
        tokio::spawn(async move { registry.deliver(&order).await })
    });
    let mut delivered = 0;
    for racer in racing.collect::<Vec<_>>() {
        delivered += usize::from(racer.await.expect("no panic") == DeliverReply::Delivered);
    }
    assert_eq!(delivered, 1);
    assert_eq!(world.reached(), [selected("yes")]);
}

#[tokio::test]
async fn an_order_that_does_not_fit_changes_nothing() {
    let mut world = World::new();
    let request = world.open("0");
    for misfit in [
        order(&request, "1", "yes", "a"),
        order(&request, "0", "Yes", "a"),
        order(&request, "0", "yes ", "a"),
        order(&request, "0", "", "a"),
    ] {
        assert_eq!(world.registry.deliver(&misfit).await, DeliverReply::Refused);
    }
    assert_eq!(world.live(), std::slice::from_ref(&request));
    assert!(world.reached().is_empty());
    let fitting = order(&request, "0", "no", "a");
    assert_eq!(
        world.registry.deliver(&fitting).await,
        DeliverReply::Delivered
    );
    assert_eq!(world.reached(), [selected("no")]);
}

#[tokio::test]
async fn a_stale_identity_never_reaches_a_newer_prompt_with_the_same_pending_id() {
    let mut world = World::new();
    let old = world.open("7");
    assert_eq!(world.registry.withdraw("s", "0"), 1);
    let new = world.open("7");
    let late = order(&old, "7", "yes", "a");
    assert_eq!(
        world.registry.deliver(&late).await,
        DeliverReply::Gone(ExpiryReason::Withdrawn)
    );
    assert_eq!(world.live(), [new]);
    assert_eq!(world.reached(), [Reached::Cancelled]);
}

#[tokio::test]
async fn live_prompts_may_share_pending_and_tool_call_ids() {
    let mut world = World::new();
    let (first, second) = (world.open("0"), world.open("0"));
    assert_ne!(first, second);
    let order = order(&first, "0", "yes", "a");
    assert_eq!(
        world.registry.deliver(&order).await,
        DeliverReply::Delivered
    );
    assert_eq!(world.live(), [second]);
    assert_eq!(world.reached(), [selected("yes")]);
    let call = ToolCallId::parse("call").expect("valid");
    assert_eq!(world.registry.withdraw_tool_call("other", &call), 0);
    assert_eq!(world.registry.withdraw_tool_call("s", &call), 1);
}

#[tokio::test]
async fn an_end_of_turn_cancels_its_own_session_only_and_an_end_of_execution_everything() {
    let mut world = World::new();
    world.open("0");
    assert_eq!(world.registry.turn_ended("other"), 0);
    assert_eq!(world.registry.turn_ended("s"), 1);
    let request = world.open("1");
    assert_eq!(world.registry.end_execution(), 1);
    assert_eq!(world.reached(), [Reached::Cancelled, Reached::Cancelled]);
    assert_eq!(
        world.registry.find(&request).1,
        FoundPrompt::Closed(Some(ExpiryReason::ExecutionEnded))
    );
    let refused = world.registry.open(world.prompt("2")).err();
    assert_eq!(refused.map(|r| r.why), Some(Refused::Ended));
}

#[tokio::test]
async fn a_prompt_over_the_bound_is_refused_and_counted() {
    let world = World::bounded(Limits {
        live: 2,
        ..Limits::default()
    });
    world.open("0");
    world.open("1");
    let refused = world.registry.open(world.prompt("2")).err();
    let refused = refused.expect("the bound is reached");
    assert_eq!(refused.why, Refused::Full);
    refused.responder.cancel();
    assert_eq!(world.registry.refused(), 1);
    assert_eq!(world.live().len(), 2);
}

#[tokio::test]
async fn a_full_memory_of_consumed_prompts_refuses_deliveries_until_acknowledged() {
    let mut world = World::bounded(Limits {
        consumed: 1,
        ..Limits::default()
    });
    let (first, second) = (world.open("0"), world.open("1"));
    let deliver_first = order(&first, "0", "yes", "a");
    let deliver_second = order(&second, "1", "yes", "b");
    let registry = world.registry.clone();
    assert_eq!(
        registry.deliver(&deliver_first).await,
        DeliverReply::Delivered
    );
    assert_eq!(
        registry.deliver(&deliver_second).await,
        DeliverReply::Refused
    );
    registry.acknowledge(&first, &claim("b"));
    assert_eq!(
        registry.deliver(&deliver_second).await,
        DeliverReply::Refused
    );
    registry.acknowledge(&first, &claim("a"));
    assert_eq!(
        registry.deliver(&deliver_second).await,
        DeliverReply::Delivered
    );
    assert_eq!(world.reached(), [selected("yes"), selected("yes")]);
    // Even forgotten, a consumed prompt cannot be delivered again.
    let again = registry.deliver(&deliver_first).await;
    assert!(matches!(again, DeliverReply::Gone(_)));
    assert!(world.reached().is_empty());
}

#[tokio::test]
async fn a_broken_way_to_the_provider_is_told_as_it_was() {
    for (error, reply) in [
        (AnswerError::NothingWritten, DeliverReply::NotWritten),
        (AnswerError::Broken, DeliverReply::Broken),
    ] {
        let world = World::new();
        let prompt = world.prompt_answering("0", Err(error), None);
        let request = world.registry.open(prompt).ok().expect("opened");
        let order = order(&request, "0", "yes", "a");
        assert_eq!(world.registry.deliver(&order).await, reply);
        assert_eq!(
            world.registry.settle(&request, &claim("a")),
            SettleReply::Consumed(reply)
        );
        assert!(world.live().is_empty());
    }
}

/// Delivers to a provider that holds the answer back, and ends the prompt meanwhile.
async fn ended_meanwhile(
    result: Result<(), AnswerError>,
    before_it_is_written: bool,
) -> (DeliverReply, Vec<Reached>) {
    let mut world = World::new();
    let held = Arc::new(Semaphore::new(0));
    let mut prompt = world.prompt("0");
    let holder = Some(Arc::clone(&held));
    let (queue, gate) = if before_it_is_written {
        (holder, None)
    } else {
        (None, holder)
    };
    let reached = world.sender.clone();
    prompt.responder = Box::new(Provider {
        reached,
        result,
        queue,
        gate,
    });
    let request = world.registry.open(prompt).ok().expect("opened");
    let deliver = order(&request, "0", "yes", "a");
    let registry = world.registry.clone();
    let delivery = tokio::spawn(async move { registry.deliver(&deliver).await });
    // One thread runs everything: after these turns the provider holds the answer back.
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        world.registry.settle(&request, &claim("a")),
        SettleReply::Delivering
    );
    world.registry.turn_ended("s");
    held.add_permits(1);
    let reply = delivery.await.expect("no panic");
    (reply, world.reached())
}

#[tokio::test]
async fn a_prompt_that_ends_before_its_answer_is_written_is_not_answered() {
    let (reply, reached) = ended_meanwhile(Ok(()), true).await;
    assert_eq!(reply, DeliverReply::Gone(ExpiryReason::TurnEnded));
    assert!(reached.is_empty());
}

#[tokio::test]
async fn what_follows_an_answer_does_not_change_that_it_was_delivered() {
    let (reply, reached) = ended_meanwhile(Ok(()), false).await;
    assert_eq!(reply, DeliverReply::Delivered);
    assert_eq!(reached, [selected("yes")]);
    let (reply, _) = ended_meanwhile(Err(AnswerError::Broken), false).await;
    assert_eq!(reply, DeliverReply::Broken);
}

#[tokio::test]
async fn a_caller_that_goes_away_does_not_cut_a_delivery() {
    let world = World::new();
    let gate = Arc::new(Semaphore::new(0));
    let prompt = world.prompt_answering("0", Ok(()), Some(Arc::clone(&gate)));
    let request = world.registry.open(prompt).ok().expect("opened");
    let deliver = order(&request, "0", "yes", "a");
    {
        let delivery = world.registry.deliver(&deliver);
        tokio::pin!(delivery);
        let polled = std::future::poll_fn(|cx| std::task::Poll::Ready(delivery.as_mut().poll(cx)));
        assert!(polled.await.is_pending());
    }
    gate.add_permits(1);
    assert_eq!(
        world.registry.deliver(&deliver).await,
        DeliverReply::Delivered
    );
}

#[tokio::test]
async fn a_claim_that_never_came_is_retired_and_its_prompt_listed_afresh() {
    let mut world = World::new();
    let request = world.open("0");
    let SettleReply::Retired { fresh } = world.registry.settle(&request, &claim("a")) else {
        panic!("the prompt still waits");
    };
    assert_eq!(world.live(), std::slice::from_ref(&fresh));
    let late = order(&request, "0", "yes", "a");
    assert_eq!(
        world.registry.deliver(&late).await,
        DeliverReply::Gone(ExpiryReason::Superseded)
    );
    assert!(world.reached().is_empty());
    let anew = order(&fresh, "0", "no", "b");
    assert_eq!(world.registry.deliver(&anew).await, DeliverReply::Delivered);
    assert_eq!(world.reached(), [selected("no")]);
}

#[tokio::test]
async fn settle_tells_what_ended_and_what_was_never_known() {
    let world = World::new();
    let request = world.open("0");
    world.registry.turn_ended("s");
    assert_eq!(
        world.registry.settle(&request, &claim("a")),
        SettleReply::Gone(ExpiryReason::TurnEnded)
    );
    let never = RequestId::parse("never").expect("valid");
    assert_eq!(
        world.registry.settle(&never, &claim("a")),
        SettleReply::Unknown
    );
}

#[tokio::test]
async fn a_relist_gives_every_waiting_prompt_a_fresh_generation() {
    let world = World::new();
    let old = [world.open("0"), world.open("1")];
    let (_, before) = world.registry.list();
    assert_eq!(world.registry.relist(), 2);
    let (_, after) = world.registry.list();
    assert_eq!(after.len(), 2);
    for (before, after) in before.iter().zip(&after) {
        assert!(!old.contains(&after.request_id));
        assert_eq!(before.pending_id, after.pending_id);
        assert_eq!(before.created_at, after.created_at);
        assert_eq!(before.options, after.options);
    }
}

#[tokio::test]
async fn deltas_add_up_to_the_whole() {
    let world = World::bounded(Limits {
        closed: 2,
        ..Limits::default()
    });
    let first = world.open("0");
    let start = world.registry.delta(Seq::default());
    assert!(start.full);
    assert_eq!(start.opened.len(), 1);

    let second = world.open("1");
    world.registry.withdraw("s", "0");
    let step = world.registry.delta(start.seq);
    assert!(!step.full);
    assert_eq!(step.opened.len(), 1);
    assert_eq!(step.opened[0].request_id, second);
    assert_eq!(step.closed.len(), 1);
    assert_eq!(step.closed[0].request_id, first);
    assert!(world.registry.delta(step.seq).opened.is_empty());

    let deliver = order(&second, "1", "yes", "a");
    world.registry.deliver(&deliver).await;
    for pending in ["2", "3", "4"] {
        world.open(pending);
        world.registry.turn_ended("s");
    }
    let late = world.registry.delta(step.seq);
    assert!(late.full, "the memory no longer reaches back");
    assert_eq!(late.closed.len(), 2);
    assert_eq!(late.consumed.len(), 1);
    assert_eq!(late.consumed[0].reply, Some(DeliverReply::Delivered));
}
