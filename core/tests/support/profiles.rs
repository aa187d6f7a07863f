//! Kinds of drives.

use wattline_core::governor::{DriveConfig, ProfileIndex};
use wattline_core::profile::{Profile, StateProfile, Work, WorkSet};
use wattline_core::units::{Microseconds, Milliwatts};

/// A kind of drive that says this of its states: watts, and whether the state is operational. 0 W: not reported.
pub(crate) fn nameplate(states: &[(u32, bool)]) -> Profile {
    let mut profile = Profile::default();
    for &(watts, operational) in states {
        let state = StateProfile {
            non_operational: !operational,
            max_power: (watts > 0).then(|| Milliwatts::from_watts(watts)),
            entry_latency: Some(Microseconds::from_millis(5)),
            ..StateProfile::default()
        };
        profile.states.push(state).expect("at most 32 states");
    }
    profile
}

/// A drive of the first profile that may do anything, in a slot of 40 W, and falls back to PS0.
pub(crate) fn drive() -> DriveConfig {
    DriveConfig::new(ProfileIndex(0), Milliwatts::from_watts(40))
}

pub(crate) fn writing() -> WorkSet {
    WorkSet::of(Work::SequentialWrite)
}

/// One drive of the article's, which is only written to, in order.
pub(crate) fn article_drive() -> DriveConfig {
    DriveConfig { declared: writing(), ..drive() }
}
