//! A store that forgets when the process ends: for tests, and to measure the rest without a disk.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use permit_domain::{
    Attempt, AttemptId, AuditResult, ClaimRecord, ExpiryReason, Message, MessageStatus,
    PromptSnapshot, RequestId, SessionId, TaskId,
};
use permit_policy::{MaintenanceGrant, SessionGrant, SessionScope, StoreUnavailable, Upkeep};

use crate::{AuditStore, ClaimDecision, ClaimEnd, Closed, ExpiryRows, Known, NewAttempt, NewClaim};

/// An [`AuditStore`] in memory. It keeps everything until it is dropped.
#[derive(Debug, Default)]
pub struct MemoryStore {
    rows: Mutex<Rows>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn rows(&self) -> MutexGuard<'_, Rows> {
        // Every change is checked before it is begun, so that a panic leaves the rows whole.
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl AuditStore for MemoryStore {
    async fn known(
        &self,
        grant: &SessionGrant,
        request_id: &RequestId,
    ) -> Result<Known, StoreUnavailable> {
        let rows = self.rows();
        let key = key(grant, request_id);
        Ok(Known {
            claim: rows.claims.get(&key).cloned(),
            message: rows.messages.get(&key).cloned(),
        })
    }

    async fn claims_among(
        &self,
        scope: &dyn SessionScope,
        requests: &[RequestId],
    ) -> Result<Vec<ClaimRecord>, StoreUnavailable> {
        let rows = self.rows();
        let claim = |request_id| rows.claims.get(&key(scope, request_id)).cloned();
        Ok(requests.iter().filter_map(claim).collect())
    }

    async fn claim(&self, new: &NewClaim) -> Result<ClaimDecision, StoreUnavailable> {
        let mut rows = self.rows();
        let record = new.record();
        let key = (record.session_id.clone(), record.request_id.clone());
        if let Some(holder) = rows.claims.get(&key) {
            return Ok(ClaimDecision::Lost(Box::new(holder.clone())));
        }
        rows.append([new.attempt()])?;
        rows.follow(&key, record);
        rows.claims.insert(key, record.clone());
        Ok(ClaimDecision::Won)
    }

    async fn finalize(&self, end: &ClaimEnd) -> Result<AuditResult, StoreUnavailable> {
        let mut rows = self.rows();
        let attempt = end.attempt();
        let key = (attempt.session_id.clone(), attempt.request_id.clone());
        let held = rows.claims.get(&key);
        let Some(held) = held.filter(|held| held.claim_id == *end.claim_id()) else {
            return Err(StoreUnavailable::new("there is no such claim"));
        };
        if held.result != end.from().result() {
            return Ok(held.result);
        }
        let mut record = held.clone();
        record.result = attempt.result;
        record.finalized_at = Some(attempt.recorded_at);
        rows.append([attempt])?;
        rows.follow(&key, &record);
        rows.claims.insert(key, record);
        Ok(attempt.result)
    }

    async fn append(&self, attempt: &NewAttempt) -> Result<(), StoreUnavailable> {
        let mut rows = self.rows();
        let row = attempt.attempt();
        rows.append([row])?;
        let key = (row.session_id.clone(), row.request_id.clone());
        if let Some(reason) = attempt.expire()
            && let Some(message) = rows.messages.get_mut(&key)
            && message.status == MessageStatus::Pending
        {
            expire(message, reason);
        }
        Ok(())
    }

    async fn observe(
        &self,
        scope: &dyn SessionScope,
        prompts: &[PromptSnapshot],
    ) -> Result<(), StoreUnavailable> {
        let mut rows = self.rows();
        for prompt in prompts {
            let key = key(scope, &prompt.request_id);
            if rows.messages.contains_key(&key) {
                continue;
            }
            let status = rows
                .claims
                .get(&key)
                .map_or(MessageStatus::Pending, |claim| {
                    MessageStatus::of_claim(claim.result, &claim.option_kind)
                });
            let (task_id, session_id) = (scope.task_id().clone(), scope.session_id().clone());
            let mut message = Message::waiting(task_id, session_id, prompt.clone());
            message.status = status;
            rows.messages.insert(key, message);
        }
        Ok(())
    }

    async fn close(
        &self,
        scope: &dyn Upkeep,
        closed: &[Closed],
        expiry: &ExpiryRows,
    ) -> Result<(), StoreUnavailable> {
        let mut rows = self.rows();
        let mut expiring = BTreeMap::new();
        for gone in closed {
            let key = key(scope, &gone.request_id);
            let message = match rows.messages.get(&key) {
                Some(message) if message.status != MessageStatus::Pending => continue,
                Some(message) => message.clone(),
                None => gone.message(scope.task_id().clone(), scope.session_id().clone()),
            };
            if !rows.claims.contains_key(&key) {
                expiring.entry(key).or_insert((message, gone.reason));
            }
        }
        rows.expire_all(expiring, expiry)
    }

    async fn close_absent(
        &self,
        scope: &dyn Upkeep,
        live: &[RequestId],
        reason: ExpiryReason,
        expiry: &ExpiryRows,
    ) -> Result<u64, StoreUnavailable> {
        let mut rows = self.rows();
        let live: BTreeSet<&RequestId> = live.iter().collect();
        let absent: BTreeMap<_, _> = rows
            .messages
            .iter()
            .filter(|((session, request), message)| {
                session == scope.session_id()
                    && message.status == MessageStatus::Pending
                    && !live.contains(request)
            })
            .map(|(key, message)| (key.clone(), (message.clone(), reason)))
            .collect();
        let count = absent.len() as u64;
        rows.expire_all(absent, expiry)?;
        Ok(count)
    }

    async fn open_claims(&self, scope: &dyn Upkeep) -> Result<Vec<ClaimRecord>, StoreUnavailable> {
        let rows = self.rows();
        let open = |claim: &&ClaimRecord| {
            claim.session_id == *scope.session_id() && claim.result == AuditResult::Dispatching
        };
        Ok(rows.claims.values().filter(open).cloned().collect())
    }

    async fn unsettled_sessions(
        &self,
        _grant: &MaintenanceGrant,
    ) -> Result<Vec<(TaskId, SessionId)>, StoreUnavailable> {
        let rows = self.rows();
        let claims = rows
            .claims
            .values()
            .filter(|claim| claim.result == AuditResult::Dispatching)
            .map(|claim| (&claim.task_id, &claim.session_id));
        let messages = rows
            .messages
            .values()
            .filter(|message| message.status == MessageStatus::Pending)
            .map(|message| (&message.task_id, &message.session_id));
        let sessions: BTreeSet<_> = claims.chain(messages).collect();
        Ok(sessions
            .into_iter()
            .map(|(task, session)| (task.clone(), session.clone()))
            .collect())
    }

    async fn attempts(
        &self,
        scope: &dyn SessionScope,
        after: Option<&AttemptId>,
        limit: usize,
    ) -> Result<Vec<Attempt>, StoreUnavailable> {
        let rows = self.rows();
        let mut of_session = rows
            .attempts
            .iter()
            .filter(|row| row.session_id == *scope.session_id());
        if let Some(after) = after
            && !of_session.any(|row| row.attempt_id == *after)
        {
            return Err(StoreUnavailable::new("there is no such attempt"));
        }
        Ok(of_session.take(limit).cloned().collect())
    }
}

type Key = (SessionId, RequestId);

#[derive(Debug, Default)]
struct Rows {
    claims: BTreeMap<Key, ClaimRecord>,
    messages: BTreeMap<Key, Message>,
    attempts: Vec<Attempt>,
    attempt_ids: BTreeSet<AttemptId>,
}

impl Rows {
    /// Appends rows, first of all in every change: it is the one step that can fail.
    fn append<'a>(
        &mut self,
        new: impl IntoIterator<Item = &'a Attempt> + Clone,
    ) -> Result<(), StoreUnavailable> {
        let known = |row: &Attempt| self.attempt_ids.contains(&row.attempt_id);
        if new.clone().into_iter().any(known) {
            return Err(StoreUnavailable::new("there is such an attempt already"));
        }
        for row in new {
            self.attempt_ids.insert(row.attempt_id.clone());
            self.attempts.push(row.clone());
        }
        Ok(())
    }

    /// Brings a message in line with its claim. A pending message has no claim.
    fn follow(&mut self, key: &Key, claim: &ClaimRecord) {
        if let Some(message) = self.messages.get_mut(key) {
            message.status = MessageStatus::of_claim(claim.result, &claim.option_kind);
            message.expiry_reason = None;
        }
    }

    /// Stores each of these pending messages as expired, and a row for each.
    fn expire_all(
        &mut self,
        expiring: BTreeMap<Key, (Message, ExpiryReason)>,
        expiry: &ExpiryRows,
    ) -> Result<(), StoreUnavailable> {
        let row = |(message, _): &(Message, ExpiryReason)| {
            expiry.row(
                &message.task_id,
                &message.session_id,
                &message.request_id,
                &message.pending_id,
            )
        };
        let new: Vec<Attempt> = expiring.values().map(row).collect();
        self.append(&new)?;
        for (key, (mut message, reason)) in expiring {
            expire(&mut message, reason);
            self.messages.insert(key, message);
        }
        Ok(())
    }
}

fn expire(message: &mut Message, reason: ExpiryReason) {
    message.status = MessageStatus::Expired;
    message.expiry_reason = Some(reason);
}

fn key(scope: &dyn SessionScope, request_id: &RequestId) -> Key {
    (scope.session_id().clone(), request_id.clone())
}
