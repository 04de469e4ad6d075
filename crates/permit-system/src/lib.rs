//! The operating system behind the ports of time, ids and secrets.

use permit_domain::{Clock, IdSource};
use permit_policy::SecretSource;
use time::OffsetDateTime;
use uuid::Uuid;

/// The operating system's clock, in whole microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is where the time comes from"
    )]
    fn now(&self) -> OffsetDateTime {
        let now = OffsetDateTime::now_utc();
        now.replace_nanosecond(now.microsecond() * 1000)
            .unwrap_or(now)
    }
}

/// UUIDv7: ordered by time, so that rows of one time share index pages.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimeOrderedIds;

impl IdSource for TimeOrderedIds {
    #[expect(clippy::disallowed_methods, reason = "this is where ids come from")]
    fn fresh(&self) -> Uuid {
        Uuid::now_v7()
    }
}

/// The operating system's random numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandom;

impl SecretSource for SystemRandom {
    /// # Panics
    /// When the operating system has no random numbers: no secret can be made then.
    #[expect(
        clippy::expect_used,
        reason = "a program without random numbers must not go on"
    )]
    fn random(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).expect("the operating system gives random numbers");
        bytes
    }
}
