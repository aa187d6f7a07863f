//! How many power cycles a drive may make in a day.
//!
//! A token bucket. It holds at most `at_once` cycles and gains `most + 1 − at_once` a day, evenly. So within any 24
//! hours (the first moment included, the last not) there are at most `most`: a full bucket, and one less than a day's
//! gain. It starts empty: whoever starts again and again, as a crashing governor does, gains nothing.
//!
//! Which number a drive bears is not reported by NVMe; its data sheet may say it. SMART counts the cycles that were
//! (Power Cycles, bytes 112–127 of log 02h).

use serde::{Deserialize, Serialize};

use core::num::NonZeroU16;

use crate::units::{Instant, Microseconds};

/// Microseconds of a day. One cycle costs so many credits, and a microsecond gives as many as cycles are gained a day.
const DAY: u64 = 86_400_000_000;

/// The most power cycles of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CyclesPerDay {
    most: NonZeroU16,
    at_once: NonZeroU16,
}

impl CyclesPerDay {
    /// At most `most` within any 24 hours, of which `at_once` may follow one another without a pause after a long time
    /// without any. `None` where `at_once` is more than `most`.
    #[must_use]
    pub const fn new(most: NonZeroU16, at_once: NonZeroU16) -> Option<Self> {
        if at_once.get() <= most.get() { Some(Self { most, at_once }) } else { None }
    }

    /// Cycles gained in a day: at least one.
    const fn gained(self) -> u64 {
        // Not below one, as `at_once` is not above `most`.
        self.most.get() as u64 + 1 - self.at_once.get() as u64
    }

    const fn full(self) -> u64 {
        self.at_once.get() as u64 * DAY
    }
}

/// The cycles that one drive may still make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Cycles {
    limit: CyclesPerDay,
    credits: u64,
    /// When the credits were counted.
    counted: Instant,
}

impl Cycles {
    /// None yet.
    #[must_use]
    pub const fn new(limit: CyclesPerDay, now: Instant) -> Self {
        Self { limit, credits: 0, counted: now }
    }

    /// From when on a cycle may be made, if none is made before. A moment in the past: at once.
    #[must_use]
    pub const fn ready_at(&self) -> Instant {
        let missing = DAY.saturating_sub(self.credits);
        self.counted.after(Microseconds::new(missing.div_ceil(self.limit.gained())))
    }

    /// Makes a cycle. One that may not be made, but was, empties the bucket.
    pub fn take(&mut self, now: Instant) {
        self.count(now);
        self.credits = self.credits.saturating_sub(DAY);
    }

    /// Counts the credits up to `now`. Where the clock ran backwards, none are gained.
    fn count(&mut self, now: Instant) {
        if let Some(passed) = now.since(self.counted) {
            let gained = passed.get().saturating_mul(self.limit.gained());
            self.credits = self.credits.saturating_add(gained).min(self.limit.full());
            self.counted = now;
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    fn limit(most: u16, at_once: u16) -> CyclesPerDay {
        CyclesPerDay::new(NonZeroU16::new(most).unwrap(), NonZeroU16::new(at_once).unwrap()).unwrap()
    }

    #[test]
    fn more_at_once_than_in_a_day_is_refused() {
        assert_eq!(CyclesPerDay::new(NonZeroU16::MIN, NonZeroU16::MAX), None);
    }

    /// Whoever takes every cycle as soon as it is there.
    fn greedy(limit: CyclesPerDay, starts: u64, days: u64) -> Vec<u64> {
        let mut cycles = Cycles::new(limit, Instant::START);
        let mut taken = Vec::new();
        let mut now = starts;
        while now < starts + days * DAY {
            now = now.max(cycles.ready_at().as_micros());
            taken.push(now);
            cycles.take(Instant::from_micros(now));
        }
        taken
    }

    fn most_within_a_day(taken: &[u64]) -> usize {
        let within = |first: &u64| taken.iter().filter(|at| (*first..first + DAY).contains(at)).count();
        taken.iter().map(within).max().unwrap_or(0)
    }

    #[test]
    fn the_greediest_gets_exactly_the_most() {
        for most in 1..=12 {
            for at_once in 1..=most {
                let taken = greedy(limit(most, at_once), 100 * DAY, 3);
                assert_eq!(most_within_a_day(&taken), usize::from(most), "{most} a day, {at_once} at once");
                assert!(taken.iter().filter(|at| **at == 100 * DAY).count() == usize::from(at_once));
            }
        }
    }

    #[test]
    fn a_new_bucket_is_empty() {
        assert_eq!(greedy(limit(4, 2), 0, 1)[..2], [DAY / 3, 2 * DAY / 3]);
    }

    proptest! {
        /// Takes at any times, of which those are made that may be; with a clock that sometimes runs backwards.
        #[test]
        fn no_day_has_more_than_the_most(
            most in 1..30_u16, at_once in 1..30_u16, waits in prop::collection::vec(0..DAY / 4, 1..200),
        ) {
            let mut cycles = Cycles::new(limit(most, at_once.min(most)), Instant::START);
            let (mut now, mut taken) = (0, Vec::new());
            for wait in waits {
                now += wait;
                if cycles.ready_at().as_micros() <= now {
                    cycles.take(Instant::from_micros(now));
                    taken.push(now);
                }
                let before = cycles;
                cycles.count(Instant::from_micros(now / 2));
                prop_assert!(cycles.ready_at() == before.ready_at() || now / 2 >= before.counted.as_micros());
            }
            prop_assert!(most_within_a_day(&taken) <= usize::from(most));
        }

        #[test]
        fn nothing_overflows(most in 1..=u16::MAX, at_once in 1..=u16::MAX, times: [u64; 8]) {
            let mut cycles = Cycles::new(limit(most, at_once.min(most)), Instant::from_micros(times[0]));
            for time in times {
                cycles.take(Instant::from_micros(time));
                let _ = cycles.ready_at();
            }
        }
    }
}
