//! Whether a temperature can be believed: fine, absent and frozen are three things.
//!
//! ```text
//!             none for `timeout`                a reading
//!   Fine ───────────────────────────▶ Lost ───────────────────▶ Fine
//!    │ ▲
//!    │ └──────────── the value moves ─────────── Frozen
//!    └──────────── stands still while the load has moved ──▲
//! ```
//!
//! *Missing.* The last reading counts as risen by the worst slew for its age, from the first moment on.
//!
//! *Frozen.* A reading that comes, but whose value has not moved although the load has been another one for long enough
//! (`frozen_after`, summed up): from then on its value counts as risen as a missing one does, and after `timeout`
//! the drive is held at its lowest state. The load is what the core knows of it: the figure of the state that the drive
//! is in while it is seen working, its idle power while it is seen idle; a difference counts from 5 W on. A
//! drive that works so little that its states make no difference, in a room whose temperature does not change either,
//! may be taken for frozen; then it has little to lose.
//!
//! *Faulty.* Values that no drive can have are no readings.

use crate::units::{Instant, Kelvin, Microseconds, Milliwatts};

/// What a drive can have: −60 °C to 127 °C, the range of NVMe-MI's basic management command. The ends count as
/// "or beyond", and beyond is no reading.
const POSSIBLE: core::ops::RangeInclusive<u16> = 213..=400;

/// The least difference of load that must show in a temperature: 5 W. At half a kelvin per watt, a guess as in the
/// simulator's drives, that is 2.5 K.
const LEAST_STEP: Milliwatts = Milliwatts::from_watts(5);

/// What is known of the source of a drive's temperature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sensing {
    /// Readings come and move.
    Fine,
    /// Readings come, and do not move although the load does.
    Frozen,
    /// Nothing has been read for too long.
    Lost,
}

/// What happens to the source of a temperature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SensorEvent {
    /// A reading of another value than before, or the first one.
    Moved,
    /// A reading of the same value.
    Same,
    /// The load has been another one for too long, and the value has not moved.
    StoodStill,
    /// There was no reading for too long.
    TimedOut,
}

impl Sensing {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Fine, Self::Frozen, Self::Lost];

    /// What follows.
    #[must_use]
    pub const fn after(self, event: SensorEvent) -> Self {
        match (self, event) {
            (_, SensorEvent::TimedOut) => Self::Lost,
            (_, SensorEvent::Moved) | (Self::Fine | Self::Lost, SensorEvent::Same) => Self::Fine,
            (Self::Frozen, SensorEvent::Same) | (Self::Fine | Self::Frozen, SensorEvent::StoodStill) => Self::Frozen,
            (Self::Lost, SensorEvent::StoodStill) => Self::Lost,
        }
    }
}

impl SensorEvent {
    /// Every event.
    pub const ALL: [Self; 4] = [Self::Moved, Self::Same, Self::StoodStill, Self::TimedOut];
}

/// A reading, if it is one.
pub(super) fn possible(reading: Kelvin) -> Option<Kelvin> {
    Some(reading).filter(|reading| POSSIBLE.contains(&reading.get()))
}

/// Compares a value that stands still with the load.
#[derive(Clone, Copy, Debug, Hash, Default)]
pub(super) struct Stillness {
    /// The load when the value moved last; `None`: not known then.
    reference: Option<Milliwatts>,
    /// The load is another one, as long as this is set, since then.
    differs_since: Option<Instant>,
    /// For how long it was another one before that.
    differed: Microseconds,
}

impl Stillness {
    /// The value has moved.
    pub(super) fn moved(&mut self, load: Option<Milliwatts>) {
        *self = Self { reference: load, ..Self::default() };
    }

    /// The load is this from now on; `None`: not known, which is no difference.
    pub(super) fn loads(&mut self, load: Option<Milliwatts>, now: Instant) {
        self.reference = self.reference.or(load);
        let differs = self
            .reference
            .zip(load)
            .is_some_and(|(one, other)| one.saturating_sub(other).max(other.saturating_sub(one)) >= LEAST_STEP);
        if !differs {
            self.differed = self.differed(now);
            self.differs_since = None;
        } else if self.differs_since.is_none() {
            self.differs_since = Some(now);
        }
    }

    /// For how long the load has been another one, all in all.
    pub(super) fn differed(&self, now: Instant) -> Microseconds {
        let going_on = self.differs_since.and_then(|since| now.since(since)).unwrap_or_default();
        self.differed.saturating_add(going_on)
    }

    /// When it will have been another one for so long, if the load stays; `None`: it is not another one.
    pub(super) fn reaches(&self, span: Microseconds) -> Option<Instant> {
        Some(self.differs_since?.after(span.saturating_sub(self.differed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::from_micros(seconds * 1_000_000)
    }

    const fn watts(watts: u32) -> Option<Milliwatts> {
        Some(Milliwatts::from_watts(watts))
    }

    #[test]
    fn fine_frozen_and_lost_follow_one_another() {
        use Sensing::{Fine, Frozen, Lost};
        use SensorEvent::{Moved, Same, StoodStill, TimedOut};
        for (event, followers) in [
            (Moved, [Fine, Fine, Fine]),
            (Same, [Fine, Frozen, Fine]),
            (StoodStill, [Frozen, Frozen, Lost]),
            (TimedOut, [Lost, Lost, Lost]),
        ] {
            assert_eq!(Sensing::ALL.map(|state| state.after(event)), followers, "{event:?}");
        }
    }

    #[test]
    fn only_time_with_another_load_is_summed_up() {
        let mut stillness = Stillness::default();
        stillness.moved(watts(25));
        for (second, load, differed) in
            [(0, watts(25), 0), (10, watts(10), 0), (20, watts(22), 10), (30, None, 10), (40, watts(11), 10)]
        {
            stillness.loads(load, at(second));
            assert_eq!(stillness.differed(at(second)), Microseconds::from_secs(differed), "at {second} s");
        }
        assert_eq!(stillness.reaches(Microseconds::from_secs(15)), Some(at(45)));
        stillness.moved(watts(11));
        assert_eq!((stillness.differed(at(60)), stillness.reaches(Microseconds::ZERO)), (Microseconds::ZERO, None));
    }

    #[test]
    fn a_load_that_is_not_known_never_differs() {
        let mut stillness = Stillness::default();
        stillness.moved(None);
        stillness.loads(None, at(0));
        stillness.loads(watts(25), at(10));
        stillness.loads(watts(25), at(1_000));
        assert_eq!(stillness.differed(at(1_000)), Microseconds::ZERO);
    }
}
