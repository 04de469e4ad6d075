//! What happens past the claim, and when it cannot be made.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use permit_audit::NoAnswer;
use permit_domain::{AuditResult, DeliverReply, ExpiryReason, Outcome, SettleReply};
use tokio::sync::Semaphore;

use crate::world::{SESSION, World, ask, prompt, refusal, request_id};

async fn world() -> World {
    let world = World::new();
    world.agents.show(SESSION, &prompt("r", 0));
    world
}

async fn settled(world: &World) -> AuditResult {
    for _ in 0..1000 {
        let claim = world.claim("r").await.expect("a claim");
        if claim.result != AuditResult::Dispatching {
            return claim.result;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the claim does not end");
}

#[tokio::test]
async fn a_claim_that_cannot_be_written_sends_nothing() {
    let world = world().await;
    world.store.no_claims.store(true, Ordering::SeqCst);
    let failure = world.resolve("r", "yes").await.expect_err("refused");
    assert_eq!(refusal(&failure), ("permission_audit_failed", None));
    assert!(world.agents.delivered.lock().expect("ok").is_empty());
    world.store.no_claims.store(false, Ordering::SeqCst);
    world.resolve("r", "yes").await.expect("resolved");
}

#[tokio::test]
async fn a_refused_attempt_that_cannot_be_written_is_told_as_such() {
    let world = world().await;
    world.store.no_attempts.store(true, Ordering::SeqCst);
    let failure = world.resolve("r", "other").await.expect_err("refused");
    assert_eq!(refusal(&failure), ("permission_audit_failed", None));
}

#[tokio::test]
async fn each_answer_of_the_sidecar_ends_the_claim_as_it_was() {
    let gone = DeliverReply::Gone(ExpiryReason::Withdrawn);
    for (reply, result, outcome) in [
        (gone, AuditResult::Stale, Outcome::NotDelivered),
        (
            DeliverReply::NotWritten,
            AuditResult::Failed,
            Outcome::NotDelivered,
        ),
        (
            DeliverReply::Broken,
            AuditResult::Indeterminate,
            Outcome::Unknown,
        ),
    ] {
        let world = world().await;
        let told = Ok(reply);
        world.agents.deliveries.lock().expect("ok").push_back(told);
        let failure = world.resolve("r", "yes").await.expect_err("refused");
        let wanted = ("permission_delivery_failed", Some(outcome));
        assert_eq!(refusal(&failure), wanted);
        assert_eq!(world.claim("r").await.expect("a claim").result, result);
        let failure = world.resolve("r", "yes").await.expect_err("refused");
        assert_eq!(refusal(&failure).0, "permission_already_resolved");
        assert_eq!(world.agents.delivered.lock().expect("ok").len(), 1);
        assert_eq!(world.agents.acknowledged.lock().expect("ok").len(), 1);
    }
}

#[tokio::test]
async fn an_order_without_an_answer_is_settled_and_only_then_indeterminate() {
    let fresh = request_id("fresh");
    for (reply, result) in [
        (Err(NoAnswer), AuditResult::Indeterminate),
        (Ok(SettleReply::Delivering), AuditResult::Indeterminate),
        (Ok(SettleReply::Unknown), AuditResult::Indeterminate),
        (
            Ok(SettleReply::Consumed(DeliverReply::Delivered)),
            AuditResult::Accepted,
        ),
        (Ok(SettleReply::Retired { fresh }), AuditResult::Failed),
        (
            Ok(SettleReply::Gone(ExpiryReason::TurnEnded)),
            AuditResult::Stale,
        ),
    ] {
        let world = world().await;
        let silent = Err(NoAnswer);
        world
            .agents
            .deliveries
            .lock()
            .expect("ok")
            .push_back(silent);
        world
            .agents
            .settlements
            .lock()
            .expect("ok")
            .push_back(reply);
        let resolved = world.resolve("r", "yes").await;
        assert_eq!(resolved.is_ok(), result == AuditResult::Accepted);
        assert_eq!(world.claim("r").await.expect("a claim").result, result);
        assert_eq!(world.agents.delivered.lock().expect("ok").len(), 1);
    }
}

#[tokio::test]
async fn a_sidecar_that_refuses_is_asked_to_list_its_prompt_anew() {
    let world = world().await;
    let refused = Ok(DeliverReply::Refused);
    world
        .agents
        .deliveries
        .lock()
        .expect("ok")
        .push_back(refused);
    let failure = world.resolve("r", "yes").await.expect_err("refused");
    assert_eq!(refusal(&failure).1, Some(Outcome::NotDelivered));
    assert!(world.service.drain(Duration::from_secs(60)).await);
    assert_eq!(*world.agents.settled.lock().expect("ok"), [request_id("r")]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_final_write_is_told_kept_and_made_up_for() {
    let world = world().await;
    world.store.no_ends.store(true, Ordering::SeqCst);
    let failure = world.resolve("r", "yes").await.expect_err("refused");
    let wanted = ("permission_delivery_failed", Some(Outcome::Delivered));
    assert_eq!(refusal(&failure), wanted);
    let claim = world.claim("r").await.expect("a claim");
    assert_eq!(claim.result, AuditResult::Dispatching);
    let failure = world.resolve("r", "no").await.expect_err("refused");
    assert_eq!(refusal(&failure).0, "permission_resolution_in_progress");
    world.store.no_ends.store(false, Ordering::SeqCst);
    assert_eq!(settled(&world).await, AuditResult::Accepted);
    assert_eq!(world.agents.delivered.lock().expect("ok").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_does_not_wait_for_a_store_that_stays_down() {
    let world = world().await;
    world.store.no_ends.store(true, Ordering::SeqCst);
    world.resolve("r", "yes").await.expect_err("refused");
    assert!(world.service.drain(Duration::from_secs(60)).await);
    let claim = world.claim("r").await.expect("a claim");
    assert_eq!(claim.result, AuditResult::Dispatching);
}

#[tokio::test]
async fn a_client_that_goes_away_after_the_claim_cuts_nothing() {
    let world = world().await;
    let gate = Arc::new(Semaphore::new(0));
    *world.agents.gate.lock().expect("ok") = Some(Arc::clone(&gate));
    let caller = world.caller().await;
    let service = world.service.clone();
    let client = tokio::spawn(async move {
        let _ = service.resolve(caller, &ask("r", "p", "yes")).await;
    });
    while world.claim("r").await.is_none() {
        tokio::task::yield_now().await;
    }
    client.abort();
    assert!(client.await.is_err());
    let failure = world.resolve("r", "no").await.expect_err("refused");
    assert_eq!(refusal(&failure).0, "permission_resolution_in_progress");
    gate.add_permits(1);
    assert!(world.service.drain(Duration::from_secs(60)).await);
    let claim = world.claim("r").await.expect("a claim");
    assert_eq!(claim.result, AuditResult::Accepted);
}

#[tokio::test]
async fn of_64_racing_callers_one_is_delivered() {
    let world = Arc::new(world().await);
    let racing = (0..64).map(|_| {
        let world = Arc::clone(&world);
        tokio::spawn(async move { world.resolve("r", "yes").await })
    });
    let mut won = 0;
    for racer in racing.collect::<Vec<_>>() {
        match racer.await.expect("no panic") {
            Ok(()) => won += 1,
            Err(failure) => {
                let lost = [
                    "permission_resolution_in_progress",
                    "permission_already_resolved",
                ];
                assert!(lost.contains(&refusal(&failure).0), "{failure}");
            }
        }
    }
    assert_eq!(won, 1);
    assert_eq!(world.agents.delivered.lock().expect("ok").len(), 1);
}

#[tokio::test]
async fn a_prompt_consumed_while_it_is_looked_up_is_resolved_and_not_stale() {
    let world = Arc::new(world().await);
    let gate = Arc::new(Semaphore::new(0));
    *world.agents.find_gate.lock().expect("ok") = Some(Arc::clone(&gate));
    let loser = {
        let world = Arc::clone(&world);
        tokio::spawn(async move { world.resolve("r", "no").await })
    };
    while world.agents.find_gate.lock().expect("ok").is_some() {
        tokio::task::yield_now().await;
    }
    world.resolve("r", "yes").await.expect("resolved");
    world.agents.hide_all();
    gate.add_permits(1);
    let failure = loser.await.expect("no panic").expect_err("refused");
    assert_eq!(refusal(&failure).0, "permission_already_resolved");
}
