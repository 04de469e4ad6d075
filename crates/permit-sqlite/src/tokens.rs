//! Administering credentials. Secrets never come here, only their hashes.

use permit_domain::{CredentialId, SessionId, TaskId, UserId};
use permit_policy::{MaintenanceGrant, Scopes, SecretHash};
use rusqlite::{Connection, Row, params};
use time::OffsetDateTime;

use crate::admin::{insert, require_session, require_user};
use crate::credentials::{parse_scopes, scopes_text};
use crate::row::{Columns, limit, micros, optional_micros};
use crate::{AdminError, Fault, SqliteStore};

/// A personal access token to record.
#[derive(Clone, Debug)]
pub struct NewAccessToken {
    /// Its public handle.
    pub credential_id: CredentialId,
    /// What the secret hashes to.
    pub hash: SecretHash,
    /// Whose it is.
    pub user_id: UserId,
    /// What it may be used for.
    pub scopes: Scopes,
    /// What its owner calls it.
    pub label: String,
    /// When it was made, UTC.
    pub created_at: OffsetDateTime,
    /// When it ceases to work, UTC; never when absent.
    pub expires_at: Option<OffsetDateTime>,
}

/// A personal access token as it may be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedAccessToken {
    /// Its public handle.
    pub credential_id: CredentialId,
    /// Whose it is.
    pub user_id: UserId,
    /// What it may be used for.
    pub scopes: Scopes,
    /// What its owner calls it.
    pub label: String,
    /// When it was made, UTC.
    pub created_at: OffsetDateTime,
    /// When it ceases to work, UTC; never when absent.
    pub expires_at: Option<OffsetDateTime>,
    /// When it was revoked, UTC.
    pub revoked_at: Option<OffsetDateTime>,
}

/// A sidecar's credential to record.
#[derive(Clone, Debug)]
pub struct NewExecutionCredential {
    /// Its public handle.
    pub credential_id: CredentialId,
    /// What the secret hashes to.
    pub hash: SecretHash,
    /// The session it serves.
    pub session_id: SessionId,
    /// What its owner calls it.
    pub label: String,
    /// When it was made, UTC.
    pub created_at: OffsetDateTime,
    /// When it ceases to work, UTC; never when absent.
    pub expires_at: Option<OffsetDateTime>,
}

/// A sidecar's credential as it may be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedExecutionCredential {
    /// Its public handle.
    pub credential_id: CredentialId,
    /// The task it serves.
    pub task_id: TaskId,
    /// The session it serves.
    pub session_id: SessionId,
    /// What its owner calls it.
    pub label: String,
    /// When it was made, UTC.
    pub created_at: OffsetDateTime,
    /// When it ceases to work, UTC; never when absent.
    pub expires_at: Option<OffsetDateTime>,
    /// When it was revoked, UTC.
    pub revoked_at: Option<OffsetDateTime>,
}

impl SqliteStore {
    /// Records a personal access token.
    ///
    /// # Errors
    /// [`AdminError::UnknownUser`], [`AdminError::Duplicate`], or that the store is unavailable.
    pub async fn add_access_token(
        &self,
        _grant: &MaintenanceGrant,
        new: NewAccessToken,
    ) -> Result<(), AdminError> {
        self.write(move |connection| {
            require_user(connection, &new.user_id)?;
            insert(
                connection,
                "INSERT INTO access_tokens
                     (credential_id, hash, user_id, scopes, label, created_at, expires_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    new.credential_id.as_str(),
                    new.hash.as_bytes(),
                    new.user_id.as_str(),
                    scopes_text(new.scopes),
                    new.label,
                    micros(new.created_at, "created_at")?,
                    optional_micros(new.expires_at, "expires_at")?,
                ],
            )
        })
        .await
    }

    /// Up to `count` personal access tokens after a handle, in the order of their handles.
    ///
    /// # Errors
    /// That the store is unavailable.
    pub async fn access_tokens(
        &self,
        _grant: &MaintenanceGrant,
        after: Option<&CredentialId>,
        count: usize,
    ) -> Result<Vec<ListedAccessToken>, AdminError> {
        let after = after_text(after);
        let listed = self.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT * FROM access_tokens WHERE credential_id > ?1
                     ORDER BY credential_id LIMIT ?2",
                )?
                .query_map(params![after, limit(count)], |row| Ok(listed_token(row)))?
                .map(|row| row?)
                .collect::<Result<_, Fault>>()
        });
        Ok(listed.await?)
    }

    /// Revokes a personal access token. Revoking it again changes nothing.
    ///
    /// # Errors
    /// [`AdminError::UnknownCredential`], or that the store is unavailable.
    pub async fn revoke_access_token(
        &self,
        _grant: &MaintenanceGrant,
        credential_id: &CredentialId,
        at: OffsetDateTime,
    ) -> Result<(), AdminError> {
        let sql = "UPDATE access_tokens SET revoked_at = coalesce(revoked_at, ?1)
                   WHERE credential_id = ?2";
        let credential_id = credential_id.clone();
        self.write(move |connection| revoke(connection, sql, &credential_id, at))
            .await
    }

    /// Records a sidecar's credential for one session.
    ///
    /// # Errors
    /// [`AdminError::UnknownSession`], [`AdminError::Duplicate`], or that the store is
    /// unavailable.
    pub async fn add_execution_credential(
        &self,
        _grant: &MaintenanceGrant,
        new: NewExecutionCredential,
    ) -> Result<(), AdminError> {
        self.write(move |connection| {
            require_session(connection, &new.session_id)?;
            insert(
                connection,
                "INSERT INTO execution_credentials
                     (credential_id, hash, session_id, label, created_at, expires_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![
                    new.credential_id.as_str(),
                    new.hash.as_bytes(),
                    new.session_id.as_str(),
                    new.label,
                    micros(new.created_at, "created_at")?,
                    optional_micros(new.expires_at, "expires_at")?,
                ],
            )
        })
        .await
    }

    /// Up to `count` sidecars' credentials after a handle, in the order of their handles.
    ///
    /// # Errors
    /// That the store is unavailable.
    pub async fn execution_credentials(
        &self,
        _grant: &MaintenanceGrant,
        after: Option<&CredentialId>,
        count: usize,
    ) -> Result<Vec<ListedExecutionCredential>, AdminError> {
        let after = after_text(after);
        let listed = self.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT credential_id, task_id, session_id, execution_credentials.label,
                         created_at, expires_at, revoked_at
                     FROM execution_credentials JOIN sessions USING (session_id)
                     WHERE credential_id > ?1 ORDER BY credential_id LIMIT ?2",
                )?
                .query_map(params![after, limit(count)], |row| {
                    Ok(listed_credential(row))
                })?
                .map(|row| row?)
                .collect::<Result<_, Fault>>()
        });
        Ok(listed.await?)
    }

    /// Revokes a sidecar's credential. Revoking it again changes nothing. An execution that is
    /// attached with it is for the gateway to end.
    ///
    /// # Errors
    /// [`AdminError::UnknownCredential`], or that the store is unavailable.
    pub async fn revoke_execution_credential(
        &self,
        _grant: &MaintenanceGrant,
        credential_id: &CredentialId,
        at: OffsetDateTime,
    ) -> Result<(), AdminError> {
        let sql = "UPDATE execution_credentials SET revoked_at = coalesce(revoked_at, ?1)
                   WHERE credential_id = ?2";
        let credential_id = credential_id.clone();
        self.write(move |connection| revoke(connection, sql, &credential_id, at))
            .await
    }
}

fn revoke(
    connection: &Connection,
    sql: &'static str,
    credential_id: &CredentialId,
    at: OffsetDateTime,
) -> Result<(), AdminError> {
    let at = micros(at, "revoked_at")?;
    let revoked = connection
        .prepare_cached(sql)?
        .execute(params![at, credential_id.as_str()])?;
    if revoked == 1 {
        Ok(())
    } else {
        Err(AdminError::UnknownCredential)
    }
}

/// No id is empty, so that every one comes after the empty text.
fn after_text(after: Option<&CredentialId>) -> String {
    after.map_or_else(String::new, |after| after.as_str().to_owned())
}

fn listed_token(row: &Row<'_>) -> Result<ListedAccessToken, Fault> {
    let columns = Columns(row);
    Ok(ListedAccessToken {
        credential_id: columns.id("credential_id")?,
        user_id: columns.id("user_id")?,
        scopes: parse_scopes(&columns.text("scopes")?)?,
        label: columns.text("label")?,
        created_at: columns.time("created_at")?,
        expires_at: columns.optional_time("expires_at")?,
        revoked_at: columns.optional_time("revoked_at")?,
    })
}

fn listed_credential(row: &Row<'_>) -> Result<ListedExecutionCredential, Fault> {
    let columns = Columns(row);
    Ok(ListedExecutionCredential {
        credential_id: columns.id("credential_id")?,
        task_id: columns.id("task_id")?,
        session_id: columns.id("session_id")?,
        label: columns.text("label")?,
        created_at: columns.time("created_at")?,
        expires_at: columns.optional_time("expires_at")?,
        revoked_at: columns.optional_time("revoked_at")?,
    })
}
