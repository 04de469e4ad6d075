//! The numbered migrations, under `PRAGMA user_version`.

use permit_policy::SYNTHETIC_USER;
use rusqlite::{Connection, Error, TransactionBehavior, params};

/// Migration `n` leads from version `n` to `n + 1`. A migration that was released never changes.
const MIGRATIONS: [&str; 1] = [include_str!("../migrations/0001_initial.sql")];

/// The version that this crate reads and writes.
pub(crate) const VERSION: i64 = MIGRATIONS.len() as i64;

/// The version of a database; 0 when it is new.
pub(crate) fn version(connection: &Connection) -> Result<i64, Error> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Whether the database holds anything at all.
pub(crate) fn is_empty(connection: &Connection) -> Result<bool, Error> {
    let sql = "SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)";
    connection.query_row(sql, [], |row| row.get(0))
}

/// Applies the migrations that the database has not seen, all or none.
pub(crate) fn migrate(connection: &mut Connection) -> Result<(), Error> {
    if version(connection)? >= VERSION {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    let seen = version(&transaction)?;
    if seen >= VERSION {
        return Ok(());
    }
    let seen = usize::try_from(seen).unwrap_or_default();
    for migration in MIGRATIONS.iter().skip(seen) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.execute(
        "INSERT INTO users (user_id, kind, name) VALUES (?1, 'synthetic', 'Synthetic user')
         ON CONFLICT (user_id) DO NOTHING",
        params![SYNTHETIC_USER],
    )?;
    transaction.commit()
}
