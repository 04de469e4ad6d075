//! What every HTTP surface shares: the gate on Host and Origin, bounds on what is read, and the
//! bearer credential.
//!
//! The [`Gate`] runs before everything else, CORS and authentication included. It marks what it
//! lets through as [`Admitted`]; a surface that asks for the mark cannot be mounted without a
//! gate by mistake.

mod bearer;
mod body;
mod cors;
mod gate;
mod header;
mod host;

pub use bearer::bearer;
pub use body::{BodyLimits, UnreadableBody, read_body};
pub use cors::cors;
pub use gate::{Admitted, Gate, GateConfig, GateService, Refusal};
pub use header::{NotSingle, single};
pub use host::{HostPattern, InvalidHost};
