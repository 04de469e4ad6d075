//! The link over real sockets: a gateway's hub behind axum at one end, an uplink or a client that
//! speaks by hand at the other, and a wire between them that can be cut.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "a test may give up"
)]

mod attached;
mod away;
mod by_hand;
mod gateway;
mod http;
mod records;
mod replaced;
mod restart;
mod sidecar;
mod wire;
