//! What an end of an execution leaves behind. Attaches are tested over the real link.

use std::sync::atomic::Ordering;
use std::time::Duration;

use permit_domain::AuditResult;

use crate::world::{SESSION, World, prompt, refusal};

#[tokio::test(start_paused = true)]
async fn an_end_of_execution_expires_prompts_and_leaves_no_claim_dispatching() {
    let world = World::new();
    world.agents.show(SESSION, &prompt("claimed", 0));
    world.agents.show(SESSION, &prompt("waiting", 0));
    world.list(None).await.expect("listed");
    world.store.no_ends.store(true, Ordering::SeqCst);
    world.resolve("claimed", "yes").await.expect_err("refused");
    assert!(world.service.drain(Duration::from_secs(60)).await);
    world.store.no_ends.store(false, Ordering::SeqCst);
    world.agents.hide_all();

    let ended = world.service.end_execution(&world.upkeep()).await;
    ended.expect("recorded");
    let claim = world.claim("claimed").await.expect("a claim");
    assert_eq!(claim.result, AuditResult::Indeterminate);
    let failure = world.resolve("waiting", "yes").await.expect_err("refused");
    assert_eq!(refusal(&failure).0, "permission_stale");
    let attempts = world.attempts().await;
    let unattended = attempts.iter().filter(|row| row.actor_user_id.is_none());
    assert_eq!(unattended.count(), 1);
}
