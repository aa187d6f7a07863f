//! The governor and what it is told of the world: the meter, and the temperatures.

mod support;

use support::{MILLISECOND, SECOND, World, article_drive, drive, nameplate, sets, watts};
use wattline_core::governor::{Alarm, Config, DriveConfig, Event, MeterConfig, Reason, Slot};
use wattline_core::profile::d5_p5336;
use wattline_core::thermal::ThermalLimits;
use wattline_core::units::{Kelvin, Microseconds, Milliwatts};

/// The article's server with a meter of its kind.
fn metered(cap: u32, stuck_after: Option<Microseconds>) -> World {
    let meter = MeterConfig {
        quantum: watts(33),
        noise: watts(2),
        full_scale: watts(3_000),
        timeout: Microseconds::from_secs(5),
        stuck_after,
    };
    let config = Config { trust_measured: true, meter: Some(meter), ..Config::new(watts(cap), watts(462)) };
    let mut world = World::new(config, &[d5_p5336()]);
    world.event(Event::Meter(Some(watts(1_000))));
    for slot in 0..24 {
        world.attach(slot, article_drive(), 0);
    }
    world.run_metered(30, honest);
    world
}

/// Base load and drives, as the article's meter would round them, with a digit that lives.
fn honest(world: &World) -> u64 {
    let milliwatts = 462_000 + world.true_draws();
    milliwatts.div_euclid(33_000) * 33_000 + world.now / SECOND % 2
}

fn lost(world: &World) -> bool {
    world.alarms().contains(&Alarm::MeterLost)
}

fn above(world: &World) -> Option<Milliwatts> {
    world.alarms().iter().find_map(|alarm| match alarm {
        Alarm::MeterAbovePrediction { surplus } => Some(*surplus),
        _ => None,
    })
}

// ---- the meter ----

#[test]
fn an_honest_meter_changes_nothing() {
    let mut world = metered(1050, None);
    world.run_metered(120, honest);
    assert_eq!(world.alarms(), []);
    world.settle(10 * SECOND);
    assert_eq!(world.states(), [21, 1, 2]);
}

#[test]
fn a_meter_above_prediction_takes_away_at_once_and_gives_back_slowly() {
    let mut world = metered(1050, None);
    let full = world.watched.governor.ledger().allowance();
    // The prediction is at most the cap; half a quantum and the noise are forgiven.
    let commands = world.event(Event::Meter(Some(watts(1_150))));
    let surplus = above(&world).expect("an alarm");
    assert!(surplus >= watts(1_150 - 1_050 - 19), "{surplus}");
    let low = world.watched.governor.ledger().allowance();
    assert!(low <= full.saturating_sub(watts(81)), "{low} of {full}");
    assert!(!sets(&commands).is_empty(), "{commands:?}");
    assert!(sets(&commands).iter().all(|(.., reason)| *reason == Reason::Shed), "{commands:?}");
    world.run_metered(5, honest);
    assert!(world.watched.ledger.draws() <= u64::from(low.get()) + 5_000, "{}", world.describe());
    // Five seconds later next to nothing has been given back; an hour later, all.
    let after = world.watched.governor.ledger().allowance();
    assert!(after <= low.saturating_add(watts(5)), "{after} after {low}");
    world.run_metered(3_600, honest);
    assert_eq!(world.watched.governor.ledger().allowance(), full);
    assert_eq!(above(&world), None);
    world.settle(10 * SECOND);
    assert_eq!(world.states(), [21, 1, 2]);
}

#[test]
fn a_meter_below_prediction_never_gives_more_than_the_configuration() {
    let mut world = metered(1050, None);
    world.run_metered(600, |world| honest(world) - 200_000);
    assert_eq!(world.watched.governor.ledger().allowance(), watts(588));
}

#[test]
fn a_dead_meter_means_nameplate_figures_and_an_alarm() {
    for silent in [true, false] {
        let mut world = metered(1050, None);
        assert!(!lost(&world));
        let start = world.now;
        while !lost(&world) {
            world.run_for(100 * MILLISECOND);
            if !silent {
                world.event(Event::Meter(None));
            }
            assert!(world.now <= start + 6 * SECOND, "no alarm, silent: {silent}");
        }
        assert!(world.now >= start + 4 * SECOND, "it may be quiet for 5 s");
        // PS1 counts at 15.125 W measured, at 15 W nameplate; PS2 at 11 W or 10 W; PS0 at 26.125 W: the larger ones.
        world.run_for(30 * SECOND);
        world.settle(10 * SECOND);
        assert_eq!(world.alarms(), [Alarm::MeterLost]);
        // It is back.
        world.event(Event::Meter(Some(watts(1_023))));
        assert!(!lost(&world));
    }
}

#[test]
fn without_a_meter_a_measured_figure_below_the_nameplate_does_not_count() {
    // Measured 26.125, 15.125 and 11 W, and with the overhead the nameplates are higher: 27, 17 and 12 W.
    let meter = MeterConfig {
        quantum: watts(33),
        noise: watts(2),
        full_scale: watts(3_000),
        timeout: Microseconds::from_secs(5),
        stuck_after: None,
    };
    let config = Config {
        trust_measured: true,
        overhead: watts(2),
        meter: Some(meter),
        ..Config::new(watts(462 + 24 * 11), watts(462))
    };
    let mut world = World::new(config, &[d5_p5336()]);
    for slot in 0..24 {
        world.attach(slot, article_drive(), 2);
    }
    world.run_metered(10, honest);
    assert_eq!(world.alarms(), []);
    world.run_for(6 * SECOND);
    let missing = watts(24);
    assert!(world.alarms().contains(&Alarm::CannotHold { missing }), "{:?}", world.alarms());
    assert!(lost(&world));
    world.run_metered(5, honest);
    assert_eq!(world.alarms(), []);
}

#[test]
fn a_meter_that_never_moves_is_lost() {
    let mut world = metered(1050, Some(Microseconds::from_secs(60)));
    assert_eq!(world.alarms(), []);
    world.run_metered(70, |_| 1_023_000);
    assert!(lost(&world));
    world.run_metered(5, honest);
    assert!(!lost(&world));
}

#[test]
fn an_absurd_reading_is_not_believed_in_silence() {
    for absurd in [0, 1, 4_000_000_000] {
        let mut world = metered(1050, None);
        let before = world.watched.governor.ledger().allowance();
        world.run_metered(10, |_| absurd);
        assert!(world.watched.governor.ledger().allowance() <= before);
        assert!(lost(&world) || above(&world).is_some(), "{absurd} mW: {:?}", world.alarms());
        world.run_metered(10, honest);
        assert!(!lost(&world));
    }
}

#[test]
fn readings_without_a_meter_are_ignored() {
    let mut world = World::new(Config::new(watts(60), watts(0)), &[nameplate(&[(25, true), (10, true)])]);
    world.attach(0, drive(), 0);
    world.settle(10 * SECOND);
    for reading in [None, Some(watts(0)), Some(Milliwatts::MAX)] {
        assert_eq!(world.event(Event::Meter(reading)), []);
    }
}

// ---- heat ----

fn celsius(celsius: i32) -> Option<Kelvin> {
    Kelvin::from_celsius(celsius)
}

/// Three drives of 25, 20, 15 and 10 W whose heat counts from 60, 65 and 70 °C on; watts enough for all.
fn warm() -> World {
    let profile = nameplate(&[(25, true), (20, true), (15, true), (10, true)]);
    let mut world = World::new(Config::new(watts(100), watts(0)), &[profile]);
    let thermal = Some(ThermalLimits::from_thresholds(celsius(70), None));
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
    for (temperature, state) in [(60, 1), (65, 2), (70, 3)] {
        let commands = world.event(Event::Temperature { slot: 1, reading: celsius(temperature) });
        assert_eq!(sets(&commands), [(1, state, Reason::Heat)]);
        temperatures(&mut world, 30, |slot| celsius(if slot == 1 { temperature } else { 40 }));
        assert_eq!((world.state(0), world.state(1), world.state(2)), (0, state, 0));
    }
    // Just below a threshold is not cool enough; below the hysteresis, for some time, is.
    temperatures(&mut world, 60, |slot| celsius(if slot == 1 { 68 } else { 40 }));
    assert_eq!(world.state(1), 3);
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
    // 50 °C, and 0.5 K a second at worst: 20 s later it may be 60 °C.
    let mut world = warm();
    world.remove(1);
    world.remove(2);
    world.event(Event::Temperature { slot: 0, reading: celsius(50) });
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
