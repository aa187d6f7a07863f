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
#[derive(Clone, Debug)]
pub struct Drive {
    phase: Phase,
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
}

impl Drive {
    /// A drive that came: it may be in any state.
    #[must_use]
    pub const fn attached() -> Self {
        let phase = Phase::Unknown { may: StateSet::ALL, read: None };
        Self { phase, failures: 0, verdict: None, not_before: Instant::START }
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
        let failures = match self.phase {
            Phase::Unmanaged { cause: Cause::NoUsableState, .. } => return,
            Phase::Unmanaged { .. } => 0,
            _ => self.failures,
        };
        let phase = Phase::Unknown { may: self.may_be_in().union(fallback), read: None };
        *self = Self { phase, failures, verdict: None, not_before: Instant::START };
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
    const AT: Circumstances = Circumstances {
        now: NOW,
        settled: SETTLED,
        retry: Instant::from_micros(3_000),
        recheck: Instant::from_micros(9_000),
        patience: PATIENCE,
        states: KnownStates { operational: StateSet(0b0111), non_operational: StateSet(0b1000) },
    };

    fn answer(drive: &mut Drive, id: CommandId, outcome: Outcome) {
        drive.completed(id, outcome, AT);
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

    fn read(drive: &mut Drive, state: u8) {
        drive.sent(Request::ReadPowerState, NEXT);
        answer(drive, NEXT, Outcome::Is(ps(state)));
    }

    /// A drive may refuse and act all the same (Internal Error): only the read tells.
    #[test]
    fn a_refused_set_counts_for_both_states_until_it_is_read() {
        let internal_error = Outcome::Rejected(Status::of(0, 0x06));
        let mut drive = holding(2);
        set(&mut drive, 0);
        answer(&mut drive, ID, internal_error);
        assert_eq!((drive.may_be_in(), drive.ready_in()), (StateSet::of(ps(2)).with(ps(0)), None));
        assert_eq!((drive.read_due(), drive.not_before()), (true, AT.retry));
        read(&mut drive, 0);
        drive.advance(SETTLED);
        assert_eq!(drive.may_be_in(), StateSet::of(ps(0)));
    }

    #[test]
    fn too_many_refusals_end_control_after_a_last_look() {
        let cause = Cause::Rejected(Status::INVALID_FIELD);
        let mut drive = holding(2);
        for _ in 1..PATIENCE {
            set(&mut drive, 0);
            answer(&mut drive, ID, Outcome::Rejected(Status::INVALID_FIELD));
            read(&mut drive, 2);
            assert_eq!(drive.ready_in(), Some(ps(2)));
        }
        set(&mut drive, 0);
        answer(&mut drive, ID, Outcome::Rejected(Status::INVALID_FIELD));
        read(&mut drive, 2);
        let may = StateSet::of(ps(2)).with(ps(0));
        assert_eq!(drive.phase(), Phase::Unmanaged { may, named: Some((ps(2), SETTLED)), cause });
        drive.advance(SETTLED);
        assert_eq!(drive.phase(), Phase::Unmanaged { may: StateSet::of(ps(2)), named: None, cause });
        drive.reset(StateSet::of(ps(0)));
        assert_eq!(drive.phase(), Phase::Unknown { may, read: None });
    }

    #[test]
    fn what_the_drive_says_not_to_retry_is_not_retried() {
        let mut drive = holding(2);
        set(&mut drive, 0);
        let status = Status::from_bits(0x410E);
        answer(&mut drive, ID, Outcome::Rejected(status));
        read(&mut drive, 2);
        drive.advance(SETTLED);
        let cause = Cause::Rejected(status);
        assert_eq!(drive.phase(), Phase::Unmanaged { may: StateSet::of(ps(2)), named: None, cause });
    }

    #[test]
    fn a_drive_that_cannot_be_read_is_given_up_where_it_may_be() {
        let cause = Cause::Rejected(Status::INVALID_FIELD);
        let mut drive = holding(2);
        drive.reset(StateSet::of(ps(0)));
        for _ in 0..PATIENCE {
            drive.sent(Request::ReadPowerState, ID);
            answer(&mut drive, ID, Outcome::Rejected(Status::INVALID_FIELD));
        }
        let may = StateSet::of(ps(2)).with(ps(0));
        assert_eq!(drive.phase(), Phase::Unmanaged { may, named: None, cause });
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
        let cause = Cause::Disobedient;
        assert_eq!(drive.phase(), Phase::Unmanaged { may: StateSet::ALL, named: None, cause });
    }

    #[test]
    fn a_drive_that_sleeps_confirms_nothing() {
        let mut drive = Drive::attached();
        read(&mut drive, 3);
        assert_eq!((drive.ready_in(), drive.may_be_in()), (Some(ps(3)), StateSet::ALL));
        set(&mut drive, 1);
        answer(&mut drive, ID, Outcome::Done);
        read(&mut drive, 3);
        drive.advance(SETTLED);
        assert_eq!((drive.ready_in(), drive.may_be_in()), (None, StateSet::ALL));
        assert_eq!((drive.read_due(), drive.not_before()), (true, AT.recheck));
        read(&mut drive, 1);
        drive.advance(SETTLED);
        assert_eq!((drive.ready_in(), drive.may_be_in()), (Some(ps(1)), StateSet::of(ps(1))));
    }

    #[test]
    fn a_state_that_nobody_asked_for_settles_from_when_it_was_read() {
        let mut drive = holding(0);
        set(&mut drive, 1);
        answer(&mut drive, ID, Outcome::Done);
        drive.sent(Request::ReadPowerState, NEXT);
        let (late, later) = (Instant::from_micros(9_000), Instant::from_micros(10_000));
        drive.completed(NEXT, Outcome::Is(ps(2)), Circumstances { now: late, settled: later, ..AT });
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
        drive.lost(ID, StateSet::of(ps(0)), AT);
        let may = StateSet::of(ps(1)).with(ps(2)).with(ps(0));
        assert_eq!(drive.phase(), Phase::Unknown { may, read: None });
        for _ in 1..PATIENCE {
            drive.sent(Request::ReadPowerState, ID);
            drive.lost(ID, StateSet::of(ps(0)), AT);
        }
        let cause = Cause::CommandsLost;
        assert_eq!(drive.phase(), Phase::Unmanaged { may: StateSet::ALL, named: None, cause });
    }

    #[test]
    fn losses_with_a_reset_after_each_come_to_an_end_too() {
        let mut drive = holding(1);
        for _ in 0..PATIENCE {
            assert!(drive.is_managed() || drive.read_due());
            set(&mut drive, 2);
            drive.sent(Request::ReadPowerState, ID);
            drive.lost(ID, StateSet::of(ps(0)), AT);
            if !matches!(drive.phase(), Phase::Unmanaged { .. }) {
                drive.reset(StateSet::of(ps(0)));
            }
        }
        assert!(matches!(drive.phase(), Phase::Unmanaged { cause: Cause::CommandsLost, .. }), "{drive:?}");
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
        drive.lost(NEXT, StateSet::of(ps(0)), AT);
        assert_eq!(drive.phase(), waiting);
        answer(&mut drive, ID, Outcome::Done);
        let verifying = drive.phase();
        answer(&mut drive, ID, Outcome::Done);
        assert_eq!(drive.phase(), verifying);
    }

    #[test]
    fn an_answer_of_another_kind_is_a_failure() {
        let mut drive = holding(0);
        set(&mut drive, 2);
        answer(&mut drive, ID, Outcome::Is(ps(2)));
        assert!(drive.read_due());
        assert_eq!(drive.may_be_in(), StateSet::of(ps(0)).with(ps(2)));
    }
}
