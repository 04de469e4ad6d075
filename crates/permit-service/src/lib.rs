//! The use cases: list what waits, resolve one prompt, and keep the records true to what the
//! sidecars report.
//!
//! The order of checks and the answer to every situation are in `docs/ARCHITECTURE.md`. Past the
//! claim nothing is abandoned (invariant I6): claim, deliver and finalize run in one task of their
//! own, which a client that disconnects cannot cut and which a shutdown waits for.

mod inflight;
mod list;
mod outcome;
mod port;
mod resolve;
mod upkeep;

use std::sync::Arc;
use std::time::Duration;

use permit_audit::AuditLog;
use permit_policy::Authorizer;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use list::{PendingPermission, PendingPermissions};
pub use outcome::{Failure, Recorded, Refused, Resolved};
pub use port::{AgentPort, Found, RuntimeUnavailable};
pub use resolve::ResolveRequest;
pub use upkeep::{Consumed, Report};

/// The use cases over an authorizer, an audit log and the attached agents. Cheap to clone.
#[derive(Clone)]
pub struct PermissionService {
    authorizer: Authorizer,
    audit: AuditLog,
    agents: Arc<dyn AgentPort>,
    inflight: inflight::InFlight,
    tasks: TaskTracker,
    stopping: CancellationToken,
}

impl PermissionService {
    /// Puts the use cases together.
    #[must_use]
    pub fn new(authorizer: Authorizer, audit: AuditLog, agents: Arc<dyn AgentPort>) -> Self {
        Self {
            authorizer,
            audit,
            agents,
            inflight: inflight::InFlight::default(),
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
        }
    }

    /// Waits until every claim in flight has come to its end, or until the time is up. Ends whose
    /// record fails meanwhile are tried once more and then left to the next start. Answers
    /// whether everything ended.
    pub async fn drain(&self, patience: Duration) -> bool {
        self.stopping.cancel();
        self.tasks.close();
        tokio::time::timeout(patience, self.tasks.wait())
            .await
            .is_ok()
    }
}
