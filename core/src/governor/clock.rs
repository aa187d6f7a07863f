//! Time that never runs backwards.

use crate::units::{Instant, Microseconds};

/// Turns the adapter's time into one that only goes forward: where the adapter's clock is set back, ours goes on from
/// where it was, so that no deadline moves away.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    /// The adapter's time, last.
    theirs: Instant,
    /// Ours at that moment.
    ours: Instant,
}

/// A hundred years. No step counts for more, so that a clock that shows nonsense once does not use our time up for
/// ever.
const LONGEST_STEP: Microseconds = Microseconds::from_secs(100 * 365 * 86_400);

impl Clock {
    /// Our time for the adapter's `now`, and whether the adapter's clock ran backwards.
    pub(super) fn advance(&mut self, now: Instant) -> (Instant, bool) {
        let step = now.since(self.theirs);
        self.ours = self.ours.after(step.unwrap_or_default().min(LONGEST_STEP));
        self.theirs = now;
        (self.ours, step.is_none())
    }

    /// Our time at the last event.
    pub(super) const fn ours(&self) -> Instant {
        self.ours
    }

    /// The adapter's time for a moment of ours that is still to come.
    pub(super) fn theirs(&self, ours: Instant) -> Instant {
        self.theirs.after(ours.since(self.ours).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_set_back_goes_on() {
        let mut clock = Clock::default();
        let at = Instant::from_micros;
        assert_eq!(clock.advance(at(100)), (at(100), false));
        assert_eq!(clock.advance(at(100)), (at(100), false));
        assert_eq!(clock.advance(at(40)), (at(100), true));
        assert_eq!(clock.advance(at(50)), (at(110), false));
        assert_eq!(clock.theirs(at(120)), at(60));
    }

    #[test]
    fn a_clock_that_showed_the_end_of_time_goes_on() {
        let mut clock = Clock::default();
        let at = Instant::from_micros;
        clock.advance(at(u64::MAX));
        let (before, _) = clock.advance(at(7));
        assert_eq!(clock.advance(at(10)), (before.after(Microseconds::new(3)), false));
        assert_eq!(clock.theirs(before.after(Microseconds::new(5))), at(12));
    }
}
