//! What the end-to-end tests stand on: the programs as they are built, run as real processes, and
//! clients that speak to them from outside.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may give up"
)]

mod client;
mod gateway;
mod hand;
mod process;
mod programs;
mod sidecar;
pub mod stub_model;

pub use client::{Answer, McpClient, rmcp_call, rmcp_connect};
pub use gateway::{Gateway, Identity, Setup};
pub use hand::{HandSidecar, dial, prompt};
pub use process::{Process, eventually};
pub use programs::{example_agent, gateway_program, sidecar_program};
pub use sidecar::Sidecar;
