//! What a caller is stays what its transport attested.

use permit_domain::{Source, UserId};
use permit_policy::{Caller, Principal};

fn source(caller: &mut Caller) {
    caller.source = Source::Automation;
}

fn user(principal: &mut Principal, user_id: UserId) {
    *principal.user_id() = user_id;
}

fn main() {}
