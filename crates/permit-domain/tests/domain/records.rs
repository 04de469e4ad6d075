//! Stable text: what is stored and sent is spelled the same for ever.

use std::fmt::Debug;

use permit_domain::{
    Action, ActionType, ActorKind, Attempt, AuditResult, ClaimId, ClaimRecord, DeliverOrder,
    DeliverReply, ExpiryReason, FailureCode, Message, MessageStatus, OfferedOption, OptionId,
    OptionKind, Outcome, PendingId, PromptSnapshot, RequestId, Seq, SessionId, SettleReply, Source,
    TaskId, ToolCallId, UserId,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use time::macros::datetime;

#[test]
fn an_enum_is_stored_and_sent_as_its_stable_text() {
    check_text(ActorKind::Browser, ActorKind::as_str, "browser");
    check_text(
        ActorKind::PersonalAccessToken,
        ActorKind::as_str,
        "personal_access_token",
    );
    check_text(ActorKind::Automation, ActorKind::as_str, "automation");
    check_text(ActorKind::Synthetic, ActorKind::as_str, "synthetic");

    check_text(Source::Web, Source::as_str, "web");
    check_text(Source::ExternalMcp, Source::as_str, "external_mcp");
    check_text(Source::Automation, Source::as_str, "automation");

    for (result, text) in [
        (AuditResult::Dispatching, "dispatching"),
        (AuditResult::Accepted, "accepted"),
        (AuditResult::Stale, "stale"),
        (AuditResult::Expired, "expired"),
        (AuditResult::Failed, "failed"),
        (AuditResult::Indeterminate, "indeterminate"),
    ] {
        check_text(result, AuditResult::as_str, text);
    }
    for (status, text) in [
        (MessageStatus::Pending, "pending"),
        (MessageStatus::Resolving, "resolving"),
        (MessageStatus::Approved, "approved"),
        (MessageStatus::Rejected, "rejected"),
        (MessageStatus::Resolved, "resolved"),
        (MessageStatus::Expired, "expired"),
        (MessageStatus::OutcomeUnknown, "outcome_unknown"),
    ] {
        check_text(status, MessageStatus::as_str, text);
    }
    let codes = [
        "task_or_session_not_found",
        "permission_not_found",
        "permission_stale",
        "permission_already_resolved",
        "permission_resolution_in_progress",
        "permission_option_not_offered",
        "permission_audit_failed",
        "permission_delivery_failed",
        "permission_runtime_unavailable",
    ];
    for (code, text) in FailureCode::ALL.into_iter().zip(codes) {
        check_text(code, FailureCode::as_str, text);
    }
}

#[test]
fn an_enum_without_a_text_of_its_own_is_snake_case_all_the_same() {
    for (action_type, text) in [
        (ActionType::Command, "command"),
        (ActionType::FileWrite, "file_write"),
        (ActionType::FileRead, "file_read"),
        (ActionType::Network, "network"),
        (ActionType::McpTool, "mcp_tool"),
        (ActionType::Other, "other"),
    ] {
        check(&action_type, json!(text));
    }
    for (reason, text) in REASONS {
        check(&reason, json!(text));
    }
    for (outcome, text) in [
        (Outcome::Delivered, "delivered"),
        (Outcome::NotDelivered, "not_delivered"),
        (Outcome::Unknown, "unknown"),
    ] {
        check(&outcome, json!(text));
    }
}

#[test]
fn an_unknown_text_is_no_value_of_an_enum() {
    for odd in ["", "Web", "EXTERNAL_MCP", "externalMcp", "other surface"] {
        let odd = json!(odd);
        assert!(serde_json::from_value::<Source>(odd.clone()).is_err());
        assert!(serde_json::from_value::<AuditResult>(odd.clone()).is_err());
        assert!(serde_json::from_value::<MessageStatus>(odd).is_err());
    }
}

#[test]
fn a_claim_survives_storage() {
    check(
        &claim(),
        json!({
            "claim_id": "c", "task_id": "t", "session_id": "s", "request_id": "r",
            "pending_id": "p", "option_id": "allow-once", "option_kind": "allow_once",
            "actor_user_id": "u", "actor_kind": "personal_access_token",
            "source": "external_mcp", "selected_at": "2026-08-11T12:00:00Z",
            "result": "dispatching",
        }),
    );
    let finalized = ClaimRecord {
        finalized_at: Some(datetime!(2026-08-11 12:00:01.000_250 UTC)),
        result: AuditResult::Accepted,
        ..claim()
    };
    let json = round_trip(&finalized);
    assert_eq!(json["finalized_at"], "2026-08-11T12:00:01.00025Z");
    assert_eq!(json["result"], "accepted");
}

#[test]
fn an_attempt_survives_storage_with_and_without_an_actor() {
    let claim = claim();
    let attempt = Attempt {
        attempt_id: id("a"),
        task_id: claim.task_id,
        session_id: claim.session_id,
        request_id: claim.request_id,
        pending_id: claim.pending_id,
        claim_id: Some(claim.claim_id),
        option_id: Some(claim.option_id),
        option_kind: Some(claim.option_kind),
        actor_user_id: Some(claim.actor_user_id),
        actor_kind: Some(claim.actor_kind),
        source: Some(claim.source),
        result: AuditResult::Failed,
        code: Some(FailureCode::PermissionAlreadyResolved),
        selected_at: Some(claim.selected_at),
        recorded_at: claim.selected_at,
    };
    check(
        &attempt,
        json!({
            "attempt_id": "a", "task_id": "t", "session_id": "s", "request_id": "r",
            "pending_id": "p", "claim_id": "c", "option_id": "allow-once",
            "option_kind": "allow_once", "actor_user_id": "u",
            "actor_kind": "personal_access_token", "source": "external_mcp", "result": "failed",
            "code": "permission_already_resolved", "selected_at": "2026-08-11T12:00:00Z",
            "recorded_at": "2026-08-11T12:00:00Z",
        }),
    );
    let expiry = Attempt {
        claim_id: None,
        option_id: None,
        option_kind: None,
        actor_user_id: None,
        actor_kind: None,
        source: None,
        result: AuditResult::Expired,
        code: None,
        selected_at: None,
        ..attempt
    };
    check(
        &expiry,
        json!({
            "attempt_id": "a", "task_id": "t", "session_id": "s", "request_id": "r",
            "pending_id": "p", "result": "expired", "recorded_at": "2026-08-11T12:00:00Z",
        }),
    );
}

#[test]
fn a_message_survives_storage_also_of_a_prompt_that_was_never_seen() {
    let prompt = prompt();
    let message = Message {
        task_id: id("t"),
        session_id: id("s"),
        request_id: prompt.request_id,
        pending_id: prompt.pending_id,
        tool_call_id: prompt.tool_call_id,
        title: prompt.title,
        action: Some(prompt.action),
        options: prompt.options,
        created_at: prompt.created_at,
        status: MessageStatus::Pending,
        expiry_reason: None,
    };
    check(
        &message,
        json!({
            "task_id": "t", "session_id": "s", "request_id": "r", "pending_id": "p",
            "tool_call_id": "call", "title": "Run command",
            "action": {"type": "command", "command": "git status", "redacted": false},
            "options": [
                {"option_id": "allow-once", "name": "Allow once", "kind": "allow_once"},
                {"option_id": "", "name": "", "kind": "allow_persistent"},
            ],
            "created_at": "2026-08-11T12:00:00Z", "status": "pending",
        }),
    );
    let unseen = Message {
        tool_call_id: None,
        title: String::new(),
        action: None,
        options: Vec::new(),
        status: MessageStatus::Expired,
        expiry_reason: Some(ExpiryReason::Withdrawn),
        ..message
    };
    check(
        &unseen,
        json!({
            "task_id": "t", "session_id": "s", "request_id": "r", "pending_id": "p",
            "title": "", "options": [], "created_at": "2026-08-11T12:00:00Z",
            "status": "expired", "expiry_reason": "withdrawn",
        }),
    );
}

#[test]
fn a_snapshot_survives_the_link_with_options_in_the_providers_order() {
    check(
        &prompt(),
        json!({
            "request_id": "r", "pending_id": "p", "tool_call_id": "call", "title": "Run command",
            "action": {"type": "command", "command": "git status", "redacted": false},
            "options": [
                {"option_id": "allow-once", "name": "Allow once", "kind": "allow_once"},
                {"option_id": "", "name": "", "kind": "allow_persistent"},
            ],
            "created_at": "2026-08-11T12:00:00Z",
        }),
    );
    check(&Seq(7), json!(7));
}

#[test]
fn a_whole_action_survives_the_link() {
    let action = Action {
        description: Some("Call a tool".to_owned()),
        command: Some("git status\ngit diff".to_owned()),
        cwd: Some("/workspace".to_owned()),
        path: Some("a.rs".to_owned()),
        destination: Some("https://example.org".to_owned()),
        server: Some("files".to_owned()),
        tool: Some("read".to_owned()),
        redacted: true,
        escaped: true,
        truncated: 12,
        withheld: vec!["arguments".to_owned()],
        ..Action::new(ActionType::McpTool)
    };
    check(
        &action,
        json!({
            "type": "mcp_tool", "description": "Call a tool", "command": "git status\ngit diff",
            "cwd": "/workspace", "path": "a.rs", "destination": "https://example.org",
            "server": "files", "tool": "read", "redacted": true, "escaped": true,
            "truncated": 12, "withheld": ["arguments"],
        }),
    );
}

#[test]
fn an_order_and_its_replies_survive_the_link() {
    let order = DeliverOrder {
        claim_id: id("c"),
        request_id: id("r"),
        pending_id: id("p"),
        option_id: OptionId::offered("allow-once"),
    };
    check(
        &order,
        json!({"claim_id": "c", "request_id": "r", "pending_id": "p", "option_id": "allow-once"}),
    );

    check(&DeliverReply::Delivered, json!("delivered"));
    check(&DeliverReply::NotWritten, json!("not_written"));
    check(&DeliverReply::Broken, json!("broken"));
    check(&DeliverReply::Refused, json!("refused"));
    for (reason, text) in REASONS {
        check(&DeliverReply::Gone(reason), json!({"gone": text}));
        check(&SettleReply::Gone(reason), json!({"gone": text}));
    }

    let consumed = |reply| SettleReply::Consumed(reply);
    check(
        &consumed(DeliverReply::Delivered),
        json!({"consumed": "delivered"}),
    );
    check(
        &consumed(DeliverReply::Gone(ExpiryReason::TurnEnded)),
        json!({"consumed": {"gone": "turn_ended"}}),
    );
    check(&SettleReply::Delivering, json!("delivering"));
    check(
        &SettleReply::Retired { fresh: id("r2") },
        json!({"retired": {"fresh": "r2"}}),
    );
    check(&SettleReply::Unknown, json!("unknown"));
}

#[test]
fn a_record_with_an_empty_id_is_not_read() {
    let mut json = round_trip(&claim());
    json["request_id"] = json!("");
    assert!(serde_json::from_value::<ClaimRecord>(json).is_err());
}

#[test]
fn a_record_prints_nothing_that_the_provider_wrote_as_an_id() {
    let printed = format!("{:?} {:?}", claim(), prompt().tool_call_id);
    for hidden in ["allow-once", "\"p\"", "\"call\""] {
        assert!(!printed.contains(hidden), "{printed}");
    }
}

const REASONS: [(ExpiryReason, &str); 5] = [
    (ExpiryReason::Withdrawn, "withdrawn"),
    (ExpiryReason::Superseded, "superseded"),
    (ExpiryReason::TurnEnded, "turn_ended"),
    (ExpiryReason::ExecutionEnded, "execution_ended"),
    (ExpiryReason::DeliveryFailed, "delivery_failed"),
];

/// Checks the stored text of a value, and that the value comes back from it.
fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T, expected: Value) {
    assert_eq!(round_trip(value), expected);
}

fn check_text<T>(value: T, as_str: fn(T) -> &'static str, text: &str)
where
    T: Serialize + DeserializeOwned + PartialEq + Debug + Copy,
{
    assert_eq!(as_str(value), text);
    check(&value, json!(text));
}

fn round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) -> Value {
    let text = serde_json::to_string(value).expect("json");
    let back: T = serde_json::from_str(&text).expect("what was written");
    assert_eq!(back, *value);
    serde_json::from_str(&text).expect("json")
}

fn claim() -> ClaimRecord {
    ClaimRecord {
        claim_id: id::<ClaimId>("c"),
        task_id: id::<TaskId>("t"),
        session_id: id::<SessionId>("s"),
        request_id: id::<RequestId>("r"),
        pending_id: id::<PendingId>("p"),
        option_id: OptionId::offered("allow-once"),
        option_kind: OptionKind::new("allow_once"),
        actor_user_id: id::<UserId>("u"),
        actor_kind: ActorKind::PersonalAccessToken,
        source: Source::ExternalMcp,
        selected_at: datetime!(2026-08-11 12:00 UTC),
        finalized_at: None,
        result: AuditResult::Dispatching,
    }
}

fn prompt() -> PromptSnapshot {
    let mut action = Action::new(ActionType::Command);
    action.command = Some("git status".to_owned());
    let option = |id: &str, name: &str, kind: &str| OfferedOption {
        option_id: OptionId::offered(id),
        name: name.to_owned(),
        kind: OptionKind::new(kind),
    };
    PromptSnapshot {
        request_id: id("r"),
        pending_id: id("p"),
        tool_call_id: Some(id::<ToolCallId>("call")),
        title: "Run command".to_owned(),
        action,
        options: vec![
            option("allow-once", "Allow once", "allow_once"),
            option("", "", "allow_persistent"),
        ],
        created_at: datetime!(2026-08-11 12:00 UTC),
    }
}

fn id<T: TryFrom<String, Error: Debug>>(text: &str) -> T {
    T::try_from(text.to_owned()).expect("an id")
}
