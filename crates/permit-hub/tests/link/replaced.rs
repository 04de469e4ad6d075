//! Two sidecars of one session.

use permit_domain::MessageStatus;
use permit_policy::EndReason;
use permit_uplink::UplinkEnd;

use crate::gateway::{World, brisk, eventually, session};
use crate::sidecar::{Sidecar, Told};
use crate::wire::Wire;

#[tokio::test]
async fn a_new_execution_takes_the_session_and_the_old_one_gives_way() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    let mut old = Sidecar::start(gateway.address, &world.credential())
        .attached()
        .await;
    let former = old.ask("p-old");
    gateway.listed(1).await;

    let new = Sidecar::start(gateway.address, &world.credential())
        .attached()
        .await;
    assert_eq!(old.end().await, UplinkEnd::Replaced);
    assert_eq!(old.told().await, Told::Cancelled);
    assert_eq!(
        world.records.ends(&session()),
        [Some(EndReason::Replaced), None]
    );
    let message = world.known(&former).await.message.expect("a message");
    assert_eq!(message.status, MessageStatus::Expired);

    let request = new.ask("p-new");
    let listed = gateway.listed(1).await;
    assert_eq!(listed[0].request_id, request);
}

#[tokio::test]
async fn one_that_was_replaced_while_it_was_away_does_not_fight_back() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    let wire = Wire::to(gateway.address).await;
    let mut old = Sidecar::start(wire.address, &world.credential())
        .attached()
        .await;
    old.ask("p-old");
    gateway.listed(1).await;
    wire.cut();

    let new = Sidecar::start(gateway.address, &world.credential())
        .attached()
        .await;
    wire.lay(gateway.address);
    assert_eq!(old.end().await, UplinkEnd::Replaced);
    assert_eq!(old.told().await, Told::Cancelled);
    new.ask("p-new");
    gateway.listed(1).await;
}

#[tokio::test]
async fn sessions_of_one_task_do_not_disturb_each_other() {
    let world = World::new();
    let gateway = world.gateway(brisk()).await;
    let a = Sidecar::start(gateway.address, &world.credential())
        .attached()
        .await;
    let b = Sidecar::start(gateway.address, &world.other_credential())
        .attached()
        .await;
    let (of_a, of_b) = (a.ask("p"), b.ask("p"));
    eventually(async || {
        let listed = gateway.list_of(None).await.expect("both can be listed");
        let ids: Vec<_> = listed
            .permissions
            .iter()
            .map(|p| &p.prompt.request_id)
            .collect();
        (ids == [&of_a, &of_b]).then_some(())
    })
    .await;
}
