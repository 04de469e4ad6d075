//! The attestor's field is private.

use permit_policy::ExternalMcpAttestor;

fn attestor() -> ExternalMcpAttestor {
    ExternalMcpAttestor(())
}

fn main() {}
