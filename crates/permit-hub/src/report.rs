//! What an attached sidecar reports and answers.

use std::sync::Arc;

use permit_link::{Answer, LinkError, Sync};
use permit_policy::StoreUnavailable;

use crate::connection::{Connection, Place};
use crate::facts::Reported;
use crate::link::Link;

impl Link {
    /// Records a report. After the first one the execution is live.
    ///
    /// Commands go out while it is being recorded, and their answers come in: the claims that
    /// nobody carries out are settled here.
    pub(crate) async fn sync(
        &self,
        connection: Arc<Connection>,
        sync: Sync,
    ) -> Result<(), LinkError> {
        let place = connection.at(sync.epoch)?;
        let attachment = &place.attachment;
        let _reporting = attachment.begin_report()?;
        let taken = attachment.facts().take(sync)?;
        let Some(reported) = taken else {
            return Ok(());
        };
        let _recording = place.slot.recording.lock().await;
        connection.at(attachment.execution.epoch)?;
        if reported.full {
            place.slot.set_live(attachment, false);
        }
        // Once a newer attach has cut this one off, nothing of it may be recorded any more.
        let recorded = tokio::select! {
            biased;
            () = attachment.cut_off() => return Err(LinkError::Fenced),
            recorded = self.record(place, &reported) => recorded,
        };
        recorded.map_err(|cause| {
            tracing::error!(session = %place.slot.session_id, ?cause, "a report could not be recorded");
            LinkError::Unavailable
        })?;
        if reported.full {
            place.slot.set_live(attachment, true);
        }
        Ok(())
    }

    async fn record(&self, place: &Place, reported: &Reported) -> Result<(), StoreUnavailable> {
        let grant = &*place.attachment.execution.grant;
        let report = &reported.report;
        if reported.full {
            self.service.reconcile(grant, report).await
        } else {
            let (opened, closed) = (&report.live, &report.closed);
            self.service.observe(grant, opened, closed).await
        }
    }
}

/// Takes the answer to a command.
pub(crate) fn answer(connection: &Connection, answer: Answer) -> Result<(), LinkError> {
    let place = connection.at(answer.epoch)?;
    place.attachment.answered(answer);
    Ok(())
}
