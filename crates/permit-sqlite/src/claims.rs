//! The statements on claims.

use permit_domain::{AuditResult, ClaimRecord, RequestId, SessionId};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::Fault;
use crate::row::{Columns, micros, optional_micros};

/// Inserts the claim unless its request has one. Answers whether it did.
pub(crate) fn insert(connection: &Connection, claim: &ClaimRecord) -> Result<bool, Fault> {
    let inserted = connection
        .prepare_cached(
            "INSERT INTO claims (session_id, request_id, claim_id, task_id, pending_id, option_id,
                 option_kind, actor_user_id, actor_kind, source, selected_at, finalized_at, result)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
             ON CONFLICT (session_id, request_id) DO NOTHING",
        )?
        .execute(params![
            claim.session_id.as_str(),
            claim.request_id.as_str(),
            claim.claim_id.as_str(),
            claim.task_id.as_str(),
            claim.pending_id.as_str().as_bytes(),
            claim.option_id.as_str().as_bytes(),
            claim.option_kind.as_str().as_bytes(),
            claim.actor_user_id.as_str(),
            claim.actor_kind.as_str(),
            claim.source.as_str(),
            micros(claim.selected_at, "selected_at")?,
            optional_micros(claim.finalized_at, "finalized_at")?,
            claim.result.as_str(),
        ])?;
    Ok(inserted == 1)
}

/// Ends the claim if it has the result `from`. Answers whether it did.
pub(crate) fn end(
    connection: &Connection,
    claim: &ClaimRecord,
    from: AuditResult,
) -> Result<bool, Fault> {
    let ended = connection
        .prepare_cached(
            "UPDATE claims SET result = ?1, finalized_at = ?2
             WHERE session_id = ?3 AND request_id = ?4 AND claim_id = ?5 AND result = ?6",
        )?
        .execute(params![
            claim.result.as_str(),
            optional_micros(claim.finalized_at, "finalized_at")?,
            claim.session_id.as_str(),
            claim.request_id.as_str(),
            claim.claim_id.as_str(),
            from.as_str(),
        ])?;
    Ok(ended == 1)
}

/// The claim of a request.
pub(crate) fn find(
    connection: &Connection,
    session_id: &SessionId,
    request_id: &RequestId,
) -> Result<Option<ClaimRecord>, Fault> {
    connection
        .prepare_cached("SELECT * FROM claims WHERE session_id = ?1 AND request_id = ?2")?
        .query_row(params![session_id.as_str(), request_id.as_str()], |row| {
            Ok(record(row))
        })
        .optional()?
        .transpose()
}

/// The dispatching claims of a session.
pub(crate) fn open(
    connection: &Connection,
    session_id: &SessionId,
) -> Result<Vec<ClaimRecord>, Fault> {
    connection
        .prepare_cached(
            "SELECT * FROM claims INDEXED BY claims_open
             WHERE session_id = ?1 AND result = 'dispatching' ORDER BY request_id",
        )?
        .query_map(params![session_id.as_str()], |row| Ok(record(row)))?
        .map(|row| row?)
        .collect()
}

/// A row with every column of `claims`.
pub(crate) fn record(row: &Row<'_>) -> Result<ClaimRecord, Fault> {
    let columns = Columns(row);
    Ok(ClaimRecord {
        claim_id: columns.id("claim_id")?,
        task_id: columns.id("task_id")?,
        session_id: columns.id("session_id")?,
        request_id: columns.id("request_id")?,
        pending_id: columns.provider_id("pending_id")?,
        option_id: columns
            .option_id("option_id")?
            .ok_or(Fault::Corrupt("option_id"))?,
        option_kind: columns
            .option_kind("option_kind")?
            .ok_or(Fault::Corrupt("option_kind"))?,
        actor_user_id: columns.id("actor_user_id")?,
        actor_kind: columns.word("actor_kind")?,
        source: columns.word("source")?,
        selected_at: columns.time("selected_at")?,
        finalized_at: columns.optional_time("finalized_at")?,
        result: columns.word("result")?,
    })
}
