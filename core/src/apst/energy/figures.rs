//! What a drive's states are taken to cost: reported, or estimated and labelled so.

use core::ops::Add;

use crate::apst::Drive;
use crate::nvme::{Power, PowerState, PowerStateDescriptor};
use crate::units::Microseconds;

/// What a drive takes while it waits for work, where nothing is reported: this part of the least maximum of its
/// operational states. **A guess.** The few drives that report it take 1/7 (SN850X), 1/3 (SN550), and 1/4 to 1/2 by
/// state (P3 Plus); the reference drive takes 1/2.
const IDLE_SHARE: u32 = 4;

/// The longest latency that ENLAT and EXLAT hold, in microseconds: a longer one is written as this.
const LONGEST_LATENCY: u64 = u32::MAX as u64;

/// Energy in tenths of a nanojoule: the product of tenths of a milliwatt, in which descriptors count, and microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Energy(u128);

impl Energy {
    /// None.
    pub const ZERO: Self = Self(0);
    /// More than any table costs on any gaps.
    pub(super) const MAX: Self = Self(u128::MAX);

    /// So many tenths of a milliwatt for so many microseconds.
    pub(super) const fn of(tenths_of_milliwatt: u32, micros: u128) -> Self {
        Self(micros.saturating_mul(tenths_of_milliwatt as u128))
    }

    /// The raw count of tenths of a nanojoule.
    #[must_use]
    pub const fn tenths_of_nanojoule(self) -> u128 {
        self.0
    }
}

impl Add for Energy {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// Where a power comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Basis {
    /// The state's own idle power (IDLP).
    Reported,
    /// The idle power of another operational state, the least that is reported.
    OtherState,
    /// The state's maximum power (MP), which idling does not exceed: right within a little for the milliwatts of
    /// a non-operational state.
    Maximum,
    /// A quarter of the least maximum power of the operational states: a guess.
    ShareOfMaximum,
    /// Active power (ACTP) of the operational state that has the least.
    Active,
}

/// A power, and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Figure {
    /// In tenths of a milliwatt (states of 1.8 mW exist); never 0.
    pub tenths_of_milliwatt: u32,
    /// Where it comes from.
    pub basis: Basis,
}

/// What a state costs without work, typically. `None` where neither it nor anything to estimate it by is reported.
#[must_use]
pub fn idle(drive: &Drive<'_>, state: PowerState) -> Option<Figure> {
    let descriptor = drive.states.get(state.index())?;
    let figure = |power: Power, basis| Figure { tenths_of_milliwatt: power.tenths_of_milliwatt(), basis };
    let own = descriptor.idle_power.power().map(|power| figure(power, Basis::Reported));
    if descriptor.non_operational {
        return own.or_else(|| Some(figure(descriptor.max_power?, Basis::Maximum)));
    }
    let other = || {
        Some(Figure { tenths_of_milliwatt: least(drive, |state| state.idle_power.power())?, basis: Basis::OtherState })
    };
    let share = || {
        let tenths_of_milliwatt = (least(drive, |state| state.max_power)? / IDLE_SHARE).max(1);
        Some(Figure { tenths_of_milliwatt, basis: Basis::ShareOfMaximum })
    };
    own.or_else(other).or_else(share)
}

/// What the drive takes on the way into and out of a non-operational state: **assumed** to be as much as the
/// operational state with the least maximum may take, since it works: it saves its tables, or starts again. Where no
/// maximum is reported, the least active power. `None` where that is not reported either.
#[must_use]
pub fn in_transition(drive: &Drive<'_>) -> Option<Figure> {
    let maximum = least(drive, |state| state.max_power).map(|power| (power, Basis::Maximum));
    let active = || Some((least(drive, |state| state.active_power.power())?, Basis::Active));
    let (tenths_of_milliwatt, basis) = maximum.or_else(active)?;
    Some(Figure { tenths_of_milliwatt, basis })
}

/// The least of a power over the operational states that report it, in tenths of a milliwatt.
fn least(drive: &Drive<'_>, power: impl Fn(&PowerStateDescriptor) -> Option<Power>) -> Option<u32> {
    let operational = drive.numbered().map(|(_, state)| state).filter(|state| !state.non_operational);
    operational.filter_map(power).map(Power::tenths_of_milliwatt).min()
}

/// A non-operational state as a place to go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) state: PowerState,
    /// Tenths of a milliwatt.
    pub(super) power: u32,
    /// Microseconds from leaving for it to being in it.
    pub(super) entry: u64,
    /// Microseconds from a command to serving it.
    pub(super) exit: u64,
}

impl Target {
    /// `None` where the drive does not report enough of it.
    pub(super) fn of(drive: &Drive<'_>, state: PowerState) -> Option<Self> {
        let descriptor = drive.states.get(state.index()).filter(|descriptor| descriptor.non_operational)?;
        Some(Self {
            state,
            power: idle(drive, state)?.tenths_of_milliwatt,
            entry: descriptor.entry_latency?.get().min(LONGEST_LATENCY),
            exit: descriptor.exit_latency?.get().min(LONGEST_LATENCY),
        })
    }

    /// The longest that a command waits for it.
    pub(super) const fn latency(&self) -> Microseconds {
        Microseconds::new(self.entry.saturating_add(self.exit))
    }
}
