use permit_domain::{
    Action, ActionType, ClaimId, DeliverReply, PendingId, PromptSnapshot, RequestId,
};
use time::OffsetDateTime;

use super::*;

fn prompt(id: usize, title: usize) -> PromptSnapshot {
    PromptSnapshot {
        request_id: RequestId::parse(id.to_string()).expect("an id"),
        pending_id: PendingId::parse("p").expect("an id"),
        tool_call_id: None,
        title: "x".repeat(title),
        action: Action::new(ActionType::Other),
        options: Vec::new(),
        created_at: OffsetDateTime::UNIX_EPOCH,
    }
}

fn delta(full: bool, opened: Vec<PromptSnapshot>) -> Delta {
    Delta {
        seq: Seq(7),
        full,
        opened,
        closed: Vec::new(),
        consumed: Vec::new(),
    }
}

#[test]
fn a_change_that_the_gateway_need_not_know_is_not_reported() {
    assert_eq!(parts(1, delta(false, Vec::new())), []);
    assert_eq!(parts(1, delta(true, Vec::new())).len(), 1);
}

#[test]
fn a_large_report_goes_out_in_parts_that_fit() {
    let third = MAX_CONTENT_BYTES / 3;
    let mut delta = delta(true, (0..7).map(|id| prompt(id, third)).collect());
    delta.consumed = vec![ConsumedPrompt {
        request_id: RequestId::parse("r").expect("an id"),
        claim_id: ClaimId::parse("c").expect("an id"),
        reply: Some(DeliverReply::Delivered),
    }];
    let parts = parts(3, delta);
    let prompts: Vec<_> = parts.iter().map(|part| part.opened.len()).collect();
    assert_eq!(prompts, [2, 2, 2, 1]);
    let more: Vec<_> = parts.iter().map(|part| part.more).collect();
    assert_eq!(more, [true, true, true, false]);
    for part in &parts {
        assert!(part.full && part.epoch == 3 && part.seq == Seq(7));
        assert!(size_of(part) <= MAX_CONTENT_BYTES + 1024);
    }
    let last = parts.last().expect("a part");
    assert_eq!(last.consumed.len(), 1);
}

#[test]
fn a_prompt_that_fits_no_message_does_not_keep_the_others_back() {
    let opened = vec![prompt(1, MAX_CONTENT_BYTES), prompt(2, 1)];
    let parts = parts(1, delta(false, opened));
    assert_eq!(parts.len(), 1);
    let opened: Vec<_> = parts[0]
        .opened
        .iter()
        .cloned()
        .map(PromptSnapshot::from)
        .collect();
    assert_eq!(opened, [prompt(2, 1)]);
}
