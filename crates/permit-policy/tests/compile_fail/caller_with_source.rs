//! No attestor takes a source: each has its own.

use permit_domain::Source;
use permit_policy::{Caller, ExternalMcpAttestor, Principal};

fn caller(attestor: &ExternalMcpAttestor, principal: Principal) -> Caller {
    attestor.attest(principal, Source::Web)
}

fn convert(principal: Principal) -> Caller {
    principal.into()
}

fn construct(principal: Principal) -> Caller {
    Caller::new(principal, Source::ExternalMcp)
}

fn main() {}
