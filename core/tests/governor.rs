//! The governor among drives that behave, or are late. Every call is checked by the outside ledger in `support`: no
//! raise beyond the allowance, sheds in the same call, one command in flight for each drive, no busy loop, and more.

mod support;

use support::{
    Dice, Fate, HOUR, MILLISECOND, PROMPT, SECOND, World, article, article_drive, drive, few, missing, plain, raised,
    server, sets, watts, writing,
};
use wattline_core::governor::{Alarm, Command, Config, DriveConfig, Event, Reason, Request};
use wattline_core::profile::{Work, WorkSet, d5_p5336};
use wattline_core::units::Milliwatts;

// ---- the start ----

#[test]
fn at_the_start_every_drive_counts_at_its_worst_and_is_read_first() {
    let mut world = World::new(server(1050), &[d5_p5336()]);
    world.fate = Box::new(|_, _| Fate::Never);
    for slot in 0..24 {
        let commands = world.attach(slot, article_drive(), 2);
        let discovery = |command: &Command| match command {
            Command::Drive { slot: to, request: Request::ReadPowerState, reason, .. } => {
                *to == slot && *reason == Reason::Discovery
            }
            _ => false,
        };
        assert!(commands.iter().any(discovery), "slot {slot}: {commands:?}");
    }
    // Nobody has said anything: no drive is touched.
    world.run_for(HOUR);
    assert_eq!(sets(&world.log.iter().map(|(_, command)| *command).collect::<Vec<_>>()), []);
    assert_eq!(world.watched.governor.ledger().promised(), Milliwatts::new(24 * 26_125));
}

#[test]
fn the_article_server_at_1050_w_ends_in_the_best_mix() {
    let world = article(server(1050));
    assert_eq!(world.states(), [21, 1, 2], "{}", world.describe());
    assert_eq!(world.true_draws(), 21 * 26_125 + 15_125 + 2 * 11_000);
    assert_eq!(world.alarms(), []);
}

#[test]
fn a_restart_ends_where_it_was() {
    let before = article(server(1050));
    let mut world = World::new(server(1050), &[d5_p5336()]);
    world.event(Event::Tick);
    for slot in before.slots() {
        world.attach(slot, article_drive(), before.state(slot));
    }
    world.calm();
    assert_eq!(world.states(), [21, 1, 2]);
}

#[test]
fn a_restart_into_drives_at_their_lowest_raises_them_only_after_their_reading() {
    let mut world = World::new(server(1050), &[d5_p5336()]);
    for slot in 0..24 {
        world.attach(slot, article_drive(), 2);
    }
    world.calm();
    assert_eq!(world.states(), [21, 1, 2]);
}

// ---- the cap ----

#[test]
fn a_lower_cap_is_shed_in_the_same_call_biggest_saving_first() {
    let mut world = article(server(1089));
    assert_eq!(world.states(), [24, 0, 0]);
    let commands = world.cap(825);
    // 825 − 462 = 363 W for 24 drives: 15.125 W each.
    let heading: u64 = (0..24)
        .map(|slot| {
            let set = sets(&commands).iter().find(|(to, ..)| *to == slot).map_or(0, |(_, state, _)| *state);
            world.watched.ledger.figure(slot, set)
        })
        .sum();
    assert!(heading <= 363_000, "heading for {heading} mW: {commands:?}");
    let order: Vec<_> = sets(&commands).iter().map(|(_, state, _)| *state).collect();
    assert!(order.is_sorted_by(|a, b| a >= b), "{order:?}");
    assert!(sets(&commands).iter().all(|(.., reason)| *reason == Reason::Shed), "{commands:?}");
    world.settle(3 * SECOND);
    assert!(world.true_draws() <= 363_000);
}

#[test]
fn the_cap_may_change_at_any_moment_of_a_shedding() {
    // Every few milliseconds up to the end of the settling, once upwards, once further down.
    for moment in (0..1_300).step_by(87) {
        for cap in [1089, 760, 300] {
            let mut world = article(server(1089));
            world.fate = Box::new(|slot, _| Fate::Answer((1 + u64::from(slot) % 5) * 40 * MILLISECOND));
            world.cap(858);
            world.run_for(moment * MILLISECOND);
            world.cap(cap);
            if cap == 300 {
                assert_eq!(missing(&world), Some(24 * 11_000));
            }
            world.run_for(20 * SECOND);
            let expected = [(1089, [24, 0, 0]), (760, [1, 4, 19])];
            if cap == 300 {
                assert_eq!(world.states(), [0, 0, 24]);
            } else if let Some((_, best)) = expected.iter().find(|(of, _)| *of == cap) {
                let allowance = u64::from(cap - 462) * 1000;
                assert!(world.true_draws() <= allowance);
                assert!(cap == 760 || world.states() == *best, "at {moment} ms: {}", world.describe());
            }
        }
    }
}

#[test]
fn a_cap_below_the_floor_names_the_missing_watts_until_it_is_over() {
    let mut world = few(4, 100);
    world.cap(30);
    assert_eq!(missing(&world), Some(10_000));
    world.cap(20);
    assert_eq!(missing(&world), Some(20_000));
    world.run_for(10 * SECOND);
    assert_eq!(world.states(), [0, 0, 4]);
    assert_eq!(missing(&world), Some(20_000));
    world.cap(40);
    assert_eq!(missing(&world), None);
    world.cap(0);
    assert_eq!(missing(&world), Some(40_000));
    world.cap(100);
    assert_eq!(missing(&world), None);
    world.calm();
    assert_eq!(world.states(), [4, 0, 0]);
}

#[test]
fn a_raise_waits_for_the_confirmed_lowering_that_pays_for_it() {
    // 50 W for two drives of 25 W; a third comes, and is given its watts by the others.
    let mut world = few(2, 50);
    world.fate = Box::new(|_, request| match request {
        Request::SetPowerState(_) => Fate::Answer(100 * MILLISECOND),
        _ => PROMPT,
    });
    world.attach(2, drive(), 2);
    world.calm();
    assert_eq!(world.states(), [1, 1, 1], "{}", world.describe());
}

// ---- rotation ----

#[test]
fn equal_drives_take_turns() {
    let mut world = article(server(1050));
    let start = world.now;
    let gives = [3_437.5, 1_433.3, 720.8];
    let mut given = [0.0; 24];
    let mut transitions = 0;
    let mut before: Vec<_> = world.slots().map(|slot| world.state(slot)).collect();
    for _ in 0..6_000 {
        world.run_for(100 * MILLISECOND);
        for slot in 0..24 {
            let state = world.state(slot);
            given[usize::from(slot)] += gives[usize::from(state)] / 10.0;
            transitions += u32::from(before[usize::from(slot)] != state);
            before[usize::from(slot)] = state;
        }
    }
    assert_eq!(world.now - start, 600 * SECOND);
    let sum: f64 = given.iter().sum();
    println!("{} transitions for each drive and hour; {:.2} GB/s", f64::from(transitions) * 6.0 / 24.0, sum / 600e3);
    for (slot, own) in given.iter().enumerate() {
        let others = (sum - own) / 23.0;
        let share = own / others;
        assert!((0.9..=1.1).contains(&share), "slot {slot} was given {share:.3} of the others' mean: {given:?}");
    }
    assert!(sum / 600e3 >= 0.98 * 75.06, "{}", sum / 600e3);
}

/// Turns wake drives; those that do nothing have nothing to share.
#[test]
fn drives_that_do_nothing_are_left_alone() {
    let mut world = article(server(1050));
    for slot in 0..24 {
        world.event(Event::Work { slot, seen: WorkSet::NONE });
    }
    world.calm();
    let before = world.log.len();
    world.run_for(300 * SECOND);
    assert_eq!(world.log.len(), before, "{:?}", &world.log[before..]);
    world.event(Event::Work { slot: 7, seen: writing() });
    world.run_for(60 * SECOND);
    assert!(world.log.len() > before, "with work, turns go on");
}

// ---- work ----

#[test]
fn undeclared_work_raises_the_draw_and_others_shed_in_the_same_call() {
    // All in PS1, each 15.125 W while writing; reading counts at more there.
    let mut world = article(server(825));
    let before = world.watched.ledger.draws();
    let seen = WorkSet::of(Work::SequentialRead);
    let commands = world.event(Event::Work { slot: 3, seen });
    assert!(world.watched.ledger.draws() > before);
    assert!(raised(
        &world,
        |alarm| matches!(alarm, Alarm::UndeclaredWork { slot: 3, work } if work.contains_all(seen))
    ));
    assert!(world.watched.ledger.draws() > world.watched.ledger.allowance());
    assert!(!sets(&commands).is_empty(), "{commands:?}");
    world.settle(10 * SECOND);
}

#[test]
fn declared_work_is_no_news() {
    let mut world = article(server(1050));
    let commands = world.event(Event::Work { slot: 3, seen: writing() });
    assert_eq!(commands, []);
    let commands = world.event(Event::Work { slot: 3, seen: WorkSet::NONE });
    assert_eq!(commands, []);
}

#[test]
fn undeclared_work_counts_until_a_report_without_it() {
    let mut world = few(2, 50);
    world.remove(0);
    world.attach(0, DriveConfig { declared: writing(), ..drive() }, 0);
    world.calm();
    let undeclared = |world: &World| raised(world, |alarm| matches!(alarm, Alarm::UndeclaredWork { slot: 0, .. }));
    world.event(Event::Work { slot: 0, seen: WorkSet::of(Work::RandomRead) });
    assert!(undeclared(&world));
    // Silence is no report.
    world.run_for(HOUR);
    assert!(undeclared(&world));
    world.event(Event::Work { slot: 0, seen: writing() });
    world.run_for(HOUR);
    assert!(!undeclared(&world));
}

#[test]
fn a_drive_declared_to_do_nothing_still_takes_power() {
    let mut world = World::new(Config::new(watts(60), watts(0)), &[plain()]);
    for slot in 0..4 {
        world.attach(slot, DriveConfig { declared: WorkSet::NONE, ..drive() }, 0);
    }
    world.run_for(10 * SECOND);
    assert!(world.true_draws() <= 60_000, "{}", world.describe());
    let promised = world.watched.governor.ledger().promised();
    assert!(promised >= watts(40), "promised: {promised}");
}

// ---- many drives, some faults ----

#[test]
fn a_falling_cap_holds_among_lost_and_late_commands() {
    for seed in 1..=10 {
        let mut world = article(server(1089));
        let mut dice = Dice::new(seed);
        world.fate = Box::new(move |_, _| match dice.below(100) {
            0..5 => Fate::Lose { after: SECOND, executed: dice.below(2) == 0, resets: dice.below(2) == 0 },
            5..10 => Fate::Answer(SECOND),
            _ => PROMPT,
        });
        let start = world.now;
        world.cap(825);
        while world.watched.ledger.draws() > 363_000 {
            assert!(world.step(start + 30 * SECOND), "seed {seed}: never: {}", world.describe());
        }
        // Three seconds, and for a lost command its second, a reading, and the set and its settling once more.
        let shed = world.now - start;
        assert!(shed <= 10 * SECOND, "seed {seed}: {shed} us");
        world.settle(30 * SECOND);
        world.run_for(600 * SECOND);
    }
}

// ---- the clock ----

#[test]
fn a_clock_an_hour_back_is_an_alarm_and_deadlines_go_on() {
    let mut world = World::new(Config::new(watts(60), watts(0)), &[plain()]);
    world.now = 2 * HOUR;
    world.event(Event::Tick);
    for slot in 0..3 {
        world.attach(slot, drive(), 0);
    }
    world.settle(30 * SECOND);
    world.cap(40);
    world.run_for(100 * MILLISECOND);
    let mut watched = world.watched.clone();
    let now = world.now - HOUR;
    let commands = watched.handle(now, &Event::Tick);
    assert!(commands.contains(&Command::Alarm { alarm: Alarm::ClockBackwards, raised: true }), "{commands:?}");
    // Everything that was to happen within seconds happens within seconds of the new time.
    let (mut now, end) = (now, now + 5 * SECOND);
    while let Some(deadline) = watched.governor.next_deadline().filter(|deadline| deadline.as_micros() <= end) {
        now = deadline.as_micros();
        watched.handle(now, &Event::Tick);
    }
    let promised = watched.governor.ledger().promised();
    assert!(promised <= watts(40), "at {now}: {promised}, next: {:?}", watched.governor.next_deadline());
    let next = watched.governor.next_deadline().expect("a rotation");
    assert!(next.as_micros() <= end + 30 * SECOND, "{next:?}");
}

#[test]
fn a_clock_at_its_end_is_no_reason_to_panic() {
    let mut world = few(3, 60);
    world.now = u64::MAX;
    world.event(Event::Tick);
    world.cap(30);
    let commands = world.event(Event::Tick);
    assert_eq!(commands, []);
}
