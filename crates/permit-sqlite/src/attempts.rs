//! The statements on attempts.

use permit_domain::{Attempt, AttemptId, SessionId};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::Fault;
use crate::row::{Columns, limit, micros, optional_micros};

/// Appends a row.
pub(crate) fn append(connection: &Connection, attempt: &Attempt) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "INSERT INTO attempts (attempt_id, task_id, session_id, request_id, pending_id, claim_id,
                 option_id, option_kind, actor_user_id, actor_kind, source, result, code,
                 selected_at, recorded_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        )?
        .execute(params![
            attempt.attempt_id.as_str(),
            attempt.task_id.as_str(),
            attempt.session_id.as_str(),
            attempt.request_id.as_str(),
            attempt.pending_id.as_str().as_bytes(),
            attempt.claim_id.as_ref().map(|id| id.as_str()),
            attempt.option_id.as_ref().map(|id| id.as_str().as_bytes()),
            attempt
                .option_kind
                .as_ref()
                .map(|kind| kind.as_str().as_bytes()),
            attempt.actor_user_id.as_ref().map(|id| id.as_str()),
            attempt.actor_kind.map(|kind| kind.as_str()),
            attempt.source.map(|source| source.as_str()),
            attempt.result.as_str(),
            attempt.code.map(|code| code.as_str()),
            optional_micros(attempt.selected_at, "selected_at")?,
            micros(attempt.recorded_at, "recorded_at")?,
        ])?;
    Ok(())
}

/// Up to `count` attempts of the session after one of its rows.
pub(crate) fn page(
    connection: &Connection,
    session_id: &SessionId,
    after: Option<&AttemptId>,
    count: usize,
) -> Result<Vec<Attempt>, Fault> {
    let after = match after {
        None => 0,
        Some(after) => seq_of(connection, session_id, after)?.ok_or(Fault::NoSuchAttempt)?,
    };
    connection
        .prepare_cached(
            "SELECT * FROM attempts WHERE session_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
        )?
        .query_map(params![session_id.as_str(), after, limit(count)], |row| {
            Ok(attempt(row))
        })?
        .map(|row| row?)
        .collect()
}

fn seq_of(
    connection: &Connection,
    session_id: &SessionId,
    attempt_id: &AttemptId,
) -> Result<Option<i64>, Fault> {
    let seq = connection
        .prepare_cached("SELECT seq FROM attempts WHERE attempt_id = ?1 AND session_id = ?2")?
        .query_row(params![attempt_id.as_str(), session_id.as_str()], |row| {
            row.get(0)
        })
        .optional()?;
    Ok(seq)
}

/// A row with every column of `attempts`.
pub(crate) fn attempt(row: &Row<'_>) -> Result<Attempt, Fault> {
    let columns = Columns(row);
    Ok(Attempt {
        attempt_id: columns.id("attempt_id")?,
        task_id: columns.id("task_id")?,
        session_id: columns.id("session_id")?,
        request_id: columns.id("request_id")?,
        pending_id: columns.provider_id("pending_id")?,
        claim_id: columns.optional_id("claim_id")?,
        option_id: columns.option_id("option_id")?,
        option_kind: columns.option_kind("option_kind")?,
        actor_user_id: columns.optional_id("actor_user_id")?,
        actor_kind: columns.optional_word("actor_kind")?,
        source: columns.optional_word("source")?,
        result: columns.word("result")?,
        code: columns.optional_word("code")?,
        selected_at: columns.optional_time("selected_at")?,
        recorded_at: columns.time("recorded_at")?,
    })
}
