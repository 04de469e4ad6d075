//! The audit and the transcript.

use std::collections::HashSet;

use async_trait::async_trait;
use permit_audit::{
    AuditStore, ClaimDecision, ClaimEnd, Closed, ExpiryRows, Known, NewAttempt, NewClaim,
};
use permit_domain::{
    Attempt, AttemptId, AuditResult, ClaimRecord, ExpiryReason, Message, MessageStatus,
    PromptSnapshot, RequestId, SessionId, TaskId,
};
use permit_policy::{MaintenanceGrant, SessionGrant, SessionScope, StoreUnavailable, Upkeep};
use rusqlite::Connection;

use crate::row::Columns;
use crate::{Fault, SqliteStore, attempts, claims, messages};

#[async_trait]
impl AuditStore for SqliteStore {
    async fn known(
        &self,
        grant: &SessionGrant,
        request_id: &RequestId,
    ) -> Result<Known, StoreUnavailable> {
        let (session_id, request_id) = (grant.session_id().clone(), request_id.clone());
        let known = self.read_at_once(move |connection| {
            Ok::<_, Fault>(Known {
                claim: claims::find(connection, &session_id, &request_id)?,
                message: messages::find(connection, &session_id, &request_id)?,
            })
        });
        Ok(known.await?)
    }

    async fn claims_among(
        &self,
        scope: &dyn SessionScope,
        requests: &[RequestId],
    ) -> Result<Vec<ClaimRecord>, StoreUnavailable> {
        let (session_id, requests) = (scope.session_id().clone(), requests.to_vec());
        let found = self.read_at_once(move |connection| {
            requests
                .iter()
                .filter_map(|request_id| {
                    claims::find(connection, &session_id, request_id).transpose()
                })
                .collect::<Result<Vec<_>, Fault>>()
        });
        Ok(found.await?)
    }

    async fn claim(&self, new: &NewClaim) -> Result<ClaimDecision, StoreUnavailable> {
        let (record, attempt) = (new.record().clone(), new.attempt().clone());
        let decision = self.write(move |connection| {
            if !claims::insert(connection, &record)? {
                let holder = claims::find(connection, &record.session_id, &record.request_id)?;
                let holder = holder.ok_or(Fault::NoSuchClaim)?;
                return Ok::<_, Fault>(ClaimDecision::Lost(Box::new(holder)));
            }
            attempts::append(connection, &attempt)?;
            messages::follow(connection, &record)?;
            Ok(ClaimDecision::Won)
        });
        Ok(decision.await?)
    }

    async fn finalize(&self, end: &ClaimEnd) -> Result<AuditResult, StoreUnavailable> {
        let (from, claim_id) = (end.from().result(), end.claim_id().clone());
        let attempt = end.attempt().clone();
        let result = self.write(move |connection| {
            let held = claims::find(connection, &attempt.session_id, &attempt.request_id)?;
            let held = held.filter(|held| held.claim_id == claim_id);
            let mut claim = held.ok_or(Fault::NoSuchClaim)?;
            if claim.result != from {
                return Ok::<_, Fault>(claim.result);
            }
            claim.result = attempt.result;
            claim.finalized_at = Some(attempt.recorded_at);
            if !claims::end(connection, &claim, from)? {
                return Err(Fault::NoSuchClaim);
            }
            attempts::append(connection, &attempt)?;
            messages::follow(connection, &claim)?;
            Ok(claim.result)
        });
        Ok(result.await?)
    }

    async fn append(&self, attempt: &NewAttempt) -> Result<(), StoreUnavailable> {
        let (row, expire) = (attempt.attempt().clone(), attempt.expire());
        let appended = self.write(move |connection| {
            attempts::append(connection, &row)?;
            if let Some(reason) = expire {
                messages::expire(connection, &row.session_id, &row.request_id, reason)?;
            }
            Ok::<_, Fault>(())
        });
        Ok(appended.await?)
    }

    /// Reads first: what is listed again and again is written once.
    async fn observe(
        &self,
        scope: &dyn SessionScope,
        prompts: &[PromptSnapshot],
    ) -> Result<(), StoreUnavailable> {
        let session_id = scope.session_id().clone();
        let requests: Vec<_> = prompts.iter().map(|p| p.request_id.clone()).collect();
        let unseen = self.read_at_once(move |connection| {
            let mut unseen = HashSet::new();
            for request_id in requests {
                if !messages::exists(connection, &session_id, &request_id)? {
                    unseen.insert(request_id);
                }
            }
            Ok::<_, Fault>(unseen)
        });
        let unseen = unseen.await?;
        let new: Vec<Message> = prompts
            .iter()
            .filter(|prompt| unseen.contains(&prompt.request_id))
            .map(|prompt| {
                let (task_id, session_id) = (scope.task_id().clone(), scope.session_id().clone());
                Message::waiting(task_id, session_id, prompt.clone())
            })
            .collect();
        if new.is_empty() {
            return Ok(());
        }
        let observed = self.write(move |connection| {
            new.into_iter()
                .try_for_each(|message| observe(connection, message))
        });
        Ok(observed.await?)
    }

    async fn close(
        &self,
        scope: &dyn Upkeep,
        closed: &[Closed],
        rows: &ExpiryRows,
    ) -> Result<(), StoreUnavailable> {
        let (task_id, session_id) = (scope.task_id().clone(), scope.session_id().clone());
        let (closed, rows) = (closed.to_vec(), rows.clone());
        let closed = self.write(move |connection| {
            for gone in &closed {
                close(connection, (&task_id, &session_id), gone, &rows)?;
            }
            Ok::<_, Fault>(())
        });
        Ok(closed.await?)
    }

    async fn close_absent(
        &self,
        scope: &dyn Upkeep,
        live: &[RequestId],
        reason: ExpiryReason,
        rows: &ExpiryRows,
    ) -> Result<u64, StoreUnavailable> {
        let (task_id, session_id) = (scope.task_id().clone(), scope.session_id().clone());
        let live: HashSet<RequestId> = live.iter().cloned().collect();
        let rows = rows.clone();
        let count = self.write(move |connection| {
            let mut count = 0;
            for (request_id, pending_id) in messages::pending(connection, &session_id)? {
                if live.contains(&request_id)
                    || !messages::expire(connection, &session_id, &request_id, reason)?
                {
                    continue;
                }
                let row = rows.row(&task_id, &session_id, &request_id, &pending_id);
                attempts::append(connection, &row)?;
                count += 1;
            }
            Ok::<_, Fault>(count)
        });
        Ok(count.await?)
    }

    async fn open_claims(&self, scope: &dyn Upkeep) -> Result<Vec<ClaimRecord>, StoreUnavailable> {
        let session_id = scope.session_id().clone();
        let open = self.read(move |connection| claims::open(connection, &session_id));
        Ok(open.await?)
    }

    async fn unsettled_sessions(
        &self,
        _grant: &MaintenanceGrant,
    ) -> Result<Vec<(TaskId, SessionId)>, StoreUnavailable> {
        Ok(self.read(unsettled).await?)
    }

    async fn attempts(
        &self,
        scope: &dyn SessionScope,
        after: Option<&AttemptId>,
        limit: usize,
    ) -> Result<Vec<Attempt>, StoreUnavailable> {
        let (session_id, after) = (scope.session_id().clone(), after.cloned());
        let page = self.read_at_once(move |connection| {
            attempts::page(connection, &session_id, after.as_ref(), limit)
        });
        Ok(page.await?)
    }
}

/// Inserts the message if there is none: pending, or as its claim stands.
fn observe(connection: &Connection, mut message: Message) -> Result<(), Fault> {
    let (session_id, request_id) = (&message.session_id, &message.request_id);
    if messages::exists(connection, session_id, request_id)? {
        return Ok(());
    }
    if let Some(claim) = claims::find(connection, session_id, request_id)? {
        message.status = MessageStatus::of_claim(claim.result, &claim.option_kind);
    }
    messages::insert(connection, &message)
}

/// Expires the message of an unclaimed prompt, or remembers that it was gone before it was seen.
fn close(
    connection: &Connection,
    (task_id, session_id): (&TaskId, &SessionId),
    gone: &Closed,
    rows: &ExpiryRows,
) -> Result<(), Fault> {
    let request_id = &gone.request_id;
    if claims::find(connection, session_id, request_id)?.is_some() {
        return Ok(());
    }
    let pending_id = match messages::find(connection, session_id, request_id)? {
        None => {
            let message = gone.message(task_id.clone(), session_id.clone());
            messages::insert(connection, &message)?;
            gone.pending_id.clone()
        }
        Some(message) => {
            if !messages::expire(connection, session_id, request_id, gone.reason)? {
                return Ok(());
            }
            message.pending_id
        }
    };
    let row = rows.row(task_id, session_id, request_id, &pending_id);
    attempts::append(connection, &row)
}

fn unsettled(connection: &Connection) -> Result<Vec<(TaskId, SessionId)>, Fault> {
    connection
        .prepare_cached(
            "SELECT task_id, session_id FROM claims WHERE result = 'dispatching'
             UNION
             SELECT task_id, session_id FROM messages WHERE status = 'pending'
             ORDER BY task_id, session_id",
        )?
        .query_map([], |row| {
            let columns = Columns(row);
            Ok(columns
                .id("task_id")
                .and_then(|task_id| Ok((task_id, columns.id("session_id")?))))
        })?
        .map(|row| row?)
        .collect()
}
