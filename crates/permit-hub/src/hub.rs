//! The hub and its slots.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use permit_domain::{Clock, IdSource, SessionId, TaskId};
use permit_link::GoodbyeReason;
use permit_policy::{ExecutionStore, SecretSource};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::limits::Limits;
use crate::slot::{Slot, State};

/// How long a shutdown waits for its good-byes to go out.
const FAREWELL: Duration = Duration::from_secs(1);

/// The attached executions. Cheap to clone.
#[derive(Clone)]
pub struct Hub(Arc<Inner>);

struct Inner {
    parts: Parts,
    slots: Mutex<HashMap<SessionId, Arc<Slot>>>,
    tasks: TaskTracker,
    connections: TaskTracker,
    stopping: CancellationToken,
    closing: CancellationToken,
}

/// What a hub is made of.
pub(crate) struct Parts {
    pub(crate) executions: Arc<dyn ExecutionStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) secrets: Arc<dyn SecretSource>,
    pub(crate) limits: Limits,
}

impl Hub {
    /// A hub to which nothing is attached.
    #[must_use]
    pub fn new(
        executions: Arc<dyn ExecutionStore>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
        secrets: Arc<dyn SecretSource>,
        limits: Limits,
    ) -> Self {
        Self(Arc::new(Inner {
            parts: Parts {
                executions,
                clock,
                ids,
                secrets,
                limits,
            },
            slots: Mutex::default(),
            tasks: TaskTracker::new(),
            connections: TaskTracker::new(),
            stopping: CancellationToken::new(),
            closing: CancellationToken::new(),
        }))
    }

    /// Tells every sidecar that the gateway goes away, so that it comes back, and closes the
    /// connections; no further one is taken. No execution ends by it.
    ///
    /// Claims in flight need the link: drain the service first.
    pub async fn shut_down(&self) {
        self.0.stopping.cancel();
        let slots: Vec<_> = self.slots().values().cloned().collect();
        for attachment in slots.iter().filter_map(|slot| slot.attached()) {
            attachment.dismiss(GoodbyeReason::ShuttingDown);
        }
        self.0.closing.cancel();
        self.0.connections.close();
        self.0.tasks.close();
        let closed = async {
            self.0.connections.wait().await;
            self.0.tasks.wait().await;
        };
        if timeout(FAREWELL, closed).await.is_err() {
            tracing::debug!("some sidecars were not told of the shutdown");
        }
    }

    pub(crate) fn parts(&self) -> &Parts {
        &self.0.parts
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.0.parts.limits
    }

    /// What must not be cut by a connection that closes.
    pub(crate) fn tasks(&self) -> &TaskTracker {
        &self.0.tasks
    }

    pub(crate) fn connections(&self) -> &TaskTracker {
        &self.0.connections
    }

    /// No further execution attaches.
    pub(crate) fn stopping(&self) -> &CancellationToken {
        &self.0.stopping
    }

    /// Every good-bye is said.
    pub(crate) fn closing(&self) -> &CancellationToken {
        &self.0.closing
    }

    pub(crate) fn slot(&self, session_id: &SessionId) -> Option<Arc<Slot>> {
        self.slots().get(session_id).cloned()
    }

    /// The session's slot, made when there is none.
    pub(crate) fn slot_for(&self, task_id: &TaskId, session_id: &SessionId) -> Arc<Slot> {
        let mut slots = self.slots();
        let slot = slots.entry(session_id.clone()).or_insert_with(|| {
            let (task_id, session_id) = (task_id.clone(), session_id.clone());
            Arc::new(Slot::new(task_id, session_id, State::Vacant))
        });
        slot.clone()
    }

    /// Makes a recovering slot for a session that has none.
    pub(crate) fn slot_to_recover(
        &self,
        task_id: TaskId,
        session_id: SessionId,
    ) -> Option<Arc<Slot>> {
        let mut slots = self.slots();
        if slots.contains_key(&session_id) {
            return None;
        }
        let slot = Arc::new(Slot::new(task_id, session_id.clone(), State::Recovering));
        slots.insert(session_id, slot.clone());
        Some(slot)
    }

    /// Whether the slot is in use. Only who holds its `attaching` can rely on the answer.
    pub(crate) fn has(&self, slot: &Arc<Slot>) -> bool {
        let slots = self.slots();
        let current = slots.get(&slot.session_id);
        current.is_some_and(|current| Arc::ptr_eq(current, slot))
    }

    /// Forgets a vacant slot. Its `attaching` is held.
    pub(crate) fn forget(&self, slot: &Arc<Slot>) {
        if slot.is_vacant() && self.has(slot) {
            self.slots().remove(&slot.session_id);
        }
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Slot>>> {
        self.0.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
