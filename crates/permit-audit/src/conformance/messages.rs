//! The transcript's messages: what was seen, and that it ended.

use permit_domain::{
    AuditResult, DeliverReply, ExpiryReason, Message, MessageStatus, PromptSnapshot,
};

use super::Subject;
use super::world::{A, B, C, World, prompt, session, task};

/// Given a prompt, when it is observed, then its message holds all of it and is pending.
pub async fn observing_inserts_a_pending_message_whole<S: Subject>() {
    let world = World::<S>::open().await;
    let (full, mut bare) = (prompt("request-1"), prompt("request-2"));
    bare.tool_call_id = None;
    bare.title = String::new();
    bare.options = Vec::new();
    world.observe(A, &[full.clone(), bare.clone()]).await;
    for prompt in [full, bare] {
        let known = world.known(A, &prompt.request_id).await;
        assert_eq!(
            known.message,
            Some(message_of(&prompt, MessageStatus::Pending))
        );
        assert_eq!(known.claim, None);
    }
    assert!(world.attempts(A).await.is_empty());
    let elsewhere = world.known(B, &prompt("request-1").request_id).await;
    assert_eq!(elsewhere.message, None);
}

/// Given messages in every status, when their prompts are observed again and otherwise, then no
/// message changes, and the new prompt beside them is inserted.
pub async fn observing_again_changes_nothing<S: Subject>() {
    let world = World::<S>::open().await;
    let prompts = ["pending", "expired", "resolving", "approved"].map(prompt);
    world.observe(A, &prompts).await;
    world.close(A, &prompts[1], ExpiryReason::Withdrawn).await;
    world.claim(A, &prompts[2]).await;
    let claimed = world.claim(A, &prompts[3]).await;
    world.end(claimed, Ok(DeliverReply::Delivered)).await;
    let mut before = Vec::new();
    for prompt in &prompts {
        before.push(world.known(A, &prompt.request_id).await);
    }

    let mut again = prompts.to_vec();
    for prompt in &mut again {
        prompt.title = "Another title".to_owned();
        prompt.options.clear();
    }
    again.insert(2, prompt("new"));
    world.observe(A, &again).await;
    for (prompt, before) in prompts.iter().zip(before) {
        assert_eq!(world.known(A, &prompt.request_id).await, before);
    }
    assert_eq!(
        world.status(A, &again[2]).await,
        Some(MessageStatus::Pending)
    );
}

/// Given claims without a message, when their prompts are observed late, then the messages stand
/// as the claims do.
pub async fn observing_a_claimed_prompt_shows_its_claim<S: Subject>() {
    let world = World::<S>::open().await;
    let (open, ended) = (prompt("request-1"), prompt("request-2"));
    world.claim(A, &open).await;
    let claimed = world.claim(A, &ended).await;
    world.end(claimed, Ok(DeliverReply::Delivered)).await;
    world.observe(A, &[open.clone(), ended.clone()]).await;
    assert_eq!(world.status(A, &open).await, Some(MessageStatus::Resolving));
    assert_eq!(world.status(A, &ended).await, Some(MessageStatus::Approved));
}

/// Given a pending message, when its prompt is closed, then it expires with the reason, and a row
/// without an actor says so.
pub async fn closing_expires_a_pending_message_and_appends_a_row_without_an_actor<S: Subject>() {
    let world = World::<S>::open().await;
    for reason in [
        ExpiryReason::Withdrawn,
        ExpiryReason::Superseded,
        ExpiryReason::TurnEnded,
        ExpiryReason::ExecutionEnded,
        ExpiryReason::DeliveryFailed,
    ] {
        let prompt = prompt(&format!("{reason:?}"));
        world.observe(A, std::slice::from_ref(&prompt)).await;
        world.close(A, &prompt, reason).await;
        let mut expected = message_of(&prompt, MessageStatus::Expired);
        expected.expiry_reason = Some(reason);
        let known = world.known(A, &prompt.request_id).await;
        assert_eq!(known.message, Some(expected));

        let rows = world.attempts(A).await;
        let row = rows.last().expect("a row");
        assert_eq!(row.request_id, prompt.request_id);
        assert_eq!(row.pending_id, prompt.pending_id);
        assert_eq!(row.result, AuditResult::Expired);
        assert_eq!(
            (&row.actor_user_id, row.actor_kind, row.source),
            (&None, None, None)
        );
        assert_eq!(
            (&row.claim_id, &row.option_id, &row.option_kind),
            (&None, &None, &None)
        );
        assert_eq!((row.code, row.selected_at), (None, None));
    }
    assert_eq!(world.attempts(A).await.len(), 5);
}

/// Given an expired message, when its prompt is closed again, then reason and history stay.
pub async fn closing_again_appends_nothing<S: Subject>() {
    let world = World::<S>::open().await;
    let prompt = prompt("request-1");
    world.observe(A, std::slice::from_ref(&prompt)).await;
    world.close(A, &prompt, ExpiryReason::Withdrawn).await;
    let before = world.known(A, &prompt.request_id).await;
    world.close(A, &prompt, ExpiryReason::ExecutionEnded).await;
    assert_eq!(world.known(A, &prompt.request_id).await, before);
    assert_eq!(world.attempts(A).await.len(), 1);
}

/// Given a prompt that was gone before anybody saw it, when it is closed, then an expired message
/// remembers it.
pub async fn closing_an_unknown_request_inserts_an_expired_message<S: Subject>() {
    let world = World::<S>::open().await;
    let prompt = prompt("request-1");
    world.close(A, &prompt, ExpiryReason::Withdrawn).await;
    let known = world.known(A, &prompt.request_id).await;
    let expected = Message {
        tool_call_id: None,
        title: String::new(),
        action: None,
        options: Vec::new(),
        expiry_reason: Some(ExpiryReason::Withdrawn),
        ..message_of(&prompt, MessageStatus::Expired)
    };
    assert_eq!(known.message, Some(expected));
    assert_eq!(world.results(A).await, [AuditResult::Expired]);

    world.observe(A, std::slice::from_ref(&prompt)).await;
    assert_eq!(world.status(A, &prompt).await, Some(MessageStatus::Expired));
}

/// Given claims, with a message or without, when their prompts are closed, then nothing changes.
pub async fn closing_a_claimed_request_leaves_it_to_its_claim<S: Subject>() {
    let world = World::<S>::open().await;
    let (seen, unseen, ended) = (
        prompt("request-1"),
        prompt("request-2"),
        prompt("request-3"),
    );
    world.observe(A, &[seen.clone(), ended.clone()]).await;
    world.claim(A, &seen).await;
    world.claim(A, &unseen).await;
    let claimed = world.claim(A, &ended).await;
    world.end(claimed, Ok(DeliverReply::Delivered)).await;
    let rows = world.attempts(A).await;
    for prompt in [&seen, &unseen, &ended] {
        let before = world.known(A, &prompt.request_id).await;
        world.close(A, prompt, ExpiryReason::ExecutionEnded).await;
        assert_eq!(world.known(A, &prompt.request_id).await, before);
    }
    assert_eq!(world.attempts(A).await, rows);
}

/// Given messages of live, absent, claimed and expired prompts, when the absent are closed, then
/// only the pending absent ones of that session expire, and they are counted.
pub async fn closing_the_absent_spares_the_live_and_the_claimed<S: Subject>() {
    let world = World::<S>::open().await;
    let prompts = ["live", "absent-1", "absent-2", "claimed", "expired"].map(prompt);
    for id in [A, B, C] {
        world.observe(id, &prompts).await;
    }
    let claimed = world.claim(A, &prompts[3]).await;
    world.close(A, &prompts[4], ExpiryReason::Withdrawn).await;
    let live = [prompts[0].request_id.clone()];

    let (sidecar, ended) = (world.sidecar(A).await, ExpiryReason::ExecutionEnded);
    let close_absent = || world.log.close_absent(&sidecar, &live, ended);
    assert_eq!(close_absent().await.expect("closed"), 2);
    let expected = [
        (MessageStatus::Pending, None),
        (MessageStatus::Expired, Some(ended)),
        (MessageStatus::Expired, Some(ended)),
        (MessageStatus::Resolving, None),
        (MessageStatus::Expired, Some(ExpiryReason::Withdrawn)),
    ];
    for (prompt, (status, reason)) in prompts.iter().zip(expected) {
        let message = world.known(A, &prompt.request_id).await.message;
        let message = message.expect("a message");
        assert_eq!((message.status, message.expiry_reason), (status, reason));
        assert_eq!(world.status(B, prompt).await, Some(MessageStatus::Pending));
        assert_eq!(world.status(C, prompt).await, Some(MessageStatus::Pending));
    }
    let claim = world.claim_of(A, &prompts[3]).await;
    assert_eq!(claim.as_ref(), Some(claimed.record()));
    let expired = [AuditResult::Expired; 2];
    assert_eq!(world.results(A).await[2..], expired);

    assert_eq!(close_absent().await.expect("closed"), 0);
    assert_eq!(world.attempts(A).await.len(), 4);
    let upkeep = world.upkeep(A);
    let all = world.log.close_absent(&upkeep, &[], ended).await;
    assert_eq!(all.expect("closed"), 1);
}

fn message_of(prompt: &PromptSnapshot, status: MessageStatus) -> Message {
    Message {
        task_id: task(super::world::TASK),
        session_id: session(A),
        request_id: prompt.request_id.clone(),
        pending_id: prompt.pending_id.clone(),
        tool_call_id: prompt.tool_call_id.clone(),
        title: prompt.title.clone(),
        action: Some(prompt.action.clone()),
        options: prompt.options.clone(),
        created_at: prompt.created_at,
        status,
        expiry_reason: None,
    }
}
