//! What a kind of drive costs and gives in each power state and kind of work.
//!
//! A profile is shared by all drives of one kind. It is either *nameplate* (only what the drive says of itself,
//! [`Profile::from_identify`]) or *measured* (from a characterisation, in the watts of the cap's own meter, so
//! that chassis overhead is in the figure). A measured figure may raise the watts that a drive counts for;
//! it lowers them only where the user says so, and never where the measurement hit a limit outside the drive.
//!
//! As a file it is TOML with integer fields whose names end in their unit.

mod d5_p5336;
mod work;

use heapless::{String, Vec};
use serde::{Deserialize, Serialize};

pub use self::d5_p5336::d5_p5336;
pub use self::work::{PerWork, UnknownWork, Work, WorkSet};
use crate::nvme::{IdentifyController, Power, PowerState};
use crate::units::{BytesPerSecond, Microseconds, Milliwatts};

/// What a kind of drive costs and gives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// A short name, for people.
    pub name: String<40>,
    /// Capacity of one drive in gigabytes (10⁹ bytes), where known.
    pub capacity_gb: Option<u32>,
    /// The system that the measured figures come from, without drives, in the watts of its meter.
    #[serde(rename = "reference_base_mw")]
    pub reference_base: Option<Milliwatts>,
    /// What one drive adds to the meter while it has nothing to do.
    #[serde(rename = "idle_mw")]
    pub idle: Option<Milliwatts>,
    /// Time from an acknowledged change to a lower state until the drive's power keeps to it, where measured.
    /// Where it is not, the entry latency and the cap's averaging window are waited for.
    #[serde(rename = "settling_us")]
    pub settling: Option<Microseconds>,
    /// One entry for each power state; the position is the state's number.
    pub states: Vec<StateProfile, { PowerState::COUNT }>,
}

/// One power state of a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(deny_unknown_fields)]
pub struct StateProfile {
    /// No I/O is processed in this state.
    #[serde(default)]
    pub non_operational: bool,
    /// The descriptor's maximum power, rounded up. `None`: not reported.
    #[serde(rename = "max_power_mw")]
    pub max_power: Option<Milliwatts>,
    /// Longest time to enter the state. `None`: not reported.
    #[serde(rename = "entry_latency_us")]
    pub entry_latency: Option<Microseconds>,
    /// Longest time to leave the state. `None`: not reported.
    #[serde(rename = "exit_latency_us")]
    pub exit_latency: Option<Microseconds>,
    /// What was measured in this state.
    #[serde(default)]
    pub measured: PerWork<Option<Measured>>,
}

/// What one drive was measured to cost and give at full load, in one state and kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// What the drive adds to the meter above a system without it.
    #[serde(rename = "power_mw")]
    pub power: Milliwatts,
    /// What it gives.
    #[serde(rename = "bytes_per_second")]
    pub throughput: BytesPerSecond,
    /// Something outside the drive (a switch, a link) was the limit: elsewhere the drive may give and take more.
    #[serde(default)]
    pub limited_by_fabric: bool,
}

/// How a drive's figures turn into the watts that it counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FigureRule {
    /// What the chassis adds for each drive on top of the drive's own maximum.
    pub overhead: Milliwatts,
    /// A measured figure below the nameplate counts.
    pub trust_measured: bool,
}

impl Profile {
    /// A nameplate profile: what the drive says of itself.
    #[must_use]
    pub fn from_identify(controller: &IdentifyController) -> Self {
        let model = controller.model.as_str();
        let mut name = String::new();
        // A model number has at most 40 ASCII bytes, and so has the name.
        let _ = name.push_str(model);
        let states = controller
            .power_states
            .iter()
            .map(|state| StateProfile {
                non_operational: state.non_operational,
                max_power: state.max_power.map(Power::milliwatts),
                entry_latency: state.entry_latency,
                exit_latency: state.exit_latency,
                measured: PerWork::default(),
            })
            .collect();
        Self { name, states, ..Self::default() }
    }

    /// The profile of one power state; `None` where the drive has no such state.
    #[must_use]
    pub fn state(&self, state: PowerState) -> Option<&StateProfile> {
        self.states.get(state.index())
    }

    /// The operational power states, least restricted first.
    pub fn operational(&self) -> impl DoubleEndedIterator<Item = (PowerState, &StateProfile)> {
        operational(&self.states)
    }
}

/// Of the states of a profile, those that are operational.
pub(crate) fn operational(states: &[StateProfile]) -> impl DoubleEndedIterator<Item = (PowerState, &StateProfile)> {
    let operational = states.iter().enumerate().filter(|(_, state)| !state.non_operational);
    operational.filter_map(|(number, state)| Some((PowerState::new(u8::try_from(number).ok()?)?, state)))
}

impl StateProfile {
    /// The most power that a drive in this state can take for this work, in the watts of the cap's meter:
    /// the larger of nameplate with overhead and measured figure, over every kind of work in `work`.
    /// `None` where the drive does not report its maximum and the measurements cannot stand in for it.
    #[must_use]
    pub fn figure(&self, work: WorkSet, rule: FigureRule) -> Option<Milliwatts> {
        let nameplate = self.max_power.map(|power| power.saturating_add(rule.overhead));
        let mut most = Milliwatts::ZERO;
        for kind in work.kinds() {
            most = most.max(match &self.measured[kind] {
                Some(measured) if rule.trust_measured && !measured.limited_by_fabric => measured.power,
                Some(measured) => nameplate?.max(measured.power),
                None => nameplate?,
            });
        }
        Some(most)
    }

    /// The most that was measured in this state for any of this work; zero where nothing was.
    #[must_use]
    pub fn measured_peak(&self, work: WorkSet) -> Milliwatts {
        work.kinds().filter_map(|kind| self.measured[kind]).map(|measured| measured.power).max().unwrap_or_default()
    }

    /// What the drive gives in this state: the mean over the kinds of work in `work`, as measured.
    /// `None` where one of them was not measured.
    #[must_use]
    pub fn throughput(&self, work: WorkSet) -> Option<BytesPerSecond> {
        let mut sum = 0u64;
        let mut kinds = 0;
        for kind in work.kinds() {
            sum = sum.saturating_add(self.measured[kind]?.throughput.get());
            kinds += 1;
        }
        (kinds > 0).then(|| BytesPerSecond::new(sum / kinds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAUTIOUS: FigureRule = FigureRule { overhead: Milliwatts::new(1_125), trust_measured: false };
    const TRUSTING: FigureRule = FigureRule { trust_measured: true, ..CAUTIOUS };

    fn figure(state: u8, work: WorkSet, rule: FigureRule) -> Option<u32> {
        let profile = d5_p5336();
        profile.state(PowerState::new(state)?)?.figure(work, rule).map(Milliwatts::get)
    }

    #[test]
    fn a_measured_figure_lowers_the_nameplate_only_on_the_users_word() {
        let writing = WorkSet::of(Work::SequentialWrite);
        assert_eq!(figure(1, writing, CAUTIOUS), Some(16_125));
        assert_eq!(figure(1, writing, TRUSTING), Some(15_125));
        assert_eq!(figure(0, writing, CAUTIOUS), Some(26_125));
    }

    #[test]
    fn a_figure_that_a_switch_held_down_is_never_trusted() {
        let reading = WorkSet::of(Work::SequentialRead);
        assert_eq!(figure(0, reading, TRUSTING), Some(26_125));
        assert_eq!(figure(2, reading, TRUSTING), Some(12_375));
    }

    #[test]
    fn work_that_was_not_measured_counts_at_the_nameplate() {
        assert_eq!(figure(1, WorkSet::ALL, TRUSTING), Some(16_500));
        assert_eq!(figure(1, WorkSet::of(Work::RandomWrite), TRUSTING), Some(16_125));
    }

    #[test]
    fn a_maximum_that_is_not_reported_is_not_zero() {
        let silent = StateProfile::default();
        assert_eq!(silent.figure(WorkSet::ALL, CAUTIOUS), None);
        let mut measured = StateProfile::default();
        measured.measured[Work::SequentialRead] = Some(Measured {
            power: Milliwatts::new(7_000),
            throughput: BytesPerSecond::new(1),
            limited_by_fabric: false,
        });
        let reading = WorkSet::of(Work::SequentialRead);
        assert_eq!(measured.figure(reading, CAUTIOUS), None);
        assert_eq!(measured.figure(reading, TRUSTING), Some(Milliwatts::new(7_000)));
        assert_eq!(measured.figure(WorkSet::ALL, TRUSTING), None);
    }

    #[test]
    fn a_state_is_known_by_its_number() {
        let mut profile = d5_p5336();
        profile.states[1].non_operational = true;
        let operational: Vec<_, 4> = profile.operational().map(|(state, _)| state.number()).collect();
        assert_eq!(operational, [0, 2]);
        assert_eq!(profile.state(PowerState::new(3).unwrap()), None);
    }
}
