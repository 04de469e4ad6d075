//! Raw provider details to the public presentation (contract: API surface; invariants I8 to I10
//! and I12).
//!
//! [`RawDetails`] goes in, [`Projected`] comes out, and nothing else leaves: an allowlist by
//! action type decides what is shown, a redactor masks the bytes of credentials, invisible
//! characters become visible escapes, and a bound keeps head and tail, in this order.

mod project;
mod raw;

pub use project::{Projected, project};
pub use raw::{RawDetails, RawOption};
