//! Agent Client Protocol: the headless client and the mapping of tool calls to actions.
//!
//! [`run_turn`] starts an agent, speaks protocol version 1 with it for one turn, opens its
//! permission requests in a [`Registry`](permit_registry::Registry) and carries the answers back.
//! The typed schema serves for what the client asks. What the agent asks is read leniently from
//! the raw message, so that an odd field never loses a prompt; and lines are written by one task
//! of our own, so that an answer counts as delivered only when it was flushed.
//!
//! The parts stand alone: a [`Connection`] works over any pair of byte streams.

mod answer;
mod call;
mod connection;
mod driver;
mod event;
mod headless;
mod lenient;
mod line;
mod mapping;
mod message;
mod permission;
mod process;
mod rpc_id;
mod tool_calls;
mod turn;
mod writer;

pub use call::CallError;
pub use connection::Connection;
pub use driver::{Driver, DriverError, connect};
pub use event::{AgentEvent, EventSink, event_channel};
pub use headless::{HeadlessError, run_turn};
pub use mapping::map_request;
pub use process::{AgentCommand, AgentProcess, AgentStreams, AgentUser};
pub use turn::{StopReason, TurnError, TurnSettings};
