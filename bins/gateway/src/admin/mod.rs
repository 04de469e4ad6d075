//! The administrative commands: each opens the database, does one thing and prints it.

mod audit;
mod credentials;
mod listed;
mod quickstart;
mod records;

use std::path::Path;

use permit_policy::{CompositionRoot, MaintenanceGrant};
use permit_sqlite::{AdminError, SqliteStore};

use crate::cli::{AdminCommand, Common};
use crate::error::Error;

/// An open database and the right to administer it.
pub(crate) struct Desk {
    store: SqliteStore,
    grant: MaintenanceGrant,
    json: bool,
}

impl Desk {
    /// Opens a database that is there: a mistyped path makes none.
    fn open(common: &Common) -> Result<Self, Error> {
        if !common.database.exists() {
            return Err(Error::plain(format!(
                "there is no database at {}; `permit-gateway quickstart` makes one",
                common.database.display()
            )));
        }
        Self::make(common)
    }

    /// Opens a database, making it if it does not exist.
    fn make(common: &Common) -> Result<Self, Error> {
        Ok(Self {
            store: open(&common.database)?,
            grant: MaintenanceGrant::new(&CompositionRoot::new()),
            json: common.json,
        })
    }
}

/// Opens a database, making it if it does not exist.
pub(crate) fn open(path: &Path) -> Result<SqliteStore, Error> {
    let what = || format!("cannot open the database {}", path.display());
    SqliteStore::open(path).map_err(|cause| Error::new(what(), cause))
}

/// Tells which part of a command was refused.
fn refused(what: &str) -> impl FnOnce(AdminError) -> Error {
    let what = what.to_owned();
    move |cause| Error::new(what, cause)
}

pub(crate) async fn run(command: AdminCommand) -> Result<(), Error> {
    match command {
        AdminCommand::Quickstart(args) => quickstart::run(args).await,
        AdminCommand::User(command) => records::user(command).await,
        AdminCommand::Workspace(command) => records::workspace(command).await,
        AdminCommand::Task(command) => records::task(command).await,
        AdminCommand::Session(command) => records::session(command).await,
        AdminCommand::Token(command) => credentials::token(command).await,
        AdminCommand::Execution(command) => credentials::execution(command).await,
        AdminCommand::Audit(command) => audit::run(command).await,
    }
}
