//! What was claimed is what is delivered and recorded: a step's record cannot be changed.

use permit_audit::{Claimed, NewClaim};
use permit_domain::{OptionId, Source};

fn option(claimed: &mut Claimed, option_id: OptionId) {
    claimed.record().option_id = option_id;
}

fn source(new: &mut NewClaim) {
    new.record.source = Source::ExternalMcp;
}

fn main() {}
