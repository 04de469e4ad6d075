//! The stored credentials, by hash. Each kind has a table of its own.

use async_trait::async_trait;
use permit_policy::{
    AccessToken, CredentialStore, ExecutionCredential, Scope, Scopes, SecretHash, StoreUnavailable,
};
use rusqlite::{OptionalExtension as _, Row, params};

use crate::row::Columns;
use crate::{Fault, SqliteStore};

#[async_trait]
impl CredentialStore for SqliteStore {
    async fn access_token(
        &self,
        hash: &SecretHash,
    ) -> Result<Option<AccessToken>, StoreUnavailable> {
        let hash = *hash;
        let token = self.read(move |connection| {
            connection
                .prepare_cached("SELECT * FROM access_tokens WHERE hash = ?1")?
                .query_row(params![hash.as_bytes()], |row| Ok(access_token(row)))
                .optional()?
                .transpose()
        });
        Ok(token.await?)
    }

    async fn execution_credential(
        &self,
        hash: &SecretHash,
    ) -> Result<Option<ExecutionCredential>, StoreUnavailable> {
        let hash = *hash;
        let credential = self.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT credential_id, hash, task_id, session_id, owner_id, expires_at, revoked_at
                     FROM execution_credentials JOIN sessions USING (session_id)
                         JOIN tasks USING (task_id) JOIN workspaces USING (workspace_id)
                     WHERE hash = ?1",
                )?
                .query_row(params![hash.as_bytes()], |row| Ok(execution_credential(row)))
                .optional()?
                .transpose()
        });
        Ok(credential.await?)
    }
}

fn access_token(row: &Row<'_>) -> Result<AccessToken, Fault> {
    let columns = Columns(row);
    Ok(AccessToken {
        credential_id: columns.id("credential_id")?,
        hash: columns.hash("hash")?,
        user_id: columns.id("user_id")?,
        scopes: parse_scopes(&columns.text("scopes")?)?,
        expires_at: columns.optional_time("expires_at")?,
        revoked_at: columns.optional_time("revoked_at")?,
    })
}

fn execution_credential(row: &Row<'_>) -> Result<ExecutionCredential, Fault> {
    let columns = Columns(row);
    Ok(ExecutionCredential {
        credential_id: columns.id("credential_id")?,
        hash: columns.hash("hash")?,
        task_id: columns.id("task_id")?,
        session_id: columns.id("session_id")?,
        owner_id: columns.id("owner_id")?,
        expires_at: columns.optional_time("expires_at")?,
        revoked_at: columns.optional_time("revoked_at")?,
    })
}

/// Scopes as they are stored: their names, with a space between.
pub(crate) fn scopes_text(scopes: Scopes) -> String {
    let names: Vec<_> = scopes.iter().map(Scope::as_str).collect();
    names.join(" ")
}

/// Scopes from their stored names. One that is unknown is an error, not a lesser credential.
pub(crate) fn parse_scopes(text: &str) -> Result<Scopes, Fault> {
    text.split(' ')
        .filter(|name| !name.is_empty())
        .map(|name| Scope::parse(name).ok_or(Fault::Corrupt("scopes")))
        .collect()
}
