//! How a claim ends (invariant I7).

use permit_domain::{AuditResult, DeliverReply, ExpiryReason, MessageStatus, SettleReply};

use super::Subject;
use super::world::{A, B, World, prompt};
use crate::NoAnswer;

/// Given a claim that ended, when it is ended again with another result, then the recorded one is
/// answered and nothing is written.
pub async fn a_claim_ends_once_and_a_second_end_answers_the_recorded_one<S: Subject>() {
    let world = World::<S>::open().await;
    let prompt = prompt("request-1");
    world.observe(A, std::slice::from_ref(&prompt)).await;
    let claimed = world.claim(A, &prompt).await;
    let dispatching = claimed.record().clone();
    let ended = world.end(claimed, Ok(DeliverReply::Delivered)).await;

    let claim = world.claim_of(A, &prompt).await.expect("a claim");
    assert_eq!(&claim, ended.record());
    assert_eq!(claim.result, AuditResult::Accepted);
    let finalized_at = claim.finalized_at.expect("the end has its time");
    assert!(finalized_at > claim.selected_at);
    let rows = world.attempts(A).await;
    let last = rows.last().expect("a row");
    assert_eq!(
        (last.result, last.recorded_at, last.claim_id.as_ref()),
        (AuditResult::Accepted, finalized_at, Some(&claim.claim_id))
    );

    let upkeep = world.upkeep(A);
    let late = SettleReply::Gone(ExpiryReason::Withdrawn);
    let result = world.log.settle(&upkeep, &dispatching, &late).await;
    assert_eq!(result.expect("read"), AuditResult::Accepted);
    let result = world.log.abandon(&upkeep, &dispatching).await;
    assert_eq!(result.expect("read"), AuditResult::Accepted);
    assert_eq!(world.claim_of(A, &prompt).await, Some(claim));
    assert_eq!(world.attempts(A).await, rows);
    assert_eq!(
        world.status(A, &prompt).await,
        Some(MessageStatus::Approved)
    );
}

/// Given claims of each kind of option, when they end in each way, then their messages say so.
pub async fn a_message_follows_the_end_of_its_claim<S: Subject>() {
    use DeliverReply::{Broken, Delivered, Gone, NotWritten, Refused};
    let cases = [
        ("allow", Ok(Delivered), MessageStatus::Approved),
        ("deny", Ok(Delivered), MessageStatus::Rejected),
        ("later", Ok(Delivered), MessageStatus::Resolved),
        ("allow", Ok(NotWritten), MessageStatus::Expired),
        ("deny", Ok(Refused), MessageStatus::Expired),
        (
            "allow",
            Ok(Gone(ExpiryReason::TurnEnded)),
            MessageStatus::Expired,
        ),
        ("allow", Ok(Broken), MessageStatus::OutcomeUnknown),
        ("deny", Err(NoAnswer), MessageStatus::OutcomeUnknown),
    ];
    let world = World::<S>::open().await;
    for (n, (option, reply, status)) in cases.into_iter().enumerate() {
        let prompt = prompt(&format!("request-{n}"));
        world.observe(A, std::slice::from_ref(&prompt)).await;
        let claimed = world.try_claim(A, &prompt, option).await.expect("claimed");
        world.end(claimed, reply).await;
        let message = world.known(A, &prompt.request_id).await.message;
        let message = message.expect("a message");
        assert_eq!(message.status, status, "{option} ended with {reply:?}");
        assert_eq!(message.expiry_reason, None, "its claim says why");
    }
}

/// Given a claim that ended as indeterminate, when two settles tell what became of it, then the
/// first is its result, the second changes nothing, and the history keeps every step.
pub async fn an_indeterminate_end_is_sharpened_exactly_once<S: Subject>() {
    let world = World::<S>::open().await;
    let prompt = prompt("request-1");
    world.observe(A, std::slice::from_ref(&prompt)).await;
    let claimed = world.claim(A, &prompt).await;
    let indeterminate = world.end(claimed, Err(NoAnswer)).await.record().clone();
    let sidecar = world.sidecar(A).await;

    let delivered = SettleReply::Consumed(DeliverReply::Delivered);
    let result = world.log.settle(&sidecar, &indeterminate, &delivered).await;
    assert_eq!(result.expect("recorded"), AuditResult::Accepted);
    let sharpened = world.claim_of(A, &prompt).await.expect("a claim");
    assert_eq!(sharpened.result, AuditResult::Accepted);
    assert!(sharpened.finalized_at > indeterminate.finalized_at);
    assert_eq!(
        world.status(A, &prompt).await,
        Some(MessageStatus::Approved)
    );

    let gone = SettleReply::Gone(ExpiryReason::Withdrawn);
    let result = world.log.settle(&sidecar, &indeterminate, &gone).await;
    assert_eq!(result.expect("read"), AuditResult::Accepted);
    assert_eq!(world.claim_of(A, &prompt).await, Some(sharpened));
    assert_eq!(
        world.results(A).await,
        [
            AuditResult::Dispatching,
            AuditResult::Indeterminate,
            AuditResult::Accepted
        ]
    );
}

/// Given a claim whose record says indeterminate to one who read it too early, when the stored one
/// is not, then nothing is sharpened.
pub async fn an_end_other_than_indeterminate_is_never_sharpened<S: Subject>() {
    let world = World::<S>::open().await;
    for (n, reply) in [
        DeliverReply::Delivered,
        DeliverReply::NotWritten,
        DeliverReply::Gone(ExpiryReason::Withdrawn),
    ]
    .into_iter()
    .enumerate()
    {
        let prompt = prompt(&format!("request-{n}"));
        let claimed = world.claim(A, &prompt).await;
        let ended = world.end(claimed, Ok(reply)).await.record().clone();
        let mut misread = ended.clone();
        misread.result = AuditResult::Indeterminate;
        let upkeep = world.upkeep(A);
        let late = SettleReply::Consumed(DeliverReply::Refused);
        let result = world.log.settle(&upkeep, &misread, &late).await;
        assert_eq!(result.expect("read"), ended.result);
        assert_eq!(world.claim_of(A, &prompt).await, Some(ended));
    }
    assert_eq!(world.attempts(A).await.len(), 6);
}

/// Given a claim that another store holds, when its end comes to this one, then it is an error and
/// nothing is written.
pub async fn an_end_of_an_unknown_claim_is_an_error<S: Subject>() {
    let world = World::<S>::open().await;
    let prompt = prompt("request-1");
    let claimed = world.claim(A, &prompt).await;
    let mut foreign = claimed.record().clone();
    foreign.claim_id = "no-such-claim".to_owned().try_into().expect("an id");

    let upkeep = world.upkeep(A);
    assert!(world.log.abandon(&upkeep, &foreign).await.is_err());
    let mut moved = claimed.record().clone();
    moved.request_id = super::world::request("no-such-request");
    assert!(world.log.abandon(&upkeep, &moved).await.is_err());
    let claim = world.claim_of(A, &prompt).await;
    assert_eq!(claim.as_ref(), Some(claimed.record()));
    assert_eq!(world.results(A).await, [AuditResult::Dispatching]);
}

/// Given the same request id claimed in two sessions, when one claim ends, then the other goes on.
pub async fn ending_one_claim_leaves_the_others<S: Subject>() {
    let world = World::<S>::open().await;
    let (first, second) = (prompt("request-1"), prompt("request-2"));
    let ended = world.claim(A, &first).await;
    let others = [
        (A, &second, world.claim(A, &second).await),
        (B, &first, world.claim(B, &first).await),
    ];
    world.end(ended, Ok(DeliverReply::Delivered)).await;
    for (session, prompt, claimed) in others {
        let claim = world.claim_of(session, prompt).await;
        assert_eq!(claim.as_ref(), Some(claimed.record()));
    }
}
