//! The contract from outside: a running gateway, a running sidecar with an agent that really runs
//! what it is allowed to, and MCP clients.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test may give up"
)]

mod command_line;
mod execution;
mod listing;
mod main_path;
mod resolving;
mod secrets;
mod support;
mod unanswered;
