//! The temperatures that a drive's heat is managed by.

use serde::{Deserialize, Serialize};

use crate::units::{Kelvin, Microseconds};

/// Where a level begins and where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Threshold {
    /// The level is entered from this reading on, or as soon as it is foreseen within
    /// [`look_ahead`](ThermalLimits::look_ahead), once the level before it has stood for its dwell.
    pub enter: Kelvin,
    /// It is left at this reading or below. A value not below `enter` counts as one kelvin below it.
    pub leave: Kelvin,
    /// How long it stands before it is left, or followed by the next.
    pub dwell: Microseconds,
}

/// The limits that a drive's heat is managed by.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ThermalLimits {
    /// From here on two thirds of the span of power may be used.
    pub warm: Threshold,
    /// From here on one third.
    pub hot: Threshold,
    /// From here on the lowest operational state.
    pub critical: Threshold,
    /// The composite temperature that is not to be reached: from here on, only the lowest operational state.
    pub limit: Kelvin,
    /// How far a rise that was seen is drawn out: what passes from one reading until a drive's temperature has
    /// followed a lower state.
    pub look_ahead: Microseconds,
    /// The fastest that the temperature can rise, in millikelvins per second: what a missing reading counts for.
    pub worst_slew_mk_per_s: u32,
    /// How long readings may be missing.
    pub timeout: Microseconds,
    /// A reading that does not move is not believed after the load has been another one for so long, summed up.
    /// `None`: it may stand still for ever.
    pub frozen_after: Option<Microseconds>,
}

/// Used where a drive reports no threshold, or none that can be meant: 70 °C, the common figure. A guess.
const DEFAULT_WARNING: Kelvin = Kelvin::new(343);
/// Thresholds outside 40 °C to 95 °C are not believed (one drive names 110 °C). A guess.
const BELIEVABLE: core::ops::RangeInclusive<u16> = 313..=368;
/// What is kept free below a critical threshold, in kelvins: a reading is rounded, and a drive that was told to take
/// less warms a little further. A guess.
const BELOW_CRITICAL: u16 = 3;
/// `Warm`, `Hot` and `Critical` begin so far below the limit. Close to it, since each kelvin further away costs
/// throughput for as long as the air stays warm; and not at it, since the drive itself may count what it reads as over
/// its threshold. A guess, tried in the simulator (`sim/HEAT-STUDY.md`).
const BELOW_LIMIT: Kelvin = Kelvin::new(1);
/// A level is left so far below where it is entered: the least that a reading can tell.
const HYSTERESIS: Kelvin = Kelvin::new(1);
/// A level is given so long to take effect: half the time in which the inside of a drive follows its watts. A shorter
/// one means more transitions for next to no throughput. A guess, tried likewise.
const DWELL: Microseconds = Microseconds::from_secs(10);

impl ThermalLimits {
    /// Limits from what a drive reports: the temperature that is not to be reached is its warning threshold (WCTEMP),
    /// or 3 K below its critical one (CCTEMP) where that is lower: some drives report both alike, or reversed.
    /// Unreported or unbelievable thresholds do not count, and 70 °C does where there is no other. Every level begins 1
    /// K below, and is left 1 K below that.
    ///
    /// The dwell of 10 s, the look ahead of 2 s, the slew of 0.5 K/s, the timeout of 30 s and the 120 s after which a
    /// reading counts as frozen are guesses.
    #[must_use]
    pub fn from_thresholds(warning: Option<Kelvin>, critical: Option<Kelvin>) -> Self {
        let believed = |limit: &Kelvin| BELIEVABLE.contains(&limit.get());
        let below_critical = critical.filter(believed).map(|limit| limit.saturating_sub(Kelvin::new(BELOW_CRITICAL)));
        let lowest = warning.filter(believed).into_iter().chain(below_critical).min();
        Self::below(lowest.unwrap_or(DEFAULT_WARNING))
    }

    /// The same limits where the case must not be warmer than `touch`. Drives do not report their case: the composite
    /// temperature is `inside` above it, at least. With 0 K the case counts as being as warm as the inside, which is
    /// cautious: heat flows from there to the case.
    #[must_use]
    pub fn with_touch_limit(self, touch: Kelvin, inside: Kelvin) -> Self {
        let limit = touch.saturating_add(inside);
        let by = self.limit.saturating_sub(limit);
        self.lowered_by(by)
    }

    /// The same limits, all of them lower by so much.
    #[must_use]
    pub fn lowered_by(self, by: Kelvin) -> Self {
        let lower = |threshold: Threshold| Threshold {
            enter: threshold.enter.saturating_sub(by),
            leave: threshold.leave.saturating_sub(by),
            ..threshold
        };
        Self {
            warm: lower(self.warm),
            hot: lower(self.hot),
            critical: lower(self.critical),
            limit: self.limit.saturating_sub(by),
            ..self
        }
    }

    /// The usual distances below a limit.
    fn below(limit: Kelvin) -> Self {
        let enter = limit.saturating_sub(BELOW_LIMIT);
        let threshold = Threshold { enter, leave: enter.saturating_sub(HYSTERESIS), dwell: DWELL };
        Self {
            warm: threshold,
            hot: threshold,
            critical: threshold,
            limit,
            look_ahead: Microseconds::from_secs(2),
            worst_slew_mk_per_s: 500,
            timeout: Microseconds::from_secs(30),
            frozen_after: Some(Microseconds::from_secs(120)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn celsius(celsius: i32) -> Kelvin {
        Kelvin::from_celsius(celsius).unwrap()
    }

    fn limit(warning: Option<i32>, critical: Option<i32>) -> i32 {
        ThermalLimits::from_thresholds(warning.map(celsius), critical.map(celsius)).limit.celsius()
    }

    #[test]
    fn the_warning_threshold_is_not_to_be_reached() {
        assert_eq!(limit(Some(70), Some(80)), 70);
        assert_eq!(limit(Some(70), None), 70);
    }

    #[test]
    fn thresholds_that_cannot_be_meant_are_replaced() {
        assert_eq!(limit(None, None), 70);
        assert_eq!(limit(Some(110), Some(130)), 70);
        assert_eq!(limit(Some(-273), Some(-273)), 70);
        assert_eq!(limit(Some(0), Some(85)), 82);
        assert_eq!(limit(None, Some(85)), 82);
    }

    #[test]
    fn equal_and_reversed_thresholds_leave_something_below_the_lower() {
        assert_eq!(limit(Some(84), Some(84)), 81);
        assert_eq!(limit(Some(84), Some(85)), 82);
        assert_eq!(limit(Some(85), Some(80)), 77);
    }

    #[test]
    fn the_case_is_a_limit_where_it_is_the_nearer_one() {
        let limits = ThermalLimits::from_thresholds(Some(celsius(85)), Some(celsius(90)));
        assert_eq!(limits.clone().with_touch_limit(celsius(80), Kelvin::new(10)), limits);
        let touched = limits.clone().with_touch_limit(celsius(80), Kelvin::ZERO);
        assert_eq!(touched.limit, celsius(80));
        assert_eq!(touched, ThermalLimits::from_thresholds(Some(celsius(80)), None));
    }

    /// Every pair of 16-bit thresholds near the believable range, and the absurd ones.
    #[test]
    fn whatever_is_reported_the_levels_stand_below_the_limit() {
        let reported = || (300..380).chain([0, 1, u16::MAX]).map(|raw| Some(Kelvin::new(raw))).chain([None]);
        for warning in reported() {
            for critical in reported() {
                let limits = ThermalLimits::from_thresholds(warning, critical);
                let ThermalLimits { warm, hot, critical: most, limit, .. } = limits;
                assert!(warm.enter <= hot.enter && hot.enter <= most.enter && most.enter < limit);
                assert!([warm, hot, most].iter().all(|threshold| threshold.leave < threshold.enter));
                let believed = |of: Option<Kelvin>| of.filter(|of| (313..=368).contains(&of.get()));
                assert!(believed(warning).is_none_or(|warning| limit <= warning));
                assert!(believed(critical).is_none_or(|critical| limit < critical));
                assert!((310..=368).contains(&limit.get()));
            }
        }
    }
}
