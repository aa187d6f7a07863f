//! Idle: into which non-operational state a drive goes by itself, after how long, and why not into the others.
//!
//! The goal is a table for the feature Autonomous Power State Transition (APST, FID 0Ch) and an explanation for every
//! state: chosen, or dropped and by exactly which limit, and the smallest latency tolerance that would admit it. Each
//! policy is a pure function of (the drive's descriptors, tolerance, quirks, parameters) that returns a [`Plan`].
//!
//! | policy | what it builds |
//! |---|---|
//! | [`energy`] | what saves most energy under a bound on latency; with a histogram of past gaps, most on these |
//! | [`linux`] | what the Linux kernel builds, entry for entry, in both of its modes |
//! | [`windows`] | what Microsoft's `StorNVMe` does by itself, as a table |
//!
//! Nothing here sends anything. What a user wants is one of three wishes, [`Wish`]; what comes of one is an
//! [`Answer`], so that a table of zeros is never mistaken for "unsupported".

pub mod energy;
pub mod gaps;
pub mod linux;
pub mod quirk;
pub mod wear;
pub mod windows;

use crate::nvme::feature::autonomous_transitions::Table;
use crate::nvme::{PowerState, PowerStateDescriptor};
use crate::units::Microseconds;

use heapless::Vec;
use quirk::{Effect, Effects};
use serde::{Deserialize, Serialize};

/// What a policy needs to know about a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drive<'a> {
    /// The power states 0 to NPSS. With more than 32, which no controller has, nothing is built
    /// ([`Answer::Unsupported`]), as in the kernel.
    pub states: &'a [PowerStateDescriptor],
    /// Whether the drive has the feature (APSTA bit 0). `None`: not known, which most posts about drives leave open;
    /// the table is then built as if it had.
    pub supported: Option<bool>,
}

/// How long the first command after an idle time may wait for the drive to wake up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Tolerance {
    /// As long as it takes.
    Unlimited,
    /// At most this long. Zero tolerates no idle state at all, and switches the feature off.
    AtMost(Microseconds),
}

impl Tolerance {
    /// Whether a latency is within it.
    #[must_use]
    pub fn admits(self, latency: Microseconds) -> bool {
        match self {
            Self::Unlimited => true,
            Self::AtMost(limit) => latency <= limit,
        }
    }

    /// Whether it tolerates nothing.
    #[must_use]
    pub fn is_zero(self) -> bool {
        self == Self::AtMost(Microseconds::ZERO)
    }
}

/// What is wanted of a drive's autonomous transitions.
///
/// Leaving is the default: some drives come with a table of their own, which nobody should lose without asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Wish {
    /// What the drive holds stays as it is.
    #[default]
    Leave,
    /// No autonomous transitions.
    Off,
    /// The table of a policy.
    Apply,
}

impl Wish {
    /// The plan for this wish; `policy` is asked only where a table is wanted.
    #[must_use]
    pub fn plan(self, drive: &Drive<'_>, policy: impl FnOnce() -> Plan) -> Plan {
        match self {
            Self::Leave => Plan::without_table(drive, Answer::LeftAlone, Fate::LeftAlone),
            Self::Off if drive.is_without_feature() => Plan::unsupported(drive),
            Self::Off => Plan::without_table(drive, Answer::Disabled, Fate::SwitchedOff),
            Self::Apply => policy(),
        }
    }
}

/// What to write, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Autonomous Power State Transition Enable (APSTE).
    pub enabled: bool,
    /// The table.
    pub table: Table,
    /// What the table means. It is to be written unless this is [`Answer::Unsupported`] or [`Answer::LeftAlone`].
    pub answer: Answer,
    /// What became of each power state, by number.
    pub states: Vec<Verdict, { PowerState::COUNT }>,
}

/// What a plan comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Answer {
    /// The table has transitions.
    Built,
    /// The feature is on and the table has no transition, and no tolerance would give it one.
    Empty,
    /// The feature is on and the table has no transition, since the tolerance admits no state.
    Filtered,
    /// The feature is off: by wish, by a tolerance of zero, or by a quirk.
    Disabled,
    /// The drive does not have the feature, and nothing is to be written.
    Unsupported,
    /// Nothing is to be written, by wish.
    LeftAlone,
}

/// What became of a power state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Verdict {
    /// The state.
    pub state: PowerState,
    /// Chosen, or why not.
    pub fate: Fate,
    /// The smallest tolerance with which this policy would choose the state. `None`: with none.
    pub admitted_from: Option<Microseconds>,
}

/// Why a power state is, or is not, the target of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Fate {
    /// It is one; the table says after how long.
    Chosen {
        /// The states from which the drive goes there.
        from: StateSet,
    },
    /// Operational states are no targets (Base Specification, Idle Transition Power State).
    Operational,
    /// A known defect of the drive or its surroundings forbids it.
    Quirk(Effect),
    /// It is too slow.
    TooSlow {
        /// Which of its latencies is compared with what.
        limit: Limit,
        /// The latency.
        latency: Microseconds,
        /// The largest that would do.
        at_most: Microseconds,
    },
    /// The policy chooses a deeper state instead.
    Shadowed {
        /// The deeper state.
        by: PowerState,
    },
    /// It saves less than going there costs, or than another state saves.
    NotWorthIt,
    /// The drive does not say how long it takes, and this policy takes that neither for no time nor for ever.
    LatencyNotReported,
    /// The drive does not say what it, or waiting in operational states, takes, nor anything to estimate it by.
    PowerNotReported,
    /// The policy computes a time of 0 ms before the transition, which the drive reads as "no transition".
    NoTime,
    /// There is no state of a lower number from which the drive could go there.
    NoSource,
    /// No time that the table can hold keeps the drive's transitions as rare as asked.
    TooOften,
    /// The tolerance is zero, which switches the feature off.
    ZeroTolerance,
    /// The feature is off by wish.
    SwitchedOff,
    /// The drive does not have the feature.
    Unsupported,
    /// The drive's own table stays, by wish.
    LeftAlone,
}

/// Which latency of a state is compared with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Limit {
    /// Exit latency (EXLAT) with the tolerance.
    ExitWithTolerance,
    /// Entry and exit latency together with the tolerance.
    TotalWithTolerance,
    /// Entry and exit latency together with the largest limit of the policy's own tiers, whatever the tolerance.
    TotalWithTiers,
}

/// A set of power states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct StateSet(u32);

impl StateSet {
    /// No state.
    pub const EMPTY: Self = Self(0);

    /// This set and `state`.
    #[must_use]
    pub const fn with(self, state: PowerState) -> Self {
        Self(self.0 | 1 << state.number())
    }

    /// Whether `state` is in it.
    #[must_use]
    pub const fn contains(self, state: PowerState) -> bool {
        self.0 & 1 << state.number() != 0
    }

    /// Whether there is no state in it.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Its states, by number.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = PowerState> {
        PowerState::up_to(PowerState::PS31).filter(move |&state| self.contains(state))
    }
}

impl FromIterator<PowerState> for StateSet {
    fn from_iter<I: IntoIterator<Item = PowerState>>(states: I) -> Self {
        states.into_iter().fold(Self::EMPTY, Self::with)
    }
}

impl Drive<'_> {
    /// The states with their numbers; at most 32.
    pub fn numbered(&self) -> impl DoubleEndedIterator<Item = (PowerState, &PowerStateDescriptor)> {
        let number = |index| PowerState::new(u8::try_from(index).ok()?);
        self.states.iter().enumerate().filter_map(move |(index, descriptor)| Some((number(index)?, descriptor)))
    }

    /// The state of the highest number (NPSS), which [`Effect::NoDeepestState`] is about.
    #[must_use]
    pub fn deepest(&self) -> Option<PowerState> {
        let npss = self.states.len().checked_sub(1)?;
        PowerState::new(u8::try_from(npss).ok()?)
    }

    /// Whether it is known not to have the feature, or says what no controller says.
    fn is_without_feature(&self) -> bool {
        self.supported == Some(false) || self.states.len() > PowerState::COUNT
    }
}

/// What every policy answers before it looks at a single latency: nothing where the drive lacks the feature, off where
/// a quirk or a tolerance of zero says so.
///
/// `admitted_from` is asked, for the last case, from which tolerance on the policy would choose a state.
pub(crate) fn refusal(
    drive: &Drive<'_>,
    tolerance: Tolerance,
    quirks: Effects,
    admitted_from: impl Fn(PowerState) -> Option<Microseconds>,
) -> Option<Plan> {
    if drive.is_without_feature() {
        return Some(Plan::unsupported(drive));
    }
    if quirks.contains(Effect::NoTransitions) {
        return Some(Plan::without_table(drive, Answer::Disabled, Fate::Quirk(Effect::NoTransitions)));
    }
    if tolerance.is_zero() {
        let mut plan = Plan::without_table(drive, Answer::Disabled, Fate::ZeroTolerance);
        for verdict in plan.states.iter_mut().filter(|verdict| verdict.fate != Fate::Operational) {
            verdict.admitted_from = admitted_from(verdict.state);
        }
        return Some(plan);
    }
    None
}

impl Plan {
    fn unsupported(drive: &Drive<'_>) -> Self {
        Self::without_table(drive, Answer::Unsupported, Fate::Unsupported)
    }

    /// The feature off, and `fate` for every non-operational state.
    fn without_table(drive: &Drive<'_>, answer: Answer, fate: Fate) -> Self {
        let verdict = |(state, descriptor): (PowerState, &PowerStateDescriptor)| Verdict {
            state,
            fate: if descriptor.non_operational { fate } else { Fate::Operational },
            admitted_from: None,
        };
        Self { enabled: false, table: Table::EMPTY, answer, states: drive.numbered().map(verdict).collect() }
    }

    /// The feature on with this table, and the answer that follows from it and the verdicts.
    pub(crate) fn with_table(table: Table, states: Vec<Verdict, { PowerState::COUNT }>) -> Self {
        let answer = if !table.is_empty() {
            Answer::Built
        } else if states.iter().any(|verdict| verdict.admitted_from.is_some()) {
            Answer::Filtered
        } else {
            Answer::Empty
        };
        Self { enabled: true, table, answer, states }
    }

    /// The states from which `target` is entered.
    pub(crate) fn sources(table: &Table, target: PowerState) -> StateSet {
        let into = table.transitions().filter(|(_, transition)| transition.target() == target);
        into.map(|(source, _)| source).collect()
    }
}
