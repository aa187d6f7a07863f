//! The kernel's rule once more, from its consequences instead of its loop, and every small table.

use wattline_core::apst::quirk::{Effect, Effects};
use wattline_core::apst::{Drive, Fate, StateSet, Tolerance, linux};
use wattline_core::nvme::PowerStateDescriptor;

use crate::{idle, micros, operational, ps};

/// Source state to target and milliseconds.
type NaiveTable = Vec<Option<(usize, u64)>>;

/// In two tiers there are at most two targets: the deepest state of the primary tier, and the deepest of the secondary
/// one if it is deeper still. In 2 % mode every eligible state is a target of the ones just above it.
fn naive(states: &[PowerStateDescriptor], cap: Option<u64>, no_deepest: bool, two_tier: bool) -> NaiveTable {
    let micros_of = |latency: Option<wattline_core::units::Microseconds>| latency.map_or(0, |latency| latency.get());
    let exit = |state: usize| micros_of(states[state].exit_latency);
    let total = |state: usize| exit(state) + micros_of(states[state].entry_latency);
    let eligible: Vec<usize> = (0..states.len())
        .filter(|&state| states[state].non_operational)
        .filter(|&state| !(no_deepest && state + 1 == states.len()))
        .filter(|&state| cap.is_none_or(|cap| exit(state) <= cap))
        .collect();
    let targets: Vec<(usize, u64)> = if two_tier {
        let primary = eligible.iter().copied().filter(|&state| total(state) <= 15_000).max();
        let in_second = |state: &usize| (15_001..=100_000).contains(&total(*state)) && Some(*state) > primary;
        let secondary = eligible.iter().copied().filter(in_second).max();
        primary.map(|state| (state, 100)).into_iter().chain(secondary.map(|state| (state, 2_000))).collect()
    } else {
        let time = |state| if total(state) % 20 == 0 { total(state) / 20 } else { total(state) / 20 + 1 };
        eligible.iter().map(|&state| (state, time(state).min(16_777_215))).collect()
    };
    if cap == Some(0) {
        return vec![None; states.len()];
    }
    (0..states.len()).map(|source| targets.iter().copied().find(|&(target, _)| target > source)).collect()
}

fn raw(entry: Option<(usize, u64)>) -> u64 {
    entry.map_or(0, |(target, milliseconds)| u64::try_from(target).unwrap() << 3 | milliseconds << 8)
}

/// The values meet both tiers' limits and the tolerances exactly, and miss them by one.
fn choices() -> Vec<PowerStateDescriptor> {
    let mut choices = vec![operational(7, 9)];
    for entry in [0, 5_000, 90_000] {
        choices.extend([0, 10_000, 10_001, 50_000].map(|exit| idle(entry, exit)));
    }
    choices
}

const CAPS: [Option<u64>; 7] = [None, Some(0), Some(1), Some(9_999), Some(10_000), Some(10_001), Some(50_000)];

#[test]
fn every_table_of_up_to_four_states_is_the_naive_one() {
    let choices = choices();
    let (mut tables, mut cases) = (0, 0);
    for count in 0..=4 {
        for mut number in 0..choices.len().pow(count) {
            let mut states = Vec::new();
            for _ in 0..count {
                states.push(choices[number % choices.len()]);
                number /= choices.len();
            }
            tables += 1;
            for no_deepest in [false, true] {
                for two_tier in [true, false] {
                    let tables = CAPS.map(|cap| (cap, naive(&states, cap, no_deepest, two_tier)));
                    for (cap, expected) in &tables {
                        compare(&states, *cap, no_deepest, two_tier, expected, &tables);
                        cases += 1;
                    }
                }
            }
        }
    }
    println!("{cases} cases: {tables} tables of up to 4 states, 7 tolerances, 2 modes, with and without quirk");
    assert_eq!(tables, 1 + 13 + 169 + 2_197 + 28_561);
    assert_eq!(cases, tables * 7 * 2 * 2);
}

fn compare(
    states: &[PowerStateDescriptor],
    cap: Option<u64>,
    no_deepest: bool,
    two_tier: bool,
    expected: &NaiveTable,
    at_every_cap: &[(Option<u64>, NaiveTable)],
) {
    let drive = Drive { states, supported: Some(true) };
    let tolerance = cap.map_or(Tolerance::Unlimited, |cap| Tolerance::AtMost(micros(cap)));
    let quirks = if no_deepest { Effects::NONE.with(Effect::NoDeepestState) } else { Effects::NONE };
    let parameters = if two_tier { linux::Parameters::TWO_TIER } else { linux::Parameters::TWO_PERCENT };
    let context = || format!("{states:?} {cap:?} {no_deepest} {two_tier}");

    let entries = linux::entries(&drive, tolerance, quirks, &parameters);
    for (state, &entry) in entries.iter().enumerate() {
        assert_eq!(entry, raw(expected.get(state).copied().flatten()), "PS{state} of {}", context());
    }
    let plan = linux::build(&drive, tolerance, quirks, &parameters);
    assert_eq!(plan.enabled, cap != Some(0), "{}", context());
    for (number, verdict) in (0..).zip(&plan.states) {
        assert_eq!(verdict.state, ps(number));
        match verdict.fate {
            Fate::Chosen { from } => assert_eq!(from, sources(expected, number), "PS{number} of {}", context()),
            _ => assert!(sources(expected, number).is_empty(), "PS{number} of {}", context()),
        }
        // The set of eligible states only changes where the tolerance meets an exit latency; all are among the caps,
        // which are sorted but for the unlimited one.
        let enters = |(_, table): &&(Option<u64>, NaiveTable)| !sources(table, number).is_empty();
        let from = at_every_cap.iter().filter(|(cap, _)| cap.is_some()).find(enters).and_then(|(cap, _)| *cap);
        assert_eq!(verdict.admitted_from, from.map(micros), "PS{number} of {}", context());
    }
}

/// The states that have a transition into this one.
fn sources(table: &NaiveTable, target: u8) -> StateSet {
    let into = |entry: &Option<(usize, u64)>| entry.is_some_and(|(to, ms)| to == usize::from(target) && ms != 0);
    (0..).zip(table).filter(|(_, entry)| into(entry)).map(|(source, _)| ps(source)).collect()
}
