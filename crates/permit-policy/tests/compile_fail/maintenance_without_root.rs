//! The right to recover is made at the composition root alone.

use permit_policy::MaintenanceGrant;

fn maintenance() -> MaintenanceGrant {
    MaintenanceGrant::new()
}

fn default() -> MaintenanceGrant {
    MaintenanceGrant::default()
}

fn main() {}
