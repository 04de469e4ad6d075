//! One claim per (session, request) (invariant I4).

use std::sync::Arc;

use permit_domain::{AuditResult, DeliverReply, ExpiryReason, FailureCode, MessageStatus, Source};
use permit_policy::SessionScope as _;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::Subject;
use super::world::{A, B, C, Listed, World, prompt, request};
use crate::{ClaimError, NoAnswer};

/// Given 64 callers who select options of one prompt at once, then one claim is recorded, and 63
/// callers learn whose it is and are recorded.
pub async fn one_of_64_concurrent_claimers_wins<S: Subject>() {
    const CLAIMERS: usize = 64;
    let world = World::<S>::open().await;
    let prompt = prompt("request-1");
    world.observe(A, std::slice::from_ref(&prompt)).await;

    let barrier = Arc::new(Barrier::new(CLAIMERS));
    let mut claimers = JoinSet::new();
    for n in 0..CLAIMERS {
        let option = if n % 2 == 0 { "allow" } else { "deny" };
        let selection = world.select(A, &prompt, option).await;
        let (log, barrier) = (world.log.clone(), barrier.clone());
        claimers.spawn(async move {
            barrier.wait().await;
            log.claim(selection).await
        });
    }
    let (mut won, mut lost_to) = (Vec::new(), Vec::new());
    for outcome in claimers.join_all().await {
        match outcome {
            Ok(claimed) => won.push(claimed.record().clone()),
            Err(ClaimError::Lost { holder, .. }) => lost_to.push(*holder),
            Err(ClaimError::Unavailable(cause)) => panic!("the store is unavailable: {cause:?}"),
        }
    }

    assert_eq!(won.len(), 1, "one claimer wins");
    assert_eq!(lost_to.len(), CLAIMERS - 1);
    assert!(lost_to.iter().all(|holder| *holder == won[0]));
    assert_eq!(world.claim_of(A, &prompt).await.as_ref(), won.first());
    let attempts = world.attempts(A).await;
    assert_eq!(attempts.len(), CLAIMERS, "each claimer is recorded");
    let claiming = attempts.iter().filter(|row| row.claim_id.is_some());
    assert_eq!(claiming.count(), 1);
}

/// Given a claim, when another caller claims, then it is told the holder and its attempt is
/// recorded as refused.
pub async fn a_losing_claimer_learns_the_holder_and_appends_its_attempt<S: Subject>() {
    let world = World::<S>::open().await;
    let prompt = prompt("request-1");
    world.observe(A, std::slice::from_ref(&prompt)).await;
    let winner = world.claim(A, &prompt).await;

    let codes = [
        FailureCode::PermissionResolutionInProgress,
        FailureCode::PermissionAlreadyResolved,
    ];
    let lost = world.try_claim(A, &prompt, "deny").await;
    let holder = winner.record().clone();
    assert_lost(lost, &holder);
    let finalized = world.end(winner, Ok(DeliverReply::Delivered)).await;
    let lost = world.try_claim(A, &prompt, "deny").await;
    let held = world.claim_of(A, &prompt).await.expect("a claim");
    assert_eq!(held.result, AuditResult::Accepted);
    assert_eq!(&held, finalized.record());
    assert_lost(lost, &held);

    let refused: Vec<_> = world
        .attempts(A)
        .await
        .into_iter()
        .filter(|row| row.claim_id.is_none())
        .collect();
    assert_eq!(refused.len(), 2);
    for (row, code) in refused.iter().zip(codes) {
        assert_eq!(row.code, Some(code));
        assert_eq!(row.result, AuditResult::Failed);
        assert_eq!(row.option_id, Some(prompt.options[1].option_id.clone()));
        assert_eq!(row.request_id, prompt.request_id);
    }
}

/// Given a pending message, when its request is claimed, then the claim, the message's status and
/// the attempt are all there, and agree.
pub async fn a_claim_its_message_and_its_attempt_are_recorded_together<S: Subject>() {
    let world = World::<S>::open().await;
    let prompt = prompt("request-1");
    world.observe(A, std::slice::from_ref(&prompt)).await;
    let claimed = world.claim(A, &prompt).await;

    let known = world.known(A, &prompt.request_id).await;
    let claim = known.claim.expect("a claim");
    assert_eq!(&claim, claimed.record());
    assert_eq!(claim.result, AuditResult::Dispatching);
    assert_eq!(claim.finalized_at, None);
    assert_eq!(claim.source, Source::ExternalMcp);
    let message = known.message.expect("a message");
    assert_eq!(message.status, MessageStatus::Resolving);
    let attempts = world.attempts(A).await;
    let [row] = attempts.as_slice() else {
        panic!("one attempt, not {}", attempts.len());
    };
    assert_eq!(row.claim_id.as_ref(), Some(&claim.claim_id));
    assert_eq!(
        (
            &row.task_id,
            &row.session_id,
            &row.request_id,
            &row.pending_id
        ),
        (
            &claim.task_id,
            &claim.session_id,
            &claim.request_id,
            &claim.pending_id
        )
    );
    assert_eq!(row.option_id.as_ref(), Some(&claim.option_id));
    assert_eq!(row.option_kind.as_ref(), Some(&claim.option_kind));
    assert_eq!(row.actor_user_id.as_ref(), Some(&claim.actor_user_id));
    assert_eq!(row.actor_kind, Some(claim.actor_kind));
    assert_eq!(row.source, Some(claim.source));
    assert_eq!(row.selected_at, Some(claim.selected_at));
    assert_eq!((row.result, row.code), (AuditResult::Dispatching, None));
}

/// Given an attempt id that is taken, when a claim comes with it, then neither claim nor attempt
/// is recorded, and the message stays as it was.
pub async fn a_claim_that_cannot_be_recorded_leaves_nothing<S: Subject>() {
    let world = World::<S>::open().await;
    let (first, second) = (prompt("request-1"), prompt("request-2"));
    world.observe(A, &[first.clone(), second.clone()]).await;
    let (claim_id, attempt_id, other_claim_id) = (1001, 1002, 1003);
    let ids = [claim_id, attempt_id, other_claim_id, attempt_id];
    let log = world.log_with_ids(Listed::new(&ids));
    let claimed = log.claim(world.select(A, &first, "allow").await).await;
    claimed.expect("the ids are fresh");

    let refused = log.claim(world.select(A, &second, "allow").await).await;
    assert!(matches!(refused, Err(ClaimError::Unavailable(_))));
    assert_eq!(world.claim_of(A, &second).await, None);
    assert_eq!(world.status(A, &second).await, Some(MessageStatus::Pending));
    assert_eq!(world.attempts(A).await.len(), 1);
    world.claim(A, &second).await;
}

/// Given a prompt that was never observed, when it is claimed, then the claim stands.
pub async fn a_claim_needs_no_message<S: Subject>() {
    let world = World::<S>::open().await;
    let prompt = prompt("request-1");
    let claimed = world.claim(A, &prompt).await;
    let known = world.known(A, &prompt.request_id).await;
    assert_eq!(known.claim.as_ref(), Some(claimed.record()));
    assert_eq!(known.message, None);
}

/// Given a message that expired, when its request is claimed all the same, then the claim stands
/// and the message follows it.
pub async fn an_expired_message_does_not_bar_a_claim<S: Subject>() {
    let world = World::<S>::open().await;
    let prompt = prompt("request-1");
    world.observe(A, std::slice::from_ref(&prompt)).await;
    world.close(A, &prompt, ExpiryReason::TurnEnded).await;
    assert_eq!(world.status(A, &prompt).await, Some(MessageStatus::Expired));

    let claimed = world.claim(A, &prompt).await;
    let known = world.known(A, &prompt.request_id).await;
    assert_eq!(known.claim.as_ref(), Some(claimed.record()));
    let message = known.message.expect("a message");
    assert_eq!(message.status, MessageStatus::Resolving);
    assert_eq!(message.expiry_reason, None);
}

/// Given a claim, then the same request id in another session of the task, or in another task, is
/// free.
pub async fn the_same_request_id_in_another_session_is_another_request<S: Subject>() {
    let world = World::<S>::open().await;
    let prompt = prompt("request-1");
    for session in [A, B, C] {
        world.observe(session, std::slice::from_ref(&prompt)).await;
    }
    let in_a = world.claim(A, &prompt).await;
    for session in [B, C] {
        assert_eq!(world.claim_of(session, &prompt).await, None);
        assert_eq!(
            world.status(session, &prompt).await,
            Some(MessageStatus::Pending)
        );
        assert!(world.attempts(session).await.is_empty());
    }
    let in_b = world.claim(B, &prompt).await;
    assert_ne!(in_a.record().claim_id, in_b.record().claim_id);
    world.end(in_b, Ok(DeliverReply::Delivered)).await;
    let claim = world.claim_of(A, &prompt).await.expect("a claim");
    assert_eq!(claim.result, AuditResult::Dispatching);
}

/// Given a claim that ended, however it did, then the request can never be claimed again.
pub async fn a_claim_never_reopens<S: Subject>() {
    let replies = [
        Ok(DeliverReply::Delivered),
        Ok(DeliverReply::NotWritten),
        Ok(DeliverReply::Refused),
        Ok(DeliverReply::Broken),
        Ok(DeliverReply::Gone(ExpiryReason::Withdrawn)),
        Err(NoAnswer),
    ];
    let world = World::<S>::open().await;
    for (n, reply) in replies.into_iter().enumerate() {
        let prompt = prompt(&format!("request-{n}"));
        world.observe(A, std::slice::from_ref(&prompt)).await;
        let claimed = world.claim(A, &prompt).await;
        let ended = world.end(claimed, reply).await;
        world.observe(A, std::slice::from_ref(&prompt)).await;
        let again = world.try_claim(A, &prompt, "deny").await;
        assert_lost(again, ended.record());
    }
}

/// Given claims that dispatch and that ended, then both are found among requests, and no others.
pub async fn claims_among_finds_claims_in_any_state<S: Subject>() {
    let world = World::<S>::open().await;
    let prompts = ["request-1", "request-2", "request-3"].map(prompt);
    world.observe(A, &prompts).await;
    let open = world.claim(A, &prompts[0]).await;
    let ended = world.claim(A, &prompts[1]).await;
    let ended = world.end(ended, Ok(DeliverReply::Delivered)).await;
    let elsewhere = prompt("request-4");
    world.claim(B, &elsewhere).await;

    let mut requests: Vec<_> = prompts.iter().map(|p| p.request_id.clone()).collect();
    requests.push(elsewhere.request_id);
    requests.push(request("never-seen"));
    let grant = world.grant(A).await;
    let mut claims = world
        .log
        .claims_among(&grant, &requests)
        .await
        .expect("read");
    claims.sort_by(|one, other| one.request_id.cmp(&other.request_id));
    assert_eq!(claims, [open.record().clone(), ended.record().clone()]);
}

/// Given claims that dispatch and that ended, in two sessions, then the open ones of a session are
/// its dispatching ones.
pub async fn open_claims_are_the_dispatching_ones_of_the_session<S: Subject>() {
    let world = World::<S>::open().await;
    let prompts = ["request-1", "request-2", "request-3"].map(prompt);
    let open = world.claim(A, &prompts[0]).await;
    for (prompt, reply) in [
        (&prompts[1], Ok(DeliverReply::Delivered)),
        (&prompts[2], Err(NoAnswer)),
    ] {
        let claimed = world.claim(A, prompt).await;
        world.end(claimed, reply).await;
    }
    world.claim(B, &prompts[0]).await;

    let upkeep = world.upkeep(A);
    assert_eq!(upkeep.session_id().as_str(), A);
    let claims = world.log.open_claims(&upkeep).await.expect("read");
    assert_eq!(claims, [open.record().clone()]);
}

fn assert_lost(outcome: Result<crate::Claimed, ClaimError>, to: &permit_domain::ClaimRecord) {
    match outcome {
        Err(ClaimError::Lost { holder, .. }) => assert_eq!(*holder, *to),
        Err(ClaimError::Unavailable(cause)) => panic!("the store is unavailable: {cause:?}"),
        Ok(_) => panic!("a second claim was recorded"),
    }
}
