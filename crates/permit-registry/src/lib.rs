//! Live prompts and their responders: the only authority on whether a prompt can be answered.
//!
//! A [`Registry`] wraps the state machine of `permit-domain` in one lock that is never held
//! across an await. Entries are keyed by `request_id`; the provider's ids are attributes and may
//! repeat, also among live prompts. [`Registry::deliver`] checks request, pending id, state and
//! exact option bytes and consumes the entry under that lock (invariant I5); what was consumed is
//! remembered until the gateway says that its end is recorded (invariant I7).

mod closed;
mod deliver;
mod entry;
mod limits;
mod registry;
mod report;
mod settle;

pub use closed::ClosedPrompt;
pub use entry::{AnswerError, Go, NewPrompt, Responder};
pub use limits::Limits;
pub use registry::Registry;
pub use report::{ConsumedPrompt, Delta, FoundPrompt, OpenRefused, Refused, RegistryEvent};
