//! One drive's transitions.
//!
//! ```text
//!   attached, reset,      read          settled           set sent         set done
//!   any failure
//!   ────────────▶ Unknown ────▶ Settling ────▶ Holding ────────────▶ Changing ────▶ Verifying
//!                                 ▲  │                                ▲                 │
//!                                 │  └────────────────────────────────┘                 │ read back
//!                                 │             set sent                                │ as asked
//!                                 └─────────────────────────────────────────────────────┘
//!
//!   a command lost, refused or ignored once too often: Unmanaged, until the drive is reset
//! ```
//!
//! At any moment the drive *may be in* a set of states ([`Drive::may_be_in`]); the most that any of them takes is what
//! the ledger counts it for. The set only grows until the drive itself has said where it is, and the time has passed
//! that its power needs to follow.
//!
//! At most one command is in flight: none is sent while one can still be answered. An answer to any other command than
//! the one in flight (a duplicate, or one from before a reset) is ignored.

use serde::{Deserialize, Serialize};

use super::{Cause, CommandId, KnownStates, Lever, Outcome, Request, StateSet};
use crate::nvme::PowerState;
use crate::units::Instant;

/// Where a drive is on its way between power states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
        /// Where it could be before it was asked.
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
        /// The state that it named at last, and when its power has followed.
        named: Option<(PowerState, Instant)>,
        /// Why.
        cause: Cause,
    },
}

/// One drive's phase and its record of failures.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Drive {
    phase: Phase,
    /// What it is held with.
    lever: Lever,
    /// Since the last set that was verified.
    failures: u8,
    /// It is to be given up, for this cause, once it has been read.
    verdict: Option<Cause>,
    /// Nothing is sent before.
    not_before: Instant,
}

/// What a drive needs to know of the rest of the world when a command comes back.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances {
    /// The time.
    pub now: Instant,
    /// When a change that is accepted now will have settled.
    pub settled: Instant,
    /// When to try again what failed now.
    pub retry: Instant,
    /// When to look again at a drive that sleeps now.
    pub recheck: Instant,
    /// After so many failures without a verified set between them the drive is given up.
    pub patience: u8,
    /// The states that the drive has.
    pub states: KnownStates,
    /// What the drive can be held with where the lever in use fails.
    pub next_lever: Option<Lever>,
}

impl Drive {
    /// A drive that came: it may be in any state.
    #[must_use]
    pub const fn attached() -> Self {
        let phase = Phase::Unknown { may: StateSet::ALL, read: None };
        Self { phase, lever: Lever::PowerState, failures: 0, verdict: None, not_before: Instant::START }
    }

    /// A drive whose power has come back: it may be in a state of `fallback`.
    #[must_use]
    pub const fn powered_on(fallback: StateSet) -> Self {
        let phase = Phase::Unknown { may: fallback, read: None };
        Self { phase, ..Self::attached() }
    }

    /// What the drive is held with.
    #[must_use]
    pub const fn lever(&self) -> Lever {
        self.lever
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

    /// Whether a command is in flight, or due, that must be answered before another state can be asked for.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        matches!(self.phase, Phase::Changing { .. } | Phase::Verifying { .. })
    }

    /// When the drive's power has followed its state, where that is still to come.
    #[must_use]
    pub const fn settles_at(&self) -> Option<Instant> {
        match self.phase {
            Phase::Settling { settled, .. } | Phase::Unmanaged { named: Some((_, settled)), .. } => Some(settled),
            _ => None,
        }
    }

    /// Before this moment nothing is to be sent to the drive: it has just failed, or sleeps.
    #[must_use]
    pub const fn not_before(&self) -> Instant {
        self.not_before
    }

    /// Whether a read is due: the drive's state is to be learnt ([`Phase::Unknown`]) or verified
    /// ([`Phase::Verifying`]).
    #[must_use]
    pub const fn read_due(&self) -> bool {
        matches!(self.phase, Phase::Unknown { read: None, .. } | Phase::Verifying { read: None, .. })
    }

    /// The drive was reset, and should be in a state of `fallback`. Where it was counts until it has been read: a
    /// lowering that nobody has confirmed frees nothing. For a drive that was given up a reset is a new start, except
    /// for one without a usable state.
    pub const fn reset(&mut self, fallback: StateSet) {
        let (failures, verdict) = match self.phase {
            Phase::Unmanaged { cause: Cause::NoUsableState, .. } => return,
            Phase::Unmanaged { .. } => (0, None),
            // One that is about to be given up is, reset or not: else refusals with a reset after each had no end.
            _ => (self.failures, self.verdict),
        };
        let phase = Phase::Unknown { may: self.may_be_in().union(fallback), read: None };
        *self = Self { phase, failures, verdict, not_before: Instant::START, lever: self.lever };
    }

    /// A command about something else than power states was lost: the drive may have been reset in the course of it,
    /// into a state of `fallback`.
    pub const fn disturbed(&mut self, fallback: StateSet) {
        match self.phase {
            Phase::Unmanaged { cause, .. } => self.give_up(cause),
            _ => self.reset(fallback),
        }
    }

    /// The drive cannot be controlled at all.
    pub const fn give_up(&mut self, cause: Cause) {
        self.phase = Phase::Unmanaged { may: StateSet::ALL, named: None, cause };
    }

    /// Notes that a request is sent. It must be one that is due ([`Self::read_due`]) or possible ([`Self::ready_in`]).
    pub fn sent(&mut self, request: Request, id: CommandId) {
        self.phase = match (self.phase, request) {
            (Phase::Unknown { may, read: None }, Request::ReadPowerState) => Phase::Unknown { may, read: Some(id) },
            (Phase::Verifying { to, may, settled, read: None }, Request::ReadPowerState) => {
                Phase::Verifying { to, may, settled, read: Some(id) }
            }
            (Phase::Holding { may, .. } | Phase::Settling { may, .. }, Request::SetPowerState(to)) => {
                Phase::Changing { before: may, to, id }
            }
            (unchanged, _) => unchanged,
        };
    }

    /// Time passes.
    pub fn advance(&mut self, now: Instant) {
        match self.phase {
            Phase::Settling { state, settled, .. } if settled <= now => {
                self.phase = Phase::Holding { state, may: StateSet::of(state) };
            }
            Phase::Unmanaged { named: Some((state, settled)), cause, .. } if settled <= now => {
                self.phase = Phase::Unmanaged { may: StateSet::of(state), named: None, cause };
            }
            _ => {}
        }
    }

    /// A command came back. An answer to any other than the one in flight is ignored.
    pub fn completed(&mut self, id: CommandId, outcome: Outcome, at: Circumstances) {
        if self.in_flight() != Some(id) {
            return;
        }
        match (self.phase, outcome) {
            (Phase::Unknown { may, .. }, Outcome::Is(state)) => self.learnt(may, state, at),
            (Phase::Verifying { to, may, settled, .. }, Outcome::Is(state)) => {
                self.read_back(to, may, settled, state, at)
            }
            (Phase::Changing { before, to, .. }, Outcome::Done) => {
                self.phase = Phase::Verifying { to, may: before.with(to), settled: at.settled, read: None };
            }
            (_, Outcome::Rejected(status)) => self.failed(Cause::Rejected(status), at),
            // An answer of another kind than the question's.
            _ => self.failed(Cause::Disobedient, at),
        }
    }

    /// The adapter gave a command up. What it did is not known, and the drive may have been reset in the course of it,
    /// into a state of `fallback`.
    pub fn lost(&mut self, id: CommandId, fallback: StateSet, at: Circumstances) {
        if self.in_flight() == Some(id) {
            self.failed(Cause::CommandsLost, at);
            match &mut self.phase {
                Phase::Unknown { may, .. } => *may = may.union(fallback),
                Phase::Unmanaged { may, .. } => *may = StateSet::ALL,
                _ => {}
            }
            self.not_before = at.now;
        }
    }

    /// The record as it looks from `now`: moments as the time until then, the command in flight as number 0. For
    /// checkers, which ask whether two drives are in the same situation.
    #[must_use]
    pub fn seen_from(&self, now: Instant, in_flight: Option<CommandId>) -> Self {
        let left = |moment: Instant| Instant::START.after(moment.since(now).unwrap_or_default());
        let number = |id: CommandId| CommandId(u32::from(Some(id) != in_flight));
        let phase = match self.phase {
            Phase::Unknown { may, read } => Phase::Unknown { may, read: read.map(number) },
            Phase::Changing { before, to, id } => Phase::Changing { before, to, id: number(id) },
            Phase::Verifying { to, may, settled, read } => {
                Phase::Verifying { to, may, settled: left(settled), read: read.map(number) }
            }
            Phase::Settling { state, may, settled } => Phase::Settling { state, may, settled: left(settled) },
            Phase::Unmanaged { may, named, cause } => {
                Phase::Unmanaged { may, named: named.map(|(state, settled)| (state, left(settled))), cause }
            }
            holding @ Phase::Holding { .. } => holding,
        };
        Self { phase, not_before: left(self.not_before), ..self.clone() }
    }

    const fn in_flight(&self) -> Option<CommandId> {
        match self.phase {
            Phase::Unknown { read, .. } | Phase::Verifying { read, .. } => read,
            Phase::Changing { id, .. } => Some(id),
            _ => None,
        }
    }

    /// A drive of which nothing was known named its state.
    fn learnt(&mut self, may: StateSet, state: PowerState, at: Circumstances) {
        let awake = at.states.operational.contains(state);
        self.phase = match (self.verdict.take(), awake) {
            (Some(cause), true) => Phase::Unmanaged { may: may.with(state), named: Some((state, at.settled)), cause },
            (Some(cause), false) => Phase::Unmanaged { may: StateSet::ALL, named: None, cause },
            (None, true) => Phase::Settling { state, may: may.with(state), settled: at.settled },
            (None, false) if at.states.operational == StateSet::NONE => {
                Phase::Unmanaged { may: StateSet::ALL, named: None, cause: Cause::NoUsableState }
            }
            // A sleeping drive wakes into an operational state that it does not name.
            (None, false) => Phase::Holding { state, may: StateSet::ALL },
        };
    }

    /// A drive that accepted `to` named the state that it is in.
    fn read_back(&mut self, to: PowerState, may: StateSet, settled: Instant, state: PowerState, at: Circumstances) {
        if state == to {
            self.failures = 0;
            self.phase = Phase::Settling { state, may, settled };
            self.advance(at.now);
        } else if at.states.non_operational.contains(state) {
            // It has gone to sleep since, and does not say into which state it wakes: nothing is confirmed.
            self.phase = Phase::Verifying { to, may, settled, read: None };
            self.not_before = at.recheck;
        } else {
            self.failed(Cause::Disobedient, at);
            if let Phase::Unknown { may, .. } = self.phase {
                self.learnt(may, state, at);
            }
        }
    }

    /// A command failed: whatever it did or did not do, the drive is to be read. It is given up after too many
    /// failures, or where it said not to try again.
    fn failed(&mut self, cause: Cause, at: Circumstances) {
        let may = self.may_be_in();
        let was_set = matches!(self.phase, Phase::Changing { .. });
        self.failures = self.failures.saturating_add(1);
        self.not_before = at.retry;
        self.phase = Phase::Unknown { may, read: None };
        let hopeless = matches!(cause, Cause::Rejected(status) if status.do_not_retry());
        if hopeless || self.failures >= at.patience {
            // Where no answer comes, another question does not help.
            if let (Cause::Rejected(_) | Cause::Disobedient, Some(lever)) = (cause, at.next_lever) {
                (self.lever, self.failures, self.verdict) = (lever, 0, None);
                return;
            }
            match cause {
                // A refused set is followed by a last look at where the drive is.
                Cause::Rejected(_) if was_set && self.verdict.is_none() => self.verdict = Some(cause),
                Cause::Rejected(_) => self.phase = Phase::Unmanaged { may, named: None, cause },
                _ => self.give_up(cause),
            }
        }
    }
}

#[cfg(test)]
mod tests;
