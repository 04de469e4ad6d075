//! The bounds of the link (invariant I12).

use std::time::Duration;

/// How long the gateway waits for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long an execution whose connection broke may stay away before it is given up.
    pub grace: Duration,
    /// How long a command may take.
    pub deadlines: Deadlines,
    /// How long a connection may take to attach.
    pub attach: Duration,
    /// How often the credential of a connection is looked up again.
    pub credential_check: Duration,
    /// How often a connection is pinged.
    pub ping: Duration,
    /// How long a connection may be silent before it counts as broken.
    pub silence: Duration,
    /// How many connections there may be at once.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            grace: Duration::from_secs(30),
            deadlines: Deadlines::default(),
            attach: Duration::from_secs(10),
            credential_check: Duration::from_secs(5),
            ping: Duration::from_secs(5),
            silence: Duration::from_secs(15),
            connections: 4096,
        }
    }
}

/// How long the commands may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// Listing, or finding one request; an attach that is not recorded yet is waited for as long.
    pub read: Duration,
    /// Handing an option to the provider.
    pub deliver: Duration,
    /// Telling what became of a claim; a sidecar that is away is waited for as long.
    pub settle: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            read: Duration::from_secs(3),
            deliver: Duration::from_secs(10),
            settle: Duration::from_secs(10),
        }
    }
}
