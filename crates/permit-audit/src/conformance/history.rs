//! The append-only record of attempts, and what is unsettled.

use permit_domain::{
    ActorKind, AttemptId, AuditResult, DeliverReply, ExpiryReason, FailureCode, MessageStatus,
    PromptSnapshot, Source,
};

use super::Subject;
use super::world::{A, B, C, SESSIONS, World, prompt, session, task};
use crate::Refusal;

/// Given refusals with and without an option, then their rows say exactly what was given.
pub async fn a_refused_attempt_is_appended_as_given<S: Subject>() {
    let world = World::<S>::open().await;
    let prompt = prompt("request-1");
    let (grant, caller) = (world.grant(A).await, world.caller().await);
    let option = prompt.options.first();
    for (code, option, result) in [
        (
            FailureCode::PermissionOptionNotOffered,
            None,
            AuditResult::Failed,
        ),
        (
            FailureCode::PermissionResolutionInProgress,
            option,
            AuditResult::Failed,
        ),
        (FailureCode::PermissionStale, None, AuditResult::Stale),
        (FailureCode::PermissionStale, None, AuditResult::Expired),
    ] {
        let refusal = Refusal {
            option,
            result,
            ..refusal(&prompt, code)
        };
        let refused = world.log.refuse(&grant, &caller, refusal).await;
        refused.expect("recorded");
        let rows = world.attempts(A).await;
        let row = rows.last().expect("a row");
        assert_eq!(
            (&row.task_id, &row.session_id),
            (&task(SESSIONS[0].1), &session(A))
        );
        assert_eq!(row.request_id, prompt.request_id);
        assert_eq!(row.pending_id, prompt.pending_id);
        assert_eq!(row.claim_id, None);
        assert_eq!(
            row.option_id.as_ref(),
            option.map(|option| &option.option_id)
        );
        assert_eq!(row.option_kind.as_ref(), option.map(|option| &option.kind));
        assert_eq!(row.actor_user_id.as_ref(), Some(caller.user_id()));
        assert_eq!(row.actor_kind, Some(ActorKind::PersonalAccessToken));
        assert_eq!(row.source, Some(Source::ExternalMcp));
        assert_eq!((row.result, row.code), (result, Some(code)));
        assert_eq!(row.selected_at, Some(row.recorded_at));
    }
    assert_eq!(world.attempts(A).await.len(), 4);
    let known = world.known(A, &prompt.request_id).await;
    assert_eq!(known, crate::Known::default(), "a refusal makes no message");
}

/// Given messages that are pending, expired, claimed and missing, when a refusal that expires comes
/// for each, then only the pending one expires; one that does not expire changes nothing.
pub async fn a_refusal_expires_only_a_pending_unclaimed_message<S: Subject>() {
    let world = World::<S>::open().await;
    let prompts = ["pending", "expired", "resolving", "approved", "kept"].map(prompt);
    world.observe(A, &prompts).await;
    world.observe(B, &prompts).await;
    world.close(A, &prompts[1], ExpiryReason::Withdrawn).await;
    world.claim(A, &prompts[2]).await;
    let claimed = world.claim(A, &prompts[3]).await;
    world.end(claimed, Ok(DeliverReply::Delivered)).await;
    let rows = world.attempts(A).await.len();

    let (grant, caller) = (world.grant(A).await, world.caller().await);
    let ended = ExpiryReason::ExecutionEnded;
    let missing = prompt("missing");
    for prompt in prompts.iter().chain([&missing]) {
        let refusal = Refusal {
            expire: (prompt.request_id.as_str() != "kept").then_some(ended),
            ..refusal(prompt, FailureCode::PermissionStale)
        };
        let refused = world.log.refuse(&grant, &caller, refusal).await;
        refused.expect("recorded");
    }
    let expected = [
        (MessageStatus::Expired, Some(ended)),
        (MessageStatus::Expired, Some(ExpiryReason::Withdrawn)),
        (MessageStatus::Resolving, None),
        (MessageStatus::Approved, None),
        (MessageStatus::Pending, None),
    ];
    for (prompt, (status, reason)) in prompts.iter().zip(expected) {
        let message = world.known(A, &prompt.request_id).await.message;
        let message = message.expect("a message");
        assert_eq!((message.status, message.expiry_reason), (status, reason));
        assert_eq!(world.status(B, prompt).await, Some(MessageStatus::Pending));
    }
    assert_eq!(world.status(A, &missing).await, None);
    let added = world.attempts(A).await.len() - rows;
    assert_eq!(added, 6, "one row for each refusal and none beside");
}

/// Given attempts in two sessions, when one's are read in pages, then each comes once, in order.
pub async fn attempts_come_in_pages_in_their_order<S: Subject>() {
    let world = World::<S>::open().await;
    let caller = world.caller().await;
    let mut expected = Vec::new();
    for n in 0..25 {
        let prompt = prompt(&format!("request-{n:02}"));
        expected.push(prompt.request_id.clone());
        for id in [A, B] {
            let grant = world.grant(id).await;
            let refusal = refusal(&prompt, FailureCode::PermissionStale);
            let refused = world.log.refuse(&grant, &caller, refusal).await;
            refused.expect("recorded");
        }
    }
    let grant = world.grant(A).await;
    let (mut seen, mut after) = (Vec::new(), None::<AttemptId>);
    loop {
        let page = world.store.attempts(&grant, after.as_ref(), 10).await;
        let page = page.expect("read");
        assert!(page.len() <= 10);
        let Some(last) = page.last() else { break };
        after = Some(last.attempt_id.clone());
        assert!(page.iter().all(|row| row.session_id == session(A)));
        seen.extend(page.into_iter().map(|row| row.request_id));
    }
    assert_eq!(seen, expected);
    let none = world.store.attempts(&grant, None, 0).await;
    assert!(none.expect("read").is_empty());
    assert!(world.attempts(C).await.is_empty());
}

/// Given a row of another session, when a page after it is asked for, then it is an error rather
/// than a page that could pass as complete.
pub async fn a_page_after_a_foreign_row_is_an_error<S: Subject>() {
    let world = World::<S>::open().await;
    world.claim(A, &prompt("request-1")).await;
    world.claim(B, &prompt("request-2")).await;
    let foreign = world.attempts(B).await.remove(0).attempt_id;
    let grant = world.grant(A).await;
    let page = world.store.attempts(&grant, Some(&foreign), 10).await;
    assert!(page.is_err());
    let unknown = "no-such-attempt".to_owned().try_into().expect("an id");
    let page = world.store.attempts(&grant, Some(&unknown), 10).await;
    assert!(page.is_err());
}

/// Given sessions with a dispatching claim, a pending message, both, or neither, then exactly the
/// ones with something are unsettled, once each, until it is settled.
pub async fn unsettled_sessions_have_a_dispatching_claim_or_a_pending_message<S: Subject>() {
    let world = World::<S>::open().await;
    let unsettled = async || {
        let sessions = world.log.unsettled_sessions(&world.maintenance).await;
        let mut sessions: Vec<_> = sessions
            .expect("read")
            .into_iter()
            .map(|(task, session)| (String::from(session), String::from(task)))
            .collect();
        sessions.sort();
        sessions
    };
    assert!(unsettled().await.is_empty());

    let (seen, claimed, gone) = (prompt("seen"), prompt("claimed"), prompt("gone"));
    world.observe(A, &[seen.clone(), claimed.clone()]).await;
    let in_a = world.claim(A, &claimed).await;
    world.close(B, &gone, ExpiryReason::Withdrawn).await;
    let in_c = world.claim(C, &claimed).await;
    let of = |(session, task): (&str, &str)| (session.to_owned(), task.to_owned());
    assert_eq!(unsettled().await, [of(SESSIONS[0]), of(SESSIONS[2])]);

    world.end(in_c, Ok(DeliverReply::Delivered)).await;
    assert_eq!(unsettled().await, [of(SESSIONS[0])]);
    world.end(in_a, Ok(DeliverReply::Broken)).await;
    assert_eq!(unsettled().await, [of(SESSIONS[0])]);
    world.close(A, &seen, ExpiryReason::TurnEnded).await;
    assert!(unsettled().await.is_empty());
}

fn refusal(prompt: &PromptSnapshot, code: FailureCode) -> Refusal<'_> {
    Refusal {
        request_id: &prompt.request_id,
        pending_id: &prompt.pending_id,
        option: None,
        result: AuditResult::Failed,
        code,
        expire: None,
    }
}
