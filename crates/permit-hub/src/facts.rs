//! What an attached registry has reported, in the order of its own history.

use std::collections::{HashMap, VecDeque};

use permit_domain::{ExpiryReason, PromptSnapshot, RequestId, Seq};
use permit_link::{Closed, LinkError, MAX_PROMPTS, MAX_SYNC_PARTS, Sync};
use permit_service::{Consumed, Report};

/// How many ended prompts are remembered to correct answers that were taken before.
const REMEMBERED: usize = 1024;

/// What one attachment reported.
#[derive(Default)]
pub(crate) struct Facts {
    reached: Option<Seq>,
    unfinished: Option<Unfinished>,
    closed: VecDeque<Closed>,
    forgotten: Seq,
}

/// A whole report.
pub(crate) struct Reported {
    pub(crate) full: bool,
    pub(crate) report: Report,
}

#[derive(Default)]
struct Unfinished {
    parts: usize,
    full: bool,
    seq: Seq,
    report: Report,
}

impl Facts {
    /// Takes one part of a report and answers the report when it is whole.
    pub(crate) fn take(&mut self, sync: Sync) -> Result<Option<Reported>, LinkError> {
        let begun = self.unfinished.take();
        let follows = match &begun {
            Some(begun) => begun.full == sync.full && begun.seq == sync.seq,
            None => self
                .reached
                .map_or(sync.full, |reached| reached <= sync.seq),
        };
        if !follows {
            return Err(LinkError::OutOfOrder);
        }
        let mut begun = begun.unwrap_or_else(|| Unfinished {
            full: sync.full,
            seq: sync.seq,
            ..Unfinished::default()
        });
        let more = sync.more;
        self.remember(&sync.closed);
        begun.add(sync)?;
        if more {
            self.unfinished = Some(begun);
            return Ok(None);
        }
        self.reached = Some(begun.seq);
        Ok(Some(Reported {
            full: begun.full,
            report: begun.report,
        }))
    }

    /// What of a list that was taken at `seq` still holds; nothing, when that cannot be told.
    pub(crate) fn still_waiting(
        &self,
        seq: Seq,
        prompts: impl Iterator<Item = PromptSnapshot>,
    ) -> Option<Vec<PromptSnapshot>> {
        if seq < self.forgotten {
            return None;
        }
        let ended: HashMap<_, _> = self
            .newer_than(seq)
            .map(|closed| (&closed.request_id, closed.reason))
            .collect();
        Some(
            prompts
                .filter(|prompt| !ended.contains_key(&prompt.request_id))
                .collect(),
        )
    }

    /// Why a request that was live at `seq` has ended since, if it has.
    pub(crate) fn ended_since(&self, seq: Seq, request_id: &RequestId) -> Option<ExpiryReason> {
        let mut newer = self.newer_than(seq);
        newer
            .find(|closed| closed.request_id == *request_id)
            .map(|closed| closed.reason)
    }

    fn newer_than(&self, seq: Seq) -> impl Iterator<Item = &Closed> {
        self.closed
            .iter()
            .rev()
            .take_while(move |closed| closed.seq > seq)
    }

    fn remember(&mut self, closed: &[Closed]) {
        for closed in closed {
            if self.closed.len() >= REMEMBERED
                && let Some(oldest) = self.closed.pop_front()
            {
                self.forgotten = self.forgotten.max(oldest.seq);
            }
            self.closed.push_back(closed.clone());
        }
    }
}

impl Unfinished {
    fn add(&mut self, sync: Sync) -> Result<(), LinkError> {
        self.parts += 1;
        let report = &mut self.report;
        report.live.extend(sync.opened.into_iter().map(Into::into));
        report.closed.extend(sync.closed.into_iter().map(as_closed));
        let consumed = sync.consumed.into_iter().map(as_consumed);
        report.consumed.extend(consumed);
        let within = self.parts <= MAX_SYNC_PARTS
            && report.live.len() <= MAX_PROMPTS
            && report.closed.len() <= MAX_PROMPTS
            && report.consumed.len() <= MAX_PROMPTS;
        within.then_some(()).ok_or(LinkError::OutOfOrder)
    }
}

fn as_closed(closed: Closed) -> permit_audit::Closed {
    permit_audit::Closed {
        request_id: closed.request_id,
        pending_id: closed.pending_id,
        created_at: closed.created_at,
        reason: closed.reason,
    }
}

fn as_consumed(consumed: permit_link::Consumed) -> Consumed {
    Consumed {
        request_id: consumed.request_id,
        claim_id: consumed.claim_id,
        reply: consumed.reply,
    }
}

#[cfg(test)]
#[path = "facts_tests.rs"]
mod tests;
