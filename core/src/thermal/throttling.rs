//! What a drive's own thermal management says about our limits.
//!
//! A drive that slows itself down, or that counts time above its own thresholds, was given too many watts: its limits
//! are lowered by a bounded step. Evidence is a counter of its SMART log that has grown; counters are only compared
//! with what they were, since they count a drive's whole life.
//!
//! One step is 1 K, or 2 K where the drive did whatever it took; at most one step in a minute, so that each can take
//! effect; at most 10 K in all; and 1 K is given back after each hour without new evidence. All of these are guesses.

use serde::{Deserialize, Serialize};

use crate::nvme::log::SmartHealth;
use crate::units::{Instant, Kelvin, Microseconds, Minutes, Seconds};

/// The counters of a SMART / Health log that tell of heat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ThrottleCounters {
    /// How often it slowed down a little (Thermal Management Temperature 1 Transition Count).
    pub light_transitions: u32,
    /// How often it slowed down as much as it took (Thermal Management Temperature 2 Transition Count).
    pub heavy_transitions: u32,
    /// Total Time For Thermal Management Temperature 1.
    pub light_time: Seconds,
    /// Total Time For Thermal Management Temperature 2.
    pub heavy_time: Seconds,
    /// Warning Composite Temperature Time.
    pub warning_time: Minutes,
    /// Critical Composite Temperature Time.
    pub critical_time: Minutes,
}

impl From<&SmartHealth> for ThrottleCounters {
    fn from(log: &SmartHealth) -> Self {
        Self {
            light_transitions: log.light_management.transitions,
            heavy_transitions: log.heavy_management.transitions,
            light_time: log.light_management.time,
            heavy_time: log.heavy_management.time,
            warning_time: log.warning_time,
            critical_time: log.critical_time,
        }
    }
}

/// What has happened between two looks at the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Severity {
    Nothing,
    Light,
    Heavy,
}

impl ThrottleCounters {
    const fn light(&self) -> [u32; 3] {
        [self.light_transitions, self.light_time.get(), self.warning_time.get()]
    }

    const fn heavy(&self) -> [u32; 3] {
        [self.heavy_transitions, self.heavy_time.get(), self.critical_time.get()]
    }

    /// What has happened since they were `before`. Counters that have shrunk are another drive's, or were cleared.
    fn since(&self, before: &Self) -> Severity {
        let grown = |now: [u32; 3], then: [u32; 3]| now.iter().zip(&then).any(|(now, then)| now > then);
        let (light, heavy) = ((self.light(), before.light()), (self.heavy(), before.heavy()));
        if grown(light.1, light.0) || grown(heavy.1, heavy.0) {
            Severity::Nothing
        } else if grown(heavy.0, heavy.1) {
            Severity::Heavy
        } else if grown(light.0, light.1) {
            Severity::Light
        } else {
            Severity::Nothing
        }
    }
}

/// The most that limits are lowered.
const MOST: u16 = 10;
/// A step is given this long to take effect.
const EFFECT: Microseconds = Microseconds::from_secs(60);
/// After so long without evidence, one kelvin is given back.
const FORGIVEN_AFTER: Microseconds = Microseconds::from_secs(3_600);

/// How far one drive's limits are lowered because it slowed itself down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Throttling {
    counters: Option<ThrottleCounters>,
    lowered: u16,
    /// When it was lowered last.
    stepped: Instant,
    /// When there was evidence last, or a kelvin was given back.
    quiet_since: Instant,
}

impl Throttling {
    /// How far the limits are lowered.
    pub(super) const fn lowered(&self) -> Kelvin {
        Kelvin::new(self.lowered)
    }

    /// The counters were read.
    pub(super) fn reads(&mut self, counters: ThrottleCounters, now: Instant) {
        let severity = self.counters.map_or(Severity::Nothing, |before| counters.since(&before));
        self.counters = Some(counters);
        let step = match severity {
            Severity::Nothing => return,
            Severity::Light => 1,
            Severity::Heavy => 2,
        };
        self.quiet_since = now;
        let has_taken_effect = now.since(self.stepped).is_some_and(|span| span >= EFFECT);
        if self.lowered == 0 || has_taken_effect {
            self.lowered = (self.lowered + step).min(MOST);
            self.stepped = now;
        }
    }

    /// Time passes.
    pub(super) fn advance(&mut self, now: Instant) {
        if self.next_deadline().is_some_and(|due| due <= now) {
            self.lowered = self.lowered.saturating_sub(1);
            self.quiet_since = now;
        }
    }

    /// When a kelvin is given back.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        (self.lowered > 0).then(|| self.quiet_since.after(FORGIVEN_AFTER))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::from_micros(seconds * 1_000_000)
    }

    const OLD: ThrottleCounters = ThrottleCounters {
        light_transitions: 7,
        heavy_transitions: 3,
        light_time: Seconds::new(900),
        heavy_time: Seconds::new(20),
        warning_time: Minutes::new(11),
        critical_time: Minutes::new(1),
    };

    #[test]
    fn a_life_before_ours_is_no_evidence() {
        let mut throttling = Throttling::default();
        throttling.reads(OLD, at(0));
        throttling.reads(OLD, at(100));
        throttling.reads(ThrottleCounters::default(), at(200));
        assert_eq!((throttling.lowered(), throttling.next_deadline()), (Kelvin::ZERO, None));
    }

    /// Each counter alone; and each beside one that has shrunk.
    #[test]
    fn each_counter_is_evidence() {
        type Case = (u16, fn(&mut ThrottleCounters));
        let grown: [Case; 6] = [
            (1, |counters| counters.light_transitions += 1),
            (2, |counters| counters.heavy_transitions += 1),
            (1, |counters| counters.light_time = Seconds::new(901)),
            (2, |counters| counters.heavy_time = Seconds::new(21)),
            (1, |counters| counters.warning_time = Minutes::new(12)),
            (2, |counters| counters.critical_time = Minutes::new(2)),
        ];
        for (step, grow) in grown {
            let mut new = OLD;
            grow(&mut new);
            let mut throttling = Throttling::default();
            throttling.reads(OLD, at(0));
            throttling.reads(new, at(10));
            assert_eq!(throttling.lowered(), Kelvin::new(step), "{new:?}");
            for (_, shrink) in grown {
                let mut before = OLD;
                shrink(&mut before);
                if before != new {
                    assert_eq!(new.since(&before), Severity::Nothing);
                }
            }
        }
    }

    #[test]
    fn steps_take_effect_are_bounded_and_are_forgiven() {
        let mut throttling = Throttling::default();
        let mut lowered = std::vec::Vec::new();
        for second in 0..=400 {
            let counters = ThrottleCounters { heavy_time: Seconds::new(second), ..OLD };
            throttling.reads(counters, at(u64::from(second)));
            if lowered.last() != Some(&throttling.lowered().get()) {
                lowered.push(throttling.lowered().get());
            }
        }
        assert_eq!(lowered, [0, 2, 4, 6, 8, 10]);
        for hour in 1..=10u16 {
            let due = throttling.next_deadline().unwrap();
            assert_eq!(due, at(400 + 3_600 * u64::from(hour)));
            throttling.advance(at(400 + 3_600 * u64::from(hour) - 1));
            throttling.advance(due);
            assert_eq!(throttling.lowered(), Kelvin::new(10 - hour));
        }
        assert_eq!(throttling.next_deadline(), None);
    }

    extern crate std;
}
