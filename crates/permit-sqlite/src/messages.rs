//! The statements on messages.

use permit_domain::{
    ClaimRecord, ExpiryReason, Message, MessageStatus, PendingId, RequestId, SessionId,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::Fault;
use crate::row::{Columns, json, micros};

/// Inserts a message for a request that has none.
pub(crate) fn insert(connection: &Connection, message: &Message) -> Result<(), Fault> {
    let action = message.action.as_ref();
    let action = action.map(|action| json(action, "action")).transpose()?;
    let tool_call_id = message.tool_call_id.as_ref();
    connection
        .prepare_cached(
            "INSERT INTO messages (task_id, session_id, request_id, pending_id, tool_call_id, title,
                 action, options, created_at, status, expiry_reason)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?
        .execute(params![
            message.task_id.as_str(),
            message.session_id.as_str(),
            message.request_id.as_str(),
            message.pending_id.as_str().as_bytes(),
            tool_call_id.map(|id| id.as_str().as_bytes()),
            message.title,
            action,
            json(&message.options, "options")?,
            micros(message.created_at, "created_at")?,
            message.status.as_str(),
            message.expiry_reason.map(ExpiryReason::as_str),
        ])?;
    Ok(())
}

/// Brings the claim's message, if there is one, in line with it.
pub(crate) fn follow(connection: &Connection, claim: &ClaimRecord) -> Result<(), Fault> {
    let status = MessageStatus::of_claim(claim.result, &claim.option_kind);
    connection
        .prepare_cached(
            "UPDATE messages SET status = ?1, expiry_reason = NULL
             WHERE session_id = ?2 AND request_id = ?3",
        )?
        .execute(params![
            status.as_str(),
            claim.session_id.as_str(),
            claim.request_id.as_str(),
        ])?;
    Ok(())
}

/// Expires the message if it is pending; a pending one has no claim. Answers whether it did.
pub(crate) fn expire(
    connection: &Connection,
    session_id: &SessionId,
    request_id: &RequestId,
    reason: ExpiryReason,
) -> Result<bool, Fault> {
    let expired = connection
        .prepare_cached(
            "UPDATE messages SET status = 'expired', expiry_reason = ?1
             WHERE session_id = ?2 AND request_id = ?3 AND status = 'pending'",
        )?
        .execute(params![
            reason.as_str(),
            session_id.as_str(),
            request_id.as_str(),
        ])?;
    Ok(expired == 1)
}

/// Whether the request has a message.
pub(crate) fn exists(
    connection: &Connection,
    session_id: &SessionId,
    request_id: &RequestId,
) -> Result<bool, Fault> {
    let exists = connection
        .prepare_cached("SELECT 1 FROM messages WHERE session_id = ?1 AND request_id = ?2")?
        .exists(params![session_id.as_str(), request_id.as_str()])?;
    Ok(exists)
}

/// The message of a request.
pub(crate) fn find(
    connection: &Connection,
    session_id: &SessionId,
    request_id: &RequestId,
) -> Result<Option<Message>, Fault> {
    connection
        .prepare_cached("SELECT * FROM messages WHERE session_id = ?1 AND request_id = ?2")?
        .query_row(params![session_id.as_str(), request_id.as_str()], |row| {
            Ok(message(row))
        })
        .optional()?
        .transpose()
}

/// The session's pending prompts, in the order in which they were seen.
pub(crate) fn pending(
    connection: &Connection,
    session_id: &SessionId,
) -> Result<Vec<(RequestId, PendingId)>, Fault> {
    connection
        .prepare_cached(
            "SELECT request_id, pending_id FROM messages
             WHERE session_id = ?1 AND status = 'pending' ORDER BY seq",
        )?
        .query_map(params![session_id.as_str()], |row| {
            let columns = Columns(row);
            Ok(columns
                .id("request_id")
                .and_then(|request_id| Ok((request_id, columns.provider_id("pending_id")?))))
        })?
        .map(|row| row?)
        .collect()
}

/// A row with every column of `messages`.
pub(crate) fn message(row: &Row<'_>) -> Result<Message, Fault> {
    let columns = Columns(row);
    Ok(Message {
        task_id: columns.id("task_id")?,
        session_id: columns.id("session_id")?,
        request_id: columns.id("request_id")?,
        pending_id: columns.provider_id("pending_id")?,
        tool_call_id: columns.optional_provider_id("tool_call_id")?,
        title: columns.text("title")?,
        action: columns.optional_json("action")?,
        options: columns.json("options")?,
        created_at: columns.time("created_at")?,
        status: columns.word("status")?,
        expiry_reason: columns.optional_word("expiry_reason")?,
    })
}
