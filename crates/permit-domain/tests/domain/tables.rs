//! How an end is told: by a prompt, by a sidecar, by a claim and by a message.

use permit_domain::{
    AuditResult, DeliverReply, ExpiryReason, MessageStatus, OptionKind, Outcome, RequestId,
    SettleReply,
};

#[test]
fn a_message_stands_as_its_claim_does() {
    let unknown = "allow_persistent";
    for (result, kind, status) in [
        (
            AuditResult::Dispatching,
            "allow_once",
            MessageStatus::Resolving,
        ),
        (
            AuditResult::Dispatching,
            "reject_once",
            MessageStatus::Resolving,
        ),
        (AuditResult::Dispatching, unknown, MessageStatus::Resolving),
        (AuditResult::Accepted, "allow_once", MessageStatus::Approved),
        (
            AuditResult::Accepted,
            "allow_always",
            MessageStatus::Approved,
        ),
        (
            AuditResult::Accepted,
            "reject_once",
            MessageStatus::Rejected,
        ),
        (
            AuditResult::Accepted,
            "reject_always",
            MessageStatus::Rejected,
        ),
        (AuditResult::Accepted, unknown, MessageStatus::Resolved),
        (AuditResult::Accepted, "Allow_Once", MessageStatus::Resolved),
        (AuditResult::Accepted, "", MessageStatus::Resolved),
    ] {
        let found = MessageStatus::of_claim(result, &OptionKind::new(kind));
        assert_eq!(found, status, "{result:?} {kind:?}");
    }
    for kind in ["allow_once", "reject_always", unknown, ""] {
        let of = |result| MessageStatus::of_claim(result, &OptionKind::new(kind));
        assert_eq!(of(AuditResult::Stale), MessageStatus::Expired);
        assert_eq!(of(AuditResult::Expired), MessageStatus::Expired);
        assert_eq!(of(AuditResult::Failed), MessageStatus::Expired);
        assert_eq!(
            of(AuditResult::Indeterminate),
            MessageStatus::OutcomeUnknown
        );
    }
}

#[test]
fn an_ended_prompt_is_stale_by_the_provider_and_expired_by_the_turn() {
    for (reason, result) in [
        (ExpiryReason::Withdrawn, AuditResult::Stale),
        (ExpiryReason::Superseded, AuditResult::Stale),
        (ExpiryReason::TurnEnded, AuditResult::Expired),
        (ExpiryReason::ExecutionEnded, AuditResult::Expired),
        (ExpiryReason::DeliveryFailed, AuditResult::Failed),
    ] {
        assert_eq!(reason.as_result(), result, "{reason:?}");
        let spelled = serde_json::to_value(reason).expect("json");
        assert_eq!(spelled, reason.as_str());
    }
}

#[test]
fn a_lost_answer_is_indeterminate_and_never_failed() {
    assert_eq!(DeliverReply::Delivered.as_result(), AuditResult::Accepted);
    assert_eq!(DeliverReply::NotWritten.as_result(), AuditResult::Failed);
    assert_eq!(DeliverReply::Refused.as_result(), AuditResult::Failed);
    assert_eq!(DeliverReply::Broken.as_result(), AuditResult::Indeterminate);
    for reason in [
        ExpiryReason::Withdrawn,
        ExpiryReason::Superseded,
        ExpiryReason::TurnEnded,
        ExpiryReason::ExecutionEnded,
        ExpiryReason::DeliveryFailed,
    ] {
        assert_eq!(DeliverReply::Gone(reason).as_result(), AuditResult::Stale);
        assert_eq!(
            SettleReply::Gone(reason).as_result(),
            Some(AuditResult::Stale)
        );
    }
    let consumed = SettleReply::Consumed(DeliverReply::Broken);
    assert_eq!(consumed.as_result(), Some(AuditResult::Indeterminate));
    let fresh = RequestId::parse("r2").expect("an id");
    let retired = SettleReply::Retired { fresh };
    assert_eq!(retired.as_result(), Some(AuditResult::Failed));
    assert_eq!(SettleReply::Delivering.as_result(), None);
    assert_eq!(
        SettleReply::Unknown.as_result(),
        Some(AuditResult::Indeterminate)
    );
}

#[test]
fn what_became_of_an_option_follows_from_the_result() {
    for (result, outcome) in [
        (AuditResult::Dispatching, Outcome::Unknown),
        (AuditResult::Accepted, Outcome::Delivered),
        (AuditResult::Stale, Outcome::NotDelivered),
        (AuditResult::Expired, Outcome::NotDelivered),
        (AuditResult::Failed, Outcome::NotDelivered),
        (AuditResult::Indeterminate, Outcome::Unknown),
    ] {
        assert_eq!(Outcome::from(result), outcome, "{result:?}");
    }
}
