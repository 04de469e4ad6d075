//! The pauses between attempts to connect.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use crate::config::Timings;

/// Pauses that double, each between half and the whole of it, so that many sidecars of one
/// gateway do not come back at once.
pub(crate) struct Backoff {
    first: Duration,
    longest: Duration,
    attempts: u32,
    chance: RandomState,
}

impl Backoff {
    pub(crate) fn new(timings: &Timings) -> Self {
        Self {
            first: timings.first_retry,
            longest: timings.longest_retry,
            attempts: 0,
            chance: RandomState::new(),
        }
    }

    /// The last attempt succeeded.
    pub(crate) fn reset(&mut self) {
        self.attempts = 0;
    }

    pub(crate) fn next(&mut self) -> Duration {
        let doubled = self.first.saturating_mul(1 << self.attempts.min(16));
        let half = doubled.min(self.longest) / 2;
        self.attempts = self.attempts.saturating_add(1);
        // Of 1024 equal steps.
        let step = u32::try_from(self.chance.hash_one(self.attempts) % 1024).unwrap_or(0);
        half + half * step / 1024
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pauses_double_up_to_the_longest_and_begin_again() {
        let mut backoff = Backoff::new(&Timings::default());
        for whole in [100, 200, 400, 800, 1600, 3200, 5000, 5000] {
            let pause = backoff.next();
            let whole = Duration::from_millis(whole);
            assert!(
                whole / 2 <= pause && pause <= whole,
                "{pause:?} of {whole:?}"
            );
        }
        backoff.reset();
        assert!(backoff.next() <= Duration::from_millis(100));
    }
}
