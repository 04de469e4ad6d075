//! What a former process of the gateway left behind.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use permit_domain::{ExecutionId, SessionId};
use permit_policy::{EndReason, MaintenanceGrant, StoreUnavailable};
use permit_service::PermissionService;
use tokio::time::sleep;

use crate::hub::Hub;
use crate::link::Link;
use crate::slot::Slot;

/// The pause before an end is recorded again.
const RETRY: Duration = Duration::from_secs(1);

/// A session that waits for its sidecar.
struct Left {
    slot: Arc<Slot>,
    execution: Option<(ExecutionId, u64)>,
}

impl Hub {
    /// Waits the grace for the sidecars of every execution that has not ended and of every session
    /// with something unsettled; those that do not attach meanwhile are ended. Until then they
    /// list nothing and cannot be resolved. To be called once, before the link is served.
    ///
    /// # Errors
    /// [`StoreUnavailable`] when what is left cannot be read.
    pub async fn recover(
        &self,
        service: &PermissionService,
        grant: MaintenanceGrant,
    ) -> Result<(), StoreUnavailable> {
        let mut open: HashMap<SessionId, (ExecutionId, u64)> = HashMap::new();
        let mut sessions = service.unsettled_sessions(&grant).await?;
        for record in self.parts().executions.open_executions(&grant).await? {
            sessions.push((record.task_id, record.session_id.clone()));
            open.insert(record.session_id, (record.execution_id, record.epoch));
        }
        let left: Vec<Left> = sessions
            .into_iter()
            .filter_map(|(task_id, session_id)| {
                let slot = self.slot_to_recover(task_id, session_id)?;
                let execution = open.remove(&slot.session_id);
                Some(Left { slot, execution })
            })
            .collect();
        if left.is_empty() {
            return Ok(());
        }
        tracing::info!(sessions = left.len(), "waiting for the sidecars of before");
        let link = Link::new(self, service);
        self.tasks().spawn(async move {
            let grace = link.hub.limits().grace;
            tokio::select! {
                () = link.hub.stopping().cancelled() => {}
                () = sleep(grace) => link.end_what_is_left(left, &grant).await,
            }
        });
        Ok(())
    }
}

impl Link {
    async fn end_what_is_left(&self, mut left: Vec<Left>, grant: &MaintenanceGrant) {
        loop {
            let mut again = Vec::new();
            for session in left {
                if let Err(cause) = self.end_left(&session, grant).await {
                    let session_id = &session.slot.session_id;
                    tracing::error!(session = %session_id, ?cause, "an end could not be recorded");
                    again.push(session);
                }
            }
            if again.is_empty() {
                return;
            }
            left = again;
            tokio::select! {
                () = self.hub.stopping().cancelled() => return,
                () = sleep(RETRY) => {}
            }
        }
    }

    async fn end_left(
        &self,
        left: &Left,
        grant: &MaintenanceGrant,
    ) -> Result<(), StoreUnavailable> {
        let slot = &left.slot;
        let _attaching = slot.attaching.lock().await;
        if !slot.is_recovering() {
            return Ok(());
        }
        let upkeep = grant.session(slot.task_id.clone(), slot.session_id.clone());
        let parts = self.hub.parts();
        if let Some((execution_id, epoch)) = &left.execution {
            let at = parts.clock.now();
            parts
                .executions
                .end_execution(&upkeep, execution_id, *epoch, EndReason::Lost, at)
                .await?;
        }
        let _recording = slot.recording.lock().await;
        self.service.end_execution(&upkeep).await?;
        slot.vacate();
        self.hub.forget(slot);
        Ok(())
    }
}
