//! The attestor of `/mcp` is made with the composition root's witness only.

use permit_policy::ExternalMcpAttestor;

fn new() -> ExternalMcpAttestor {
    ExternalMcpAttestor::new()
}

fn default() -> ExternalMcpAttestor {
    ExternalMcpAttestor::default()
}

fn clone(attestor: &ExternalMcpAttestor) -> ExternalMcpAttestor {
    attestor.clone()
}

fn main() {}
