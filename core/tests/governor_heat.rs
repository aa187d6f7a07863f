//! The governor and heat: temperatures, counters of the drives' own thermal management, and the chassis's cooling.

mod support;

use support::{SECOND, World, drive, nameplate, sets, watts};
use wattline_core::governor::{Alarm, Config, DriveConfig, Event, Reason, Slot};
use wattline_core::profile::{Work, WorkSet};
use wattline_core::thermal::{Cooling, CoolingConfig, Fans, ThermalLimits, ThrottleCounters};
use wattline_core::units::{Kelvin, Microseconds, Milliwatts};

fn celsius(celsius: i32) -> Option<Kelvin> {
    Kelvin::from_celsius(celsius)
}

/// Three drives of 25, 20, 15 and 10 W whose heat counts from 69 °C on and is not to reach 70 °C; watts enough for all.
fn warm() -> World {
    let profile = nameplate(&[(25, true), (20, true), (15, true), (10, true)]);
    let mut world = World::new(Config::new(watts(100), watts(0)), &[profile]);
    // Temperatures jump here, and a jump that went on would go far.
    let limits = ThermalLimits::from_thresholds(celsius(70), None);
    let thermal = Some(ThermalLimits { look_ahead: Microseconds::ZERO, ..limits });
    for slot in 0..3 {
        world.attach(slot, DriveConfig { thermal: thermal.clone(), ..drive() }, 0);
    }
    temperatures(&mut world, 30, |_| celsius(40));
    assert_eq!(world.states(), [3, 0, 0]);
    world
}

/// A reading of each drive in every second.
fn temperatures(world: &mut World, seconds: u64, of: impl Fn(Slot) -> Option<Kelvin>) {
    for _ in 0..seconds {
        world.run_for(SECOND);
        let slots: Vec<_> = world.slots().collect();
        for slot in slots {
            world.event(Event::Temperature { slot, reading: of(slot) });
        }
    }
}

#[test]
fn a_drive_that_warms_is_held_lower_in_the_same_call_and_raised_again_later() {
    let mut world = warm();
    let commands = world.event(Event::Temperature { slot: 1, reading: celsius(69) });
    assert_eq!(sets(&commands), [(1, 1, Reason::Heat)]);
    // Each state is given ten seconds to take effect.
    for state in [1, 2, 3] {
        temperatures(&mut world, 9, |slot| celsius(if slot == 1 { 69 } else { 40 }));
        assert_eq!((world.state(0), world.state(1), world.state(2)), (0, state, 0));
        temperatures(&mut world, 1, |slot| celsius(if slot == 1 { 69 } else { 40 }));
    }
    temperatures(&mut world, 60, |slot| celsius(if slot == 1 { 50 } else { 40 }));
    assert_eq!(world.state(1), 0);
    // The limit leaves no time.
    let commands = world.event(Event::Temperature { slot: 1, reading: celsius(70) });
    assert_eq!(sets(&commands), [(1, 3, Reason::Heat)]);
    temperatures(&mut world, 60, |slot| celsius(if slot == 1 { 50 } else { 40 }));
    assert_eq!(world.state(1), 0);
    assert_eq!(world.alarms(), []);
}

#[test]
fn heat_makes_no_promise_smaller_than_the_drive_takes() {
    // The watts of a hot drive go to others only once it has come down.
    let profile = nameplate(&[(25, true), (10, true)]);
    let mut world = World::new(Config::new(watts(35), watts(0)), &[profile]);
    let thermal = Some(ThermalLimits::from_thresholds(celsius(70), None));
    for slot in 0..2 {
        world.attach(slot, DriveConfig { thermal: thermal.clone(), ..drive() }, 1);
    }
    temperatures(&mut world, 5, |_| celsius(40));
    world.settle(30 * SECOND);
    let high = (0..2).find(|slot| world.state(*slot) == 0).expect("one of them fits in PS0");
    temperatures(&mut world, 60, |slot| celsius(if slot == high { 80 } else { 40 }));
    assert_eq!((world.state(high), world.state(1 - high)), (1, 0));
}

#[test]
fn a_lost_temperature_means_the_lowest_state_and_an_alarm() {
    let mut world = warm();
    let lost = |world: &World| world.alarms().contains(&Alarm::TemperatureLost { slot: 2 });
    let start = world.now;
    while !lost(&world) {
        temperatures(&mut world, 1, |slot| if slot == 2 { None } else { celsius(40) });
        assert!(world.now <= start + 35 * SECOND, "no alarm");
    }
    assert!(world.now >= start + 25 * SECOND, "readings may be missing for 30 s");
    temperatures(&mut world, 5, |slot| if slot == 2 { None } else { celsius(40) });
    assert_eq!((world.state(0), world.state(1), world.state(2)), (0, 0, 3));
    temperatures(&mut world, 60, |_| celsius(40));
    assert!(!lost(&world));
    assert_eq!(world.states(), [3, 0, 0]);
}

#[test]
fn a_temperature_that_is_never_reported_at_all_is_lost_too() {
    let mut world = warm();
    world.run_for(40 * SECOND);
    for slot in 0..3 {
        assert!(world.alarms().contains(&Alarm::TemperatureLost { slot }));
        assert_eq!(world.state(slot), 3);
    }
    world.remove(1);
    assert!(!world.alarms().contains(&Alarm::TemperatureLost { slot: 1 }));
}

#[test]
fn a_missing_reading_counts_as_risen() {
    // 59 °C, and 0.5 K a second at worst: 20 s later it may be 69 °C.
    let mut world = warm();
    world.remove(1);
    world.remove(2);
    world.event(Event::Temperature { slot: 0, reading: celsius(59) });
    let start = world.now;
    while world.state(0) == 0 {
        assert!(world.step(start + 30 * SECOND), "never held lower");
    }
    let after = world.now - start;
    assert!((19 * SECOND..=22 * SECOND).contains(&after), "after {after} us");
}

#[test]
fn a_temperature_of_a_drive_without_limits_is_ignored() {
    let mut world = World::new(Config::new(watts(60), watts(0)), &[nameplate(&[(25, true), (10, true)])]);
    world.attach(0, drive(), 0);
    world.settle(10 * SECOND);
    for reading in [None, celsius(200), Some(Kelvin::new(0)), Some(Kelvin::MAX)] {
        for slot in [0, 1, 31, 32, 255] {
            assert_eq!(world.event(Event::Temperature { slot, reading }), []);
        }
    }
}

#[test]
fn a_temperature_that_stands_still_while_the_load_moves_is_told_and_lowers_the_drive() {
    let mut world = warm();
    let frozen = |world: &World| world.alarms().contains(&Alarm::TemperatureFrozen { slot: 1 });
    let working = WorkSet::of(Work::SequentialWrite);
    for slot in 0..3 {
        world.event(Event::Work { slot, seen: working });
    }
    // What the sensor of drive 1 shows is what it showed when it broke; the others follow their load.
    temperatures(&mut world, 300, |_| celsius(40));
    assert!(!frozen(&world), "nothing has changed, so nothing need move");
    for slot in 0..3 {
        world.event(Event::Work { slot, seen: WorkSet::NONE });
    }
    temperatures(&mut world, 100, |slot| celsius(if slot == 1 { 40 } else { 30 }));
    assert!(!frozen(&world));
    temperatures(&mut world, 40, |slot| celsius(if slot == 1 { 40 } else { 30 }));
    assert!(frozen(&world));
    temperatures(&mut world, 40, |slot| celsius(if slot == 1 { 40 } else { 30 }));
    assert_eq!((world.state(0), world.state(1), world.state(2)), (0, 3, 0));
    assert!(!world.alarms().contains(&Alarm::TemperatureLost { slot: 1 }));
    // It moves: it is believed again.
    temperatures(&mut world, 40, |_| celsius(31));
    assert!(!frozen(&world));
    assert_eq!(world.states(), [3, 0, 0]);
}

// ---- the drive's own thermal management ----

#[test]
fn a_drive_that_slows_itself_down_gets_lower_limits_and_is_told_of() {
    let mut world = warm();
    let counters = |light_transitions| ThrottleCounters { light_transitions, ..ThrottleCounters::default() };
    // 68 °C is cool, whatever the drive counted in its life before.
    world.event(Event::Throttling { slot: 1, counters: counters(700) });
    temperatures(&mut world, 10, |slot| celsius(if slot == 1 { 68 } else { 40 }));
    assert_eq!((world.state(1), world.alarms().len()), (0, 0));
    let commands = world.event(Event::Throttling { slot: 1, counters: counters(701) });
    assert_eq!(sets(&commands), [(1, 1, Reason::Heat)]);
    let lowered = |kelvins| Alarm::Throttled { slot: 1, lowered: Kelvin::new(kelvins) };
    assert_eq!(world.alarms(), [lowered(1)]);
    // It goes on by itself for an hour: down to ten kelvins and no further.
    for minute in 1..=60 {
        world.run_for(60 * SECOND);
        world.event(Event::Throttling { slot: 1, counters: counters(701 + minute) });
    }
    assert!(world.alarms().contains(&lowered(10)));
    world.run_for(11 * 3_600 * SECOND);
    assert!(!world.alarms().iter().any(|alarm| matches!(alarm, Alarm::Throttled { .. })));
}

#[test]
fn counters_of_a_drive_without_limits_are_ignored() {
    let mut world = World::new(Config::new(watts(60), watts(0)), &[nameplate(&[(25, true), (10, true)])]);
    world.attach(0, drive(), 0);
    world.settle(10 * SECOND);
    for count in [0, u32::MAX] {
        let counters = ThrottleCounters { heavy_transitions: count, ..ThrottleCounters::default() };
        for slot in [0, 1, 255] {
            assert_eq!(world.event(Event::Throttling { slot, counters }), []);
        }
    }
}

// ---- the chassis ----

/// Four drives of 25, 20, 15 and 10 W, watts enough for all; fans at their limit remove 100 W at 30 °C, failed ones 60
/// W; without coolant 50 W; nothing at 70 °C.
fn cooled() -> World {
    let cooling = CoolingConfig {
        fans_at_limit: watts(100),
        fans_failed: watts(60),
        coolant_lost: watts(50),
        design_inlet: celsius(30).expect("a temperature"),
        hottest_inlet: celsius(70).expect("a temperature"),
        dwell: Microseconds::from_secs(60),
        timeout: Microseconds::from_secs(30),
    };
    let config = Config { cooling: Some(cooling), ..Config::new(watts(1_000), watts(0)) };
    let mut world = World::new(config, &[nameplate(&[(25, true), (20, true), (15, true), (10, true)])]);
    for slot in 0..4 {
        world.attach(slot, drive(), 0);
    }
    world.settle(10 * SECOND);
    assert_eq!(world.states(), [4, 0, 0]);
    world
}

fn cooling(inlet: i32, fans: Fans, coolant_lost: bool) -> Event {
    Event::Cooling(Cooling { inlet: celsius(inlet), fans, coolant_lost })
}

/// The same report in every second.
fn reported(world: &mut World, seconds: u64, event: &Event) {
    for _ in 0..seconds {
        world.run_for(SECOND);
        world.event(event.clone());
    }
}

#[test]
fn drives_together_stay_within_what_the_chassis_removes() {
    let mut world = cooled();
    reported(&mut world, 10, &cooling(50, Fans::Regulating, false));
    assert_eq!((world.true_draws(), world.alarms().len()), (100_000, 0), "the fans have something to add");
    let commands = world.event(cooling(50, Fans::AtLimit, false));
    assert!(!sets(&commands).is_empty() && sets(&commands).iter().all(|(.., reason)| *reason == Reason::Cooling));
    assert_eq!(world.alarms(), [Alarm::CoolingReduced { missing: watts(50) }]);
    reported(&mut world, 30, &cooling(50, Fans::AtLimit, false));
    assert!((40_000..=50_000).contains(&world.true_draws()), "{}", world.describe());
    // Cooler again: not before a minute has passed.
    reported(&mut world, 50, &cooling(30, Fans::AtLimit, false));
    assert!(world.true_draws() <= 50_000, "{}", world.describe());
    reported(&mut world, 30, &cooling(30, Fans::AtLimit, false));
    assert_eq!(world.true_draws(), 100_000);
    reported(&mut world, 70, &cooling(30, Fans::Regulating, false));
    assert_eq!(world.alarms(), []);
}

#[test]
fn what_cannot_be_removed_is_told() {
    let mut world = cooled();
    world.event(cooling(40, Fans::Failed, true));
    // Of 50 W at 30 °C, three quarters: 37.5 W, and four drives take 40 W.
    reported(&mut world, 30, &cooling(40, Fans::Failed, true));
    assert!((0..4).all(|slot| world.state(slot) == 3));
    assert!(world.alarms().contains(&Alarm::CannotHold { missing: Milliwatts::new(2_500) }), "{:?}", world.alarms());
    assert!(world.alarms().contains(&Alarm::CoolingReduced { missing: Milliwatts::new(62_500) }));
}

#[test]
fn a_chassis_without_figures_has_no_limit() {
    let mut world = warm();
    for event in [cooling(120, Fans::Failed, true), cooling(-200, Fans::AtLimit, true)] {
        assert_eq!(world.event(event), []);
    }
}
