//! The bounded queue between callers and the threads of the store.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::Fault;
use crate::command::Command;

/// Commands that wait, oldest first. A full queue is an error to its caller.
pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    capacity: usize,
}

struct Waiting {
    commands: VecDeque<Command>,
    open: bool,
}

impl Queue {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            waiting: Mutex::new(Waiting {
                commands: VecDeque::new(),
                open: true,
            }),
            changed: Condvar::new(),
            capacity,
        }
    }

    /// Adds a command; what its callers have given up makes room.
    pub(crate) fn push(&self, command: Command) -> Result<(), Fault> {
        let mut waiting = self.lock();
        if !waiting.open {
            return Err(Fault::Closed);
        }
        if waiting.commands.len() >= self.capacity {
            waiting.commands.retain(|command| !command.is_cancelled());
        }
        if waiting.commands.len() >= self.capacity {
            return Err(Fault::QueueFull);
        }
        waiting.commands.push_back(command);
        drop(waiting);
        self.changed.notify_one();
        Ok(())
    }

    /// The next command; blocks until there is one. `None` once the queue is closed and empty.
    pub(crate) fn pop(&self) -> Option<Command> {
        let mut waiting = self.lock();
        loop {
            if let Some(command) = waiting.commands.pop_front() {
                return Some(command);
            }
            if !waiting.open {
                return None;
            }
            waiting = self
                .changed
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Up to `limit` of the commands that wait now.
    pub(crate) fn pop_waiting(&self, limit: usize) -> Vec<Command> {
        let mut waiting = self.lock();
        let count = waiting.commands.len().min(limit);
        waiting.commands.drain(..count).collect()
    }

    /// Takes no more commands; those that wait are still carried out.
    pub(crate) fn close(&self) {
        self.lock().open = false;
        self.changed.notify_all();
    }

    /// Takes no more commands and drops those that wait: nobody will carry them out.
    pub(crate) fn abandon(&self) {
        let mut waiting = self.lock();
        waiting.open = false;
        let dropped = std::mem::take(&mut waiting.commands);
        drop(waiting);
        drop(dropped);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // No step in here can leave the queue half changed.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
