//! The gateway's end of the link: which executions are attached, at which epoch, and what they
//! answer.
//!
//! A [`Hub`] is made first; it is the service's [`AgentPort`](permit_service::AgentPort). Then
//! [`router`] serves the link over the hub and the service, and [`Hub::recover`] waits for what a
//! former process of the gateway left behind.
//!
//! Each session has a slot: vacant, waiting after a restart, lost for the moment, or attached.
//! Attaches and ends of a session follow one another under its slot's `attaching`, what a report
//! writes under its `recording`. An attachment that is no longer its slot's own is fenced: its
//! frames are refused and what it had begun to record stops.

mod agents;
mod attach;
mod attachment;
mod connection;
mod end;
mod facts;
mod hub;
mod limits;
mod link;
mod methods;
mod recover;
mod report;
mod slot;
mod upgrade;

pub use hub::Hub;
pub use limits::{Deadlines, Limits};
pub use upgrade::router;
