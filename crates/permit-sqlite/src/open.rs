//! Opening the file.

use std::fs::{OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::schema;

/// How much may wait, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many writes may wait; more are refused.
    pub waiting_writes: usize,
    /// How many reads may wait; more are refused.
    pub waiting_reads: usize,
    /// The most writes that are committed together.
    pub group: usize,
    /// How many connections read.
    pub readers: usize,
    /// How long a command waits to be begun before it is given up.
    pub deadline: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            waiting_writes: 1024,
            waiting_reads: 1024,
            group: 256,
            readers: 4,
            deadline: Duration::from_secs(5),
        }
    }
}

/// Why a database could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file cannot be made or protected.
    #[error("the database file cannot be made or protected")]
    File(#[source] io::Error),
    /// The database is of a newer version of this program. It was not touched.
    #[error(
        "the database has version {found}, and this program knows versions up to {known} only: use a newer program"
    )]
    Newer {
        /// Its version.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// The file is a database of something else. It was not touched.
    #[error("the file is another program's database")]
    Foreign,
    /// The file system does not let the database keep a write-ahead log.
    #[error("the database cannot keep a write-ahead log here")]
    NoWal,
    /// A thread could not be started.
    #[error("a thread could not be started")]
    Thread(#[source] io::Error),
    /// The database refused.
    #[error("the database cannot be opened")]
    Database(#[from] rusqlite::Error),
}

/// How long one attempt to get a lock lasts. The writer tries again until its command is given up.
const LOCK_WAIT: Duration = Duration::from_millis(100);
/// How long opening and reading wait for a lock.
const OPEN_WAIT: Duration = Duration::from_secs(5);
/// Enough for every statement of this crate.
const STATEMENTS: usize = 64;

/// Opens the writing connection, makes or migrates the database, and answers where it is.
pub(crate) fn open_writer(path: &Path) -> Result<(Connection, PathBuf), OpenError> {
    create(path).map_err(OpenError::File)?;
    // An absolute path is a file whatever its name, `:memory:` too.
    let path = path.canonicalize().map_err(OpenError::File)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(&path, flags)?;
    connection.busy_timeout(OPEN_WAIT)?;
    check(&connection)?;
    protect(&path).map_err(OpenError::File)?;

    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        return Err(OpenError::NoWal);
    }
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    schema::migrate(&mut connection)?;
    // The names of writers that are gone; a live one that loses its own writes it anew.
    connection.execute(
        "DELETE FROM writers WHERE seq <= (SELECT max(seq) FROM writers) - 64",
        [],
    )?;
    connection.busy_timeout(LOCK_WAIT)?;
    Ok((connection, path))
}

/// Opens a reading connection.
pub(crate) fn open_reader(path: &Path) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(OPEN_WAIT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

/// Makes the file, for its owner alone, if there is none. An existing file is not opened here:
/// closing it would release the locks that this process may hold on it.
fn create(path: &Path) -> io::Result<()> {
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    match made {
        // The umask may have taken more than it should.
        Ok(file) => file.set_permissions(Permissions::from_mode(0o600)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Refuses a database that is not ours, and leaves it as it is, its log included.
fn check(connection: &Connection) -> Result<(), OpenError> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let (found, known) = (schema::version(connection)?, schema::VERSION);
    if found > known {
        return Err(OpenError::Newer { found, known });
    }
    if found < 0 || (found == 0 && !schema::is_empty(connection)?) {
        return Err(OpenError::Foreign);
    }
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    Ok(())
}

/// Keeps the file and its companions for their owner alone. SQLite gives new companions the
/// file's own mode.
fn protect(path: &Path) -> io::Result<()> {
    for suffix in ["", "-wal", "-shm"] {
        let mut file = path.as_os_str().to_owned();
        file.push(suffix);
        match std::fs::set_permissions(&file, Permissions::from_mode(0o600)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            result => result?,
        }
    }
    Ok(())
}
