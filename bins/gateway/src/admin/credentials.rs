//! Personal access tokens and sidecars' credentials: shown once, stored as hashes.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use permit_domain::{Clock as _, CredentialId, IdSource as _, SessionId, UserId};
use permit_policy::{CredentialKind, Scope, Scopes, Secret};
use permit_sqlite::{
    ListedAccessToken, ListedExecutionCredential, NewAccessToken, NewExecutionCredential,
};
use permit_system::{SystemClock, SystemRandom, TimeOrderedIds};
use serde::Serialize;
use time::OffsetDateTime;

use super::listed::{Credential, Token, lines};
use super::records::id;
use super::{Desk, refused};
use crate::cli::{ExecutionCommand, TokenCommand};
use crate::error::Error;
use crate::output;

/// How many rows are read at a time.
const PAGE: usize = 500;

/// A credential just made.
pub(crate) struct Made {
    pub(crate) credential_id: CredentialId,
    pub(crate) secret: Secret,
}

pub(crate) async fn token(command: TokenCommand) -> Result<(), Error> {
    match command {
        TokenCommand::Create {
            common,
            user,
            scope,
            expires,
            label,
        } => {
            #[derive(Serialize)]
            struct Created<'a> {
                credential_id: CredentialId,
                user_id: UserId,
                scopes: Vec<&'static str>,
                #[serde(with = "time::serde::rfc3339::option")]
                expires_at: Option<OffsetDateTime>,
                token: &'a str,
            }

            let desk = Desk::open(&common)?;
            let user_id = id("user", user, UserId::parse)?;
            let scopes: Scopes = scope.into_iter().collect();
            let expires_at = expires.map(|after| SystemClock.now() + after);
            let made = desk.add_token(&user_id, scopes, expires_at, &label).await?;
            let created = Created {
                credential_id: made.credential_id,
                user_id,
                scopes: scopes.iter().map(Scope::as_str).collect(),
                expires_at,
                token: made.secret.expose(),
            };
            output::print(desk.json, &created, |created| {
                format!(
                    "token {} for user {}; keep it now, it is not shown again:\n{}",
                    created.credential_id, created.user_id, created.token
                )
            })
        }
        TokenCommand::List { common, user } => {
            #[derive(Serialize)]
            struct List {
                tokens: Vec<Token>,
            }

            let desk = Desk::open(&common)?;
            let user_id = user
                .map(|user| id("user", user, UserId::parse))
                .transpose()?;
            let wanted = |token: &ListedAccessToken| {
                user_id.as_ref().is_none_or(|user| *user == token.user_id)
            };
            let (mut tokens, mut after) = (Vec::new(), None);
            loop {
                let page = desk.store.access_tokens(&desk.grant, after.as_ref(), PAGE);
                let page = page.await.map_err(refused("the tokens cannot be listed"))?;
                let more = page.len() == PAGE;
                after = page.last().map(|token| token.credential_id.clone());
                tokens.extend(page.into_iter().filter(wanted).map(Token::from));
                if !more {
                    break;
                }
            }
            output::print(desk.json, &List { tokens }, |list| {
                lines("no tokens", list.tokens.iter().map(Token::line))
            })
        }
        TokenCommand::Revoke {
            common,
            id: token_id,
        } => {
            let desk = Desk::open(&common)?;
            let token_id = id("token", token_id, CredentialId::parse)?;
            let now = SystemClock.now();
            desk.store
                .revoke_access_token(&desk.grant, &token_id, now)
                .await
                .map_err(refused("the token was not revoked"))?;
            revoked(&desk, token_id)
        }
    }
}

pub(crate) async fn execution(command: ExecutionCommand) -> Result<(), Error> {
    match command {
        ExecutionCommand::Create {
            common,
            session,
            expires,
            label,
            credential_file,
        } => {
            #[derive(Serialize)]
            struct Created<'a> {
                credential_id: CredentialId,
                session_id: SessionId,
                #[serde(with = "time::serde::rfc3339::option")]
                expires_at: Option<OffsetDateTime>,
                #[serde(skip_serializing_if = "Option::is_none")]
                credential: Option<&'a str>,
                #[serde(skip_serializing_if = "Option::is_none")]
                credential_file: Option<PathBuf>,
            }

            let desk = Desk::open(&common)?;
            let session_id = id("session", session, SessionId::parse)?;
            let expires_at = expires.map(|after| SystemClock.now() + after);
            let made = make(CredentialKind::Execution);
            desk.add_credential(&made, &session_id, expires_at, &label)
                .await?;
            if let Some(path) = &credential_file {
                write_secret(path, &made.secret)?;
            }
            let shown = credential_file.is_none().then(|| made.secret.expose());
            let created = Created {
                credential_id: made.credential_id,
                session_id,
                expires_at,
                credential: shown,
                credential_file,
            };
            output::print(desk.json, &created, |created| {
                let place = match (&created.credential, &created.credential_file) {
                    (_, Some(path)) => format!("written to {}", path.display()),
                    (credential, None) => format!(
                        "put it into a file of mode 0600 now, it is not shown again:\n{}",
                        credential.unwrap_or_default()
                    ),
                };
                format!(
                    "credential {} for session {}; {place}",
                    created.credential_id, created.session_id
                )
            })
        }
        ExecutionCommand::List { common, session } => {
            #[derive(Serialize)]
            struct List {
                credentials: Vec<Credential>,
            }

            let desk = Desk::open(&common)?;
            let session_id = session
                .map(|session| id("session", session, SessionId::parse))
                .transpose()?;
            let wanted = |credential: &ListedExecutionCredential| {
                let session_id = session_id.as_ref();
                session_id.is_none_or(|session| *session == credential.session_id)
            };
            let (mut credentials, mut after) = (Vec::new(), None);
            loop {
                let page = desk
                    .store
                    .execution_credentials(&desk.grant, after.as_ref(), PAGE)
                    .await
                    .map_err(refused("the credentials cannot be listed"))?;
                let more = page.len() == PAGE;
                after = page.last().map(|last| last.credential_id.clone());
                credentials.extend(page.into_iter().filter(wanted).map(Credential::from));
                if !more {
                    break;
                }
            }
            output::print(desk.json, &List { credentials }, |list| {
                lines(
                    "no credentials",
                    list.credentials.iter().map(Credential::line),
                )
            })
        }
        ExecutionCommand::Revoke {
            common,
            id: credential_id,
        } => {
            let desk = Desk::open(&common)?;
            let credential_id = id("credential", credential_id, CredentialId::parse)?;
            let now = SystemClock.now();
            desk.store
                .revoke_execution_credential(&desk.grant, &credential_id, now)
                .await
                .map_err(refused("the credential was not revoked"))?;
            revoked(&desk, credential_id)
        }
    }
}

impl Desk {
    pub(crate) async fn add_token(
        &self,
        user_id: &UserId,
        scopes: Scopes,
        expires_at: Option<OffsetDateTime>,
        label: &str,
    ) -> Result<Made, Error> {
        let made = make(CredentialKind::PersonalAccessToken);
        let token = NewAccessToken {
            credential_id: made.credential_id.clone(),
            hash: made.secret.hash(),
            user_id: user_id.clone(),
            scopes,
            label: label.to_owned(),
            created_at: SystemClock.now(),
            expires_at,
        };
        let added = self.store.add_access_token(&self.grant, token).await;
        added.map_err(refused("the token was not made"))?;
        Ok(made)
    }

    pub(crate) async fn add_credential(
        &self,
        made: &Made,
        session_id: &SessionId,
        expires_at: Option<OffsetDateTime>,
        label: &str,
    ) -> Result<(), Error> {
        let credential = NewExecutionCredential {
            credential_id: made.credential_id.clone(),
            hash: made.secret.hash(),
            session_id: session_id.clone(),
            label: label.to_owned(),
            created_at: SystemClock.now(),
            expires_at,
        };
        let added = self.store.add_execution_credential(&self.grant, credential);
        let added = added.await;
        added.map_err(refused("the credential was not made"))
    }
}

/// A fresh credential, not recorded yet.
pub(crate) fn make(kind: CredentialKind) -> Made {
    Made {
        credential_id: TimeOrderedIds.fresh().into(),
        secret: Secret::generate(kind, &SystemRandom),
    }
}

/// Writes a secret to a new file that only its owner can read. An old file is replaced.
pub(crate) fn write_secret(path: &Path, secret: &Secret) -> Result<(), Error> {
    let what = || format!("cannot write {}", path.display());
    let fail = |cause| Error::new(what(), cause);
    // A file that exists may be readable by others: it is never written to.
    match std::fs::remove_file(path) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => return Err(fail(cause)),
        Ok(()) | Err(_) => {}
    }
    let mut options = OpenOptions::new();
    let options = options.write(true).create_new(true).mode(0o600);
    let mut file = options.open(path).map_err(fail)?;
    writeln!(file, "{}", secret.expose()).map_err(fail)
}

fn revoked(desk: &Desk, credential_id: CredentialId) -> Result<(), Error> {
    #[derive(Serialize)]
    struct Revoked {
        credential_id: CredentialId,
        revoked: bool,
    }

    let revoked = Revoked {
        credential_id,
        revoked: true,
    };
    output::print(desk.json, &revoked, |revoked| {
        format!("revoked {}", revoked.credential_id)
    })
}
