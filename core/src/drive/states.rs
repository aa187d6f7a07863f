//! Sets of power states.

use serde::{Deserialize, Serialize};

use crate::nvme::PowerState;

/// A set of power states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(transparent)]
pub struct StateSet(pub(super) u32);

impl StateSet {
    /// No state.
    pub const NONE: Self = Self(0);
    /// Every state.
    pub const ALL: Self = Self(u32::MAX);

    /// One state.
    #[must_use]
    pub const fn of(state: PowerState) -> Self {
        Self(1 << state.number())
    }

    /// The set with one state more.
    #[must_use]
    pub const fn with(self, state: PowerState) -> Self {
        Self(self.0 | 1 << state.number())
    }

    /// The states that are in either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a state is in the set.
    #[must_use]
    pub const fn contains(self, state: PowerState) -> bool {
        self.0 & 1 << state.number() != 0
    }
}

impl FromIterator<PowerState> for StateSet {
    fn from_iter<I: IntoIterator<Item = PowerState>>(states: I) -> Self {
        states.into_iter().fold(Self::NONE, Self::with)
    }
}

/// The states that a drive has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownStates {
    /// Those that process I/O.
    pub operational: StateSet,
    /// Those that do not.
    pub non_operational: StateSet,
}
