//! Raw provider details to the public presentation (contract: API surface; invariants I8 to I10
//! and I12).
//!
//! [`RawDetails`] goes in, [`Projected`] comes out, and nothing else leaves. In this order:
//!
//! 1. an allowlist by action type decides which texts are shown;
//! 2. a redactor reads each text whole, masks the bytes of credentials and nothing else, and
//!    masks what one text gave away in all of them;
//! 3. control, invisible and direction-changing characters become visible escapes;
//! 4. a bound keeps head and tail, says how much it left out, and never cuts a mask.
//!
//! All of it takes time linear in its input. A text that is too large or cannot be projected is
//! left out alone.

mod bound;
mod destination;
mod escape;
mod filter;
mod mcp_title;
mod project;
mod raw;
mod redact;

use bound::Marked;

pub use filter::{TextKind, redact_text, visible, visible_line};
pub use project::{MAX_NAME_BYTES, MAX_RAW_BYTES, MAX_TEXT_BYTES, Projected, project};
pub use raw::{RawDetails, RawOption};
