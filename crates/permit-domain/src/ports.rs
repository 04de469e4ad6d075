//! What the deciding crates need from outside: the time and fresh ids.

use time::OffsetDateTime;
use uuid::Uuid;

/// The time of day.
pub trait Clock: Send + Sync + 'static {
    /// Now, UTC.
    fn now(&self) -> OffsetDateTime;
}

/// Fresh ids. They should be ordered by time (UUIDv7), which keeps index pages warm.
pub trait IdSource: Send + Sync + 'static {
    /// An id that was never given out before.
    fn fresh(&self) -> Uuid;
}
