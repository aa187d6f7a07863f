//! The energy policy on every posted power table with non-operational states: what it promises, and the study as a
//! document.
//!
//! The document is written by
//! `cargo run --release -p wattline-sim -- idle-study host-linux/data/drives.json > sim/IDLE-STUDY.md`.

use std::fs;
use std::path::Path;

use wattline_core::apst::energy::{self, Parameters, PerMille};
use wattline_core::apst::gaps::Gaps;
use wattline_core::apst::quirk::Effects;
use wattline_core::apst::{Plan, Tolerance};
use wattline_core::nvme::PowerState;
use wattline_core::nvme::feature::autonomous_transitions::{Table, Transition};
use wattline_core::units::Microseconds;
use wattline_sim::idle::catalogue::{self, PowerTable};
use wattline_sim::idle::drive::Truth;
use wattline_sim::idle::families::Family;
use wattline_sim::idle::markdown;
use wattline_sim::idle::study::{self, Policy, TOLERANCE};

const CATALOGUE: &str = "host-linux/data/drives.json";

fn tables() -> Vec<PowerTable> {
    catalogue::read(&read(CATALOGUE)).expect("a list of drives")
}

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace's directory");
    fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn recorded(gaps: impl IntoIterator<Item = Microseconds>) -> Gaps {
    let mut recorded = Gaps::new();
    gaps.into_iter().for_each(|gap| recorded.record(gap));
    recorded
}

fn with_histogram(drive: &PowerTable, gaps: &Gaps) -> Plan {
    let parameters = Parameters { least_gaps: 1, ..Parameters::default() };
    energy::build(&drive.drive(), Tolerance::AtMost(TOLERANCE), Effects::NONE, &parameters, Some(gaps))
}

fn cost(drive: &PowerTable, table: &Table, gaps: &Gaps) -> u128 {
    let cost = energy::expected(&drive.drive(), table, PowerState::PS0, gaps);
    cost.expect("it reports enough").tenths_of_nanojoule()
}

#[test]
fn the_study_holds_what_is_promised_and_is_the_document() {
    let study = study::run(tables(), 1, 4000);
    assert_eq!(study.drives.iter().map(|drive| drive.posts).sum::<usize>(), 527);

    // On the recorded gaps as they are held, the kernel's table is never better.
    assert_eq!(study.held.len(), study.drives.len() * Family::ALL.len());
    for (at, family, ours, linux) in &study.held {
        assert!(ours <= linux, "{} on {}", study.drives[*at].name, family.name());
    }
    // Without a histogram: at most twice the clairvoyant's energy, on any gaps, where nothing lies on the way down; and
    // elsewhere at most what theory says.
    for (promise, drive) in study.promises.iter().zip(&study.drives) {
        let bound = if promise.useful == 1 { 2000 } else { (promise.useful as u64 + 1) * 1000 };
        assert!(promise.worst <= PerMille(bound), "{}: {promise:?}", drive.name);
    }
    for result in study.results.iter().filter(|result| result.truth == Truth::Assumed) {
        let name = &study.drives[result.drive].name;
        let promise = study.promises[result.drive];
        if result.policy == Policy::Energy {
            assert!(result.of_clairvoyant * 1000.0 <= promise.worst.0 as f64, "{name}: {result:?}");
        }
        assert!(result.of_clairvoyant >= 1.0 && result.longest_wait_ms <= 100.0, "{name}: {result:?}");
    }

    let command = format!("wattline-sim idle-study {CATALOGUE}");
    let document = markdown::document(&study, &command);
    let written = read("sim/IDLE-STUDY.md");
    let differs = document.lines().zip(written.lines()).find(|(now, then)| now != then);
    assert!(document == written, "sim/IDLE-STUDY.md is not what the program prints now: {differs:?}");
}

/// Every table through every set of targets with waits of 1 to 60 ms, on gaps up to 60 ms; and the
/// kernel's.
#[test]
fn no_table_of_whole_milliseconds_is_better_on_recorded_gaps() {
    let gaps = Family::Busy.gaps(5, 3000).into_iter().chain(Family::Heartbeat.gaps(5, 300));
    let gaps = recorded(gaps.map(|micros| Microseconds::new(micros.min(60_000))));
    let drives = tables();
    for drive in drives.iter().step_by(7) {
        let found = cost(drive, &with_histogram(drive, &gaps).table, &gaps);
        let admitted = |state: &PowerState| {
            let latency = drive.states[state.index()].round_trip_latency();
            drive.states[state.index()].non_operational && latency.is_some_and(|latency| latency <= TOLERANCE)
        };
        let numbers = (0..drive.states.len()).filter_map(|number| PowerState::new(u8::try_from(number).ok()?));
        let targets: Vec<_> = numbers.filter(admitted).collect();
        let mut ways: Vec<(Table, PowerState)> = vec![(Table::EMPTY, PowerState::PS0)];
        while let Some((table, at)) = ways.pop() {
            let least = cost(drive, &table, &gaps);
            assert!(found <= least, "{}: {table:?} costs {least}, ours {found}", drive.name);
            for target in targets.iter().filter(|target| **target > at) {
                for wait in 1..=60 {
                    let mut longer = table;
                    longer.set(at, Transition::new(*target, wait));
                    ways.push((longer, *target));
                }
            }
        }
        let linux = Policy::Linux.table(drive, &gaps);
        assert!(found <= cost(drive, &linux, &gaps), "{}", drive.name);
    }
}
