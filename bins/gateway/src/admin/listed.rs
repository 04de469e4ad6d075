//! Credentials as they are listed: without their secrets.

use std::fmt::Write as _;

use permit_domain::{CredentialId, SessionId, TaskId, UserId};
use permit_policy::Scope;
use permit_sqlite::{ListedAccessToken, ListedExecutionCredential};
use serde::Serialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

pub(super) fn lines(none: &str, rows: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    for row in rows {
        let _ = writeln!(text, "{row}");
    }
    if text.is_empty() {
        none.to_owned()
    } else {
        text
    }
}

/// A personal access token as it is listed.
#[derive(Serialize)]
pub(super) struct Token {
    credential_id: CredentialId,
    user_id: UserId,
    scopes: Vec<&'static str>,
    #[serde(flatten)]
    life: Life,
}

impl From<ListedAccessToken> for Token {
    fn from(token: ListedAccessToken) -> Self {
        Self {
            credential_id: token.credential_id,
            user_id: token.user_id,
            scopes: token.scopes.iter().map(Scope::as_str).collect(),
            life: Life {
                label: token.label,
                created_at: token.created_at,
                expires_at: token.expires_at,
                revoked_at: token.revoked_at,
            },
        }
    }
}

impl Token {
    pub(super) fn line(&self) -> String {
        let scopes = self.scopes.join(",");
        let (id, user, life) = (&self.credential_id, &self.user_id, self.life.text());
        format!("{id}  user {user}  {scopes}  {life}")
    }
}

/// A sidecar's credential as it is listed.
#[derive(Serialize)]
pub(super) struct Credential {
    credential_id: CredentialId,
    task_id: TaskId,
    session_id: SessionId,
    #[serde(flatten)]
    life: Life,
}

impl From<ListedExecutionCredential> for Credential {
    fn from(credential: ListedExecutionCredential) -> Self {
        Self {
            credential_id: credential.credential_id,
            task_id: credential.task_id,
            session_id: credential.session_id,
            life: Life {
                label: credential.label,
                created_at: credential.created_at,
                expires_at: credential.expires_at,
                revoked_at: credential.revoked_at,
            },
        }
    }
}

impl Credential {
    pub(super) fn line(&self) -> String {
        let (id, session, life) = (&self.credential_id, &self.session_id, self.life.text());
        format!("{id}  session {session}  {life}")
    }
}

/// What every credential has: a name, a beginning and an end.
#[derive(Serialize)]
struct Life {
    label: String,
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
    #[serde(with = "time::serde::rfc3339::option")]
    expires_at: Option<OffsetDateTime>,
    #[serde(with = "time::serde::rfc3339::option")]
    revoked_at: Option<OffsetDateTime>,
}

impl Life {
    fn text(&self) -> String {
        let time = |at: OffsetDateTime| at.format(&Rfc3339).unwrap_or_default();
        let end = match (self.revoked_at, self.expires_at) {
            (Some(at), _) => format!("revoked {}", time(at)),
            (None, Some(at)) => format!("expires {}", time(at)),
            (None, None) => "does not expire".to_owned(),
        };
        let label = self.label.escape_debug();
        format!("made {}  {end}  {label}", time(self.created_at))
    }
}
