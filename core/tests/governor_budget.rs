//! What the governor makes of groups, classes, guarantees, demand, shelves, and of a bound on changes a day.

mod support;

use support::{HOUR, SECOND, World, article_drive, drive, missing, plain, raised, sets, watts, writing};
use wattline_core::governor::{Alarm, Config, DriveConfig, Event, MeterConfig, Share, Slot};
use wattline_core::profile::d5_p5336;
use wattline_core::units::{BytesPerSecond, Microseconds, Milliwatts};

/// The article's drives, only written to, with nothing but them under the cap.
fn writers(drives: u8, cap: u32, share: impl Fn(Slot) -> Share) -> World {
    let config = Config { trust_measured: true, ..Config::new(watts(cap), watts(0)) };
    let mut world = World::new(config, &[d5_p5336()]);
    for slot in 0..drives {
        world.attach(slot, DriveConfig { share: share(slot), ..article_drive() }, 0);
    }
    world.calm();
    world
}

fn states(world: &World) -> Vec<u8> {
    world.slots().map(|slot| world.state(slot)).collect()
}

fn megabytes(megabytes: u64) -> BytesPerSecond {
    BytesPerSecond::new(megabytes * 1_000_000)
}

fn wants(world: &mut World, slot: Slot, wanted: u64) {
    world.event(Event::Demand { slot, wanted: Some(megabytes(wanted)) });
}

fn unmet(world: &World) -> Vec<(Slot, BytesPerSecond)> {
    let unmet = |alarm: &Alarm| match alarm {
        Alarm::GuaranteeUnmet { slot, missing } => Some((*slot, *missing)),
        _ => None,
    };
    world.alarms().iter().filter_map(unmet).collect()
}

/// Six drives in two groups of three: one drive in PS0 is worth nothing while its fellows are not.
#[test]
fn a_striped_group_has_one_state_and_takes_turns_as_one() {
    let share = |slot| Share { group: Some(slot / 3), ..Share::default() };
    // 26.125 W three times and 15.125 W three times are 123.75 W.
    let mut world = writers(6, 125, share);
    let mut in_ps0 = [0u32; 2];
    for _ in 0..40 {
        world.run_for(10 * SECOND);
        world.settle(10 * SECOND);
        let states = states(&world);
        assert!(states[..3].iter().chain(&states[3..]).all(|state| *state <= 1), "{states:?}");
        for group in [0, 1] {
            let own = &states[3 * group..3 * group + 3];
            assert!(own.iter().all(|state| *state == own[0]), "{states:?}");
            in_ps0[group] += u32::from(own[0] == 0);
        }
    }
    assert_eq!(in_ps0[0] + in_ps0[1], 40);
    assert!(in_ps0.iter().all(|turns| (18..=22).contains(turns)), "{in_ps0:?}");
}

#[test]
fn watts_that_raise_only_part_of_a_group_are_not_spent_on_it() {
    // Enough for PS0 in two of three, which would be worth no more than three in PS1.
    let world = writers(3, 70, |_| Share { group: Some(7), ..Share::default() });
    assert_eq!(states(&world), [1, 1, 1]);
    let alone = writers(3, 70, |_| Share::default());
    assert_eq!(states(&alone).iter().filter(|state| **state == 0).count(), 2);
}

#[test]
fn the_first_class_is_served_first_and_weights_decide_within_one() {
    let urgent = writers(3, 52, |slot| Share { priority: u8::from(slot != 2), ..Share::default() });
    assert_eq!(states(&urgent), [2, 2, 0]);
    // 26.125 + 15.125 + 11 W: whoever counts for more has the better state, and there are no turns among unequals.
    let mut heavy = writers(3, 53, |slot| Share { weight: [1, 4, 2][usize::from(slot)], ..Share::default() });
    for _ in 0..10 {
        heavy.run_for(10 * SECOND);
        assert_eq!(states(&heavy), [2, 0, 1]);
    }
}

#[test]
fn a_guarantee_comes_before_everybody_elses_surplus() {
    let share = |slot| match slot {
        0 => Share { priority: 0, ..Share::default() },
        _ => Share { priority: 9, guarantee: megabytes(1_400), ..Share::default() },
    };
    // 15.125 W for the guarantee of each of two leave 21.75 W of 52: the first class has PS1, not PS0.
    let mut world = writers(3, 52, share);
    assert_eq!(states(&world), [1, 1, 1]);
    assert_eq!(unmet(&world), []);
    // 37.25 W are the least that all take; 4.125 W more are there for one of the two.
    world.cap(38);
    world.calm();
    assert_eq!(states(&world).iter().filter(|state| **state == 1).count(), 1);
    // PS2 gives 721 MB/s, rounded.
    let [(1 | 2, short)] = unmet(&world)[..] else { panic!("{:?}", world.alarms()) };
    assert_eq!(short.get().div_ceil(1_000_000), 1_400 - 720, "{short:?}");
    world.cap(52);
    world.calm();
    assert_eq!(unmet(&world), []);
}

#[test]
fn a_guarantee_of_unmeasured_states_is_said_to_be_unmet() {
    let mut world = World::new(Config::new(watts(100), watts(0)), &[plain()]);
    world.attach(0, DriveConfig { share: Share { guarantee: megabytes(1), ..Share::default() }, ..drive() }, 0);
    world.calm();
    assert_eq!(unmet(&world), [(0, megabytes(1))]);
}

#[test]
fn a_drive_gets_no_watts_for_what_nobody_asks_of_it() {
    // PS0 for one of two.
    let mut world = writers(2, 40, |_| Share::default());
    for _ in 0..30 {
        wants(&mut world, 0, 200);
        world.run_for(SECOND);
    }
    assert_eq!(states(&world), [2, 0]);
    for _ in 0..30 {
        wants(&mut world, 0, 200);
        wants(&mut world, 1, 600);
        world.run_for(SECOND);
    }
    assert_eq!(states(&world), [2, 2], "nobody needs more than PS2 gives");
    // Silence says nothing: some seconds later both may be asked for anything again.
    world.run_for(15 * SECOND);
    world.settle(10 * SECOND);
    assert_eq!(states(&world).iter().filter(|state| **state == 0).count(), 1);
}

#[test]
fn of_unmeasured_states_only_a_demand_of_nothing_counts() {
    let mut world = World::new(Config::new(watts(36), watts(0)), &[plain()]);
    for slot in 0..2 {
        world.attach(slot, drive(), 0);
    }
    world.calm();
    for _ in 0..30 {
        wants(&mut world, 0, 1);
        wants(&mut world, 1, 0);
        world.run_for(SECOND);
    }
    assert_eq!(states(&world), [0, 2]);
}

/// A demand that wavers by a few percent moves nobody.
#[test]
fn a_demand_that_wavers_costs_no_changes() {
    let mut world = writers(4, 60, |_| Share::default());
    let mut changes = 0;
    for second in 0..120u64 {
        for slot in 0..4 {
            wants(&mut world, slot, 400 + 300 * u64::from(slot) + 13 * (second % 3));
        }
        let before = world.log.len();
        world.run_for(SECOND);
        let new: Vec<_> = world.log[before..].iter().map(|(_, command)| *command).collect();
        changes += if second < 30 { 0 } else { sets(&new).len() };
    }
    assert_eq!(changes, 0);
}

fn in_shelves(limits: [u32; 2], cap: u32) -> World {
    let shelves = limits.map(watts).into_iter().collect();
    let config = Config { trust_measured: true, shelves, ..Config::new(watts(cap), watts(0)) };
    let mut world = World::new(config, &[d5_p5336()]);
    for slot in 0..6 {
        let share = Share { shelf: Some(slot / 3), ..Share::default() };
        world.attach(slot, DriveConfig { share, ..article_drive() }, 0);
    }
    world.calm();
    world
}

#[test]
fn a_shelf_is_held_within_the_systems_limit() {
    let mut world = in_shelves([40, 100], 200);
    assert_eq!(states(&world)[3..], [0, 0, 0]);
    let promised = |world: &World, shelf| world.watched.governor.ledger().promised_in(shelf);
    assert!(promised(&world, 0) <= watts(40), "{}", world.describe());
    // Shedding begins in the call that says so, in that shelf and nowhere else.
    let commands = world.event(Event::ShelfLimit { shelf: 1, limit: watts(50) });
    let shed = sets(&commands);
    assert!(!shed.is_empty() && shed.iter().all(|(slot, ..)| *slot >= 3), "{shed:?}");
    world.calm();
    assert!(promised(&world, 1) <= watts(50));
    world.event(Event::ShelfLimit { shelf: 0, limit: watts(100) });
    world.calm();
    assert_eq!(states(&world)[..3], [0, 0, 0]);
}

#[test]
fn a_shelf_that_cannot_be_held_is_named_with_the_watts_that_are_missing() {
    let mut world = in_shelves([30, 100], 200);
    let shelf = |alarm: &Alarm| matches!(alarm, Alarm::ShelfCannotHold { shelf: 0, missing } if *missing == watts(3));
    assert!(raised(&world, shelf), "{:?}", world.alarms());
    assert_eq!((missing(&world), states(&world)), (None, vec![2, 2, 2, 0, 0, 0]));
    world.event(Event::ShelfLimit { shelf: 0, limit: watts(33) });
    assert!(!raised(&world, shelf));
}

/// Ten changes a day: turns end, and shedding does not.
#[test]
fn a_bound_on_changes_a_day_holds_raises_and_turns_but_no_lowering() {
    let config = Config { transitions_per_day: Some(10), ..Config::new(watts(60), watts(0)) };
    let mut world = World::new(config, &[plain()]);
    for slot in 0..4 {
        world.attach(slot, drive(), 0);
    }
    let mut changes = [0u32; 4];
    let mut raises = [0u32; 4];
    for hour in 0..24 {
        let before = world.log.len();
        world.run_for(HOUR);
        for (_, command) in &world.log[before..] {
            for (slot, _, reason) in sets(&[*command]) {
                changes[usize::from(slot)] += 1;
                raises[usize::from(slot)] += u32::from(reason == wattline_core::governor::Reason::Raise);
            }
        }
        if hour == 12 {
            world.cap(41);
            world.settle(10 * SECOND);
            assert!(world.true_draws() <= 41_000);
            world.cap(60);
        }
    }
    assert!(raises.iter().all(|raises| *raises <= 10), "{raises:?}");
    assert!(changes.iter().all(|changes| *changes <= 14), "{changes:?}");
    assert!(changes.iter().sum::<u32>() >= 16, "turns are taken while they are paid for: {changes:?}");
}

#[test]
fn while_readings_may_be_too_high_nothing_is_added_and_turns_go_on() {
    let meter = MeterConfig {
        quantum: watts(10),
        noise: Milliwatts::ZERO,
        full_scale: watts(500),
        timeout: Microseconds::from_secs(5),
        stuck_after: None,
    };
    let config =
        Config { meter: Some(meter), margin: watts(5), trust_measured: true, ..Config::new(watts(105), watts(20)) };
    let mut world = World::new(config, &[d5_p5336()]);
    for slot in 0..4 {
        world.attach(slot, DriveConfig { declared: writing(), ..drive() }, 2);
    }
    // 2 W above cap less margin, by a meter that is good to 5 W.
    world.run_metered(1, |_| 102_000);
    let promised = |world: &World| world.watched.governor.ledger().promised();
    let before = promised(&world);
    world.run_metered(60, |_| 102_000);
    assert!(promised(&world) <= before, "{}", world.describe());
    world.run_metered(30, |world| 20_000 + world.true_draws());
    assert!(promised(&world) > watts(70), "{}", world.describe());
    let log = world.log.len();
    world.run_metered(60, |_| 102_000);
    let turns: Vec<_> = world.log[log..].iter().flat_map(|(_, command)| sets(&[*command])).collect();
    assert!(turns.len() >= 6, "{turns:?}");
}
