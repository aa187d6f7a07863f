//! One drive's transitions.
//!
//! ```text
//!   attached, reset,      read          settled           set sent         set done
//!   command lost
//!   ────────────▶ Unknown ────▶ Settling ────▶ Holding ────────────▶ Changing ────▶ Verifying
//!                                 ▲  │                                ▲   │             │
//!                                 │  └────────────────────────────────┘   │ refused     │ read back
//!                                 │             set sent                  ▼             ▼
//!                                 └───────────────────────────────────────┴─────────────┘
//!
//!   a command lost, refused or ignored once too often: Unmanaged, until the drive is reset
//! ```
//!
//! At any moment the drive *may be in* a set of states ([`Drive::may_be_in`]); the most that any of them takes is what the
//! ledger counts it for. The set only grows until the drive itself has said where it is, and the time has passed that
//! its power needs to follow.
//!
//! At most one command is in flight: none is sent while one can still be answered. An answer to any other command than the
//! one in flight (a duplicate, or one from before a reset) is ignored.

use crate::governor::{Cause, CommandId, Outcome, Request};
use crate::nvme::PowerState;
use crate::units::Instant;

/// A set of power states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct StateSet(u32);

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

/// Where a drive is on its way between power states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Phase {
    /// It may be in any state of a set; a read is due, or in flight.
    Unknown {
        /// Where it may be.
        may: StateSet,
        /// The read in flight.
        read: Option<CommandId>,
    },
    /// It said that it is in this state, and its power has followed.
    Holding {
        /// The state that it named.
        state: PowerState,
        /// Where it may be: that state, or any that it can wake into.
        may: StateSet,
    },
    /// A new state was asked for.
    Changing {
        /// The state that it named last.
        from: PowerState,
        /// Where it could be before it was asked, and still can if it refuses.
        before: StateSet,
        /// The state asked for.
        to: PowerState,
        /// The set in flight.
        id: CommandId,
    },
    /// It accepted the new state; a read is due, or in flight.
    Verifying {
        /// The state asked for.
        to: PowerState,
        /// Where it may be.
        may: StateSet,
        /// When its power has followed.
        settled: Instant,
        /// The read in flight.
        read: Option<CommandId>,
    },
    /// It said that it is in the new state; its power is still to follow.
    Settling {
        /// The state that it named.
        state: PowerState,
        /// Where its power may still be.
        may: StateSet,
        /// When its power has followed.
        settled: Instant,
    },
    /// It is not controlled any more.
    Unmanaged {
        /// Where it may be.
        may: StateSet,
        /// Why.
        cause: Cause,
    },
}

/// One drive's phase and its record of failures.
#[derive(Clone, Debug)]
pub struct Drive {
    phase: Phase,
    failures: u8,
}

impl Drive {
    /// A drive that came, or is to be learnt anew: it may be in any state.
    #[must_use]
    pub const fn attached() -> Self {
        Self { phase: Phase::Unknown { may: StateSet::ALL, read: None }, failures: 0 }
    }

    /// Where the drive is.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// The states that the drive may be in, or may draw the power of.
    #[must_use]
    pub const fn may_be_in(&self) -> StateSet {
        match self.phase {
            Phase::Changing { before, to, .. } => before.with(to),
            Phase::Unknown { may, .. }
            | Phase::Holding { may, .. }
            | Phase::Verifying { may, .. }
            | Phase::Settling { may, .. }
            | Phase::Unmanaged { may, .. } => may,
        }
    }

    /// Whether states are being set on this drive: it is present, known and managed.
    #[must_use]
    pub const fn is_managed(&self) -> bool {
        matches!(
            self.phase,
            Phase::Holding { .. } | Phase::Changing { .. } | Phase::Verifying { .. } | Phase::Settling { .. }
        )
    }

    /// The state that the drive named last, where a new one can be asked for now.
    #[must_use]
    pub const fn ready_in(&self) -> Option<PowerState> {
        match self.phase {
            Phase::Holding { state, .. } | Phase::Settling { state, .. } => Some(state),
            _ => None,
        }
    }

    /// The state that the drive is in, or on its way to, where it is managed.
    #[must_use]
    pub const fn heading_for(&self) -> Option<PowerState> {
        match self.phase {
            Phase::Holding { state, .. } | Phase::Settling { state, .. } => Some(state),
            Phase::Changing { to, .. } | Phase::Verifying { to, .. } => Some(to),
            Phase::Unknown { .. } | Phase::Unmanaged { .. } => None,
        }
    }

    /// When the drive's power has followed its state, where that is still to come.
    #[must_use]
    pub const fn settles_at(&self) -> Option<Instant> {
        match self.phase {
            Phase::Settling { settled, .. } => Some(settled),
            _ => None,
        }
    }

    /// Whether a read is due: the drive's state is to be learnt ([`Phase::Unknown`]) or verified ([`Phase::Verifying`]).
    #[must_use]
    pub const fn read_due(&self) -> bool {
        matches!(self.phase, Phase::Unknown { read: None, .. } | Phase::Verifying { read: None, .. })
    }

    /// The drive was reset and is in its fallback state. Failures are forgotten: a reset is a new start.
    pub const fn reset(&mut self, fallback: PowerState) {
        *self = Self { phase: Phase::Unknown { may: StateSet::of(fallback), read: None }, failures: 0 };
    }

    /// The drive cannot be controlled at all.
    pub const fn give_up(&mut self, cause: Cause) {
        self.phase = Phase::Unmanaged { may: StateSet::ALL, cause };
    }

    /// Notes that a request is sent. It must be one that is due ([`Self::read_due`]) or possible ([`Self::ready_in`]).
    pub fn sent(&mut self, request: Request, id: CommandId) {
        self.phase = match (self.phase, request) {
            (Phase::Unknown { may, read: None }, Request::ReadPowerState) => Phase::Unknown { may, read: Some(id) },
            (Phase::Verifying { to, may, settled, read: None }, Request::ReadPowerState) => {
                Phase::Verifying { to, may, settled, read: Some(id) }
            }
            (
                Phase::Holding { state: from, may } | Phase::Settling { state: from, may, .. },
                Request::SetPowerState(to),
            ) => Phase::Changing { from, before: may, to, id },
            (unchanged, _) => unchanged,
        };
    }

    /// Time passes.
    pub fn advance(&mut self, now: Instant) {
        if let Phase::Settling { state, settled, .. } = self.phase
            && settled <= now
        {
            self.phase = Phase::Holding { state, may: StateSet::of(state) };
        }
    }

    /// A command came back. `settled` is when a change that was accepted now will have settled; `operational` are the
    /// states that process I/O; after `patience` failures in a row the drive is given up.
    pub fn completed(
        &mut self,
        id: CommandId,
        outcome: Outcome,
        now: Instant,
        settled: Instant,
        patience: u8,
        operational: StateSet,
    ) {
        match (self.phase, outcome) {
            (Phase::Unknown { read, may }, Outcome::Is(state)) if read == Some(id) => {
                self.failures = 0;
                self.phase = if operational.contains(state) {
                    Phase::Settling { state, may: may.with(state), settled }
                } else {
                    // A sleeping drive wakes into an operational state that it does not name.
                    Phase::Holding { state, may: StateSet::ALL }
                };
            }
            (Phase::Unknown { read, may }, Outcome::Rejected(status)) if read == Some(id) => {
                self.phase = Phase::Unknown { may, read: None };
                self.failed(Cause::Rejected(status), patience);
            }
            (Phase::Changing { before, to, id: sent, .. }, Outcome::Done) if sent == id => {
                self.phase = Phase::Verifying { to, may: before.with(to), settled, read: None };
            }
            (Phase::Changing { from, before, id: sent, .. }, Outcome::Rejected(status)) if sent == id => {
                // It did nothing, so it counts as before. When its last change has settled is not known any more.
                self.phase = Phase::Settling { state: from, may: before, settled };
                self.failed(Cause::Rejected(status), patience);
            }
            (Phase::Verifying { to, may, settled, read }, Outcome::Is(state)) if read == Some(id) => {
                // It may have gone to sleep on its own since; it wakes into the state that it accepted.
                if state == to || !operational.contains(state) {
                    self.failures = 0;
                    self.phase = Phase::Settling { state: to, may, settled };
                    self.advance(now);
                } else {
                    self.phase = Phase::Settling { state, may: may.with(state), settled };
                    self.failed(Cause::Disobedient, patience);
                }
            }
            (Phase::Verifying { to, may, settled, read }, Outcome::Rejected(status)) if read == Some(id) => {
                self.phase = Phase::Verifying { to, may, settled, read: None };
                self.failed(Cause::Rejected(status), patience);
            }
            _ => {}
        }
    }

    /// The adapter gave a command up. What it did is not known, and the drive may have been reset in the course of it.
    pub fn lost(&mut self, id: CommandId, fallback: PowerState, patience: u8) {
        let in_flight = match self.phase {
            Phase::Unknown { read, .. } | Phase::Verifying { read, .. } => read,
            Phase::Changing { id, .. } => Some(id),
            _ => None,
        };
        if in_flight == Some(id) {
            self.phase = Phase::Unknown { may: self.may_be_in().with(fallback), read: None };
            self.failed(Cause::CommandsLost, patience);
        }
    }

    fn failed(&mut self, cause: Cause, patience: u8) {
        self.failures = self.failures.saturating_add(1);
        let hopeless = matches!(cause, Cause::Rejected(status) if status.do_not_retry());
        if hopeless || self.failures >= patience {
            let may = match cause {
                // It is where it was: a refusal changes nothing.
                Cause::Rejected(_) => self.may_be_in(),
                _ => StateSet::ALL,
            };
            self.phase = Phase::Unmanaged { may, cause };
        }
    }
}
