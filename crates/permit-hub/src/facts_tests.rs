use permit_domain::{Action, ActionType, PendingId};
use time::OffsetDateTime;

use super::*;

fn request(n: u64) -> RequestId {
    RequestId::parse(n.to_string()).expect("an id")
}

fn prompt(n: u64) -> PromptSnapshot {
    PromptSnapshot {
        request_id: request(n),
        pending_id: PendingId::parse("p").expect("an id"),
        tool_call_id: None,
        title: String::new(),
        action: Action::new(ActionType::Other),
        options: Vec::new(),
        created_at: OffsetDateTime::UNIX_EPOCH,
    }
}

fn closed(n: u64, seq: u64) -> Closed {
    Closed {
        request_id: request(n),
        pending_id: PendingId::parse("p").expect("an id"),
        created_at: OffsetDateTime::UNIX_EPOCH,
        reason: ExpiryReason::Withdrawn,
        seq: Seq(seq),
    }
}

fn sync(seq: u64, full: bool) -> Sync {
    Sync {
        epoch: 1,
        seq: Seq(seq),
        full,
        ..Sync::default()
    }
}

#[test]
fn the_first_report_must_be_full_and_history_must_not_run_backwards() {
    let mut facts = Facts::default();
    assert_eq!(
        facts.take(sync(1, false)).err(),
        Some(LinkError::OutOfOrder)
    );
    assert!(facts.take(sync(5, true)).expect("taken").is_some());
    assert!(facts.take(sync(5, false)).expect("taken").is_some());
    assert_eq!(
        facts.take(sync(4, false)).err(),
        Some(LinkError::OutOfOrder)
    );
}

#[test]
fn a_report_in_parts_is_one_report() {
    let mut facts = Facts::default();
    let mut first = sync(9, true);
    first.opened = vec![prompt(1).into()];
    first.more = true;
    assert!(facts.take(first).expect("taken").is_none());
    let mut last = sync(9, true);
    last.opened = vec![prompt(2).into()];
    let reported = facts.take(last).expect("taken").expect("whole");
    assert!(reported.full);
    assert_eq!(reported.report.live, [prompt(1), prompt(2)]);
}

#[test]
fn parts_of_different_reports_are_refused() {
    for other in [sync(9, false), sync(8, true)] {
        let mut facts = Facts::default();
        let mut first = sync(9, true);
        first.more = true;
        assert!(facts.take(first).expect("taken").is_none());
        assert_eq!(facts.take(other).err(), Some(LinkError::OutOfOrder));
    }
}

#[test]
fn a_report_has_a_bound() {
    let mut facts = Facts::default();
    let mut part = sync(9, true);
    part.more = true;
    for _ in 0..MAX_SYNC_PARTS {
        assert!(facts.take(part.clone()).expect("taken").is_none());
    }
    assert_eq!(facts.take(part).err(), Some(LinkError::OutOfOrder));
}

#[test]
fn an_older_list_does_not_show_what_was_closed_later() {
    let mut facts = Facts::default();
    let mut report = sync(7, true);
    report.closed = vec![closed(1, 5), closed(2, 7)];
    facts.take(report).expect("taken");
    let waiting = |seq| {
        let all = [prompt(1), prompt(2), prompt(3)].into_iter();
        let waiting = facts.still_waiting(Seq(seq), all).expect("known");
        waiting
            .into_iter()
            .map(|p| p.request_id)
            .collect::<Vec<_>>()
    };
    assert_eq!(waiting(4), [request(3)]);
    assert_eq!(waiting(6), [request(1), request(3)]);
    assert_eq!(waiting(7), [request(1), request(2), request(3)]);
    assert_eq!(
        facts.ended_since(Seq(6), &request(2)),
        Some(ExpiryReason::Withdrawn)
    );
    assert_eq!(facts.ended_since(Seq(7), &request(2)), None);
}

#[test]
fn a_list_older_than_what_is_remembered_is_not_trusted() {
    let mut facts = Facts::default();
    let last = REMEMBERED as u64 + 2;
    let mut report = sync(last, true);
    report.closed = (1..=last).map(|n| closed(n, n)).collect();
    facts.take(report).expect("taken");
    assert_eq!(facts.still_waiting(Seq(1), std::iter::empty()), None);
    assert_eq!(
        facts.still_waiting(Seq(2), std::iter::empty()),
        Some(Vec::new())
    );
}
