//! Scenarios of faults: the real governor passes each, and the wrong policy that each names does not.

use std::ops::RangeInclusive;

use wattline_core::governor::Event;
use wattline_core::journal::{Reader, Record};
use wattline_sim::calibration::Calibration;
use wattline_sim::faults::{self, Fault};
use wattline_sim::outcome::{self, Outcome};
use wattline_sim::policy::Wrong;
use wattline_sim::scenario::{self, builtin};
use wattline_sim::world::World;

fn run(fault: &Fault, seed: u64, wrong: Option<Wrong>) -> Outcome {
    let scenario = scenario::load(fault.scenario).unwrap_or_else(|error| panic!("{error}"));
    outcome::run_under(&scenario, &Calibration::embedded(), seed, wrong, |_| {}).0
}

/// Fewer for long runs, since these take seconds each.
fn seeds(fault: &Fault) -> RangeInclusive<u64> {
    if fault.scenario == "fault-flips" { 1..=1 } else { 1..=5 }
}

fn failed(outcome: &Outcome) -> Vec<(&str, &str)> {
    let failed = outcome.checks.iter().filter(|check| !check.ok);
    failed.map(|check| (check.name.as_str(), check.detail.as_str())).collect()
}

#[test]
fn the_real_governor_passes() {
    for fault in &faults::ALL {
        for seed in seeds(fault) {
            let outcome = run(fault, seed, None);
            assert!(outcome.holds(), "{}, seed {seed}: {:#?}", fault.scenario, failed(&outcome));
        }
    }
}

#[test]
fn the_wrong_policy_fails_by_the_named_check() {
    for fault in &faults::ALL {
        for (seed, (wrong, check)) in seeds(fault).flat_map(|seed| fault.finds.iter().map(move |found| (seed, found))) {
            let outcome = run(fault, seed, Some(*wrong));
            let failed = failed(&outcome);
            let found = failed.iter().any(|(name, _)| name == check);
            assert!(found, "{}, seed {seed}, {}: {failed:#?}", fault.scenario, wrong.name());
        }
    }
}

/// A broken temperature sensor leaves with its drive: the one that is put into the slot can be read.
#[test]
fn a_new_drive_has_a_sensor_of_its_own() {
    const TEXT: &str = r#"
        name = "swapped"
        description = "A drive whose sensor is broken is swapped"
        duration_s = 30
        drives = { count = 1 }
        job = [{ work = "sequential-write" }]
        sensor = [{ at_s = 5.5, drives = "0", fault = "absent" }]
        removal = [{ at_s = 10.5, drives = "0" }]
        insertion = [{ at_s = 20.5, drives = "0" }]
        governor = { cap_w = 600, margin_w = 21, warning_c = 70 }
    "#;
    let scenario = scenario::parse("swapped", TEXT).unwrap_or_else(|error| panic!("{error}"));
    let journal = World::new(&scenario, &Calibration::embedded(), 1).run(|_| {}).journal;
    let records = Reader::new(&journal).map(|frame| frame.content.unwrap_or_else(|error| panic!("{error}")));
    let read = records.filter_map(|record| match record {
        Record::Event { at, event: Event::Temperature { reading, .. } } => Some((at.as_micros(), reading.is_some())),
        _ => None,
    });
    // The clock of the governor is the virtual one, since nobody sets it back.
    let readable: Vec<u64> = read.filter(|(_, readable)| *readable).map(|(at, _)| at / 1_000_000).collect();
    // The drive answers the last question after the end.
    let expected: Vec<u64> = (1..=5).chain(21..=29).collect();
    assert_eq!(readable, expected);
}

/// The table is printed by `cargo run -p wattline-sim -- faults`.
#[test]
fn the_table_in_the_documentation_is_what_happens() {
    let document = include_str!("../SCENARIOS.md");
    let (_, rest) = document.split_once("<!-- table: faults -->\n").expect("the beginning of the table");
    let (table, _) = rest.split_once("<!-- end of table: faults -->").expect("its end");
    let expected = faults::markdown(1).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(table.trim(), expected.trim());
}

#[test]
fn every_scenario_of_a_fault_and_every_wrong_policy_is_in_the_table() {
    let names = || builtin::ALL.iter().map(|(name, _)| *name).filter(|name| name.starts_with("fault-"));
    assert!(names().eq(faults::ALL.iter().map(|fault| fault.scenario)));
    for wrong in Wrong::ALL {
        assert!(faults::ALL.iter().any(|fault| fault.finds.iter().any(|(found, _)| *found == wrong)), "{wrong:?}");
        assert_eq!(Wrong::named(wrong.name()), Some(wrong));
    }
}
