//! A drive's own thermal management (HCTM): from one composite temperature on it slows down a little, from a second one
//! on as much as it takes.
//!
//! ```text
//!          T ≥ TMT1            T ≥ TMT2
//!   Free ────────────▶ Light ────────────▶ Heavy
//!        ◀────────────       ◀────────────
//!          T < TMT1            T < TMT2
//! ```
//!
//! **Guesses:** *light* lets a drive take the mean of its lowest and its highest operational state's watts, *heavy*
//! what lies halfway between doing nothing and its lowest state. Drives look at their temperature more often than once
//! a second, and keep quiet about what they do then.

use wattline_core::nvme::log::smart_health::ThermalManagementCounters;
use wattline_core::units::Seconds;

/// The two temperatures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// TMT1, in °C.
    pub light_c: f64,
    /// TMT2, in °C.
    pub heavy_c: f64,
}

/// What a drive does against its heat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// Nothing.
    #[default]
    Free,
    /// A little.
    Light,
    /// As much as it takes.
    Heavy,
}

/// One drive's management, and its counters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Management {
    /// Where it begins; `None`: it is switched off.
    thresholds: Option<Thresholds>,
    effort: Effort,
    /// How often it began to be light, and heavy.
    pub transitions: [u32; 2],
    /// For how many seconds it was light, and heavy.
    pub time_s: [u32; 2],
}

impl Management {
    /// Switches it on at these temperatures, or off.
    pub const fn set(&mut self, thresholds: Option<Thresholds>) {
        self.thresholds = thresholds;
        if thresholds.is_none() {
            self.effort = Effort::Free;
        }
    }

    /// Whether it is switched on.
    #[must_use]
    pub const fn is_on(&self) -> bool {
        self.thresholds.is_some()
    }

    /// What its SMART log says of light and of heavy management.
    #[must_use]
    pub fn counted(&self) -> [ThermalManagementCounters; 2] {
        [0, 1].map(|number| ThermalManagementCounters {
            transitions: self.transitions[number],
            time: Seconds::new(self.time_s[number]),
        })
    }

    /// What it does now.
    #[must_use]
    pub const fn effort(&self) -> Effort {
        self.effort
    }

    /// A second with this composite temperature is over; true if the effort is another one now.
    pub fn second(&mut self, composite_c: f64) -> bool {
        let Some(Thresholds { light_c, heavy_c }) = self.thresholds else { return false };
        let before = self.effort;
        self.effort = if composite_c >= heavy_c {
            Effort::Heavy
        } else if composite_c >= light_c {
            Effort::Light
        } else {
            Effort::Free
        };
        for (number, effort) in [Effort::Light, Effort::Heavy].into_iter().enumerate() {
            self.transitions[number] += u32::from(self.effort == effort && before < effort);
            self.time_s[number] += u32::from(self.effort == effort);
        }
        self.effort != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effort_follows_the_temperature_and_is_counted() {
        let thresholds = Some(Thresholds { light_c: 70.0, heavy_c: 72.0 });
        let mut management = Management { thresholds, ..Management::default() };
        let efforts: Vec<Effort> = [69.9, 70.0, 71.9, 72.0, 73.0, 71.0, 69.0, 75.0]
            .map(|composite_c| {
                management.second(composite_c);
                management.effort()
            })
            .into();
        use Effort::{Free, Heavy, Light};
        assert_eq!(efforts, [Free, Light, Light, Heavy, Heavy, Light, Free, Heavy]);
        assert_eq!((management.transitions, management.time_s), ([1, 2], [3, 3]));
    }

    #[test]
    fn what_is_switched_off_does_nothing() {
        let mut management = Management::default();
        assert!(!management.second(200.0));
        assert_eq!(management, Management::default());
    }
}
