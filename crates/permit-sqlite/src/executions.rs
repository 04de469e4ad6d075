//! The record of executions.

use async_trait::async_trait;
use permit_domain::{ExecutionId, SessionId};
use permit_policy::{
    EndReason, ExecutionGrant, ExecutionRecord, ExecutionStore, MaintenanceGrant, NewExecution,
    Resumed, SecretHash, SessionScope as _, StoreUnavailable, Upkeep,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use time::OffsetDateTime;

use crate::row::{Columns, micros};
use crate::{Fault, SqliteStore};

#[async_trait]
impl ExecutionStore for SqliteStore {
    async fn open_execution(
        &self,
        grant: &ExecutionGrant,
        new: NewExecution,
    ) -> Result<Option<ExecutionId>, StoreUnavailable> {
        let session_id = grant.session_id().clone();
        let credential_id = grant.credential_id().clone();
        let replaced = self.write(move |connection| {
            let started_at = micros(new.started_at, "started_at")?;
            let former = replace(connection, &session_id, started_at)?;
            connection
                .prepare_cached(
                    "INSERT INTO executions
                         (execution_id, session_id, credential_id, secret_hash, epoch, started_at)
                     VALUES (?1, ?2, ?3, ?4, 1, ?5)",
                )?
                .execute(params![
                    new.execution_id.as_str(),
                    session_id.as_str(),
                    credential_id.as_str(),
                    new.secret_hash.as_bytes(),
                    started_at,
                ])?;
            Ok::<_, Fault>(former)
        });
        Ok(replaced.await?)
    }

    async fn resume_execution(
        &self,
        grant: &ExecutionGrant,
        execution_id: &ExecutionId,
        secret_hash: &SecretHash,
    ) -> Result<Resumed, StoreUnavailable> {
        let session_id = grant.session_id().clone();
        let (execution_id, secret_hash) = (execution_id.clone(), *secret_hash);
        let resumed = self.write(move |connection| {
            let found = find(connection, &session_id, &execution_id)?;
            match found.filter(|found| found.secret_hash == secret_hash) {
                Some(found) => resume(connection, &session_id, &found),
                None => Ok(Resumed::Unknown),
            }
        });
        Ok(resumed.await?)
    }

    async fn end_execution(
        &self,
        scope: &dyn Upkeep,
        execution_id: &ExecutionId,
        epoch: u64,
        reason: EndReason,
        at: OffsetDateTime,
    ) -> Result<bool, StoreUnavailable> {
        let session_id = scope.session_id().clone();
        let execution_id = execution_id.clone();
        let ended = self.write(move |connection| {
            let epoch = i64::try_from(epoch).map_err(|_| Fault::OutOfRange("epoch"))?;
            let ended = connection
                .prepare_cached(
                    "UPDATE executions SET ended_at = ?1, end_reason = ?2
                     WHERE execution_id = ?3 AND session_id = ?4 AND epoch = ?5
                         AND ended_at IS NULL",
                )?
                .execute(params![
                    micros(at, "ended_at")?,
                    reason.as_str(),
                    execution_id.as_str(),
                    session_id.as_str(),
                    epoch,
                ])?;
            Ok::<_, Fault>(ended == 1)
        });
        Ok(ended.await?)
    }

    async fn open_executions(
        &self,
        _grant: &MaintenanceGrant,
    ) -> Result<Vec<ExecutionRecord>, StoreUnavailable> {
        let open = self.read(|connection| {
            connection
                .prepare_cached(
                    "SELECT execution_id, task_id, session_id, epoch
                     FROM executions JOIN sessions USING (session_id)
                     WHERE ended_at IS NULL ORDER BY session_id",
                )?
                .query_map([], |row| Ok(record(row)))?
                .map(|row| row?)
                .collect::<Result<Vec<_>, Fault>>()
        });
        Ok(open.await?)
    }

    async fn credential_works(
        &self,
        grant: &ExecutionGrant,
        at: OffsetDateTime,
    ) -> Result<bool, StoreUnavailable> {
        let credential_id = grant.credential_id().clone();
        let session_id = grant.session_id().clone();
        let works = self.read(move |connection| {
            let mut working = connection.prepare_cached(
                "SELECT 1 FROM execution_credentials
                 WHERE credential_id = ?1 AND session_id = ?2 AND revoked_at IS NULL
                     AND (expires_at IS NULL OR expires_at > ?3)",
            )?;
            let at = micros(at, "expires_at")?;
            Ok::<_, Fault>(working.exists(params![
                credential_id.as_str(),
                session_id.as_str(),
                at
            ])?)
        });
        Ok(works.await?)
    }
}

struct Found {
    seq: i64,
    secret_hash: SecretHash,
    epoch: u64,
    ended: Option<EndReason>,
}

fn find(
    connection: &Connection,
    session_id: &SessionId,
    execution_id: &ExecutionId,
) -> Result<Option<Found>, Fault> {
    connection
        .prepare_cached(
            "SELECT seq, secret_hash, epoch, end_reason FROM executions
             WHERE execution_id = ?1 AND session_id = ?2",
        )?
        .query_row(params![execution_id.as_str(), session_id.as_str()], |row| {
            Ok(found(row))
        })
        .optional()?
        .transpose()
}

fn found(row: &Row<'_>) -> Result<Found, Fault> {
    let columns = Columns(row);
    let ended = columns.optional_text("end_reason")?;
    let ended = ended.map(|word| parse_end_reason(&word)).transpose()?;
    Ok(Found {
        seq: columns.seq("seq")?,
        secret_hash: columns.hash("secret_hash")?,
        epoch: columns.count("epoch")?,
        ended,
    })
}

fn resume(
    connection: &Connection,
    session_id: &SessionId,
    found: &Found,
) -> Result<Resumed, Fault> {
    let was_ended = match found.ended {
        None => false,
        Some(EndReason::Lost) if is_newest(connection, session_id, found.seq)? => true,
        Some(EndReason::Lost) => return Ok(Resumed::Ended(EndReason::Replaced)),
        Some(reason @ (EndReason::Exited | EndReason::Replaced | EndReason::Revoked)) => {
            return Ok(Resumed::Ended(reason));
        }
    };
    let epoch = found.epoch + 1;
    connection
        .prepare_cached(
            "UPDATE executions SET epoch = ?1, ended_at = NULL, end_reason = NULL WHERE seq = ?2",
        )?
        .execute(params![
            i64::try_from(epoch).map_err(|_| Fault::OutOfRange("epoch"))?,
            found.seq
        ])?;
    Ok(Resumed::Resumed { epoch, was_ended })
}

fn is_newest(connection: &Connection, session_id: &SessionId, seq: i64) -> Result<bool, Fault> {
    let newer = connection
        .prepare_cached("SELECT 1 FROM executions WHERE session_id = ?1 AND seq > ?2")?
        .exists(params![session_id.as_str(), seq])?;
    Ok(!newer)
}

/// Ends the session's open execution, as replaced by one that starts now.
fn replace(
    connection: &Connection,
    session_id: &SessionId,
    at: i64,
) -> Result<Option<ExecutionId>, Fault> {
    connection
        .prepare_cached(
            "UPDATE executions SET ended_at = ?1, end_reason = ?2
             WHERE session_id = ?3 AND ended_at IS NULL RETURNING execution_id",
        )?
        .query_row(
            params![at, EndReason::Replaced.as_str(), session_id.as_str()],
            |row| Ok(Columns(row).id("execution_id")),
        )
        .optional()?
        .transpose()
}

fn record(row: &Row<'_>) -> Result<ExecutionRecord, Fault> {
    let columns = Columns(row);
    Ok(ExecutionRecord {
        execution_id: columns.id("execution_id")?,
        task_id: columns.id("task_id")?,
        session_id: columns.id("session_id")?,
        epoch: columns.count("epoch")?,
    })
}

fn parse_end_reason(word: &str) -> Result<EndReason, Fault> {
    use EndReason::{Exited, Lost, Replaced, Revoked};
    [Exited, Lost, Replaced, Revoked]
        .into_iter()
        .find(|reason| reason.as_str() == word)
        .ok_or(Fault::Corrupt("end_reason"))
}
