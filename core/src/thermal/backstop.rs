//! The drive's own thermal management as the backstop behind ours.
//!
//! Host Controlled Thermal Management (feature 10h) slows a drive down by itself: a little from one temperature on, as
//! much as it takes from a second, higher one on. It needs no host that lives, so it stands *behind* our limits: it
//! must not act as long as ours do, and it must act before the drive's critical temperature.
//!
//! ```text
//!   our Critical < TMT1 < TMT2 < CCTEMP,   MNTMT ≤ TMT1,   TMT2 ≤ MXTMT
//! ```
//!
//! TMT1 is our limit, TMT2 halfway from there to the highest temperature that is left, as near as the ranges permit.

use super::ThermalLimits;
use crate::nvme::IdentifyController;
use crate::nvme::feature::thermal_management::ThermalManagement;
use crate::units::Kelvin;

/// Why a drive's thermal management cannot stand behind our limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum NoBackstop {
    /// The drive has none (HCTMA).
    NotSupported,
    /// It does not say which temperatures it takes (MNTMT, MXTMT).
    NoRange,
    /// The highest temperature that may be set is where our limits are still at work: it would act before ours.
    ActsBeforeOurs {
        /// The lowest that would be behind ours, with a second one above it.
        needed: Kelvin,
        /// The highest that may be set.
        highest: Kelvin,
    },
    /// The lowest temperature that may be set leaves no room for two below the drive's critical one: it would act too
    /// late.
    ActsTooLate {
        /// The lowest that may be set.
        lowest: Kelvin,
        /// The highest that is below the critical temperature.
        needed: Kelvin,
    },
}

impl ThermalLimits {
    /// Both temperatures of a drive's own thermal management, or why there are none.
    ///
    /// # Errors
    /// Where the drive has no thermal management, or its range does not reach to where a backstop belongs.
    pub fn backstop(&self, controller: &IdentifyController) -> Result<ThermalManagement, NoBackstop> {
        if !controller.hctm_supported {
            return Err(NoBackstop::NotSupported);
        }
        let range = controller.min_thermal_management_temperature.zip(controller.max_thermal_management_temperature);
        let (least, most) = range.ok_or(NoBackstop::NoRange)?;
        let one = Kelvin::new(1);
        let behind_ours = self.critical.enter.max(self.critical.leave).saturating_add(one);
        let below_critical = controller.critical_temperature.map_or(Kelvin::MAX, |limit| limit.saturating_sub(one));
        let (lowest, highest) = (least.max(behind_ours), most.min(below_critical));
        // Two temperatures, one above the other, must find room.
        if lowest >= highest {
            return Err(if behind_ours >= most {
                NoBackstop::ActsBeforeOurs { needed: behind_ours.saturating_add(one), highest: most }
            } else if least >= below_critical {
                NoBackstop::ActsTooLate { lowest: least, needed: below_critical }
            } else {
                NoBackstop::ActsBeforeOurs { needed: behind_ours.saturating_add(one), highest }
            });
        }
        let light = self.limit.max(lowest).min(highest.saturating_sub(one));
        // Where no critical temperature is reported, the range may end far above what is good for a drive.
        let end = highest.min(light.saturating_add(FURTHEST)).get();
        let heavy =
            Kelvin::new(light.get() + end.saturating_sub(light.get()).div_ceil(2)).max(light.saturating_add(one));
        Ok(ThermalManagement { light: Some(light), heavy: Some(heavy) })
    }
}

/// The second temperature is halfway to at most so far above the first. A guess: warning and critical thresholds lie 5
/// to 15 K apart.
const FURTHEST: Kelvin = Kelvin::new(10);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thermal::ThermalLimits;

    fn celsius(celsius: i32) -> Kelvin {
        Kelvin::from_celsius(celsius).unwrap()
    }

    fn controller(thresholds: [Option<Kelvin>; 2], range: [Option<Kelvin>; 2]) -> IdentifyController {
        IdentifyController {
            hctm_supported: true,
            warning_temperature: thresholds[0],
            critical_temperature: thresholds[1],
            min_thermal_management_temperature: range[0],
            max_thermal_management_temperature: range[1],
            ..IdentifyController::default()
        }
    }

    fn backstop(thresholds: [u16; 2], range: [u16; 2]) -> Result<(u16, u16), NoBackstop> {
        let controller =
            controller(thresholds.map(|raw| Some(Kelvin::new(raw))), range.map(|raw| Some(Kelvin::new(raw))));
        let limits = ThermalLimits::from_thresholds(controller.warning_temperature, controller.critical_temperature);
        let both = limits.backstop(&controller)?;
        Ok((both.light.unwrap().get(), both.heavy.unwrap().get()))
    }

    /// Drives that people have posted: WCTEMP, CCTEMP and the range of each.
    #[test]
    fn posted_drives_get_both_temperatures() {
        // Samsung 970 PRO: WCTEMP is CCTEMP, and the range has three kelvins.
        assert_eq!(backstop([354, 354], [352, 354]), Ok((352, 353)));
        assert_eq!(backstop([356, 358], [273, 356]), Ok((355, 356)));
        assert_eq!(backstop([358, 360], [323, 360]), Ok((357, 358)));
        assert_eq!(backstop([353, 358], [273, 358]), Ok((353, 355)));
        assert_eq!(backstop([343, 353], [273, 353]), Ok((343, 348)));
    }

    #[test]
    fn what_cannot_be_is_said() {
        let limits = ThermalLimits::from_thresholds(Some(celsius(70)), Some(celsius(80)));
        let none = IdentifyController { hctm_supported: false, ..controller([None; 2], [Some(celsius(0)); 2]) };
        assert_eq!(limits.backstop(&none), Err(NoBackstop::NotSupported));
        for range in [[None, None], [Some(celsius(0)), None], [None, Some(celsius(90))]] {
            assert_eq!(limits.backstop(&controller([None; 2], range)), Err(NoBackstop::NoRange));
        }
        let [low, high] = [343, 353];
        assert_eq!(
            backstop([low, high], [273, 340]),
            Err(NoBackstop::ActsBeforeOurs { needed: Kelvin::new(344), highest: Kelvin::new(340) })
        );
        assert_eq!(
            backstop([low, high], [352, 360]),
            Err(NoBackstop::ActsTooLate { lowest: Kelvin::new(352), needed: Kelvin::new(352) })
        );
    }

    /// Every believable pair of thresholds with every range: what is given is in order and in range, and where nothing
    /// is given, no pair would have been (by trying all).
    #[test]
    fn a_pair_is_given_where_there_is_one() {
        for (warning, critical) in (330..350).flat_map(|one| (330..350).map(move |other| (one, other))) {
            for (least, most) in (328..352).flat_map(|one| (328..352).map(move |other| (one, other))) {
                let limits = ThermalLimits::from_thresholds(Some(Kelvin::new(warning)), Some(Kelvin::new(critical)));
                let ours = limits.critical.enter.get();
                let fits = |light: u16, heavy: u16| {
                    ours < light && light < heavy && heavy < critical && least <= light && heavy <= most
                };
                match backstop([warning, critical], [least, most]) {
                    Ok((light, heavy)) => assert!(fits(light, heavy), "{light} {heavy}"),
                    Err(_) => {
                        let any = (ours..critical).any(|light| (light..critical).any(|heavy| fits(light, heavy)));
                        assert!(!any, "{warning} {critical} {least} {most}");
                    }
                }
            }
        }
    }

    #[test]
    fn without_a_critical_temperature_the_range_does_not_lead_far() {
        let limits = ThermalLimits::from_thresholds(Some(celsius(70)), None);
        let given = limits.backstop(&controller([Some(celsius(70)), None], [Some(celsius(0)), Some(celsius(127))]));
        assert_eq!(given, Ok(ThermalManagement { light: Some(celsius(70)), heavy: Some(celsius(75)) }));
    }
}
