//! A way down: the states that a drive passes while nobody asks for it, and what a gap costs on it.

use heapless::Vec;

use super::figures::{Energy, Target, idle, in_transition};
use crate::apst::Drive;
use crate::nvme::PowerState;
use crate::nvme::feature::autonomous_transitions::Table;

/// Microseconds of a millisecond, the step of ITPT.
pub(super) const MILLI: u64 = 1000;

/// One transition of a way down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Milliseconds in the state above it, once that is entered, before the drive leaves for `target`.
    pub(super) wait: u32,
    pub(super) target: Target,
}

/// The transitions of one way down, in their order.
pub(super) type Descent = Vec<Step, { PowerState::COUNT }>;

/// Where a drive waits before it goes down, and what going costs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    pub(super) state: PowerState,
    /// Tenths of a milliwatt while waiting there.
    pub(super) power: u32,
    /// Tenths of a milliwatt on the way from one state to another; not less than waiting takes.
    pub(super) transition: u32,
}

impl Rest {
    /// `None` where the drive does not report enough.
    pub(super) fn of(drive: &Drive<'_>, state: PowerState) -> Option<Self> {
        let power = idle(drive, state)?.tenths_of_milliwatt;
        Some(Self { state, power, transition: in_transition(drive)?.tenths_of_milliwatt.max(power) })
    }

    /// The energy of this many microseconds on the way.
    pub(super) const fn moving(&self, micros: u64) -> Energy {
        Energy::of(self.transition, micros as u128)
    }

    /// What a gap of this many microseconds costs on a way down.
    pub(super) fn spent(&self, descent: &[Step], gap: u64) -> Energy {
        let (mut since, mut power, mut exit) = (0, self.power, 0);
        let mut spent = Energy::ZERO;
        for step in descent {
            let leaves = since + u64::from(step.wait) * MILLI;
            if gap <= leaves {
                break;
            }
            spent = spent + Energy::of(power, (leaves - since).into()) + self.moving(step.target.entry);
            since = leaves + step.target.entry;
            (power, exit) = (step.target.power, step.target.exit);
        }
        spent + Energy::of(power, gap.saturating_sub(since).into()) + self.moving(exit)
    }

    /// What the gap costs somebody who knows its length: who stays, or leaves at once for the best of `targets`.
    pub(super) fn clairvoyant(&self, targets: &[Target], gap: u64) -> Energy {
        let staying = Energy::of(self.power, gap.into());
        targets.iter().map(|target| self.spent(&[Step { wait: 0, target: *target }], gap)).fold(staying, Energy::min)
    }
}

/// The way down that a table describes, from `source`. `None` where it leads into a state of which the drive does not
/// report enough. A table that leads in a circle is followed for as many steps as there are states.
pub(super) fn of_table(drive: &Drive<'_>, table: &Table, source: PowerState) -> Option<Descent> {
    let mut descent = Descent::new();
    let mut at = source;
    while let Some(transition) = table.transition(at) {
        at = transition.target();
        let step = Step { wait: transition.idle_milliseconds(), target: Target::of(drive, at)? };
        if descent.push(step).is_err() {
            break;
        }
    }
    Some(descent)
}
