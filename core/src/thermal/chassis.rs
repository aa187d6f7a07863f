//! How many watts all drives of a chassis may turn into heat together.
//!
//! While the fans still have something to add, they answer warmth, and each drive's own limits are enough. Once they
//! are at their limit or have failed, or the coolant is lost, the heat that leaves is what it is, and what comes in has
//! to follow. The ceiling is linear in what air can take up: all of a configured figure at the inlet temperature that
//! it was configured for, nothing where the inlet is as warm as drives may become:
//!
//! ```text
//!   ceiling = figure × (hottest − inlet) / (hottest − design inlet),   at most the figure
//! ```
//!
//! Of several figures that apply, the lowest counts. A lower ceiling holds at once, a higher one after it has been to
//! be had for `dwell`. Without a reading of the inlet for `timeout`, it counts as halfway to the hottest (a guess).
//!
//! **What it leaves out.** Heat that is stored on the way: the ceiling is what can be held, and so it is early.

use serde::{Deserialize, Serialize};

use super::sensor::possible;
use crate::units::{Instant, Kelvin, Microseconds, Milliwatts};

/// What the cooling of a chassis is good for, in the drives' share of the watts of the cap's meter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CoolingConfig {
    /// Heat of all drives that can be removed with all fans at their limit.
    pub fans_at_limit: Milliwatts,
    /// With fans that have failed.
    pub fans_failed: Milliwatts,
    /// Without coolant.
    pub coolant_lost: Milliwatts,
    /// The inlet temperature for which these figures are meant.
    pub design_inlet: Kelvin,
    /// The inlet temperature at which no heat is removed any more: that of the drives at their limit.
    pub hottest_inlet: Kelvin,
    /// How long a higher ceiling must have been to be had before it counts.
    pub dwell: Microseconds,
    /// How long the inlet's temperature may be unknown.
    pub timeout: Microseconds,
}

/// What the fans can still do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Fans {
    /// They have something to add.
    #[default]
    Regulating,
    /// All of them run as fast as they can.
    AtLimit,
    /// Some or all of them do not run.
    Failed,
}

/// How a chassis is being cooled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Cooling {
    /// Temperature of the air that comes in; `None` where it could not be read.
    pub inlet: Option<Kelvin>,
    /// The fans.
    pub fans: Fans,
    /// The liquid that carries heat away does not flow.
    pub coolant_lost: bool,
}

impl CoolingConfig {
    /// What may be turned into heat at this inlet temperature; `None`: no limit.
    #[must_use]
    pub fn ceiling(&self, fans: Fans, coolant_lost: bool, inlet: Kelvin) -> Option<Milliwatts> {
        let of_fans = match fans {
            Fans::Regulating => None,
            Fans::AtLimit => Some(self.fans_at_limit),
            Fans::Failed => Some(self.fans_failed),
        };
        let of_coolant = coolant_lost.then_some(self.coolant_lost);
        let figure = of_fans.into_iter().chain(of_coolant).min()?;
        let span = u64::from(self.hottest_inlet.saturating_sub(self.design_inlet).get());
        let left = u64::from(self.hottest_inlet.saturating_sub(inlet).get()).min(span);
        let scaled = (u64::from(figure.get()) * left).checked_div(span);
        // Where the two temperatures are no range, the figure holds below both.
        let scaled = scaled.unwrap_or(if inlet < self.hottest_inlet { u64::from(figure.get()) } else { 0 });
        Some(Milliwatts::new(u32::try_from(scaled).unwrap_or(u32::MAX)))
    }
}

/// The heat of a chassis.
#[derive(Clone, Debug, Hash)]
pub struct Chassis {
    config: CoolingConfig,
    cooling: Cooling,
    /// The last reading of the inlet, and its time.
    inlet: Option<(Kelvin, Instant)>,
    /// The ceiling in force; none is [`Milliwatts::MAX`].
    ceiling: Milliwatts,
    /// Since when a higher one is to be had.
    higher_since: Option<Instant>,
}

impl Chassis {
    /// A chassis of which nothing is known yet: it has no limit.
    #[must_use]
    pub const fn new(config: CoolingConfig) -> Self {
        let cooling = Cooling { inlet: None, fans: Fans::Regulating, coolant_lost: false };
        Self { config, cooling, inlet: None, ceiling: Milliwatts::MAX, higher_since: None }
    }

    /// The most that all drives may turn into heat; [`Milliwatts::MAX`] where there is no limit.
    #[must_use]
    pub const fn ceiling(&self) -> Milliwatts {
        self.ceiling
    }

    /// By how much that is less than with all fans at their limit at the inlet temperature that it was designed for;
    /// zero where there is no limit.
    #[must_use]
    pub fn reduced_by(&self) -> Milliwatts {
        if self.ceiling == Milliwatts::MAX {
            return Milliwatts::ZERO;
        }
        // A limit is worth an alarm even where it is no lower than the design's.
        self.config.fans_at_limit.saturating_sub(self.ceiling).max(Milliwatts::new(1))
    }

    /// How it is being cooled, as of now.
    pub fn reads(&mut self, cooling: Cooling, now: Instant) {
        self.cooling = cooling;
        if let Some(inlet) = cooling.inlet.and_then(possible) {
            self.inlet = Some((inlet, now));
        }
        self.advance(now);
    }

    /// Time passes.
    pub fn advance(&mut self, now: Instant) {
        let Cooling { fans, coolant_lost, .. } = self.cooling;
        let inlet = self.inlet_at(now);
        let to_be_had = self.config.ceiling(fans, coolant_lost, inlet).unwrap_or(Milliwatts::MAX);
        if to_be_had <= self.ceiling {
            self.ceiling = to_be_had;
            self.higher_since = None;
            return;
        }
        let since = *self.higher_since.get_or_insert(now);
        if now >= since.after(self.config.dwell) {
            self.ceiling = to_be_had;
            self.higher_since = None;
        }
    }

    /// When, after `now`, [`advance`](Self::advance) changes the ceiling next although nothing is read.
    #[must_use]
    pub fn next_deadline(&self, now: Instant) -> Option<Instant> {
        let unknown = self.inlet.map(|(_, at)| at.after(self.config.timeout));
        let higher = self.higher_since.map(|since| since.after(self.config.dwell));
        unknown.into_iter().chain(higher).filter(|due| *due > now).min()
    }

    fn inlet_at(&self, now: Instant) -> Kelvin {
        let CoolingConfig { design_inlet, hottest_inlet, timeout, .. } = self.config;
        let halfway = Kelvin::new(design_inlet.get().midpoint(hottest_inlet.get()));
        match self.inlet {
            Some((inlet, at)) if now < at.after(timeout) => inlet,
            Some((inlet, _)) => inlet.max(halfway),
            None => halfway,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::from_micros(seconds * 1_000_000)
    }

    const fn watts(watts: u32) -> Milliwatts {
        Milliwatts::from_watts(watts)
    }

    fn celsius(celsius: i32) -> Kelvin {
        Kelvin::from_celsius(celsius).unwrap()
    }

    fn config() -> CoolingConfig {
        CoolingConfig {
            fans_at_limit: watts(600),
            fans_failed: watts(300),
            coolant_lost: watts(400),
            design_inlet: celsius(30),
            hottest_inlet: celsius(70),
            dwell: Microseconds::from_secs(60),
            timeout: Microseconds::from_secs(30),
        }
    }

    /// Figures by hand.
    #[test]
    fn the_ceiling_follows_fans_coolant_and_inlet() {
        let ceiling = |fans, coolant_lost, inlet| {
            config().ceiling(fans, coolant_lost, celsius(inlet)).map(|ceiling| ceiling.get() / 1000)
        };
        assert_eq!(ceiling(Fans::Regulating, false, 60), None);
        assert_eq!(ceiling(Fans::AtLimit, false, 10), Some(600));
        assert_eq!(ceiling(Fans::AtLimit, false, 30), Some(600));
        assert_eq!(ceiling(Fans::AtLimit, false, 50), Some(300));
        assert_eq!(ceiling(Fans::AtLimit, true, 30), Some(400));
        assert_eq!(ceiling(Fans::Failed, true, 40), Some(225));
        assert_eq!(ceiling(Fans::Failed, false, 90), Some(0));
    }

    #[test]
    fn a_lower_ceiling_holds_at_once_and_a_higher_one_after_a_while() {
        let mut chassis = Chassis::new(config());
        let cooling = |fans, inlet| Cooling { inlet: Some(celsius(inlet)), fans, coolant_lost: false };
        for (second, fans, inlet, ceiling) in [
            (0, Fans::Regulating, 30, None),
            (10, Fans::AtLimit, 30, Some(600)),
            (11, Fans::AtLimit, 50, Some(300)),
            (20, Fans::AtLimit, 40, Some(300)),
            (79, Fans::AtLimit, 40, Some(300)),
            (80, Fans::AtLimit, 40, Some(450)),
            (90, Fans::Regulating, 30, Some(450)),
            (120, Fans::AtLimit, 40, Some(450)),
            (140, Fans::Regulating, 30, Some(450)),
            (200, Fans::Regulating, 30, None),
        ] {
            chassis.reads(cooling(fans, inlet), at(second));
            let expected = ceiling.map_or(Milliwatts::MAX, watts);
            assert_eq!(chassis.ceiling(), expected, "at {second} s");
            assert_eq!(chassis.reduced_by() > Milliwatts::ZERO, ceiling.is_some());
        }
    }

    #[test]
    fn an_unknown_inlet_counts_as_warm() {
        let mut chassis = Chassis::new(config());
        chassis.reads(Cooling { inlet: Some(celsius(30)), fans: Fans::AtLimit, coolant_lost: false }, at(0));
        assert_eq!(chassis.next_deadline(at(0)), Some(at(30)));
        for absurd in [None, Some(Kelvin::ZERO), Some(Kelvin::MAX)] {
            chassis.reads(Cooling { inlet: absurd, fans: Fans::AtLimit, coolant_lost: false }, at(29));
            assert_eq!(chassis.ceiling(), watts(600));
        }
        chassis.advance(at(30));
        assert_eq!(chassis.ceiling(), watts(300));
    }

    proptest! {
        /// Whatever is configured and read: never above the figure, never higher for a warmer inlet or a worse fan.
        #[test]
        fn it_only_falls_as_things_get_worse(
            figures in prop::array::uniform3(any::<u32>()), design: u16, hottest: u16, inlet: u16, warmer: u16, lost: bool,
        ) {
            let [fans_at_limit, fans_failed, coolant_lost] = figures.map(Milliwatts::new);
            let (design_inlet, hottest_inlet) = (Kelvin::new(design), Kelvin::new(hottest));
            let config = CoolingConfig {
                fans_at_limit, fans_failed, coolant_lost, design_inlet, hottest_inlet, ..config()
            };
            let ceiling = |fans, lost, inlet| config.ceiling(fans, lost, Kelvin::new(inlet)).unwrap_or(Milliwatts::MAX);
            for fans in [Fans::Regulating, Fans::AtLimit, Fans::Failed] {
                let here = ceiling(fans, lost, inlet);
                prop_assert!(ceiling(fans, lost, inlet.saturating_add(warmer)) <= here);
                prop_assert!(ceiling(fans, true, inlet) <= here);
            }
            prop_assert!(ceiling(Fans::AtLimit, lost, inlet) <= fans_at_limit);
        }
    }
}
