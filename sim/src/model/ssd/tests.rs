use wattline_core::apst::Drive;
use wattline_core::nvme::feature::autonomous_transitions::Transition;
use wattline_core::nvme::{Power, PowerScale, PowerState, PowerStateDescriptor, ScaledPower};
use wattline_core::units::Microseconds;

use super::*;
use crate::calibration::Calibration;
use crate::time::SECOND;

fn reference(initial: usize) -> Ssd {
    Ssd::new(Arc::new(Calibration::embedded().ssd), Spread::NONE, initial, 0, 25.0)
}

fn writing() -> Demand {
    Demand { work: Work::SequentialWrite, block_bytes: 128 * 1024, queue_depth: 64, rate_limit_gb_s: None }
}

/// Lets the drive work for itself until `until`; returns each moment at which its watts changed.
fn run(drive: &mut Ssd, mut now: Micros, until: Micros) -> Vec<(Micros, f64)> {
    let mut steps = Vec::new();
    loop {
        drive.run(now, drive.offer_gb_s());
        steps.push((now, drive.flow().own_w));
        let next = drive.next_change().unwrap_or(until).min(until);
        drive.advance(next - now);
        now = next;
        if now == until {
            return steps;
        }
        drive.apply_due(now);
    }
}

#[test]
fn each_state_gives_what_its_row_says() {
    for (state, gb_s) in [(0, 82.5 / 24.0), (1, 34.4 / 24.0), (2, 17.3 / 24.0)] {
        let mut drive = reference(state);
        drive.set_demand(0, Some(writing()));
        run(&mut drive, 0, 10 * SECOND);
        assert!((drive.flow().gb_s - gb_s).abs() < 1e-9, "PS{state}: {:?}", drive.flow());
        assert!((drive.moved_gb() - 10.0 * gb_s).abs() < 1e-6, "PS{state}");
    }
}

#[test]
fn energy_is_watts_times_time() {
    let mut drive = reference(1);
    drive.set_demand(0, Some(writing()));
    let mut steps = run(&mut drive, 0, 3 * SECOND);
    drive.enter(3 * SECOND, 2);
    steps.extend(run(&mut drive, 3 * SECOND, 7 * SECOND));
    let ends = steps.iter().skip(1).map(|step| step.0).chain([7 * SECOND]);
    let area: f64 = steps.iter().zip(ends).map(|(&(from, watts), to)| watts * seconds(to - from)).sum();
    assert!((drive.energy_j() - area).abs() < 1e-9, "{} {area}", drive.energy_j());
}

#[test]
fn power_moves_to_the_new_limit_within_the_settling_time() {
    let mut drive = reference(0);
    drive.set_demand(0, Some(writing()));
    run(&mut drive, 0, SECOND);
    let (high_w, model) = (drive.flow().own_w, drive.model().clone());
    drive.enter(SECOND, 2);
    let steps = run(&mut drive, SECOND, 2 * SECOND);
    assert_eq!(steps[0].1, high_w, "nothing has moved yet");
    assert!(steps.windows(2).all(|pair| pair[1].1 <= pair[0].1 + 1e-9), "{steps:?}");
    let settled = SECOND + micros(model.settling_s);
    let low_w = model.states[2].limit_w[Work::SequentialWrite];
    for (at, watts) in steps.iter().filter(|(at, _)| *at >= settled) {
        assert!((watts - low_w).abs() < 1e-9, "{at}: {watts} {low_w}");
    }
    assert!(drive.is_settled());
}

#[test]
fn credit_lets_a_drive_run_free_for_as_long_as_the_bucket_says() {
    let mut drive = reference(2);
    run(&mut drive, 0, SECOND);
    drive.set_demand(SECOND, Some(writing()));
    let steps = run(&mut drive, SECOND, 2 * SECOND);
    let limit_w = drive.model().states[2].limit_w[Work::SequentialWrite];
    let (_, free_w) = steps[0];
    let (empty_at, limited_w) = steps[1];
    assert!(free_w > 2.0 * limit_w);
    let expected_s = CREDIT_S * limit_w / (free_w - limit_w);
    assert!((seconds(empty_at - SECOND) - expected_s).abs() < 2e-6, "{} {expected_s}", seconds(empty_at - SECOND));
    assert!((limited_w - limit_w).abs() < 1e-9);
    assert_eq!(steps.len(), 2, "an emptied bucket does not chatter");
}

#[test]
fn no_second_exceeds_the_limit_by_more_than_the_bucket() {
    let mut drive = reference(2);
    run(&mut drive, 0, SECOND);
    let before_j = drive.energy_j();
    drive.set_demand(SECOND, Some(writing()));
    run(&mut drive, SECOND, 2 * SECOND);
    let mean_w = drive.energy_j() - before_j;
    let limit_w = drive.model().states[2].limit_w[Work::SequentialWrite];
    assert!(mean_w <= limit_w * (1.0 + CREDIT_S) + 1e-4, "{mean_w} {limit_w}");
}

#[test]
fn a_reset_ends_in_the_fallback_state() {
    let mut drive = reference(2);
    drive.set_demand(0, Some(writing()));
    drive.reset(SECOND);
    assert_eq!(drive.held(), None);
    drive.run(SECOND, drive.offer_gb_s());
    assert_eq!(drive.flow().gb_s, 0.0);
    run(&mut drive, SECOND, 2 * SECOND);
    assert_eq!(drive.held(), Some(0));
    assert!(drive.flow().gb_s > 3.0);
}

/// A drive that goes from PS1 to PS3 after a second: 50 mW, 20 ms to enter, 10 ms to leave.
fn sleeper() -> Ssd {
    let power = |count| Power::new(count, PowerScale::TenMilliwatts);
    let awake =
        PowerStateDescriptor { max_power: power(1000), idle_power: ScaledPower::of(power(550)), ..Default::default() };
    let asleep = PowerStateDescriptor {
        idle_power: ScaledPower::of(power(5)),
        non_operational: true,
        entry_latency: Some(Microseconds::from_millis(20)),
        exit_latency: Some(Microseconds::from_millis(10)),
        ..Default::default()
    };
    let states = [awake, awake, awake, asleep];
    let mut table = Table::EMPTY;
    table.set(PowerState::new(1).unwrap(), Transition::new(PowerState::new(3).unwrap(), 1000));
    let sleeper = Sleeper::new(&Drive { states: &states, supported: None }).unwrap();
    let model = SsdModel { sleep: Some(Sleep { sleeper, table }), ..Calibration::embedded().ssd };
    Ssd::new(Arc::new(model), Spread::NONE, 1, 0, 25.0)
}

/// As [`run`], without the moments at which only its credit changed.
fn watts(drive: &mut Ssd, now: Micros, until: Micros) -> Vec<(Micros, f64)> {
    let mut steps = run(drive, now, until);
    steps.dedup_by_key(|step| step.1);
    steps
}

#[test]
fn an_idle_drive_goes_to_sleep_by_itself() {
    let mut drive = sleeper();
    let steps = watts(&mut drive, 0, 10 * SECOND);
    assert_eq!(steps, [(0, 5.5), (SECOND, 10.0), (SECOND + 20_000, 0.05)]);
    assert_eq!((drive.held(), drive.wakes()), (Some(1), &[][..]));
}

#[test]
fn work_wakes_a_sleeping_drive_after_the_exit_latency_and_its_end_lets_it_sleep_again() {
    let mut drive = sleeper();
    run(&mut drive, 0, 2 * SECOND);
    drive.set_demand(2 * SECOND, Some(writing()));
    let steps = watts(&mut drive, 2 * SECOND, 4 * SECOND);
    assert_eq!((steps[0].1, steps[1].0), (10.0, 2 * SECOND + 10_000));
    assert!(drive.flow().gb_s > 1.0 && drive.held() == Some(1), "the operational state that it held");
    assert_eq!(drive.wakes(), [Wake { at: 2 * SECOND, cause: Cause::Work, waited: 10_000 }]);
    drive.set_demand(4 * SECOND, None);
    let steps = watts(&mut drive, 4 * SECOND, 6 * SECOND);
    assert_eq!(steps[steps.len() - 2..], [(5 * SECOND, 10.0), (5 * SECOND + 20_000, 0.05)]);
}

#[test]
fn an_admin_command_is_served_awake_and_restarts_the_idle_time() {
    let mut drive = sleeper();
    run(&mut drive, 0, SECOND + 5_000);
    // 15 ms of the entry are left, then the exit, then the command.
    assert_eq!(drive.serve(SECOND + 5_000, 2_000, Cause::Poll), SECOND + 32_000);
    let steps = watts(&mut drive, SECOND + 5_000, 3 * SECOND);
    let asleep_again = 2 * SECOND + 32_000;
    assert_eq!(
        steps,
        [(SECOND + 5_000, 10.0), (SECOND + 30_000, 5.5), (asleep_again, 10.0), (asleep_again + 20_000, 0.05)]
    );
    // A drive that is awake is kept awake.
    let mut awake = sleeper();
    run(&mut awake, 0, SECOND / 2);
    assert_eq!(awake.serve(SECOND / 2, 2_000, Cause::Poll), SECOND / 2 + 2_000);
    assert_eq!(watts(&mut awake, SECOND / 2, SECOND + SECOND / 2), [(SECOND / 2, 5.5)]);
    assert!(awake.wakes().is_empty());
}

#[test]
fn a_reset_or_a_pull_ends_sleep() {
    let mut drive = sleeper();
    run(&mut drive, 0, 2 * SECOND);
    drive.reset(2 * SECOND);
    let steps = watts(&mut drive, 2 * SECOND, 10 * SECOND);
    assert!(steps.iter().all(|step| step.1 == 5.5), "PS0 has no entry in the table: {steps:?}");
    drive.remove();
    assert_eq!(watts(&mut drive, 10 * SECOND, 12 * SECOND), [(10 * SECOND, 0.0)]);
}

#[test]
fn a_drive_that_was_pulled_takes_and_gives_nothing() {
    let mut drive = reference(0);
    drive.set_demand(0, Some(writing()));
    drive.remove();
    run(&mut drive, 0, SECOND);
    assert_eq!((drive.energy_j(), drive.moved_gb(), drive.held()), (0.0, 0.0, None));
}

#[test]
fn spread_scales_what_it_takes_and_what_it_gives() {
    let model = Arc::new(Calibration::embedded().ssd);
    let mut drive = Ssd::new(Arc::clone(&model), Spread { watts: 1.02, rate: 0.98 }, 0, 0, 25.0);
    drive.set_demand(0, Some(writing()));
    drive.run(0, drive.offer_gb_s());
    assert!((drive.flow().own_w - 1.02 * model.states[0].limit_w[Work::SequentialWrite]).abs() < 1e-9);
    assert!((drive.flow().gb_s - 0.98 * 82.5 / 24.0).abs() < 1e-9);
}
