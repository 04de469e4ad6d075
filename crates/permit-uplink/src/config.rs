//! What an uplink is given.

use std::time::Duration;

use permit_policy::Secret;

/// What an uplink is given.
pub struct Config {
    /// The gateway's address: `http`, `https`, `ws` or `wss`. Without TLS it must be of this
    /// machine, since the credential would be readable on the way.
    pub gateway: String,
    /// The session's credential.
    pub credential: Secret,
    /// How long to wait for what.
    pub timings: Timings,
}

/// How long an uplink waits for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timings {
    /// The pause before the first new attempt to connect; it doubles with each failure.
    pub first_retry: Duration,
    /// The longest pause between two attempts.
    pub longest_retry: Duration,
    /// How long connecting, and attaching, may take.
    pub connect: Duration,
    /// How long the gateway may take to record a report.
    pub call: Duration,
    /// How often the connection is pinged.
    pub ping: Duration,
    /// How long the connection may be silent. It is looked at as often, so that a silent one is
    /// found after up to twice as long.
    pub silence: Duration,
    /// How long a claim whose answer is being written is waited for before it is told to be so.
    pub settle: Duration,
    /// How long leaving may take.
    pub leave: Duration,
}

impl Default for Timings {
    fn default() -> Self {
        Self {
            first_retry: Duration::from_millis(100),
            longest_retry: Duration::from_secs(5),
            connect: Duration::from_secs(10),
            call: Duration::from_secs(60),
            ping: Duration::from_secs(3),
            silence: Duration::from_secs(8),
            settle: Duration::from_secs(4),
            leave: Duration::from_secs(4),
        }
    }
}
