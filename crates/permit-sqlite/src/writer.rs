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

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use tempfile::TempDir;

    use crate::{Fault, SqliteStore};

    fn open() -> (SqliteStore, TempDir) {
        let dir = tempfile::tempdir().expect("a directory");
        let store = SqliteStore::open(dir.path().join("permit.db")).expect("opened");
        (store, dir)
    }

    fn add(connection: &Connection, user: &str) -> Result<(), Fault> {
        let sql = "INSERT INTO users (user_id, kind, name) VALUES (?1, 'person', '')";
        connection.execute(sql, [user])?;
        Ok(())
    }

    async fn users(store: &SqliteStore) -> Vec<String> {
        let users = store.read(|connection| {
            let sql = "SELECT user_id FROM users WHERE kind = 'person' ORDER BY user_id";
            let mut users = connection.prepare(sql)?;
            let users = users.query_map([], |row| row.get(0))?;
            Ok::<_, Fault>(users.collect::<Result<_, _>>()?)
        });
        users.await.expect("read")
    }

    /// Given a group whose COMMIT fails, then each of its commands is answered with an error, none
    /// of their rows is there, and the writer goes on.
    #[tokio::test]
    async fn a_group_that_is_not_committed_is_an_error_for_each_of_its_commands() {
        let (store, _dir) = open();
        // The writer is held by one command while the others come, so that it takes them together.
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let (release, released) = std::sync::mpsc::channel::<()>();
        let holder = store.clone();
        let holding = tokio::spawn(async move {
            let hold = move |_: &Connection| {
                let _ = begun.send(());
                let _ = released.recv();
                Ok::<_, Fault>(())
            };
            holder.write(hold).await
        });
        has_begun.await.expect("the writer has it");
        let failing = store.write(|connection| {
            connection.execute_batch(
                "PRAGMA defer_foreign_keys = ON;
                 INSERT INTO workspaces (workspace_id, owner_id, name) VALUES ('w', 'nobody', '')",
            )?;
            Ok::<_, Fault>(())
        });
        let beside = store.write(|connection| add(connection, "alice"));
        let release = async move { drop(release) };
        let (failing, beside, ()) = tokio::join!(biased; failing, beside, release);
        holding.await.expect("ran").expect("committed");
        assert!(matches!(failing, Err(Fault::NotCommitted(_))));
        assert!(matches!(beside, Err(Fault::NotCommitted(_))));
        assert!(users(&store).await.is_empty());

        let next = store.write(|connection| add(connection, "bob")).await;
        next.expect("the writer goes on");
        assert_eq!(users(&store).await, ["bob"]);
    }

    /// Given a group that was committed although its COMMIT failed, then reading back finds it, and
    /// its commands are answered as carried out.
    #[tokio::test]
    async fn a_group_that_was_committed_all_the_same_is_no_error() {
        let (store, _dir) = open();
        let carried_out = store.write(|connection| {
            add(connection, "alice")?;
            connection.execute_batch("COMMIT")?;
            Ok::<_, Fault>(())
        });
        carried_out.await.expect("it is there");
        assert_eq!(users(&store).await, ["alice"]);
        let next = store.write(|connection| add(connection, "bob")).await;
        next.expect("the writer goes on");
    }

    /// Given a command that ends the whole transaction, then nothing of its group is there, and
    /// each command knows.
    #[tokio::test]
    async fn a_lost_transaction_is_an_error_for_its_whole_group() {
        let (store, _dir) = open();
        let lost = store.write(|connection| {
            add(connection, "alice")?;
            connection.execute_batch("ROLLBACK")?;
            Ok::<_, Fault>(())
        });
        assert!(matches!(lost.await, Err(Fault::NotCommitted(_))));
        assert!(users(&store).await.is_empty());
        store.ping().await.expect("the writer goes on");
    }

    /// Given a disk that takes no more, then the claim of a row is an error, and the row is not
    /// there.
    #[tokio::test]
    async fn a_full_database_is_an_error_and_writes_nothing() {
        let (store, _dir) = open();
        let full = store.write(|connection| {
            let pages: i64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
            connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
            Ok::<_, Fault>(())
        });
        full.await.expect("set");
        let large = "x".repeat(1 << 20);
        let refused = store.write(move |connection| add(connection, &large));
        assert!(refused.await.is_err());
        assert!(users(&store).await.is_empty());
        store.ping().await.expect("the writer goes on");
    }

    /// Given a panic in the writer, then its callers are told instead of waiting, and so are all
    /// later ones.
    #[tokio::test]
    async fn nobody_waits_for_a_writer_that_has_ended() {
        let (store, _dir) = open();
        let panicking = store.write(|connection| {
            add(connection, "alice")?;
            if connection.is_autocommit() {
                return Ok::<_, Fault>(());
            }
            panic!("a bug")
        });
        assert!(matches!(panicking.await, Err(Fault::Closed)));
        assert!(users(&store).await.is_empty());
        let next = store.write(|connection| add(connection, "bob")).await;
        assert!(matches!(next, Err(Fault::Closed)));
        assert!(store.ping().await.is_err());
    }
}
