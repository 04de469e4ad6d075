//! Nothing is delivered before its claim is durable.

use permit_audit::{Claimed, Dispatched, Selection};
use permit_domain::{DeliverOrder, DeliverReply};

fn order(selection: &Selection) -> DeliverOrder {
    selection.order()
}

fn delivered(selection: Selection) -> Dispatched {
    selection.delivered(DeliverReply::Delivered)
}

fn claimed(selection: Selection) -> Claimed {
    selection.into()
}

fn main() {}
