//! The one writer: it commits all commands that wait as one group.

use std::sync::Arc;

use rusqlite::{Connection, Error, OptionalExtension as _, ffi, params};

use crate::Fault;
use crate::command::{Begun, Command};
use crate::queue::Queue;
use crate::store::Counters;

/// What the writer thread owns.
pub(crate) struct Writer {
    connection: Connection,
    queue: Arc<Queue>,
    counters: Arc<Counters>,
    /// The most commands of a group.
    limit: usize,
    /// This writer's name in the table `writers`.
    name: [u8; 16],
    /// The number of the last group that was begun.
    batch: i64,
}

/// Nobody waits in vain for a thread that has ended, however it did.
struct AbandonAtEnd(Arc<Queue>);

impl Drop for AbandonAtEnd {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

impl Writer {
    /// A writer over its own connection.
    ///
    /// # Errors
    /// When the database cannot give it a name.
    pub(crate) fn new(
        connection: Connection,
        queue: Arc<Queue>,
        counters: Arc<Counters>,
        limit: usize,
    ) -> Result<Self, Error> {
        let name = connection.query_row("SELECT randomblob(16)", [], |row| row.get(0))?;
        Ok(Self {
            connection,
            queue,
            counters,
            limit,
            name,
            batch: 0,
        })
    }

    /// Works until the queue is closed and empty.
    pub(crate) fn run(mut self) {
        let _abandon = AbandonAtEnd(Arc::clone(&self.queue));
        while let Some(first) = self.queue.pop() {
            match self.open_transaction(&first) {
                Ok(true) => self.carry_out(first),
                Ok(false) => {}
                Err(error) => {
                    tracing::error!(%error, "no transaction could be begun");
                    if let Some(begun) = first.begin() {
                        begun.answer(Err(Fault::Database(error)));
                    }
                }
            }
        }
    }

    /// Begins a transaction for the first command of a group. While another process holds the
    /// lock, the command can still be given up: `false` when it was.
    fn open_transaction(&self, first: &Command) -> Result<bool, Error> {
        loop {
            if first.is_cancelled() {
                return Ok(false);
            }
            match self.execute("BEGIN IMMEDIATE") {
                Ok(()) => return Ok(true),
                Err(error) if is_busy(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn carry_out(&mut self, first: Command) {
        let others = self.queue.pop_waiting(self.limit.saturating_sub(1));
        let mut group: Vec<Begun> = std::iter::once(first)
            .chain(others)
            .filter_map(Command::begin)
            .collect();
        if group.is_empty() {
            self.roll_back();
            return;
        }
        self.batch += 1;
        let count = group.len() as u64;
        match self
            .write(&mut group)
            .or_else(|error| self.read_back(error))
        {
            Ok(()) => {
                self.counters.committed(count);
                for command in group {
                    command.answer(Ok(()));
                }
            }
            Err(error) => {
                tracing::error!(%error, count, "a group of commands was not committed");
                let error = Arc::new(error);
                for command in group {
                    command.answer(Err(Fault::NotCommitted(Arc::clone(&error))));
                }
            }
        }
    }

    fn write(&self, group: &mut [Begun]) -> Result<(), Error> {
        self.mark()?;
        for command in group {
            self.execute("SAVEPOINT command")?;
            if !command.run(&self.connection) {
                // Some errors end the whole transaction; then there is no savepoint, and the
                // group fails as a whole.
                self.execute("ROLLBACK TO command")?;
            }
            self.execute("RELEASE command")?;
        }
        self.execute("COMMIT")
    }

    /// Notes the group in the transaction that carries it out.
    fn mark(&self) -> Result<(), Error> {
        self.connection
            .prepare_cached(
                "INSERT INTO writers (writer, batch) VALUES (?1, ?2)
                 ON CONFLICT (writer) DO UPDATE SET batch = excluded.batch",
            )?
            .execute(params![self.name, self.batch])?;
        Ok(())
    }

    /// After an error whose effect is unclear: finds out whether the group was committed. If not,
    /// nothing of it may come back, not even after a crash: frames that a failed COMMIT left in
    /// the log are overwritten by another one.
    fn read_back(&mut self, error: Error) -> Result<(), Error> {
        self.roll_back();
        match self.marked() {
            Ok(Some(batch)) if batch == self.batch => return Ok(()),
            Ok(_) => {}
            Err(unread) => tracing::error!(error = %unread, "the writer cannot read back"),
        }
        self.batch += 1;
        if let Err(again) = self.commit_nothing() {
            self.roll_back();
            tracing::error!(error = %again, "the database cannot be written");
        }
        Err(error)
    }

    fn marked(&self) -> Result<Option<i64>, Error> {
        self.connection
            .prepare_cached("SELECT batch FROM writers WHERE writer = ?1")?
            .query_row(params![self.name], |row| row.get(0))
            .optional()
    }

    fn commit_nothing(&self) -> Result<(), Error> {
        self.execute("BEGIN IMMEDIATE")?;
        self.mark()?;
        self.execute("COMMIT")
    }

    fn roll_back(&self) {
        if !self.connection.is_autocommit()
            && let Err(error) = self.execute("ROLLBACK")
        {
            tracing::error!(%error, "a transaction could not be rolled back");
        }
    }

    fn execute(&self, sql: &'static str) -> Result<(), Error> {
        self.connection.prepare_cached(sql)?.execute([])?;
        Ok(())
    }
}

fn is_busy(error: &Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ffi::ErrorCode::DatabaseBusy | ffi::ErrorCode::DatabaseLocked)
    )
}
