//! How an execution ends, or is away for the moment.

use std::sync::Arc;
use std::time::Duration;

use permit_link::{Detach, GoodbyeReason, LinkError};
use permit_policy::{EndReason, StoreUnavailable};
use tokio::time::sleep;

use crate::connection::Connection;
use crate::link::Link;
use crate::slot::{Execution, Slot};

/// The pause before an end is recorded again, doubled after each failure.
const FIRST_RETRY: Duration = Duration::from_millis(100);
const LONGEST_RETRY: Duration = Duration::from_secs(5);

impl Link {
    /// The sidecar says that its execution is over.
    pub(crate) async fn detach(
        &self,
        connection: Arc<Connection>,
        detach: Detach,
    ) -> Result<(), LinkError> {
        connection.at(detach.epoch)?;
        let link = self.clone();
        let detached = self.hub.tasks().spawn(async move {
            let place = connection.at(detach.epoch)?;
            let (slot, execution) = (&place.slot, &place.attachment.execution);
            let ended = link.end(slot, execution, EndReason::Exited).await;
            ended.map_err(|cause| {
                tracing::error!(session = %slot.session_id, ?cause, "an end could not be recorded");
                LinkError::Unavailable
            })
        });
        detached.await.unwrap_or(Err(LinkError::Unavailable))
    }

    /// The connection is gone. Its execution may come back, unless it had ended or had been
    /// replaced.
    pub(crate) fn lose(&self, connection: &Connection) {
        connection.set_gone();
        let Some(place) = connection.place() else {
            return;
        };
        place.attachment.close();
        if place.slot.lose(&place.attachment) {
            let execution = place.attachment.execution.clone();
            tracing::info!(
                session = %place.slot.session_id,
                execution = %execution.execution_id,
                epoch = execution.epoch,
                "an execution is away"
            );
            self.give_up_unless_back(place.slot.clone(), execution);
        }
    }

    /// The connection's credential works no more.
    pub(crate) fn revoke(&self, connection: &Arc<Connection>) {
        let Some(place) = connection.place() else {
            return;
        };
        place.attachment.dismiss(GoodbyeReason::Revoked);
        let (link, slot) = (self.clone(), place.slot.clone());
        let execution = place.attachment.execution.clone();
        self.hub.tasks().spawn(async move {
            // What cannot be recorded now ends when the grace is over.
            if let Err(cause) = link.end(&slot, &execution, EndReason::Revoked).await {
                tracing::error!(session = %slot.session_id, ?cause, "an end could not be recorded");
            }
        });
    }

    /// Ends an execution that does not attach within the grace.
    pub(crate) fn give_up_unless_back(&self, slot: Arc<Slot>, execution: Arc<Execution>) {
        let link = self.clone();
        self.hub.tasks().spawn(async move {
            let stopping = link.hub.stopping();
            let mut pause = link.hub.limits().grace;
            let mut retry = FIRST_RETRY;
            loop {
                tokio::select! {
                    () = slot.until_not_lost(&execution) => return,
                    () = stopping.cancelled() => return,
                    () = sleep(pause) => {}
                }
                let Err(cause) = link.end_lost(&slot, &execution).await else {
                    return;
                };
                tracing::error!(session = %slot.session_id, ?cause, "an end could not be recorded");
                pause = retry;
                retry = (retry * 2).min(LONGEST_RETRY);
            }
        });
    }

    async fn end_lost(
        &self,
        slot: &Arc<Slot>,
        execution: &Arc<Execution>,
    ) -> Result<(), StoreUnavailable> {
        let _attaching = slot.attaching.lock().await;
        if slot.is_lost(execution) {
            self.record_end(slot, execution, EndReason::Lost).await?;
        }
        Ok(())
    }

    /// Ends the session's execution, if it still is the session's.
    async fn end(
        &self,
        slot: &Arc<Slot>,
        execution: &Arc<Execution>,
        reason: EndReason,
    ) -> Result<(), StoreUnavailable> {
        let _attaching = slot.attaching.lock().await;
        if slot.is_of(execution) {
            self.record_end(slot, execution, reason).await?;
        }
        Ok(())
    }

    /// The slot's `attaching` is held.
    async fn record_end(
        &self,
        slot: &Arc<Slot>,
        execution: &Execution,
        reason: EndReason,
    ) -> Result<(), StoreUnavailable> {
        let parts = self.hub.parts();
        let grant = &*execution.grant;
        let (id, at) = (&execution.execution_id, parts.clock.now());
        let executions = &parts.executions;
        executions
            .end_execution(grant, id, execution.epoch, reason, at)
            .await?;
        let _recording = slot.recording.lock().await;
        self.service.end_execution(grant).await?;
        slot.vacate();
        self.hub.forget(slot);
        tracing::info!(
            session = %slot.session_id,
            execution = %id,
            reason = reason.as_str(),
            "an execution is over"
        );
        Ok(())
    }
}
