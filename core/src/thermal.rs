//! How many watts a drive may turn into heat now.
//!
//! **Goal.** Keep the composite temperature below the drive's own warning threshold, early and a little rather than
//! late and a lot.
//!
//! **Method.** Four levels with their own thresholds for entering and leaving; a level says how much of the span
//! between the drive's lowest and highest operational state may be used: all of it, two thirds, one third, none.
//!
//! ```text
//!         T ≥ warm            T ≥ hot             T ≥ critical
//!   Cool ─────────▶ Warm ─────────────▶ Hot ─────────────────▶ Critical
//!        ◀─────────      ◀─────────────     ◀─────────────────
//!      T < warm − h        T < hot − h        T < critical − h        h: hysteresis
//! ```
//!
//! A level is entered at once, and left one at a time, after `dwell`.
//!
//! **Missing readings.** The last one counts as risen by the worst slew for its age; after `timeout` without any, the
//! drive is held at `Critical` and its temperature counts as lost.
//!
//! **What it leaves out.** The slope of the temperature, the case, and readings that never move.

use serde::{Deserialize, Serialize};

use crate::units::{Instant, Kelvin, Microseconds, Milliwatts};

/// The limits that a drive's heat is managed by.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ThermalLimits {
    /// From here on two thirds of the span of power may be used.
    pub warm: Kelvin,
    /// From here on one third.
    pub hot: Kelvin,
    /// From here on the lowest operational state.
    pub critical: Kelvin,
    /// A level is left this far below where it is entered.
    pub hysteresis: Kelvin,
    /// How long a level stands before it is left.
    pub dwell: Microseconds,
    /// The fastest that the temperature can rise, in millikelvins per second: what a missing reading counts for.
    pub worst_slew_mk_per_s: u32,
    /// How long readings may be missing.
    pub timeout: Microseconds,
}

/// Used where a drive reports no warning threshold, or one that cannot be meant: 70 °C, the common figure. A guess.
const DEFAULT_WARNING: Kelvin = Kelvin::new(343);
/// Thresholds outside 40 °C to 95 °C are not believed (one drive names 110 °C). A guess.
const BELIEVABLE: core::ops::RangeInclusive<u16> = 313..=368;

impl ThermalLimits {
    /// Limits from what a drive reports: `Critical` begins at the lower of its warning and critical thresholds (some
    /// drives report them reversed), `Hot` 5 K and `Warm` 10 K below. Unreported or unbelievable thresholds count as 70
    /// °C. The distances, the hysteresis of 3 K, the dwell of 10 s, the slew of 0.5 K/s and the timeout of 30 s are
    /// guesses.
    #[must_use]
    pub fn from_thresholds(warning: Option<Kelvin>, critical: Option<Kelvin>) -> Self {
        let believed = |limit: &Kelvin| BELIEVABLE.contains(&limit.get());
        let lower = [warning, critical].into_iter().flatten().filter(believed).min();
        let critical = lower.unwrap_or(DEFAULT_WARNING);
        Self {
            warm: critical.saturating_sub(Kelvin::new(10)),
            hot: critical.saturating_sub(Kelvin::new(5)),
            critical,
            hysteresis: Kelvin::new(3),
            dwell: Microseconds::from_secs(10),
            worst_slew_mk_per_s: 500,
            timeout: Microseconds::from_secs(30),
        }
    }
}

/// One kelvin, in microseconds times millikelvins per second: what time and slew multiply to.
const KELVIN: u64 = 1_000_000 * 1_000;

/// How warm a drive is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Level {
    /// No limit.
    #[default]
    Cool,
    /// Two thirds of the span of power.
    Warm,
    /// One third.
    Hot,
    /// The lowest operational state.
    Critical,
}

impl Level {
    const RISING: [Self; 3] = [Self::Warm, Self::Hot, Self::Critical];

    /// The most power that a drive may take at this level, of one that takes between `lowest` and `highest`.
    #[must_use]
    pub fn ceiling(self, lowest: Milliwatts, highest: Milliwatts) -> Milliwatts {
        let span = u64::from(highest.saturating_sub(lowest).get());
        let thirds = match self {
            Self::Cool => 3,
            Self::Warm => 2,
            Self::Hot => 1,
            Self::Critical => 0,
        };
        lowest.saturating_add(Milliwatts::new(u32::try_from(span * thirds / 3).unwrap_or(u32::MAX)))
    }

    const fn below(self) -> Self {
        match self {
            Self::Critical => Self::Hot,
            Self::Hot => Self::Warm,
            Self::Warm | Self::Cool => Self::Cool,
        }
    }
}

/// The heat of one drive.
#[derive(Clone, Debug, Hash)]
pub struct Thermal {
    limits: ThermalLimits,
    level: Level,
    entered: Instant,
    /// The last reading and its time; before the first, only the time since when one is waited for.
    last: (Option<Kelvin>, Instant),
    lost: bool,
}

impl Thermal {
    /// A drive of which nothing is known yet.
    #[must_use]
    pub const fn new(limits: ThermalLimits, now: Instant) -> Self {
        Self { limits, level: Level::Cool, entered: now, last: (None, now), lost: false }
    }

    /// How warm the drive is.
    #[must_use]
    pub const fn level(&self) -> Level {
        self.level
    }

    /// Whether its temperature has not been readable for too long.
    #[must_use]
    pub const fn is_lost(&self) -> bool {
        self.lost
    }

    /// When, after `now`, [`advance`](Self::advance) changes the level next although nothing is read: the readings have
    /// been missing for too long, the last one counts as risen to the next threshold, or a level that was entered has
    /// stood for long enough.
    #[must_use]
    pub fn next_deadline(&self, now: Instant) -> Instant {
        let (reading, at) = self.last;
        let lost = at.after(self.limits.timeout);
        let Some(reading) = reading else { return lost };
        let higher = Level::RISING.into_iter().filter(|level| *level > self.level);
        let rises = higher.map(|level| self.reaches(level, reading)).min().map_or(lost, |span| at.after(span));
        let leaves = self.entered.after(self.limits.dwell);
        let leaves = if leaves > now && self.is_left_at(self.risen(reading, leaves)) { leaves } else { lost };
        lost.min(rises).min(leaves)
    }

    /// A reading came.
    pub fn reads(&mut self, reading: Kelvin, now: Instant) {
        self.last = (Some(reading), now);
        self.lost = false;
        self.judge(reading, now);
    }

    /// Time passes, or a reading failed.
    pub fn advance(&mut self, now: Instant) {
        let age = now.since(self.last.1).unwrap_or_default();
        if age >= self.limits.timeout {
            self.lost = true;
            self.enter(Level::Critical, now);
        } else if let Some(reading) = self.last.0 {
            self.judge(self.risen(reading, now), now);
        }
    }

    /// What the last reading counts for at a moment after it.
    fn risen(&self, reading: Kelvin, then: Instant) -> Kelvin {
        let age = then.since(self.last.1).unwrap_or_default();
        let risen = age.get().saturating_mul(u64::from(self.limits.worst_slew_mk_per_s)) / KELVIN;
        reading.saturating_add(Kelvin::new(u16::try_from(risen).unwrap_or(u16::MAX)))
    }

    /// How long after a reading it counts as risen to a level; the end of time where it never does.
    fn reaches(&self, level: Level, reading: Kelvin) -> Microseconds {
        let rise = u64::from(self.enters(level).saturating_sub(reading).get()) * KELVIN;
        match u64::from(self.limits.worst_slew_mk_per_s) {
            0 => Microseconds::MAX,
            slew => Microseconds::new(rise.div_ceil(slew)),
        }
    }

    /// Whether this is cool enough to leave the level.
    fn is_left_at(&self, temperature: Kelvin) -> bool {
        self.level > Level::Cool && temperature < self.enters(self.level).saturating_sub(self.limits.hysteresis)
    }

    fn judge(&mut self, temperature: Kelvin, now: Instant) {
        let reached = Level::RISING.into_iter().rfind(|level| temperature >= self.enters(*level));
        match reached {
            Some(level) if level > self.level => self.enter(level, now),
            _ => {
                let stood = now.since(self.entered).is_some_and(|stood| stood >= self.limits.dwell);
                if stood && self.is_left_at(temperature) {
                    self.enter(self.level.below(), now);
                }
            }
        }
    }

    fn enter(&mut self, level: Level, now: Instant) {
        if self.level != level {
            self.level = level;
            self.entered = now;
        }
    }

    const fn enters(&self, level: Level) -> Kelvin {
        match level {
            Level::Cool => Kelvin::ZERO,
            Level::Warm => self.limits.warm,
            Level::Hot => self.limits.hot,
            Level::Critical => self.limits.critical,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::from_micros(seconds * 1_000_000)
    }

    fn celsius(celsius: i32) -> Kelvin {
        Kelvin::from_celsius(celsius).unwrap()
    }

    fn drive() -> Thermal {
        Thermal::new(ThermalLimits::from_thresholds(Some(celsius(70)), Some(celsius(80))), at(0))
    }

    #[test]
    fn levels_are_entered_at_once_and_left_one_at_a_time() {
        let mut thermal = drive();
        for (second, degrees, level) in [
            (1, 59, Level::Cool),
            (2, 60, Level::Warm),
            (3, 70, Level::Critical),
            (4, 20, Level::Critical),
            (13, 20, Level::Hot),
            (14, 20, Level::Hot),
            (23, 63, Level::Hot),
            (24, 61, Level::Warm),
            (40, 58, Level::Warm),
            (41, 56, Level::Cool),
        ] {
            thermal.reads(celsius(degrees), at(second));
            assert_eq!(thermal.level(), level, "at {second} s");
        }
    }

    #[test]
    fn a_missing_reading_rises_and_is_lost_in_the_end() {
        let mut thermal = drive();
        thermal.reads(celsius(55), at(0));
        thermal.advance(at(9));
        assert_eq!(thermal.level(), Level::Cool);
        thermal.advance(at(10));
        assert_eq!((thermal.level(), thermal.is_lost()), (Level::Warm, false));
        thermal.advance(at(30));
        assert_eq!((thermal.level(), thermal.is_lost()), (Level::Critical, true));
        thermal.reads(celsius(30), at(41));
        assert_eq!((thermal.level(), thermal.is_lost()), (Level::Hot, false));
    }

    #[test]
    fn a_drive_that_was_never_read_is_lost_after_the_timeout() {
        let mut thermal = drive();
        thermal.advance(at(29));
        assert_eq!((thermal.level(), thermal.is_lost()), (Level::Cool, false));
        thermal.advance(thermal.next_deadline(at(29)));
        assert_eq!((thermal.level(), thermal.is_lost()), (Level::Critical, true));
    }

    #[test]
    fn thresholds_that_cannot_be_meant_are_replaced() {
        let critical = |warning: Option<i32>, critical: Option<i32>| {
            ThermalLimits::from_thresholds(warning.map(celsius), critical.map(celsius)).critical.celsius()
        };
        assert_eq!(critical(None, None), 70);
        assert_eq!(critical(Some(84), Some(84)), 84);
        assert_eq!(critical(Some(85), Some(80)), 80);
        assert_eq!(critical(Some(110), Some(130)), 70);
        assert_eq!(critical(Some(0), Some(85)), 85);
    }

    #[test]
    fn a_ceiling_lies_between_the_lowest_and_the_highest_state() {
        let (low, high) = (Milliwatts::from_watts(10), Milliwatts::from_watts(25));
        let ceilings =
            [Level::Cool, Level::Warm, Level::Hot, Level::Critical].map(|level| level.ceiling(low, high).get());
        assert_eq!(ceilings, [25_000, 20_000, 15_000, 10_000]);
        assert_eq!(Level::Cool.ceiling(high, low), high);
    }
}
