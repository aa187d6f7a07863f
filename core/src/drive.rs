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

use serde::{Deserialize, Serialize};

use crate::nvme::{PowerState, Status};
use crate::units::Instant;

/// Names one command, so that its completion can be told from that of an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(transparent)]
pub struct CommandId(pub u32);

/// What a drive is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Request {
    /// Set Features, Power Management (02h), not saved.
    SetPowerState(PowerState),
    /// Get Features, Power Management (02h), current value.
    ReadPowerState,
}

/// What a command came back with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Outcome {
    /// [`Request::SetPowerState`] succeeded.
    Done,
    /// [`Request::ReadPowerState`] succeeded.
    Is(PowerState),
    /// The drive refused.
    Rejected(Status),
}

/// Why a drive is not controlled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Cause {
    /// Too many commands in a row were lost.
    CommandsLost,
    /// It refused, with this status.
    Rejected(Status),
    /// It accepts states and does not go there.
    Disobedient,
    /// It has no profile, or none with an operational state.
    NoUsableState,
}

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

/// The states that a drive has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownStates {
    /// Those that process I/O.
    pub operational: StateSet,
    /// Those that do not.
    pub non_operational: StateSet,
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

    /// Whether a command is in flight, or due, that must be answered before another state can be asked for.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        matches!(self.phase, Phase::Changing { .. } | Phase::Verifying { .. })
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

    /// The drive was reset, and should be in a state of `fallback`. Where it was counts until it has been read: a
    /// lowering that nobody has confirmed frees nothing. Failures are forgotten: a reset is a new start, except for a
    /// drive without a usable state.
    pub const fn reset(&mut self, fallback: StateSet) {
        if !matches!(self.phase, Phase::Unmanaged { cause: Cause::NoUsableState, .. }) {
            *self = Self { phase: Phase::Unknown { may: self.may_be_in().union(fallback), read: None }, failures: 0 };
        }
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

    /// A command came back. `settled` is when a change that was accepted now will have settled; after `patience` failures in a row the drive is given up.
    pub fn completed(
        &mut self,
        id: CommandId,
        outcome: Outcome,
        now: Instant,
        settled: Instant,
        patience: u8,
        states: KnownStates,
    ) {
        match (self.phase, outcome) {
            (Phase::Unknown { read, may }, Outcome::Is(state)) if read == Some(id) => {
                self.failures = 0;
                self.phase = if states.operational.contains(state) {
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
                self.phase = if states.operational.contains(from) {
                    Phase::Settling { state: from, may: before, settled }
                } else {
                    Phase::Holding { state: from, may: before }
                };
                self.failed(Cause::Rejected(status), patience);
            }
            (Phase::Verifying { to, may, settled: accepted, read }, Outcome::Is(state)) if read == Some(id) => {
                // It may have gone to sleep on its own since; it wakes into the state that it accepted.
                if state == to || states.non_operational.contains(state) {
                    self.failures = 0;
                    self.phase = Phase::Settling { state: to, may, settled: accepted };
                    self.advance(now);
                } else {
                    self.phase = if states.operational.contains(state) {
                        // When it went there is not known.
                        Phase::Settling { state, may: may.with(state), settled }
                    } else {
                        // A state that it does not have says nothing.
                        Phase::Holding { state, may: StateSet::ALL }
                    };
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

    /// The adapter gave a command up. What it did is not known, and the drive may have been reset in the course of it, into
    /// a state of `fallback`.
    pub fn lost(&mut self, id: CommandId, fallback: StateSet, patience: u8) {
        let in_flight = match self.phase {
            Phase::Unknown { read, .. } | Phase::Verifying { read, .. } => read,
            Phase::Changing { id, .. } => Some(id),
            _ => None,
        };
        if in_flight == Some(id) {
            self.phase = Phase::Unknown { may: self.may_be_in().union(fallback), read: None };
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

#[cfg(test)]
mod tests {
    use super::*;

    const ID: CommandId = CommandId(7);
    const NEXT: CommandId = CommandId(8);
    const NOW: Instant = Instant::from_micros(1_000);
    const SETTLED: Instant = Instant::from_micros(2_000);
    const PATIENCE: u8 = 3;

    fn ps(number: u8) -> PowerState {
        PowerState::new(number).unwrap()
    }

    /// States 0 to 2 process I/O, 3 does not, and there are no others.
    fn states() -> KnownStates {
        KnownStates { operational: (0..3).map(ps).collect(), non_operational: StateSet::of(ps(3)) }
    }

    fn answer(drive: &mut Drive, id: CommandId, outcome: Outcome) {
        drive.completed(id, outcome, NOW, SETTLED, PATIENCE, states());
    }

    fn holding(state: u8) -> Drive {
        let mut drive = Drive::attached();
        drive.sent(Request::ReadPowerState, ID);
        answer(&mut drive, ID, Outcome::Is(ps(state)));
        drive.advance(SETTLED);
        assert_eq!(drive.phase(), Phase::Holding { state: ps(state), may: StateSet::of(ps(state)) });
        drive
    }

    fn set(drive: &mut Drive, state: u8) {
        drive.sent(Request::SetPowerState(ps(state)), ID);
    }

    #[test]
    fn a_change_counts_for_both_states_until_it_is_verified_and_settled() {
        let both = StateSet::of(ps(0)).with(ps(2));
        let mut drive = holding(0);
        set(&mut drive, 2);
        assert_eq!((drive.may_be_in(), drive.ready_in(), drive.heading_for()), (both, None, Some(ps(2))));
        answer(&mut drive, ID, Outcome::Done);
        assert!(drive.read_due());
        drive.sent(Request::ReadPowerState, NEXT);
        drive.advance(SETTLED);
        assert_eq!((drive.may_be_in(), drive.ready_in()), (both, None));
        answer(&mut drive, NEXT, Outcome::Is(ps(2)));
        assert_eq!((drive.may_be_in(), drive.ready_in(), drive.settles_at()), (both, Some(ps(2)), Some(SETTLED)));
        drive.advance(SETTLED);
        assert_eq!(drive.may_be_in(), StateSet::of(ps(2)));
    }

    #[test]
    fn a_refusal_changes_nothing_and_too_many_end_control() {
        let mut drive = holding(2);
        for _ in 1..PATIENCE {
            set(&mut drive, 0);
            answer(&mut drive, ID, Outcome::Rejected(Status::INVALID_FIELD));
            assert_eq!((drive.may_be_in(), drive.ready_in()), (StateSet::of(ps(2)), Some(ps(2))));
        }
        set(&mut drive, 0);
        answer(&mut drive, ID, Outcome::Rejected(Status::INVALID_FIELD));
        let cause = Cause::Rejected(Status::INVALID_FIELD);
        assert_eq!(drive.phase(), Phase::Unmanaged { may: StateSet::of(ps(2)), cause });
        drive.reset(StateSet::of(ps(0)));
        let may = StateSet::of(ps(0)).with(ps(2));
        assert_eq!(drive.phase(), Phase::Unknown { may, read: None });
    }

    #[test]
    fn what_the_drive_says_not_to_retry_is_not_retried() {
        let mut drive = holding(2);
        set(&mut drive, 0);
        let status = Status::from_bits(0x410E);
        answer(&mut drive, ID, Outcome::Rejected(status));
        assert_eq!(drive.phase(), Phase::Unmanaged { may: StateSet::of(ps(2)), cause: Cause::Rejected(status) });
    }

    #[test]
    fn a_drive_that_accepts_and_does_not_act_is_given_up_at_its_highest_draw() {
        let mut drive = holding(0);
        for _ in 0..PATIENCE {
            set(&mut drive, 2);
            answer(&mut drive, ID, Outcome::Done);
            drive.sent(Request::ReadPowerState, NEXT);
            answer(&mut drive, NEXT, Outcome::Is(ps(0)));
        }
        assert_eq!(drive.phase(), Phase::Unmanaged { may: StateSet::ALL, cause: Cause::Disobedient });
    }

    #[test]
    fn a_drive_that_fell_asleep_counts_as_what_it_wakes_into() {
        let mut drive = Drive::attached();
        drive.sent(Request::ReadPowerState, ID);
        answer(&mut drive, ID, Outcome::Is(ps(3)));
        assert_eq!((drive.ready_in(), drive.may_be_in()), (Some(ps(3)), StateSet::ALL));
        set(&mut drive, 1);
        answer(&mut drive, ID, Outcome::Done);
        drive.sent(Request::ReadPowerState, NEXT);
        answer(&mut drive, NEXT, Outcome::Is(ps(3)));
        drive.advance(SETTLED);
        assert_eq!((drive.ready_in(), drive.may_be_in()), (Some(ps(1)), StateSet::of(ps(1))));
    }

    #[test]
    fn a_sleeping_drive_that_refuses_may_still_wake_into_any_state() {
        let mut drive = Drive::attached();
        drive.sent(Request::ReadPowerState, ID);
        answer(&mut drive, ID, Outcome::Is(ps(3)));
        set(&mut drive, 1);
        answer(&mut drive, ID, Outcome::Rejected(Status::INVALID_FIELD));
        drive.advance(SETTLED);
        assert_eq!((drive.ready_in(), drive.may_be_in()), (Some(ps(3)), StateSet::ALL));
    }

    #[test]
    fn a_state_that_nobody_asked_for_settles_from_when_it_was_read() {
        let mut drive = holding(0);
        set(&mut drive, 1);
        answer(&mut drive, ID, Outcome::Done);
        drive.sent(Request::ReadPowerState, NEXT);
        let (late, later) = (Instant::from_micros(9_000), Instant::from_micros(10_000));
        drive.completed(NEXT, Outcome::Is(ps(2)), late, later, PATIENCE, states());
        drive.advance(late);
        assert_eq!((drive.may_be_in().contains(ps(0)), drive.settles_at()), (true, Some(later)));
    }

    #[test]
    fn a_state_that_the_drive_does_not_have_confirms_nothing() {
        let mut drive = holding(0);
        set(&mut drive, 2);
        answer(&mut drive, ID, Outcome::Done);
        drive.sent(Request::ReadPowerState, NEXT);
        answer(&mut drive, NEXT, Outcome::Is(ps(4)));
        assert_eq!(drive.may_be_in(), StateSet::ALL);
    }

    #[test]
    fn a_lost_command_may_have_done_anything_a_reset_included() {
        let mut drive = holding(1);
        set(&mut drive, 2);
        drive.lost(ID, StateSet::of(ps(0)), PATIENCE);
        let may = StateSet::of(ps(1)).with(ps(2)).with(ps(0));
        assert_eq!(drive.phase(), Phase::Unknown { may, read: None });
        for _ in 1..PATIENCE {
            drive.sent(Request::ReadPowerState, ID);
            drive.lost(ID, StateSet::of(ps(0)), PATIENCE);
        }
        assert_eq!(drive.phase(), Phase::Unmanaged { may: StateSet::ALL, cause: Cause::CommandsLost });
    }

    #[test]
    fn an_answer_to_another_command_is_ignored() {
        let mut drive = holding(0);
        set(&mut drive, 2);
        let waiting = drive.phase();
        for outcome in [Outcome::Done, Outcome::Is(ps(1)), Outcome::Rejected(Status::INVALID_FIELD)] {
            answer(&mut drive, NEXT, outcome);
            assert_eq!(drive.phase(), waiting);
        }
        drive.lost(NEXT, StateSet::of(ps(0)), PATIENCE);
        answer(&mut drive, ID, Outcome::Is(ps(2)));
        assert_eq!(drive.phase(), waiting);
        answer(&mut drive, ID, Outcome::Done);
        let verifying = drive.phase();
        answer(&mut drive, ID, Outcome::Done);
        assert_eq!(drive.phase(), verifying);
    }
}
