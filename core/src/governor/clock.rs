//! Time that never runs backwards.

use crate::units::{Instant, Microseconds};

/// Turns the adapter's time into one that only goes forward: where the adapter's clock is set back, ours goes on from where
/// it was, so that no deadline moves away.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    /// The adapter's time, last.
    theirs: Instant,
    /// What ours is ahead of theirs.
    ahead: Microseconds,
}

impl Clock {
    /// Our time for the adapter's `now`, and whether the adapter's clock ran backwards.
    pub(super) fn advance(&mut self, now: Instant) -> (Instant, bool) {
        let back = self.theirs.since(now).filter(|back| *back > Microseconds::ZERO);
        self.ahead = self.ahead.saturating_add(back.unwrap_or_default());
        self.theirs = now;
        (self.ours(), back.is_some())
    }

    /// Our time at the last event.
    pub(super) fn ours(&self) -> Instant {
        self.theirs.after(self.ahead)
    }

    /// The adapter's time for a moment of ours.
    pub(super) fn theirs(&self, ours: Instant) -> Instant {
        Instant::from_micros(ours.as_micros().saturating_sub(self.ahead.get()))
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
}
