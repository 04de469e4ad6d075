//! The protocol between sidecar and gateway: JSON-RPC 2.0 over a WebSocket.
//!
//! The sidecar dials and is the client. It subscribes with [`ATTACH`]; the first item is a
//! [`Welcome`], after it come [`Command`]s and at most one [`Goodbye`]. What it has to say it says
//! by the calls [`SYNC`], [`ANSWER`] and [`DETACH`]. Each takes one object as its only positional
//! parameter.
//!
//! Nothing a sidecar sends names a task, a session, a user, a source or a decision, and a field
//! that the protocol does not know is refused: whom it speaks for is known by its credential
//! alone. Every frame carries the epoch of its attach; frames of an older one are refused.

mod attach;
mod error;
mod item;
mod prompt;
mod report;
mod secret;

pub use attach::{Attach, Execution};
pub use error::LinkError;
pub use item::{Command, CommandBody, Goodbye, GoodbyeReason, ToSidecar, Welcome};
pub use prompt::Prompt;
pub use report::{Answer, AnswerBody, Closed, Consumed, Detach, Found, Sync};
pub use secret::ExecutionSecret;

/// The version of this protocol. Both ends must speak the same one.
pub const PROTOCOL: u32 = 1;

/// Where on the gateway the link is served.
pub const PATH: &str = "/link";

/// The subscription by which a sidecar attaches.
pub const ATTACH: &str = "link_attach";
/// The name of that subscription's notifications.
pub const ITEM: &str = "link_item";
/// The end of that subscription. The gateway takes it for a lost connection.
pub const UNATTACH: &str = "link_unattach";
/// The call that reports what changed in the registry.
pub const SYNC: &str = "link_sync";
/// The call that answers a command.
pub const ANSWER: &str = "link_answer";
/// The call that ends the execution.
pub const DETACH: &str = "link_detach";

/// The largest message either way, in bytes. A text of a prompt has at most 64 KiB and most have
/// far less, so that some hundred prompts fit; a report that does not fit is sent in parts, and a
/// list that does not fit is answered as too large.
pub const MAX_MESSAGE_BYTES: u32 = 8 * 1024 * 1024;

/// How much of a message a sender fills with prompts, in bytes; the rest is for what is around
/// them.
pub const MAX_CONTENT_BYTES: usize = 6 * 1024 * 1024;

/// The most parts of one report.
pub const MAX_SYNC_PARTS: usize = 32;

/// The most prompts of one report or list, and the most ended and consumed ones of a report.
pub const MAX_PROMPTS: usize = 8192;

/// The most commands that may wait for their answer on one connection.
pub const MAX_COMMANDS: usize = 256;
