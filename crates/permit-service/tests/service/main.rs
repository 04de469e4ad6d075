//! The use cases with agents that behave in any way and a store that fails on demand.

#![allow(
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may give up"
)]

mod faults;
mod order;
mod upkeep;
mod world;
