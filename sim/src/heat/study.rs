//! The places, the policies, and what a run of each comes to.

use crate::calibration::Calibration;
use crate::scenario::schema::ThrottleSection;
use crate::scenario::{Scenario, ScenarioError, load};
use crate::time::seconds;
use crate::trace::Trace;
use crate::world::World;

/// WCTEMP of the drives, in °C. A guess: the article does not name it.
pub const WARNING_C: f64 = 70.0;
/// CCTEMP of the drives, in °C. A guess.
pub const CRITICAL_C: f64 = 75.0;
/// What a case may have, in °C: the article's.
pub const TOUCH_C: f64 = 80.0;

/// The built-in scenarios that are compared.
pub const SCENARIOS: [&str; 6] =
    ["heat-warm-room", "heat-hot-room", "heat-coolant-lost", "heat-fans-failed", "heat-ramp", "heat-frozen-sensors"];

/// Who does something about heat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Nobody.
    Nothing,
    /// The drive's own thermal management alone, set as our backstop.
    Own,
    /// The same, set so low that it should keep below the warning temperature.
    OwnLower,
    /// A bare on/off throttle: the lowest state from the warning temperature on, until 5 K below it.
    OnOff,
    /// The real governor, with the drive's own thermal management behind it.
    Ours,
    /// The real governor where the user lets it go above the warning temperature, up to 1 K below the critical one.
    /// That leaves no room for the drive's own management behind it.
    OursHigher,
    /// Not a policy but what is possible: every drive in its lowest state from the start.
    Lowest,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Nothing, Self::Own, Self::OwnLower, Self::OnOff, Self::Ours, Self::OursHigher, Self::Lowest];

    /// A name for tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Own => "HCTM at 70 and 72 °C",
            Self::OwnLower => "HCTM at 69 and 70 °C",
            Self::OnOff => "on/off at 70 °C",
            Self::Ours => "ours",
            Self::OursHigher => "ours, limit 74 °C",
            Self::Lowest => "(lowest state)",
        }
    }

    /// The scenario under this policy.
    fn applied_to(self, scenario: &Scenario) -> Scenario {
        let mut scenario = scenario.clone();
        match self {
            Self::Ours => return scenario,
            Self::OursHigher => {
                scenario.drives.management_c = None;
                if let Some(governor) = &mut scenario.governor {
                    (governor.warning_c, governor.critical_c) = (Some(CRITICAL_C - 1.0), None);
                    if let Some(cooling) = &mut governor.cooling {
                        cooling.hottest_inlet_c = CRITICAL_C - 1.0;
                    }
                }
                return scenario;
            }
            Self::Own => {}
            Self::OwnLower => scenario.drives.management_c = Some([WARNING_C - 1.0, WARNING_C]),
            Self::OnOff => {
                scenario.throttle = Some(ThrottleSection { at_c: WARNING_C, hysteresis_k: 5.0 });
                scenario.drives.management_c = None;
            }
            Self::Nothing => scenario.drives.management_c = None,
            Self::Lowest => {
                scenario.drives.management_c = None;
                scenario.drives.initial_ps = Calibration::embedded().ssd.states.len() - 1;
            }
        }
        scenario.governor = None;
        scenario
    }
}

/// What one run came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Result {
    /// Under whom.
    pub policy: Policy,
    /// The highest composite temperature of any drive, in °C.
    pub peak_c: f64,
    /// The highest temperature of any case, in °C.
    pub case_c: f64,
    /// Seconds in which any drive had its warning temperature or more.
    pub over_warning_s: usize,
    /// Seconds in which any drive had its critical temperature or more.
    pub over_critical_s: usize,
    /// Mean throughput of all drives, in GB/s.
    pub gb_s: f64,
    /// Changes of power states, all in all.
    pub transitions: usize,
    /// How often drives slowed themselves down, all in all.
    pub throttlings: u64,
}

/// One place.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The scenario.
    pub scenario: String,
    /// What it is, for people.
    pub description: String,
    /// What each policy came to, in the order of [`Policy::ALL`].
    pub results: Vec<Result>,
}

impl Place {
    /// What a policy came to.
    ///
    /// # Panics
    ///
    /// Never: each is there.
    #[must_use]
    pub fn of(&self, policy: Policy) -> &Result {
        self.results.iter().find(|result| result.policy == policy).expect("every policy has run")
    }

    /// The best throughput of another policy that never reached the critical temperature.
    #[must_use]
    pub fn best_below_critical(&self) -> Option<&Result> {
        self.best(|result| result.over_critical_s == 0)
    }

    /// The best throughput of another policy that never reached the warning temperature.
    #[must_use]
    pub fn best_below_warning(&self) -> Option<&Result> {
        self.best(|result| result.over_warning_s == 0)
    }

    fn best(&self, keeps: impl Fn(&Result) -> bool) -> Option<&Result> {
        let others = self
            .results
            .iter()
            .filter(|result| !matches!(result.policy, Policy::Ours | Policy::OursHigher | Policy::Lowest));
        others.filter(|result| keeps(result)).max_by(|one, other| one.gb_s.total_cmp(&other.gb_s))
    }
}

/// Runs every policy in every place.
///
/// # Errors
///
/// Where a built-in scenario is none.
pub fn run(seed: u64) -> std::result::Result<Vec<Place>, ScenarioError> {
    let calibration = Calibration::embedded();
    let places = SCENARIOS.iter().map(|name| {
        let scenario = load(name)?;
        let result =
            |policy: Policy| judge(policy, &World::new(&policy.applied_to(&scenario), &calibration, seed).run(|_| {}));
        let results = Policy::ALL.into_iter().map(result).collect();
        Ok(Place { scenario: scenario.name.clone(), description: scenario.description.clone(), results })
    });
    places.collect()
}

fn judge(policy: Policy, trace: &Trace) -> Result {
    let highest = |of: fn(&crate::trace::Sample) -> f64| trace.samples.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
    let over = |limit_c: f64| trace.samples.iter().filter(|sample| sample.composite_c >= limit_c).count();
    Result {
        policy,
        peak_c: highest(|sample| sample.composite_c),
        case_c: highest(|sample| sample.case_c),
        over_warning_s: over(WARNING_C),
        over_critical_s: over(CRITICAL_C),
        gb_s: trace.moved_gb.iter().sum::<f64>() / seconds(trace.duration),
        transitions: trace.transitions(),
        throttlings: trace.throttlings,
    }
}
