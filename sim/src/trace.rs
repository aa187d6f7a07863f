//! What was recorded of a run: the truth, which nobody inside the run could see, and what was on the wire.

use wattline_core::governor::Alarm;
use wattline_core::profile::WorkSet;

use crate::idle::walk::Wake;
use crate::time::{Micros, seconds};

/// A value that holds from a moment on, until the next one.
pub type Step<T> = (Micros, T);

/// The record of one run.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Length of the run.
    pub duration: Micros,
    /// True watts at the wall.
    pub power_w: Vec<Step<f64>>,
    /// Each drive's true power state; `None` while it has none (resetting, gone).
    pub states: Vec<Vec<Step<Option<usize>>>>,
    /// Whether each drive's regulation point has arrived at its state's.
    pub settled: Vec<Vec<Step<bool>>>,
    /// What the meter showed.
    pub meter_w: Vec<Step<f64>>,
    /// The cap in watts.
    pub cap_w: Vec<Step<f64>>,
    /// Samples of what changes slowly, once a second.
    pub samples: Vec<Sample>,
    /// GB that each drive had moved at [`Trace::settled_from`].
    pub moved_before_gb: Vec<f64>,
    /// GB that each drive moved in all.
    pub moved_gb: Vec<f64>,
    /// Every time that each drive was woken.
    pub wakes: Vec<Vec<Wake>>,
    /// What may take the power over the cap although nobody was wrong.
    pub disturbances: Vec<Step<String>>,
    /// What was sent to drives, answered by them and seen of them.
    pub wire: Vec<WireRecord>,
    /// The governor's alarms: which, and whether it was raised or is over.
    pub alarms: Vec<(Micros, Alarm, bool)>,
    /// Bits that flipped in what the governor remembers: of which drive.
    pub flips: Vec<Step<usize>>,
    /// How many records the governor found damaged.
    pub damaged: u32,
    /// How often drives began to slow themselves down, all in all.
    pub throttlings: u64,
    /// The governor's journal; after a restart, that of the next one follows.
    pub journal: Vec<u8>,
}

/// Something on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireRecord {
    /// When.
    pub at: Micros,
    /// To or from which drive.
    pub slot: usize,
    /// What.
    pub what: Wire,
}

/// What was on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wire {
    /// A command was sent; `set` is the state that it sets, none for a read.
    Sent {
        /// Its name.
        id: u32,
        /// The state.
        set: Option<usize>,
    },
    /// A state was set.
    Answered {
        /// Which command.
        id: u32,
        /// The state.
        set: usize,
    },
    /// A state was read.
    Read {
        /// Which command.
        id: u32,
        /// The state.
        state: usize,
    },
    /// A command was refused.
    Refused {
        /// Which command.
        id: u32,
    },
    /// The host gave a command up and reset the controller.
    GivenUp {
        /// Which command.
        id: u32,
    },
    /// The drive reset by itself.
    Reset,
    /// The drive was pulled.
    Removed,
    /// A drive was put in.
    Inserted,
    /// A governor that knows nothing of the drive starts.
    Started,
    /// The host saw what the drive does.
    Seen(WorkSet),
}

/// What changes slowly, as it was in one second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// End of the second.
    pub at: Micros,
    /// Reading in GB/s.
    pub read_gb_s: f64,
    /// Writing in GB/s.
    pub write_gb_s: f64,
    /// Composite temperature of the hottest drive in °C.
    pub composite_c: f64,
    /// Case temperature of the hottest drive in °C.
    pub case_c: f64,
}

impl Trace {
    /// The empty record of a run of this length with so many drives.
    #[must_use]
    pub fn new(duration: Micros, drives: usize) -> Self {
        let (states, settled) = (vec![Vec::new(); drives], vec![Vec::new(); drives]);
        Self { duration, states, settled, ..Self::default() }
    }

    /// Where the last four fifths begin: what is averaged, is averaged from here on.
    #[must_use]
    pub fn settled_from(&self) -> Micros {
        settled_from(self.duration)
    }

    /// True energy between two moments, in joules.
    #[must_use]
    pub fn energy_j(&self, from: Micros, to: Micros) -> f64 {
        let ends = self.power_w.iter().skip(1).map(|step| step.0).chain([self.duration]);
        let pieces = self.power_w.iter().zip(ends);
        pieces
            .map(|(&(start, power_w), end)| {
                let (start, end) = (start.max(from), end.min(to));
                if start < end { power_w * seconds(end - start) } else { 0.0 }
            })
            .sum()
    }

    /// Mean of the true watts in the last four fifths.
    #[must_use]
    pub fn mean_w(&self) -> f64 {
        let from = self.settled_from();
        self.energy_j(from, self.duration) / seconds(self.duration - from)
    }

    /// Each drive's mean throughput in the last four fifths, in GB/s.
    #[must_use]
    pub fn drive_gb_s(&self) -> Vec<f64> {
        let span_s = seconds(self.duration - self.settled_from());
        self.moved_gb.iter().zip(&self.moved_before_gb).map(|(all, before)| (all - before) / span_s).collect()
    }

    /// Mean of the meter's readings in the last four fifths, in watts.
    #[must_use]
    pub fn mean_meter_w(&self) -> f64 {
        let from = self.settled_from();
        let readings: Vec<f64> = self.meter_w.iter().filter(|(at, _)| *at > from).map(|(_, watts)| *watts).collect();
        readings.iter().sum::<f64>() / readings.len().max(1) as f64
    }

    /// Changes of a drive's true power state.
    #[must_use]
    pub fn transitions(&self) -> usize {
        self.states.iter().map(|steps| steps.len().saturating_sub(1)).sum()
    }
}

/// Where the last four fifths of a run of this length begin.
#[must_use]
pub const fn settled_from(duration: Micros) -> Micros {
    duration / 5
}

/// Adds a value to a record, if it is another one than before.
pub fn record<T: PartialEq>(steps: &mut Vec<Step<T>>, at: Micros, value: T) {
    match steps.last_mut() {
        Some(last) if last.1 == value => {}
        Some(last) if last.0 == at => last.1 = value,
        _ => steps.push((at, value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn energy_is_the_area_under_the_steps() {
        let trace = Trace {
            duration: 10_000_000,
            power_w: vec![(0, 100.0), (4_000_000, 50.0), (8_000_000, 0.0)],
            ..Trace::default()
        };
        assert_eq!(trace.energy_j(0, 10_000_000), 600.0);
        assert_eq!(trace.energy_j(3_000_000, 5_000_000), 150.0);
        assert_eq!(trace.mean_w(), (200.0 + 200.0) / 8.0);
    }

    #[test]
    fn a_record_holds_changes_only() {
        let mut steps = Vec::new();
        for (at, value) in [(0, 1), (1, 1), (2, 2), (2, 3), (3, 3)] {
            record(&mut steps, at, value);
        }
        assert_eq!(steps, [(0, 1), (2, 3)]);
    }
}
