//! Maintenance and the composition root have private fields, too.

use permit_policy::{CompositionRoot, MaintenanceGrant};

fn maintenance() -> MaintenanceGrant {
    MaintenanceGrant(())
}

fn root() -> CompositionRoot {
    CompositionRoot(())
}

fn main() {}
