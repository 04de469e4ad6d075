//! The sidecar's end of the link.
//!
//! An [`Uplink`] dials the gateway, opens one execution, reports what changes in the registry,
//! carries out the gateway's commands, and dials again whenever the connection breaks. It ends
//! when it is told to, or when the gateway says that the execution is over: it does not fight
//! back.

mod attached;
mod backoff;
mod call;
mod commands;
mod config;
mod connect;
mod gateway;
mod report;
mod uplink;

pub use config::{Config, Timings};
pub use gateway::InvalidGateway;
pub use uplink::{LinkState, Uplink, UplinkEnd};
