//! A gateway that stops and another that starts over the same stores.

use std::time::Duration;

use permit_domain::{AuditResult, MessageStatus};
use permit_hub::Limits;
use permit_policy::EndReason;
use permit_uplink::LinkState;

use crate::gateway::{World, brisk, code, eventually, impatient, session};
use crate::sidecar::{Sidecar, Told};
use crate::wire::Wire;

#[tokio::test]
async fn a_sidecar_outlives_its_gateway() {
    let world = World::new();
    let first = world.gateway(brisk()).await;
    let wire = Wire::to(first.address).await;
    let mut sidecar = Sidecar::start(wire.address, &world.credential())
        .attached()
        .await;
    sidecar.ask("p-1");
    let before = first.listed(1).await;
    first.kill();
    wire.cut();

    let second = world.gateway(brisk()).await;
    assert!(second.list().await.is_empty(), "nothing is made of history");
    let resolved = second.resolve(&before[0], "allow").await;
    assert_eq!(
        code(resolved.expect_err("not yet")),
        "permission_runtime_unavailable"
    );

    wire.lay(second.address);
    assert_eq!(second.listed(1).await, before);
    second
        .resolve(&before[0], "allow")
        .await
        .expect("it is resolved");
    assert_eq!(sidecar.told().await, Told::Writing("allow".to_owned()));
    assert_eq!(world.records.ends(&session()), [None]);
}

#[tokio::test]
async fn what_a_dead_gateway_delivered_is_settled_by_the_next() {
    let world = World::new();
    let first = world.gateway(brisk()).await;
    let wire = Wire::to(first.address).await;
    let mut sidecar = Sidecar::start(wire.address, &world.credential())
        .attached()
        .await;
    let request = sidecar.ask("p-1");
    let listed = first.listed(1).await;
    // As a gateway that dies between the answer and its record.
    let claimed = world.claim_only(&listed[0]).await;
    sidecar.registry.deliver(&claimed.order()).await;
    first.kill();
    wire.cut();
    sidecar.until(LinkState::Away).await;

    let second = world.gateway(brisk()).await;
    wire.lay(second.address);
    sidecar.until(LinkState::Attached).await;
    let known = world.known(&request).await;
    assert_eq!(known.claim.expect("a claim").result, AuditResult::Accepted);
    assert_eq!(
        known.message.expect("a message").status,
        MessageStatus::Approved
    );
    let registry = &sidecar.registry;
    eventually(async || {
        registry
            .delta(permit_domain::Seq(0))
            .consumed
            .is_empty()
            .then_some(())
    })
    .await;
}

#[tokio::test]
async fn what_does_not_come_back_after_a_restart_ends() {
    let world = World::new();
    let first = world.gateway(brisk()).await;
    let sidecar = Sidecar::start(first.address, &world.credential())
        .attached()
        .await;
    let request = sidecar.ask("p-1");
    let claimed_request = sidecar.ask("p-2");
    let listed = first.listed(2).await;
    let claimed = listed
        .iter()
        .find(|prompt| prompt.request_id == claimed_request);
    world.claim_only(claimed.expect("it is listed")).await;
    first.kill();
    drop(sidecar);

    let second = world.gateway(impatient()).await;
    eventually(async || (world.records.ends(&session()) == [Some(EndReason::Lost)]).then_some(()))
        .await;
    eventually(async || {
        let claim = world.known(&claimed_request).await.claim?;
        (claim.result == AuditResult::Indeterminate).then_some(())
    })
    .await;
    let message = world.known(&request).await.message.expect("a message");
    assert_eq!(message.status, MessageStatus::Expired);
    let resolved = second.resolve(&listed[0], "allow").await;
    assert_eq!(code(resolved.expect_err("it is over")), "permission_stale");
}

#[tokio::test]
async fn a_shutdown_ends_no_execution_and_the_sidecar_comes_back_at_once() {
    let world = World::new();
    let first = world.gateway(brisk()).await;
    let wire = Wire::to(first.address).await;
    let mut sidecar = Sidecar::start(wire.address, &world.credential())
        .attached()
        .await;
    sidecar.ask("p-1");
    let before = first.listed(1).await;
    first.hub.shut_down().await;
    sidecar.until(LinkState::Away).await;
    assert_eq!(world.records.ends(&session()), [None]);

    let second = world.gateway(brisk()).await;
    wire.lay(second.address);
    assert_eq!(second.listed(1).await, before);
    assert!(sidecar.was_told_nothing_more());
}

#[tokio::test]
async fn a_gateway_that_forgot_the_execution_gets_a_new_one_with_the_same_prompts() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    let wire = Wire::to(gateway.address).await;
    let sidecar = Sidecar::start(wire.address, &world.credential())
        .attached()
        .await;
    let request = sidecar.ask("p-1");
    gateway.listed(1).await;
    wire.cut();
    world.records.forget_executions();
    wire.lay(gateway.address);
    let after = eventually(async || {
        let listed = gateway.list_of(Some(&session())).await.ok()?;
        let prompt = listed.permissions.into_iter().next()?.prompt;
        (prompt.request_id != request).then_some(prompt)
    })
    .await;
    assert_eq!(after.title, "Run p-1");
    assert_eq!(world.records.ends(&session()), [None]);
}

#[tokio::test]
async fn a_store_that_fails_keeps_the_sidecar_out_until_it_works() {
    let world = World::new();
    let gateway = world
        .gateway(Limits {
            credential_check: Duration::from_secs(60),
            ..brisk()
        })
        .await;
    let broken = &world.records.broken;
    broken.store(true, std::sync::atomic::Ordering::SeqCst);
    let sidecar = Sidecar::start(gateway.address, &world.credential());
    assert_eq!(*sidecar.state.borrow(), LinkState::Connecting);
    broken.store(false, std::sync::atomic::Ordering::SeqCst);
    let sidecar = sidecar.attached().await;
    sidecar.ask("p-1");
    gateway.listed(1).await;
}
