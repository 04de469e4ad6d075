//! An attached sidecar: list, resolve, withdraw, leave.

use futures::future::join_all;
use permit_domain::{AuditResult, MessageStatus};
use permit_policy::EndReason;
use permit_uplink::UplinkEnd;

use crate::gateway::{World, brisk, code, eventually, session};
use crate::sidecar::{Sidecar, Told};

#[tokio::test]
async fn a_prompt_is_listed_and_its_choice_reaches_the_provider_once() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    let mut sidecar = Sidecar::start(gateway.address, &world.credential())
        .attached()
        .await;
    let request = sidecar.ask("p-1");

    let listed = gateway.listed(1).await;
    assert_eq!(listed[0].request_id, request);
    assert_eq!(listed[0].options.len(), 2);

    gateway
        .resolve(&listed[0], "reject")
        .await
        .expect("it is resolved");
    assert_eq!(sidecar.told().await, Told::Writing("reject".to_owned()));
    assert_eq!(sidecar.told().await, Told::Selected("reject".to_owned()));

    let again = gateway.resolve(&listed[0], "allow").await;
    assert_eq!(
        code(again.expect_err("a replay")),
        "permission_already_resolved"
    );
    assert!(gateway.list().await.is_empty());
    assert!(sidecar.was_told_nothing_more());
    let claim = world.known(&request).await.claim.expect("a claim");
    assert_eq!(claim.result, AuditResult::Accepted);
}

#[tokio::test]
async fn an_acknowledged_claim_is_forgotten_by_the_sidecar() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    let sidecar = Sidecar::start(gateway.address, &world.credential())
        .attached()
        .await;
    sidecar.ask("p-1");
    let listed = gateway.listed(1).await;
    gateway
        .resolve(&listed[0], "allow")
        .await
        .expect("it is resolved");
    let registry = &sidecar.registry;
    eventually(async || {
        let everything = registry.delta(permit_domain::Seq(0));
        everything.consumed.is_empty().then_some(())
    })
    .await;
}

#[tokio::test]
async fn what_is_withdrawn_is_recorded_without_being_listed_first() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    let sidecar = Sidecar::start(gateway.address, &world.credential())
        .attached()
        .await;
    let request = sidecar.ask("p-1");
    eventually(async || world.known(&request).await.message).await;
    assert_eq!(sidecar.registry.withdraw("provider-session", "p-1"), 1);
    let message = eventually(async || {
        let message = world.known(&request).await.message;
        message.filter(|message| message.status == MessageStatus::Expired)
    })
    .await;
    assert_eq!(message.title, "Run p-1");
    assert!(gateway.list().await.is_empty());
}

#[tokio::test]
async fn many_callers_resolve_many_prompts_at_once() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    let mut sidecar = Sidecar::start(gateway.address, &world.credential())
        .attached()
        .await;
    for n in 0..100 {
        sidecar.ask(&format!("p-{n}"));
    }
    let listed = gateway.listed(100).await;
    let resolving = listed.iter().map(|prompt| gateway.resolve(prompt, "allow"));
    for resolved in join_all(resolving).await {
        resolved.expect("it is resolved");
    }
    for _ in 0..200 {
        assert_ne!(sidecar.told().await, Told::Cancelled);
    }
    assert!(gateway.list().await.is_empty());
}

#[tokio::test]
async fn a_sidecar_that_leaves_ends_its_execution_at_once() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    let mut sidecar = Sidecar::start(gateway.address, &world.credential())
        .attached()
        .await;
    let request = sidecar.ask("p-1");
    gateway.listed(1).await;
    sidecar.leave();
    assert_eq!(sidecar.end().await, UplinkEnd::ShutDown);
    assert_eq!(sidecar.told().await, Told::Cancelled);

    assert_eq!(world.records.ends(&session()), [Some(EndReason::Exited)]);
    assert!(gateway.list().await.is_empty());
    let message = world.known(&request).await.message.expect("a message");
    assert_eq!(message.status, MessageStatus::Expired);
}

#[tokio::test]
async fn a_session_that_never_attached_lists_nothing() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    assert!(gateway.list().await.is_empty());
}

#[tokio::test]
async fn a_revoked_credential_ends_the_execution() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    let mut sidecar = Sidecar::start(gateway.address, &world.credential())
        .attached()
        .await;
    sidecar.ask("p-1");
    gateway.listed(1).await;
    world.records.revoke(&session());
    let end = sidecar.end().await;
    assert_eq!(end, UplinkEnd::Revoked);
    assert_eq!(sidecar.told().await, Told::Cancelled);
    eventually(async || {
        (world.records.ends(&session()) == [Some(EndReason::Revoked)]).then_some(())
    })
    .await;
    eventually(async || gateway.list().await.is_empty().then_some(())).await;
}

#[tokio::test]
async fn a_credential_that_is_not_known_ends_the_link() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    let unknown = World::new().credential();
    let mut sidecar = Sidecar::start(gateway.address, &unknown);
    assert_eq!(sidecar.end().await, UplinkEnd::Unauthorized);
}
