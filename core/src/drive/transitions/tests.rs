use super::*;
use crate::nvme::Status;

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
    next_lever: None,
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

#[test]
fn refusals_with_a_reset_after_each_come_to_an_end_too() {
    let mut drive = holding(1);
    let refused = Outcome::Rejected(Status::INVALID_FIELD);
    for _ in 0..PATIENCE {
        set(&mut drive, 2);
        answer(&mut drive, ID, refused);
        drive.reset(StateSet::of(ps(0)));
        read(&mut drive, 0);
        drive.advance(SETTLED);
    }
    assert!(matches!(drive.phase(), Phase::Unmanaged { cause: Cause::Rejected(_), .. }), "{drive:?}");
    drive.reset(StateSet::of(ps(0)));
    read(&mut drive, 0);
    drive.advance(SETTLED);
    assert_eq!(drive.ready_in(), Some(ps(0)), "a reset is a new start");
}
