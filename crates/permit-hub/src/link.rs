//! The hub together with the service that records what its sidecars report.

use permit_service::PermissionService;

use crate::hub::Hub;

/// Where the calls of sidecars are handled: see `attach`, `report` and `end`.
#[derive(Clone)]
pub(crate) struct Link {
    pub(crate) hub: Hub,
    pub(crate) service: PermissionService,
}
