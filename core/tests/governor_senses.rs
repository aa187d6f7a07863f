//! The governor and what the meter tells it.

mod support;

use support::{MILLISECOND, SECOND, World, article_drive, drive, nameplate, sets, watts};
use wattline_core::governor::{Alarm, Config, Event, MeterConfig, Reason};
use wattline_core::profile::d5_p5336;
use wattline_core::units::{Microseconds, Milliwatts};

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
