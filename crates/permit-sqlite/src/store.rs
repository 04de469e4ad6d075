//! The store's handle: what its callers hold.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use permit_policy::StoreUnavailable;
use rusqlite::Connection;

use crate::command::Command;
use crate::open::{self, Limits, OpenError};
use crate::queue::Queue;
use crate::writer::Writer;
use crate::{Fault, reader};

/// The store. Cheap to clone; all clones share one writer and its readers. When the last one is
/// dropped, it waits until what was asked of it is written.
///
/// A write that is dropped before the writer took it is never carried out; one that was taken is
/// carried out whatever its caller does. A command that is not begun within
/// [`Limits::deadline`] is given up and answered with an error.
///
/// Its methods are to be called on a tokio runtime with its timer on. A runtime whose time is paused
/// jumps to the deadline as soon as it waits for this store, which works on threads of its own.
#[derive(Clone)]
pub struct SqliteStore {
    inner: Arc<Inner>,
}

/// How much was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The commands that were carried out and committed, or refused by their own rules.
    pub commands: u64,
    /// The commits that took. Under load they are far fewer than the commands.
    pub commits: u64,
}

struct Inner {
    writes: Arc<Queue>,
    reads: Arc<Queue>,
    threads: Mutex<Threads>,
    counters: Arc<Counters>,
    deadline: Duration,
}

#[derive(Default)]
struct Threads {
    readers: Vec<JoinHandle<()>>,
    writer: Option<JoinHandle<()>>,
}

impl SqliteStore {
    /// Opens the database at a path, making or migrating it, with the default [`Limits`]. Blocks.
    ///
    /// # Errors
    /// [`OpenError`] when it cannot, or when the database is of a newer version.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_with(path, Limits::default())
    }

    /// Opens the database at a path, making or migrating it. Blocks.
    ///
    /// # Errors
    /// [`OpenError`] when it cannot, or when the database is of a newer version.
    pub fn open_with(path: impl AsRef<Path>, limits: Limits) -> Result<Self, OpenError> {
        let (connection, path) = open::open_writer(path.as_ref())?;
        let store = Self {
            inner: Arc::new(Inner {
                writes: Arc::new(Queue::new(limits.waiting_writes)),
                reads: Arc::new(Queue::new(limits.waiting_reads)),
                threads: Mutex::default(),
                counters: Arc::default(),
                deadline: limits.deadline,
            }),
        };
        let inner = &store.inner;
        let (queue, counters) = (Arc::clone(&inner.writes), Arc::clone(&inner.counters));
        let writer = Writer::new(connection, queue, counters, limits.group)?;
        let writer = spawn("sqlite-writer", move || writer.run())?;
        inner.threads().writer = Some(writer);
        for _ in 0..limits.readers.max(1) {
            let connection = open::open_reader(&path)?;
            let queue = Arc::clone(&inner.reads);
            let reader = spawn("sqlite-reader", move || reader::run(&connection, &queue))?;
            inner.threads().readers.push(reader);
        }
        Ok(store)
    }

    /// Carries out what waits, and closes the database for every clone. Later calls are errors.
    pub async fn close(&self) {
        let inner = Arc::clone(&self.inner);
        // The closure does not panic, and nothing aborts it.
        let _ = tokio::task::spawn_blocking(move || inner.shut()).await;
    }

    /// Writes and reads, and so proves that both can be done.
    ///
    /// # Errors
    /// [`StoreUnavailable`] when one cannot.
    pub async fn ping(&self) -> Result<(), StoreUnavailable> {
        // Every group of commands is a durable write, even if they ask for nothing.
        self.write(|_| Ok::<_, Fault>(())).await?;
        self.read(|connection| {
            let mut users = connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM users)")?;
            Ok::<_, Fault>(users.query_row([], |row| row.get::<_, bool>(0)).map(drop)?)
        })
        .await?;
        Ok(())
    }

    /// How much this handle's writer has written.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.inner.counters.read()
    }

    /// Carries out a write, as a whole or not at all.
    pub(crate) async fn write<T, E>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Fault> + Send + 'static,
    {
        submit(&self.inner.writes, self.inner.deadline, work).await
    }

    /// Carries out a read.
    pub(crate) async fn read<T, E>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Fault> + Send + 'static,
    {
        submit(&self.inner.reads, self.inner.deadline, work).await
    }

    /// Carries out a read of several statements, all of one state of the database.
    pub(crate) async fn read_at_once<T, E>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Fault> + Send + 'static,
    {
        self.read(move |connection| {
            execute(connection, "BEGIN")?;
            let read = work(connection);
            execute(connection, "COMMIT")?;
            read
        })
        .await
    }
}

fn execute(connection: &Connection, sql: &'static str) -> Result<(), Fault> {
    connection.prepare_cached(sql)?.execute([])?;
    Ok(())
}

async fn submit<T, E>(
    queue: &Queue,
    deadline: Duration,
    work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<Fault> + Send + 'static,
{
    let (command, ticket, mut answered) = Command::new(work);
    queue.push(command)?;
    let answer = match tokio::time::timeout(deadline, &mut answered).await {
        Ok(answer) => answer,
        Err(_) if ticket.cancel() => return Err(Fault::TimedOut.into()),
        // It has begun: only its end tells what became of it.
        Err(_) => answered.await,
    };
    answer.unwrap_or_else(|_| Err(Fault::Closed.into()))
}

impl Inner {
    fn threads(&self) -> std::sync::MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The writer ends last, so that it is the one that empties and removes the log.
    fn shut(&self) {
        let threads = std::mem::take(&mut *self.threads());
        self.reads.close();
        for reader in threads.readers {
            join(reader);
        }
        self.writes.close();
        if let Some(writer) = threads.writer {
            join(writer);
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.shut();
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, OpenError> {
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(work).map_err(OpenError::Thread)
}

fn join(thread: JoinHandle<()>) {
    if thread.join().is_err() {
        tracing::error!("a thread of the store panicked");
    }
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    commands: AtomicU64,
    commits: AtomicU64,
}

impl Counters {
    pub(crate) fn committed(&self, commands: u64) {
        self.commands.fetch_add(commands, Ordering::Relaxed);
        self.commits.fetch_add(1, Ordering::Relaxed);
    }

    fn read(&self) -> Stats {
        Stats {
            commands: self.commands.load(Ordering::Relaxed),
            commits: self.commits.load(Ordering::Relaxed),
        }
    }
}
