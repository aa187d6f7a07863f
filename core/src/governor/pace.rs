//! How often a drive may change its power state.
//!
//! **Goal.** In any 24 hours, a drive is raised at most as often as the configuration says, whatever plans and turns
//! would have it; every change counts, and lowering never waits.
//!
//! **Method.** A bucket of tokens, kept as one moment: each change moves the moment at which all changes so far are
//! paid for by one interval, and a raise is permitted while that moment is at most [`BURST`] away. So some changes may
//! follow one another at once, and over a day no more are permitted than there are intervals in a day and a burst.

use crate::units::{Instant, Microseconds};

/// What the bound is about.
const DAY: u64 = 24 * 3_600 * 1_000_000;

/// How far changes may run ahead: three hours, so that an eighth of a day's changes may come at once. A guess.
const BURST: u64 = DAY / 8;

/// How many changes of one drive are paid for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    paid: Instant,
}

impl Pace {
    /// From when on the drive may be raised.
    pub(super) const fn permits_from(self) -> Instant {
        Instant::from_micros(self.paid.as_micros().saturating_sub(BURST))
    }

    /// The drive is set to another state. No change that could not be put off keeps it from being raised for more than
    /// a day.
    pub(super) fn count(&mut self, now: Instant, per_day: Option<u16>) {
        let Some(per_day) = per_day else { return };
        // The first change is not waited for; the others are spread over a day and a burst.
        let spread = u64::from(per_day.saturating_sub(1)).max(1);
        let interval = (DAY + BURST) / spread + 1;
        let paid = self.paid.max(now).after(Microseconds::new(interval));
        self.paid = paid.min(now.after(Microseconds::new(DAY + BURST + 1)));
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whoever raises whenever it is permitted, and is lowered whenever, raises no more often than was said in any
        /// 24 hours; and whoever rests for a day may be raised.
        #[test]
        fn no_day_has_more_raises(
            per_day in 1u16..40, steps in prop::collection::vec((0u64..DAY / 12, any::<bool>()), 1..300),
        ) {
            let (mut pace, mut now, mut raises) = (Pace::default(), 0, Vec::new());
            for (wait, lowers) in steps {
                now += wait;
                let instant = Instant::from_micros(now);
                if lowers {
                    pace.count(instant, Some(per_day));
                } else if pace.permits_from() <= instant {
                    pace.count(instant, Some(per_day));
                    raises.push(now);
                }
                prop_assert!(pace.permits_from() <= Instant::from_micros(now + DAY + 1));
            }
            for (first, start) in raises.iter().enumerate() {
                let within = raises[first..].iter().filter(|raise| *raise - start < DAY).count();
                prop_assert!(within <= usize::from(per_day), "{} raises", within);
            }
        }
    }

    #[test]
    fn nothing_said_is_no_bound() {
        let mut pace = Pace::default();
        for _ in 0..1_000 {
            pace.count(Instant::START, None);
        }
        assert_eq!(pace.permits_from(), Instant::START);
    }
}
