//! A caller and its principal cannot be written, least of all with a source of choice.

use permit_domain::{ActorKind, Source, UserId};
use permit_policy::{Caller, Principal, Scopes};

fn principal(user_id: UserId) -> Principal {
    Principal {
        user_id,
        actor_kind: ActorKind::Browser,
        scopes: Scopes::ALL,
    }
}

fn caller(principal: Principal) -> Caller {
    Caller {
        principal,
        source: Source::ExternalMcp,
    }
}

fn forge(caller: Caller) -> Caller {
    Caller {
        source: Source::Web,
        ..caller
    }
}

fn main() {}
