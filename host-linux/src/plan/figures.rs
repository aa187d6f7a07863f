//! What one drive costs and gives in each power state, for one kind of work.

use std::cmp::Reverse;

use wattline_core::nvme::PowerState;
use wattline_core::profile::{Profile, Work};
use wattline_core::units::{BytesPerSecond, Milliwatts};

use super::PlanError;

/// One drive at full load in one state, as measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// The state.
    pub state: PowerState,
    /// What the drive adds to the meter.
    pub power: Milliwatts,
    /// What it gives.
    pub throughput: BytesPerSecond,
    /// Something outside the drive was the limit.
    pub limited_by_fabric: bool,
}

/// The figures of a profile for one kind of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figures {
    /// The profile's name.
    pub profile: String,
    /// The kind of work.
    pub work: Work,
    /// The operational states that were measured, least restricted first; at least one.
    pub states: Vec<Figure>,
    /// The one of these that draws least.
    pub lowest: Figure,
    /// The operational states that were not.
    pub not_measured: Vec<PowerState>,
}

impl Figures {
    /// Reads the figures.
    ///
    /// # Errors
    /// Where no operational state was measured.
    pub fn new(profile: &Profile, work: Work) -> Result<Self, PlanError> {
        let (mut states, mut not_measured) = (Vec::new(), Vec::new());
        for (state, entry) in profile.operational() {
            match entry.measured[work] {
                Some(measured) => states.push(Figure {
                    state,
                    power: measured.power,
                    throughput: measured.throughput,
                    limited_by_fabric: measured.limited_by_fabric,
                }),
                None => not_measured.push(state),
            }
        }
        let name = profile.name.to_string();
        let Some(lowest) = states.iter().min_by_key(|figure| (figure.power, Reverse(figure.throughput))).copied()
        else {
            let is_measured = |work: &Work| profile.operational().any(|(_, entry)| entry.measured[*work].is_some());
            let measured = Work::ALL.into_iter().filter(is_measured).collect();
            return Err(PlanError::NotMeasured { profile: name, work, measured });
        };
        Ok(Self { profile: name, work, states, lowest, not_measured })
    }
}
