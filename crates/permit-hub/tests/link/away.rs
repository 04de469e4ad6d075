//! A connection that breaks.

use std::time::Duration;

use permit_domain::{AuditResult, ExpiryReason, MessageStatus};
use permit_hub::Limits;
use permit_policy::EndReason;
use permit_uplink::{LinkState, Timings};
use tokio::time::timeout;

use crate::gateway::{World, brisk, code, eventually, impatient, session};
use crate::sidecar::{Sidecar, Told};
use crate::wire::Wire;

#[tokio::test]
async fn a_sidecar_that_comes_back_goes_on_with_the_same_prompts() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    let wire = Wire::to(gateway.address).await;
    let mut sidecar = Sidecar::start(wire.address, &world.credential())
        .attached()
        .await;
    sidecar.ask("p-1");
    let before = gateway.listed(1).await;

    wire.cut();
    sidecar.until(LinkState::Away).await;
    eventually(async || {
        let failed = gateway.list_of(Some(&session())).await.err()?;
        assert_eq!(code(failed), "permission_runtime_unavailable");
        Some(())
    })
    .await;
    let resolved = gateway.resolve(&before[0], "allow").await;
    assert_eq!(
        code(resolved.expect_err("it is away")),
        "permission_runtime_unavailable"
    );
    sidecar.ask("p-2");

    wire.lay(gateway.address);
    let after = gateway.listed(2).await;
    assert_eq!(after[0], before[0]);
    gateway
        .resolve(&after[0], "allow")
        .await
        .expect("it is resolved");
    assert_eq!(sidecar.told().await, Told::Writing("allow".to_owned()));
    assert_eq!(world.records.ends(&session()), [None]);
}

#[tokio::test]
async fn a_sidecar_that_stays_away_is_given_up_and_lists_anew_when_it_returns() {
    let world = World::new();
    let gateway = world.gateway(impatient()).await;
    let wire = Wire::to(gateway.address).await;
    let mut sidecar = Sidecar::start(wire.address, &world.credential())
        .attached()
        .await;
    let request = sidecar.ask("p-1");
    gateway.listed(1).await;

    wire.cut();
    let message = eventually(async || {
        let message = world.known(&request).await.message?;
        (message.status == MessageStatus::Expired).then_some(message)
    })
    .await;
    assert_eq!(message.expiry_reason, Some(ExpiryReason::ExecutionEnded));
    assert_eq!(world.records.ends(&session()), [Some(EndReason::Lost)]);
    assert!(gateway.listed(0).await.is_empty());

    wire.lay(gateway.address);
    let after = gateway.listed(1).await;
    assert_ne!(after[0].request_id, request);
    assert_eq!(world.records.ends(&session()), [None]);
    gateway
        .resolve(&after[0], "allow")
        .await
        .expect("it is resolved");
    assert_eq!(sidecar.told().await, Told::Writing("allow".to_owned()));
}

#[tokio::test]
async fn a_connection_that_is_only_half_open_is_found_by_both_ends() {
    let world = World::new();
    let limits = Limits {
        ping: Duration::from_millis(20),
        silence: Duration::from_millis(200),
        ..brisk()
    };
    let gateway = world.gateway(limits).await;
    let wire = Wire::to(gateway.address).await;
    let timings = Timings {
        ping: Duration::from_millis(20),
        silence: Duration::from_millis(200),
        ..Timings::default()
    };
    let sidecar = Sidecar::with(timings, wire.address, &world.credential());
    let mut sidecar = sidecar.attached().await;

    wire.stall();
    sidecar.until(LinkState::Away).await;
    // At once, not after the deadline of a command: the gateway knows.
    eventually(async || {
        let session = session();
        let listing = gateway.list_of(Some(&session));
        let listed = timeout(Duration::from_secs(1), listing).await.ok()?;
        listed.err()
    })
    .await;
}

#[tokio::test]
async fn an_answer_that_was_lost_is_found_at_the_next_attach() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    let wire = Wire::to(gateway.address).await;
    let sidecar = Sidecar::start(wire.address, &world.credential()).whose_provider_waits();
    let mut sidecar = sidecar.attached().await;
    let request = sidecar.ask("p-1");
    let listed = gateway.listed(1).await;

    let breaks = async {
        assert_eq!(sidecar.told().await, Told::Writing("allow".to_owned()));
        wire.cut();
        sidecar.until(LinkState::Away).await;
        sidecar.reads.add_permits(1);
        assert_eq!(sidecar.told().await, Told::Selected("allow".to_owned()));
        wire.lay(gateway.address);
    };
    let (resolved, ()) = tokio::join!(gateway.resolve(&listed[0], "allow"), breaks);
    resolved.expect("it is resolved");
    let claim = world.known(&request).await.claim.expect("a claim");
    assert_eq!(claim.result, AuditResult::Accepted);
    assert!(sidecar.was_told_nothing_more());
}

#[tokio::test]
async fn a_prompt_whose_claim_never_came_is_listed_under_a_fresh_id() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    let wire = Wire::to(gateway.address).await;
    let mut sidecar = Sidecar::start(wire.address, &world.credential())
        .attached()
        .await;
    let request = sidecar.ask("p-1");
    let before = gateway.listed(1).await;
    let claimed = world.claim_only(&before[0]).await;
    assert!(
        gateway.list().await.is_empty(),
        "what is claimed is not listed"
    );

    wire.cut();
    sidecar.until(LinkState::Away).await;
    wire.lay(gateway.address);
    let after = gateway.listed(1).await;
    assert_ne!(after[0].request_id, request);
    assert_eq!(after[0].pending_id, before[0].pending_id);
    let claim = world.known(&request).await.claim.expect("a claim");
    assert_eq!(claim.result, AuditResult::Failed);
    assert_eq!(claim.claim_id, claimed.record().claim_id);
    let late = sidecar.registry.deliver(&claimed.order()).await;
    assert_eq!(
        late,
        permit_domain::DeliverReply::Gone(ExpiryReason::Superseded)
    );

    gateway
        .resolve(&after[0], "reject")
        .await
        .expect("it is resolved");
    assert_eq!(sidecar.told().await, Told::Writing("reject".to_owned()));
}

#[tokio::test]
async fn a_claim_that_nobody_can_settle_any_more_is_indeterminate() {
    let world = World::new();
    let gateway = world.gateway(impatient()).await;
    let sidecar = Sidecar::start(gateway.address, &world.credential()).whose_provider_waits();
    let mut sidecar = sidecar.attached().await;
    let request = sidecar.ask("p-1");
    let listed = gateway.listed(1).await;
    let dies = async {
        assert_eq!(sidecar.told().await, Told::Writing("allow".to_owned()));
        sidecar.ended.abort();
    };
    let (resolved, ()) = tokio::join!(gateway.resolve(&listed[0], "allow"), dies);
    assert_eq!(
        code(resolved.expect_err("nobody knows")),
        "permission_delivery_failed"
    );
    let claim = world.known(&request).await.claim.expect("a claim");
    assert_eq!(claim.result, AuditResult::Indeterminate);
}
