//! The governor among drives that fail, come and go, and are not what one would expect.

mod support;

use support::{
    Fate, HOUR, MILLISECOND, PROMPT, SECOND, World, article, article_drive, drive, few, missing, nameplate, plain,
    server, sets, unmanaged, watts,
};
use wattline_core::governor::{
    Cause, Command, CommandId, Config, DriveConfig, Event, Outcome, ProfileIndex, Reason, Request,
};
use wattline_core::nvme::{PowerState, Status};
use wattline_core::profile::{Measured, Work, d5_p5336};
use wattline_core::units::{BytesPerSecond, Milliwatts};

// ---- commands that go wrong ----

#[test]
fn a_late_completion_keeps_the_draw_and_others_shed() {
    let mut world = few(3, 75);
    world.fate = Box::new(|slot, _| if slot == 0 { Fate::Never } else { PROMPT });
    world.cap(60);
    world.run_for(30 * SECOND);
    // One is on its way for ever; the others come down for it if it was asked to.
    assert!(world.watched.ledger.draws() <= 60_000 || world.states() == [1, 0, 2], "{}", world.describe());
    world.cap(45);
    world.run_for(30 * SECOND);
    assert_eq!(world.watched.ledger.draws(), 45_000, "{}", world.describe());
    assert_eq!(world.states(), [1, 0, 2], "{}", world.describe());
}

#[test]
fn a_command_that_may_still_be_answered_is_never_repeated() {
    let mut world = few(1, 25);
    world.fate = Box::new(|_, _| Fate::Never);
    world.cap(10);
    let sent = world.log.len();
    world.run_for(24 * HOUR);
    world.cap(9);
    world.run_for(24 * HOUR);
    let later = &world.log[sent..];
    assert!(later.iter().all(|(_, command)| matches!(command, Command::Alarm { .. })), "{later:?}");
}

#[test]
fn a_lost_command_is_read_and_applied_again() {
    for executed in [false, true] {
        for resets in [false, true] {
            let mut world = few(2, 50);
            let mut lose = 1;
            world.fate = Box::new(move |_, request| match request {
                Request::SetPowerState(_) if lose > 0 => {
                    lose -= 1;
                    Fate::Lose { after: SECOND, executed, resets }
                }
                _ => PROMPT,
            });
            world.cap(30);
            world.run_for(SECOND + 1);
            world.settle(10 * SECOND);
            assert!(world.true_draws() <= 30_000);
            assert_eq!(world.alarms(), []);
        }
    }
}

#[test]
fn a_drive_that_loses_every_command_is_unmanaged_at_its_highest_draw() {
    let mut world = few(3, 75);
    world.fate = Box::new(|slot, _| match slot {
        0 => Fate::Lose { after: 100 * MILLISECOND, executed: false, resets: false },
        _ => PROMPT,
    });
    world.cap(45);
    world.run_for(60 * SECOND);
    assert_eq!(unmanaged(&world, 0), Some(Cause::CommandsLost), "{}", world.describe());
    assert_eq!(world.states(), [1, 0, 2]);
    assert_eq!(world.watched.governor.ledger().draw(0), watts(25));
    // It is left alone until it is reset.
    let sent = world.log.len();
    world.cap(44);
    assert_eq!(missing(&world), Some(1_000));
    world.run_for(HOUR);
    assert_eq!(sets(&world.log[sent..].iter().map(|(_, command)| *command).collect::<Vec<_>>()), []);
    world.fate = Box::new(|_, _| PROMPT);
    world.reset(0);
    assert_eq!(unmanaged(&world, 0), None);
    world.settle(10 * SECOND);
    assert_eq!(missing(&world), None);
    assert!(world.true_draws() <= 44_000);
}

#[test]
fn a_rejection_keeps_the_draw_and_the_status() {
    let mut world = few(3, 75);
    let rejections = std::rc::Rc::new(std::cell::Cell::new(0));
    let count = rejections.clone();
    world.fate = Box::new(move |slot, request| match (slot, request) {
        (0, Request::SetPowerState(_)) => {
            count.set(count.get() + 1);
            Fate::Reject(Status::FEATURE_NOT_CHANGEABLE)
        }
        _ => PROMPT,
    });
    world.cap(45);
    world.run_for(60 * SECOND);
    assert_eq!(unmanaged(&world, 0), Some(Cause::Rejected(Status::FEATURE_NOT_CHANGEABLE)), "{}", world.describe());
    assert!((1..=3).contains(&rejections.get()), "{} times", rejections.get());
    assert_eq!(world.states(), [1, 0, 2]);
    assert!(world.watched.governor.ledger().draw(0) >= watts(25));
}

#[test]
fn a_rejected_raise_costs_nobody_anything() {
    let mut world = World::new(Config::new(watts(100), watts(0)), &[plain()]);
    world.fate = Box::new(|slot, request| match (slot, request) {
        (0, Request::SetPowerState(_)) => Fate::Reject(Status::INVALID_FIELD),
        _ => PROMPT,
    });
    for slot in 0..2 {
        world.attach(slot, drive(), 2);
    }
    world.run_for(60 * SECOND);
    assert_eq!(world.states(), [1, 0, 1]);
    assert_eq!(unmanaged(&world, 0), Some(Cause::Rejected(Status::INVALID_FIELD)));
}

#[test]
fn a_drive_that_accepts_and_does_not_act_is_found_by_its_reading() {
    let mut world = few(3, 75);
    world.fate = Box::new(|slot, _| if slot == 0 { Fate::Ignore } else { PROMPT });
    world.cap(45);
    world.run_for(60 * SECOND);
    assert_eq!(unmanaged(&world, 0), Some(Cause::Disobedient), "{}", world.describe());
    assert_eq!(world.states(), [1, 0, 2]);
    assert!(world.watched.governor.ledger().draw(0) >= watts(25));
}

#[test]
fn a_drive_that_acts_the_second_time_stays_managed() {
    let mut world = few(1, 25);
    let mut ignore = 2;
    world.fate = Box::new(move |_, request| match request {
        Request::SetPowerState(_) if ignore > 0 => {
            ignore -= 1;
            Fate::Ignore
        }
        _ => PROMPT,
    });
    world.cap(10);
    world.run_for(30 * SECOND);
    assert_eq!(world.states(), [0, 0, 1]);
    assert_eq!(world.alarms(), []);
}

#[test]
fn a_drive_that_cannot_be_read_is_unmanaged_and_the_others_go_on() {
    for fate in [Fate::Lose { after: SECOND, executed: false, resets: false }, Fate::Reject(Status::INVALID_FIELD)] {
        let mut world = World::new(Config::new(watts(60), watts(0)), &[plain()]);
        world.fate = Box::new(move |slot, _| if slot == 0 { fate } else { PROMPT });
        for slot in 0..3 {
            world.attach(slot, drive(), 0);
        }
        world.run_for(30 * SECOND);
        assert!(unmanaged(&world, 0).is_some(), "{fate:?}: {}", world.describe());
        assert_eq!(unmanaged(&world, 1), None);
        // Its kind is known, so it takes no more than its kind.
        assert_eq!(world.watched.governor.ledger().draw(0), watts(25), "{fate:?}");
        assert_eq!(world.states(), [2, 0, 1], "{fate:?}");
    }
}

#[test]
fn answers_that_nobody_waits_for_change_nothing() {
    let mut world = few(2, 50);
    world.fate = Box::new(|_, _| Fate::Never);
    world.cap(30);
    let (id, _) = world.watched.ledger.in_flight(0).or(world.watched.ledger.in_flight(1)).expect("a shedding");
    let busy = if world.watched.ledger.in_flight(0).is_some() { 0 } else { 1 };
    let phase = world.watched.governor.phase(busy);
    for slot in [0, 1, 5, 31, 32, 255] {
        for other in
            [CommandId(0), CommandId(id.0.wrapping_add(1)), CommandId(id.0.wrapping_sub(1)), CommandId(u32::MAX), id]
        {
            if slot == busy && other == id || world.watched.ledger.in_flight(slot).is_some_and(|(own, _)| own == other)
            {
                continue;
            }
            for outcome in [Outcome::Done, Outcome::Is(PowerState::PS0), Outcome::Rejected(Status::INVALID_FIELD)] {
                let commands = world.watched.handle(world.now, &Event::Completed { slot, id: other, outcome });
                assert_eq!(commands, []);
            }
            assert_eq!(world.watched.handle(world.now, &Event::Lost { slot, id: other }), []);
        }
    }
    assert_eq!(world.watched.governor.phase(busy), phase);
    // The answer, and the same once more.
    let done = Event::Completed { slot: busy, id, outcome: Outcome::Done };
    assert_ne!(world.watched.handle(world.now, &done), [], "the reading-back");
    assert_eq!(world.watched.handle(world.now, &done), []);
}

// ---- drives that come, go, reset, sleep ----

#[test]
fn a_reset_drive_counts_at_its_fallback_at_once_and_comes_back() {
    let mut world = few(4, 60);
    let slot = world.slots().find(|slot| world.state(*slot) != 0).expect("not all of them fit in PS0");
    let state = world.state(slot);
    let commands = world.reset(slot);
    assert_eq!(world.watched.governor.ledger().draw(usize::from(slot)), watts(25));
    assert!(world.watched.governor.ledger().excess() > Milliwatts::ZERO);
    assert!(!sets(&commands).is_empty(), "the others shed: {commands:?}");
    world.run_for(30 * SECOND);
    world.settle(10 * SECOND);
    assert!(world.true_draws() <= 60_000, "it was in {state}: {}", world.describe());
    assert_eq!(world.alarms(), []);
}

#[test]
fn a_reset_takes_the_command_in_flight_with_it() {
    let mut world = few(2, 50);
    world.fate = Box::new(|_, _| Fate::Answer(SECOND));
    world.cap(20);
    world.run_for(100 * MILLISECOND);
    let (id, _) = world.watched.ledger.in_flight(0).expect("a set");
    let commands = world.reset(0);
    let next = world.watched.ledger.in_flight(0).expect("a read");
    assert_ne!(next.0, id, "{commands:?}");
    // The late answer to the first is nobody's.
    let late = Event::Completed { slot: 0, id, outcome: Outcome::Done };
    world.event(late);
    assert_eq!(world.watched.ledger.in_flight(0), Some(next));
    world.settle(30 * SECOND);
    assert_eq!(world.states(), [0, 0, 2]);
}

#[test]
fn a_low_saved_value_makes_a_reset_land_low() {
    let mut world = World::new(Config::new(watts(75), watts(0)), &[plain()]);
    let low = DriveConfig { fallback: PowerState::new(2).expect("a state"), ..drive() };
    for slot in 0..3 {
        world.attach(slot, low.clone(), 0);
    }
    world.settle(30 * SECOND);
    assert_eq!(world.states(), [3, 0, 0]);
    let commands = world.reset(1);
    assert_eq!(sets(&commands), [], "nobody has to shed, and nobody is raised before he is read");
    world.settle(30 * SECOND);
    assert_eq!(world.states(), [3, 0, 0]);
}

#[test]
fn what_a_reset_may_have_freed_is_given_to_nobody_before_the_drive_has_said_so() {
    let mut world = World::new(Config::new(watts(35), watts(0)), &[nameplate(&[(25, true), (10, true)])]);
    let low = DriveConfig { fallback: PowerState::new(1).expect("a state"), ..drive() };
    for slot in 0..2 {
        world.attach(slot, low.clone(), 1);
    }
    world.calm();
    let high = (0..2).find(|slot| world.state(*slot) == 0).expect("one of them fits in PS0");
    world.fate = Box::new(|_, _| Fate::Never);
    world.reset(high);
    world.run_for(60 * SECOND);
    assert_eq!(world.watched.governor.ledger().draw(usize::from(high)), watts(25));
}

#[test]
fn a_reset_makes_no_unusable_drive_usable() {
    let mut world = World::new(Config::new(watts(60), watts(0)), &[nameplate(&[(5, false)]), plain()]);
    world.attach(0, drive(), 0);
    world.attach(1, DriveConfig { profile: ProfileIndex(1), ..drive() }, 0);
    world.reset(0);
    assert_eq!(unmanaged(&world, 0), Some(Cause::NoUsableState));
    world.calm();
    assert_eq!(unmanaged(&world, 0), Some(Cause::NoUsableState));
    assert_eq!(world.watched.governor.ledger().draw(0), watts(40));
}

#[test]
fn a_late_raise_is_paid_for_by_the_others_when_the_cap_falls() {
    for late in [0, 1] {
        let mut world = World::new(Config::new(watts(50), watts(0)), &[nameplate(&[(25, true), (10, true)])]);
        world.fate = Box::new(move |slot, request| match request {
            Request::SetPowerState(_) if slot == late => Fate::Never,
            _ => PROMPT,
        });
        for slot in 0..2 {
            world.attach(slot, drive(), 1);
        }
        world.run_for(30 * SECOND);
        assert_eq!(
            (world.state(1 - late), world.watched.ledger.draws()),
            (0, 50_000),
            "both were raised, and one never answers"
        );
        let commands = world.cap(35);
        assert_eq!(sets(&commands), [(1 - late, 1, Reason::Shed)]);
        world.run_for(30 * SECOND);
        assert_eq!(world.watched.ledger.draws(), 35_000);
    }
}

#[test]
fn drives_come_and_go_while_commands_are_in_flight() {
    let mut world = article(server(1089));
    world.fate = Box::new(|slot, _| Fate::Answer((20 + u64::from(slot) * 7) * MILLISECOND));
    world.cap(900);
    world.run_for(30 * MILLISECOND);
    world.remove(20);
    world.remove(3);
    world.run_for(30 * MILLISECOND);
    world.attach(3, article_drive(), 0);
    world.attach(24, article_drive(), 1);
    world.run_for(10 * MILLISECOND);
    world.remove(24);
    world.attach(20, article_drive(), 2);
    world.attach(21, article_drive(), 0);
    world.run_for(20 * SECOND);
    world.settle(10 * SECOND);
    assert_eq!(world.slots().count(), 24);
    assert!(world.true_draws() <= (900 - 462) * 1000);
    assert_eq!(world.alarms(), []);
}

#[test]
fn a_removed_drive_takes_nothing_and_its_watts_are_used() {
    let mut world = few(4, 60);
    world.remove(0);
    world.remove(1);
    assert!(world.watched.governor.ledger().draw(0) == Milliwatts::ZERO);
    world.settle(30 * SECOND);
    world.run_for(30 * SECOND);
    assert_eq!(world.states(), [2, 0, 0], "{}", world.describe());
}

#[test]
fn a_sleeping_drive_counts_at_what_it_wakes_into() {
    let profile = nameplate(&[(25, true), (15, true), (10, true), (3, false)]);
    let mut world = World::new(Config::new(watts(50), watts(0)), &[profile]);
    world.attach(0, drive(), 0);
    world.sleep(0, Some(3));
    world.attach(1, drive(), 0);
    world.run_for(10 * SECOND);
    // It may wake into any state: there are no 22 W to give away.
    assert!(world.watched.governor.ledger().draw(0) >= watts(10), "{}", world.describe());
    world.attach(2, drive(), 0);
    world.run_for(30 * SECOND);
    world.sleep(0, None);
    assert!(world.true_draws() <= 50_000, "{}", world.describe());
    world.run_for(30 * SECOND);
    assert!(world.true_draws() <= 50_000, "{}", world.describe());
    assert_eq!(world.alarms(), []);
}

// ---- kinds of drives ----

#[test]
fn a_drive_that_reports_no_power_counts_at_its_slots_limit() {
    let mut world = World::new(Config::new(watts(100), watts(0)), &[nameplate(&[(0, true), (15, true), (0, true)])]);
    world.attach(0, drive(), 0);
    world.settle(10 * SECOND);
    assert_eq!(world.watched.governor.ledger().draw(0), watts(40));
    world.cap(39);
    world.settle(10 * SECOND);
    assert_eq!(world.state(0), 1);
    assert_eq!(world.watched.governor.ledger().draw(0), watts(15));
}

#[test]
fn a_slot_delivers_what_the_drive_takes_and_not_what_the_meter_shows_for_it() {
    // PS0 takes 25 W of the slot and 26.125 W of the wall; a U.2 slot delivers 25 W.
    let mut world = World::new(server(1089), &[d5_p5336()]);
    world.attach(0, DriveConfig { slot_limit: watts(25), ..article_drive() }, 1);
    world.attach(1, DriveConfig { slot_limit: watts(24), ..article_drive() }, 0);
    world.calm();
    assert_eq!((world.state(0), world.state(1)), (0, 1));
}

#[test]
fn a_drive_that_was_measured_above_its_slots_limit_counts_at_what_was_measured() {
    let mut profile = nameplate(&[(0, true)]);
    let power = Milliwatts::new(41_500);
    let measured = Measured { power, throughput: BytesPerSecond::new(1), limited_by_fabric: false };
    profile.states[0].measured[Work::RandomRead] = Some(measured);
    let mut world = World::new(Config::new(watts(100), watts(0)), &[profile]);
    world.attach(0, drive(), 0);
    world.calm();
    assert_eq!(world.watched.governor.ledger().draw(0), power);
}

#[test]
fn the_overhead_comes_on_top_of_the_nameplate() {
    let config = Config { overhead: Milliwatts::new(1_125), ..Config::new(watts(60), watts(0)) };
    let mut world = World::new(config, &[plain()]);
    world.attach(0, drive(), 0);
    world.attach(1, drive(), 0);
    world.settle(10 * SECOND);
    assert_eq!(world.watched.governor.ledger().promised(), Milliwatts::new(2 * 26_125));
}

#[test]
fn a_drive_with_one_state_is_never_set() {
    let mut world = World::new(Config::new(watts(60), watts(0)), &[plain(), nameplate(&[(20, true)])]);
    let single = DriveConfig { profile: ProfileIndex(1), ..drive() };
    world.attach(0, single, 0);
    world.attach(1, drive(), 0);
    world.attach(2, drive(), 0);
    world.settle(10 * SECOND);
    world.cap(35);
    assert_eq!(missing(&world), Some(5_000));
    world.run_for(60 * SECOND);
    let commands: Vec<_> = world.log.iter().map(|(_, command)| *command).collect();
    assert!(sets(&commands).iter().all(|(slot, ..)| *slot != 0));
    assert_eq!(world.state(1) + world.state(2), 4);
    assert_eq!(unmanaged(&world, 0), None);
}

#[test]
fn a_drive_without_an_operational_state_is_unmanaged_at_its_slots_limit() {
    let profiles = [nameplate(&[(5, false)]), nameplate(&[])];
    let mut world = World::new(Config::new(watts(200), watts(0)), &profiles);
    for (slot, profile) in [(0, 0), (1, 1), (2, 7)] {
        let profile = ProfileIndex(profile);
        world.attach(slot, DriveConfig { profile, ..drive() }, 0);
        assert_eq!(unmanaged(&world, slot), Some(Cause::NoUsableState));
        assert_eq!(world.watched.governor.ledger().draw(usize::from(slot)), watts(40));
    }
    world.remove(1);
    assert_eq!(unmanaged(&world, 1), None);
}
