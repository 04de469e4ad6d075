//! How a sidecar attaches.

use permit_domain::ExecutionId;
use serde::{Deserialize, Serialize};

use crate::ExecutionSecret;

/// The parameter of `link_attach`. Task and session are not in it: the credential of the
/// connection decides them.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attach {
    /// The version the sidecar speaks.
    pub protocol: u32,
    /// As which execution.
    pub execution: Execution,
}

/// As which execution a sidecar attaches.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Execution {
    /// As a new one, which takes the place of the session's former execution.
    New,
    /// As the one it opened before.
    Resume {
        /// The execution.
        execution_id: ExecutionId,
        /// The secret that the gateway gave out with it.
        secret: ExecutionSecret,
    },
}
