//! Whole runs of the built-in scenarios under the real governor.

use wattline_core::journal::{Reader, Record};
use wattline_sim::calibration::Calibration;
use wattline_sim::outcome::{self, Outcome};
use wattline_sim::scenario::value::{Cap, Seconds, Share, parse_cap};
use wattline_sim::scenario::{self, Scenario};
use wattline_sim::trace::{Trace, Wire};
use wattline_sim::world::World;

fn load(name: &str) -> Scenario {
    scenario::load(name).unwrap_or_else(|error| panic!("{error}"))
}

fn capped(name: &str, cap: &str) -> Scenario {
    let mut scenario = load(name);
    if let Some(governor) = &mut scenario.governor {
        governor.cap_w = Cap(parse_cap(cap).unwrap_or_else(|error| panic!("{error}")));
    }
    scenario
}

fn run(scenario: &Scenario, seed: u64) -> (Outcome, Option<Trace>) {
    outcome::run(scenario, &Calibration::embedded(), seed, |_| {})
}

fn trace(scenario: &Scenario, seed: u64) -> Trace {
    World::new(scenario, &Calibration::embedded(), seed).run(|_| {})
}

#[track_caller]
fn assert_holds(outcome: &Outcome) {
    let failed: Vec<_> = outcome.checks.iter().filter(|check| !check.ok).collect();
    assert!(failed.is_empty() && !outcome.checks.is_empty(), "seed {}: {failed:#?}", outcome.seed);
}

fn failing(outcome: &Outcome) -> Vec<&str> {
    outcome.checks.iter().filter(|check| !check.ok).map(|check| check.name.as_str()).collect()
}

#[test]
fn the_eight_rows_are_the_articles() {
    for seed in 1..=20 {
        let (outcome, _) = run(&load("r760-article"), seed);
        assert_eq!(outcome.rows.len(), 8);
        assert_holds(&outcome);
    }
}

#[test]
fn the_cap_is_held_at_every_cap_and_seed_with_measured_and_with_nameplate_figures() {
    // The caps and seeds of the whole table; fewer seeds for nameplate figures, since these runs take a minute as it
    // is.
    for (name, seeds) in [("r760-write-cap", 5), ("r760-write-cap-nameplate", 1)] {
        for cap in ["760", "800", "825", "858", "900", "950", "1000", "1050"] {
            for seed in 1..=seeds {
                let (outcome, _) = run(&capped(name, cap), seed);
                assert_holds(&outcome);
            }
        }
    }
}

/// Expected: every split of 24 drives over the article's figures, counted apart from this program.
#[test]
fn nameplate_runs_name_the_optimum_by_measured_figures_too() {
    let mut short = capped("r760-write-cap-nameplate", "858");
    short.duration_s = Seconds(20.0);
    let (outcome, _) = run(&short, 1);
    let optimum = outcome.optimum.expect("it is steady");
    let two = |gb_s: Option<f64>| gb_s.map(|gb_s| (gb_s * 100.0).round() / 100.0);
    assert_eq!((two(optimum.gb_s), two(optimum.gb_s_measured)), (Some(36.32), Some(37.03)));
    let states = [outcome.uniform, outcome.uniform_measured].map(|uniform| uniform.map(|uniform| uniform.ps));
    assert_eq!(states, [Some(2), Some(1)]);
    let trusting = run(&capped("r760-write-cap", "858"), 1).0.optimum.expect("it is steady");
    assert_eq!(trusting.gb_s, trusting.gb_s_measured);
}

#[test]
fn the_true_watts_are_known_from_the_first_moment() {
    let mut short = load("r760-write-cap");
    short.duration_s = Seconds(2.0);
    let trace = trace(&short, 1);
    let (at, watts) = trace.power_w[0];
    assert!(at == 0 && watts > 462.0 + 24.0, "{watts} W at {at}");
}

#[test]
fn a_cap_below_the_floor_is_said_to_be_impossible_with_the_watts_that_are_missing() {
    let (outcome, _) = run(&capped("r760-write-cap", "720"), 1);
    let floor = outcome.checks.iter().find(|check| check.name == "floor").expect("it is checked");
    assert!(!floor.ok);
    assert!(
        floor.detail.contains("6.0 W missing to the cap") && floor.detail.contains("27.0 W to the margin"),
        "{floor:?}"
    );
    assert!(outcome.optimum.is_some_and(|optimum| optimum.gb_s.is_none()));
    let governed = outcome.governed.expect("it is governed");
    assert!(governed.alarms.iter().any(|alarm| alarm.raised && alarm.alarm.contains("missing")));
}

#[test]
fn undeclared_reads_are_shed() {
    for seed in 1..=10 {
        let (outcome, _) = run(&load("r760-undeclared-reads"), seed);
        assert_holds(&outcome);
        let sheds = &outcome.governed.expect("it is governed").sheds;
        assert!(sheds.iter().any(|shed| shed.cause == "8 drives turn to other work"), "{sheds:?}");
    }
}

#[test]
fn lost_late_and_refused_commands_and_resets_break_no_rule() {
    for name in ["r760-cap-drop", "r760-reset"] {
        for seed in 1..=20 {
            let (outcome, _) = run(&load(name), seed);
            assert_holds(&outcome);
        }
    }
}

#[test]
fn every_fault_comes_to_pass() {
    let count = |trace: &Trace, is: fn(&Wire) -> bool| trace.wire.iter().filter(|record| is(&record.what)).count();
    let dropped = trace(&load("r760-cap-drop"), 1);
    assert!(count(&dropped, |what| matches!(what, Wire::GivenUp { .. })) > 0);
    let late = answered_after(&dropped, 1_000_000);
    assert!(late, "some answer took more than a second");
    let reset = trace(&load("r760-reset"), 1);
    assert!(count(&reset, |what| matches!(what, Wire::Refused { .. })) > 0);
    assert_eq!(count(&reset, |what| matches!(what, Wire::Reset)), 4);
    assert_eq!(count(&reset, |what| matches!(what, Wire::Removed)), 1);
}

/// Whether some command was answered, and took longer than `span`.
fn answered_after(trace: &Trace, span: u64) -> bool {
    trace.wire.iter().any(|sent| match sent.what {
        Wire::Sent { id, .. } => trace.wire.iter().any(|answer| match answer.what {
            Wire::Answered { id: to, .. } | Wire::Read { id: to, .. } => id == to && answer.at > sent.at + span,
            _ => false,
        }),
        _ => false,
    })
}

#[test]
fn a_lost_command_ends_in_a_reset_after_the_hosts_timeout_and_not_before() {
    let mut scenario = load("r760-write-cap");
    scenario.faults.lost = Share(1.0);
    scenario.faults.host_timeout_s = Seconds(7.0);
    scenario.duration_s = Seconds(20.0);
    let trace = trace(&scenario, 1);
    let first = trace.wire.iter().find(|record| matches!(record.what, Wire::GivenUp { .. })).expect("all are lost");
    assert_eq!(first.at, 7_000_000);
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    for name in ["r760-article", "r760-write-cap", "r760-cap-drop"] {
        let bytes = |seed| {
            let (outcome, trace) = run(&load(name), seed);
            (serde_json::to_string(&outcome).expect("it is JSON"), trace.map(|trace| trace.journal))
        };
        assert_eq!(bytes(3), bytes(3), "{name}");
        assert_ne!(bytes(3).0, bytes(4).0, "{name}");
    }
}

#[test]
fn the_journal_is_whole() {
    let trace = trace(&load("r760-cap-drop"), 1);
    let records: Vec<_> = Reader::new(&trace.journal).map(|frame| frame.content).collect();
    assert!(records.iter().all(Result::is_ok));
    assert!(matches!(records[0], Ok(Record::Start { .. })));
    assert!(records.len() > 1000);
}

#[test]
fn the_json_has_the_agreed_keys() {
    let (outcome, _) = run(&load("r760-write-cap"), 1);
    let json = serde_json::to_value(&outcome).expect("it is JSON");
    for key in ["cap_w", "margin_w", "mean_w", "max_1s_w", "max_1s_w_all", "gb_s", "shed_ms", "drive_gb_s"] {
        assert!(!json["governed"][key].is_null(), "{key}");
    }
    for (group, key) in [
        ("uniform", "ps"),
        ("uniform", "gb_s"),
        ("uniform_measured", "gb_s"),
        ("optimum", "gb_s"),
        ("optimum", "gb_s_measured"),
        ("optimum", "gb_s_at_cap"),
    ] {
        assert!(json[group][key].is_number(), "{group}.{key}");
    }
    let (outcome, _) = run(&load("r760-article"), 1);
    let json = serde_json::to_value(&outcome).expect("it is JSON");
    assert!(json["rows"][1]["ps"].is_null() && json["rows"][1]["simulated_gb_s"].is_null());
    assert_eq!(json["rows"][2]["work"], "sequential-read");
}

/// Faults of the simulated world itself: the checkers must see them.
#[test]
fn planted_faults_are_found() {
    let mut slow = load("r760-write-cap");
    slow.expect.shed_s = Some(Seconds(0.1));
    assert_eq!(failing(&run(&slow, 1).0), ["shed"]);

    // Drives that are up to 10 % off their profile, under a governor that keeps no margin and sees no meter: with seed
    // 9 they take so much more together that the cap is never kept.
    let mut hungry = load("r760-write-cap");
    if let Some(governor) = &mut hungry.governor {
        governor.meter = false;
        governor.margin_w = scenario::value::Watts(wattline_core::units::Milliwatts::ZERO);
    }
    hungry.drives.spread_percent = 10.0;
    let found = run(&hungry, 9).0;
    assert!(["shed", "window"].iter().all(|check| failing(&found).contains(check)), "{:?}", found.checks);

    let mut unfair = load("r760-write-cap");
    if let Some(governor) = &mut unfair.governor {
        governor.rotation_s = Some(Seconds(1000.0));
    }
    assert_eq!(failing(&run(&unfair, 1).0), ["fair"]);
}

#[test]
fn a_report_stands_alone() {
    let scenario = load("r760-cap-drop");
    let (outcome, trace) = run(&scenario, 1);
    let page = wattline_sim::report::page(&scenario, &outcome, trace.as_ref(), &outcome.rows);
    assert!(page.starts_with("<!DOCTYPE html>") && page.matches("<svg").count() >= 4);
    for outside in ["http://", "https://", "<script", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
}
