//! The whole record of a task, in pages.

use permit_domain::{Attempt, ClaimRecord, Message, TaskId};
use permit_policy::MaintenanceGrant;
use rusqlite::{Connection, Row, params};

use crate::admin::require_task;
use crate::row::{Columns, limit};
use crate::{AdminError, Fault, SqliteStore, attempts, claims, messages};

/// A page of the record of a task. Messages and claims are in the order of their sessions and
/// requests, attempts in the order of their sessions and of their recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskAudit {
    /// Messages of the transcript.
    pub messages: Vec<Message>,
    /// Claims.
    pub claims: Vec<ClaimRecord>,
    /// Rows of the append-only record.
    pub attempts: Vec<Attempt>,
    /// Where the next page begins; `None` when this is the last.
    pub next: Option<AuditCursor>,
}

/// Where a page of a task's record begins. The default is the beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditCursor {
    messages: After<String>,
    claims: After<String>,
    attempts: After<i64>,
}

/// The last row that was read: its session and its place in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct After<T> {
    session_id: String,
    place: T,
}

impl SqliteStore {
    /// A page of the record of a task: up to `count` messages, claims and attempts each.
    ///
    /// # Errors
    /// [`AdminError::UnknownTask`], or that the store is unavailable.
    pub async fn audit_of_task(
        &self,
        _grant: &MaintenanceGrant,
        task_id: &TaskId,
        from: &AuditCursor,
        count: usize,
    ) -> Result<TaskAudit, AdminError> {
        let (task_id, from) = (task_id.clone(), from.clone());
        self.read_at_once(move |connection| {
            require_task(connection, &task_id)?;
            Ok(page(connection, &task_id, from, count.max(1))?)
        })
        .await
    }
}

fn page(
    connection: &Connection,
    task_id: &TaskId,
    from: AuditCursor,
    count: usize,
) -> Result<TaskAudit, Fault> {
    let mut cursor = from;
    // The outer loop over a task's sessions and the inner one over a session's rows both follow
    // an index, so that nothing is sorted.
    let messages = rows(
        connection,
        "SELECT messages.* FROM sessions CROSS JOIN messages USING (session_id)
         WHERE sessions.task_id = ?1 AND sessions.session_id >= ?2
             AND messages.request_id > iif(sessions.session_id = ?2, ?3, '')
         ORDER BY sessions.session_id, messages.request_id LIMIT ?4",
        (task_id, count),
        &mut cursor.messages,
        messages::message,
        |columns| columns.text("request_id"),
    )?;
    let claims = rows(
        connection,
        "SELECT claims.* FROM sessions CROSS JOIN claims USING (session_id)
         WHERE sessions.task_id = ?1 AND sessions.session_id >= ?2
             AND claims.request_id > iif(sessions.session_id = ?2, ?3, '')
         ORDER BY sessions.session_id, claims.request_id LIMIT ?4",
        (task_id, count),
        &mut cursor.claims,
        claims::record,
        |columns| columns.text("request_id"),
    )?;
    let attempts = rows(
        connection,
        "SELECT attempts.* FROM sessions CROSS JOIN attempts USING (session_id)
         WHERE sessions.task_id = ?1 AND sessions.session_id >= ?2
             AND attempts.seq > iif(sessions.session_id = ?2, ?3, 0)
         ORDER BY sessions.session_id, attempts.seq LIMIT ?4",
        (task_id, count),
        &mut cursor.attempts,
        attempts::attempt,
        |columns| columns.seq("seq"),
    )?;
    let longest = messages.len().max(claims.len()).max(attempts.len());
    Ok(TaskAudit {
        messages,
        claims,
        attempts,
        next: (longest == count).then_some(cursor),
    })
}

/// Reads up to `count` rows after a place and moves the place behind them.
fn rows<T, P: rusqlite::ToSql>(
    connection: &Connection,
    sql: &'static str,
    (task_id, count): (&TaskId, usize),
    after: &mut After<P>,
    map: impl Fn(&Row<'_>) -> Result<T, Fault>,
    place: impl Fn(&Columns<'_, '_>) -> Result<P, Fault>,
) -> Result<Vec<T>, Fault> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = statement.query(params![
        task_id.as_str(),
        after.session_id,
        after.place,
        limit(count)
    ])?;
    let (mut values, mut last) = (Vec::new(), None);
    while let Some(row) = found.next()? {
        let columns = Columns(row);
        values.push(map(row)?);
        last = Some(After {
            session_id: columns.text("session_id")?,
            place: place(&columns)?,
        });
    }
    if let Some(last) = last {
        *after = last;
    }
    Ok(values)
}
