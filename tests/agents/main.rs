//! Real agents over real processes: what they ask is listed, what is allowed runs, what is
//! rejected does not, and the audit tells the story.
//!
//! `cargo xtask agents` installs them under `target/` and says where by `PERMIT_AGENTS`.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may give up")]

mod claude;

use std::path::PathBuf;

/// Where the agents are installed.
fn installed() -> PathBuf {
    let path = std::env::var_os("PERMIT_AGENTS");
    path.expect("run this by `cargo xtask agents`").into()
}
