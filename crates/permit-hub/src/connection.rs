//! One connection of a sidecar.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use permit_link::LinkError;
use permit_policy::ExecutionGrant;
use tokio_util::sync::CancellationToken;

use crate::attachment::Attachment;
use crate::slot::Slot;

/// One connection, authenticated before it was upgraded. Whom it speaks for is its grant's alone.
pub(crate) struct Connection {
    pub(crate) grant: Arc<ExecutionGrant>,
    /// Closes the connection when cancelled.
    pub(crate) cut: CancellationToken,
    begun: AtomicBool,
    gone: AtomicBool,
    place: OnceLock<Place>,
}

/// What a connection has attached as.
pub(crate) struct Place {
    pub(crate) slot: Arc<Slot>,
    pub(crate) attachment: Arc<Attachment>,
}

impl Connection {
    pub(crate) fn new(grant: ExecutionGrant) -> Self {
        Self {
            grant: Arc::new(grant),
            cut: CancellationToken::new(),
            begun: AtomicBool::new(false),
            gone: AtomicBool::new(false),
            place: OnceLock::new(),
        }
    }

    /// A connection attaches once.
    pub(crate) fn begin(&self) -> Result<(), LinkError> {
        if self.begun.swap(true, Ordering::AcqRel) {
            Err(LinkError::AlreadyAttached)
        } else {
            Ok(())
        }
    }

    pub(crate) fn settle_in(&self, place: Place) -> &Place {
        self.place.get_or_init(|| place)
    }

    pub(crate) fn place(&self) -> Option<&Place> {
        self.place.get()
    }

    /// The place, if it is still the session's own and the frame is of its epoch.
    pub(crate) fn at(&self, epoch: u64) -> Result<&Place, LinkError> {
        let place = self.place.get().ok_or(LinkError::NotAttached)?;
        let current =
            place.attachment.execution.epoch == epoch && place.slot.holds(&place.attachment);
        current.then_some(place).ok_or(LinkError::Fenced)
    }

    pub(crate) fn set_gone(&self) {
        self.gone.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::SeqCst)
    }
}
