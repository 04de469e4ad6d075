//! Everything for a first try, in one go.

use std::path::{Path, PathBuf};

use permit_domain::{SessionId, TaskId, UserId, WorkspaceId};
use permit_policy::{CredentialKind, SYNTHETIC_USER, Scopes};
use serde::Serialize;

use super::records::id;
use super::{Desk, credentials};
use crate::cli::{AuthMode, QuickstartArgs};
use crate::error::Error;
use crate::output;

#[derive(Serialize)]
struct Made<'a> {
    user_id: UserId,
    workspace_id: WorkspaceId,
    task_id: TaskId,
    session_id: SessionId,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    credential: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    credential_file: Option<PathBuf>,
}

pub(crate) async fn run(args: QuickstartArgs) -> Result<(), Error> {
    // First what may fail: a token that was made and never shown would stay valid.
    let credential = credentials::make(CredentialKind::Execution);
    if let Some(path) = &args.credential_file {
        credentials::write_secret(path, &credential.secret)?;
    }
    let desk = Desk::make(&args.common)?;
    let user_id = match args.auth {
        AuthMode::Required => desk.add_user(&args.user).await?,
        AuthMode::Disabled => id("user", SYNTHETIC_USER.to_owned(), UserId::parse)?,
    };
    let workspace_id = desk.add_workspace(&user_id, "quickstart").await?;
    let task_id = desk.add_task(&workspace_id, "quickstart").await?;
    let session_id = desk.add_session(&task_id, "quickstart").await?;
    let token = match args.auth {
        AuthMode::Required => {
            let made = desk.add_token(&user_id, Scopes::ALL, None, "quickstart");
            Some(made.await?.secret)
        }
        AuthMode::Disabled => None,
    };
    desk.add_credential(&credential, &session_id, None, "quickstart")
        .await?;
    let made = Made {
        user_id,
        workspace_id,
        task_id,
        session_id,
        token: token.as_ref().map(|token| token.expose()),
        credential: (args.credential_file.is_none()).then(|| credential.secret.expose()),
        credential_file: args.credential_file,
    };
    let database = &args.common.database;
    output::print(desk.json, &made, |made| {
        next_steps(made, database, args.auth)
    })
}

/// What was made, and what to do with it.
fn next_steps(made: &Made<'_>, database: &Path, auth: AuthMode) -> String {
    let token = made.token.unwrap_or("none is needed");
    let (credential, file) = match (&made.credential, &made.credential_file) {
        (_, Some(path)) => (path.display().to_string(), path.display().to_string()),
        (credential, None) => (
            credential.unwrap_or_default().to_owned(),
            "CREDENTIAL_FILE".to_owned(),
        ),
    };
    let auth = match auth {
        AuthMode::Required => "",
        AuthMode::Disabled => " --auth disabled",
    };
    format!(
        "user        {}
workspace   {}
task        {}
session     {}
token       {token}
credential  {credential}

Keep what is secret now, it is not shown again. Next:
  permit-gateway serve --database {}{auth}
  permit-sidecar run --gateway http://127.0.0.1:7878 --credential-file {file} --prompt '...' -- AGENT",
        made.user_id,
        made.workspace_id,
        made.task_id,
        made.session_id,
        database.display(),
    )
}
