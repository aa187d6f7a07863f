//! Transition wear: how often a drive may go to sleep in a day.
//!
//! Before every autonomous transition the drive idles for the time in the table (ITPT), and no two transitions share
//! that time. So a day has at most 24 h / ITPT transitions, and a floor under every ITPT keeps any number that is asked
//! for, whatever the work is. Drives exist that count such transitions and become more reluctant with age; whether a
//! given drive wears by them is not known to NVMe.

use core::num::NonZeroU32;

use crate::nvme::feature::autonomous_transitions::Transition;

/// Milliseconds of a day.
const DAY: u32 = 86_400_000;

/// The most transitions that a drive may make in a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TransitionsPerDay(pub NonZeroU32);

impl TransitionsPerDay {
    /// The shortest idle time before a transition, in milliseconds, that keeps this number. `None` where it is longer
    /// than ITPT holds, which is so for fewer than six a day.
    #[must_use]
    pub const fn floor(self) -> Option<u32> {
        let floor = DAY.div_ceil(self.0.get());
        if floor <= Transition::LONGEST_IDLE_TIME { Some(floor) } else { None }
    }
}

/// An idle time in milliseconds that is at least the floor's. `None` where no time keeps the number.
pub(crate) const fn floored(idle_milliseconds: u32, per_day: Option<TransitionsPerDay>) -> Option<u32> {
    let Some(per_day) = per_day else { return Some(idle_milliseconds) };
    match per_day.floor() {
        Some(floor) if floor > idle_milliseconds => Some(floor),
        Some(_) => Some(idle_milliseconds),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_keeps_its_number_and_is_the_shortest_that_does() {
        for per_day in (1..2_000).chain([DAY - 1, DAY, DAY + 1, u32::MAX]) {
            match TransitionsPerDay(NonZeroU32::new(per_day).unwrap()).floor() {
                Some(floor) => {
                    assert!(DAY / floor <= per_day, "{per_day}");
                    assert!(floor == 1 || u64::from(floor - 1) * u64::from(per_day) < u64::from(DAY), "{per_day}");
                }
                None => assert!(per_day < 6, "{per_day}"),
            }
        }
    }

    #[test]
    fn without_a_number_times_stay_as_they_are() {
        let per_day = |number| Some(TransitionsPerDay(NonZeroU32::new(number).unwrap()));
        assert_eq!(floored(100, None), Some(100));
        assert_eq!(floored(100, per_day(1_000)), Some(86_400));
        assert_eq!(floored(100_000, per_day(1_000)), Some(100_000));
        assert_eq!(floored(100, per_day(5)), None);
    }
}
