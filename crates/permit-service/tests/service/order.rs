//! What is asked before what.

use std::sync::atomic::Ordering;

use crate::world::{OTHER_SESSION, SESSION, World, ask, prompt, refusal, session, task};

#[tokio::test]
async fn nothing_is_looked_up_for_who_may_not() {
    let world = World::new();
    world.agents.show(SESSION, &prompt("r", 0));
    let mut foreign = ask("r", "p", "yes");
    foreign.session_id = session("foreign");
    let failure = world.resolve_exactly(&foreign).await.expect_err("refused");
    assert_eq!(refusal(&failure).0, "task_or_session_not_found");
    let failure = world.list(Some("foreign")).await.expect_err("refused");
    assert_eq!(refusal(&failure).0, "task_or_session_not_found");
    assert_eq!(world.agents.looked_up.load(Ordering::SeqCst), 0);
    assert_eq!(world.records.asked.load(Ordering::SeqCst), 2);
    assert!(world.attempts().await.is_empty());
}

#[tokio::test]
async fn a_directory_that_cannot_be_asked_is_not_a_missing_task() {
    let world = World::new();
    world.records.down.store(true, Ordering::SeqCst);
    let failure = world.list(None).await.expect_err("refused");
    assert_eq!(refusal(&failure).0, "permission_runtime_unavailable");
    let failure = world.resolve("r", "yes").await.expect_err("refused");
    assert_eq!(refusal(&failure).0, "permission_runtime_unavailable");
}

#[tokio::test]
async fn a_list_is_ordered_by_creation_then_request() {
    let world = World::new();
    world.agents.show(SESSION, &prompt("c", 2));
    world.agents.show(SESSION, &prompt("b", 1));
    world.agents.show(OTHER_SESSION, &prompt("a", 2));
    world.agents.show(OTHER_SESSION, &prompt("d", 0));
    assert_eq!(
        world.list(None).await.expect("listed"),
        ["d", "b", "a", "c"]
    );
    let of_one = world.list(Some(SESSION)).await.expect("listed");
    assert_eq!(of_one, ["b", "c"]);
}

#[tokio::test]
async fn one_session_that_cannot_be_listed_fails_the_whole_list() {
    let world = World::new();
    world.agents.show(SESSION, &prompt("a", 0));
    let away = OTHER_SESSION.to_owned();
    world.agents.unavailable.lock().expect("ok").push(away);
    let failure = world.list(None).await.expect_err("refused");
    assert_eq!(refusal(&failure).0, "permission_runtime_unavailable");
    assert_eq!(world.list(Some(SESSION)).await.expect("listed"), ["a"]);
}

#[tokio::test]
async fn a_claimed_prompt_is_not_listed() {
    let world = World::new();
    world.agents.show(SESSION, &prompt("a", 0));
    world.agents.show(SESSION, &prompt("b", 0));
    world.resolve("a", "yes").await.expect("resolved");
    assert_eq!(world.list(None).await.expect("listed"), ["b"]);
}

#[tokio::test]
async fn a_recorded_claim_answers_although_the_link_is_down() {
    let world = World::new();
    world.agents.show(SESSION, &prompt("a", 0));
    world.resolve("a", "yes").await.expect("resolved");
    let away = SESSION.to_owned();
    world.agents.unavailable.lock().expect("ok").push(away);
    let failure = world.resolve("a", "no").await.expect_err("refused");
    assert_eq!(refusal(&failure).0, "permission_already_resolved");
    let failure = world.resolve("b", "no").await.expect_err("refused");
    assert_eq!(refusal(&failure).0, "permission_runtime_unavailable");
}

#[tokio::test]
async fn a_prompt_whose_message_was_never_written_can_be_resolved() {
    let world = World::new();
    world.agents.show(SESSION, &prompt("a", 0));
    world.resolve("a", "yes").await.expect("resolved");
    let delivered = world.agents.delivered.lock().expect("ok");
    assert_eq!(delivered.len(), 1);
    assert_eq!(delivered[0].option_id.as_str(), "yes");
}

#[tokio::test]
async fn a_prompt_seen_in_a_list_is_stale_when_gone_and_unknown_when_never_seen() {
    let world = World::new();
    world.agents.show(SESSION, &prompt("a", 0));
    world.list(None).await.expect("listed");
    world.agents.hide_all();
    let failure = world.resolve("a", "yes").await.expect_err("refused");
    assert_eq!(refusal(&failure).0, "permission_stale");
    let failure = world.resolve("never", "yes").await.expect_err("refused");
    assert_eq!(refusal(&failure).0, "permission_not_found");
    let attempts = world.attempts().await;
    assert_eq!(attempts.len(), 1);
    assert_eq!(attempts[0].result.as_str(), "expired");
    assert_eq!(attempts[0].task_id, task());
}
