//! Tables that the kernel's own function (Linux 6.1), compiled for user space, made from descriptors of real drives.
//! Each comes from a public post about the drive that is named.

use wattline_core::apst::linux::{self, Parameters};
use wattline_core::apst::quirk::{Effect, Effects};
use wattline_core::apst::{Answer, Drive, Fate, Limit, Tolerance};
use wattline_core::nvme::PowerStateDescriptor;

use crate::{idle, micros, operational, ps};

const DEFAULT: Tolerance = linux::DEFAULT_TOLERANCE;
const TWO_TIER: Parameters = Parameters::TWO_TIER;
const TWO_PERCENT: Parameters = Parameters::TWO_PERCENT;

fn entries(states: &[PowerStateDescriptor], tolerance: Tolerance, parameters: &Parameters) -> Vec<u64> {
    entries_with(Effects::NONE, states, tolerance, parameters)
}

fn entries_with(
    quirks: Effects,
    states: &[PowerStateDescriptor],
    tolerance: Tolerance,
    parameters: &Parameters,
) -> Vec<u64> {
    let drive = Drive { states, supported: Some(true) };
    let entries = linux::entries(&drive, tolerance, quirks, parameters);
    assert!(entries[states.len()..].iter().all(|&entry| entry == 0), "no state, no entry");
    entries[..states.len()].to_vec()
}

/// Three operational states without latencies, and these.
fn three_and(idle_states: [PowerStateDescriptor; 2]) -> [PowerStateDescriptor; 5] {
    let [third, fourth] = idle_states;
    [operational(0, 0), operational(0, 0), operational(0, 0), third, fourth]
}

fn samsung_950() -> [PowerStateDescriptor; 5] {
    [operational(5, 5), operational(30, 30), operational(100, 100), idle(500, 5_000), idle(2_000, 22_000)]
}

fn toshiba_xg4() -> [PowerStateDescriptor; 5] {
    three_and([idle(5_000, 25_000), idle(100_000, 70_000)])
}

#[test]
fn samsung_950_pro() {
    let drive = samsung_950();
    assert_eq!(entries(&drive, DEFAULT, &TWO_TIER), [0x6418, 0x6418, 0x6418, 0x7d020, 0]);
    assert_eq!(entries(&drive, DEFAULT, &TWO_PERCENT), [0x11318, 0x11318, 0x11318, 0x4b020, 0]);

    let only_third = Tolerance::AtMost(micros(10_000));
    assert_eq!(entries(&drive, only_third, &TWO_TIER), [0x6418, 0x6418, 0x6418, 0, 0]);
    assert_eq!(entries(&drive, only_third, &TWO_PERCENT), [0x11318, 0x11318, 0x11318, 0, 0]);
    let quirk = Effects::NONE.with(Effect::NoDeepestState);
    assert_eq!(entries_with(quirk, &drive, DEFAULT, &TWO_TIER), [0x6418, 0x6418, 0x6418, 0, 0]);
    assert_eq!(entries_with(quirk, &drive, DEFAULT, &TWO_PERCENT), [0x11318, 0x11318, 0x11318, 0, 0]);

    let nothing = Tolerance::AtMost(micros(0));
    for parameters in [TWO_TIER, TWO_PERCENT] {
        assert_eq!(entries(&drive, nothing, &parameters), [0; 5]);
        let plan = linux::build(&Drive { states: &drive, supported: Some(true) }, nothing, Effects::NONE, &parameters);
        assert_eq!((plan.enabled, plan.answer), (false, Answer::Disabled));
    }
}

#[test]
fn toshiba_xg4_never_reaches_its_deepest_state() {
    let states = toshiba_xg4();
    for tolerance in [DEFAULT, Tolerance::Unlimited, Tolerance::AtMost(micros(25_000))] {
        assert_eq!(entries(&states, tolerance, &TWO_TIER), [0x7d018, 0x7d018, 0x7d018, 0, 0]);
    }
    assert_eq!(entries(&states, DEFAULT, &TWO_PERCENT), [0x5dc18, 0x5dc18, 0x5dc18, 0x213420, 0]);
    assert_eq!(entries(&states, Tolerance::AtMost(micros(25_000)), &TWO_PERCENT), [0x5dc18, 0x5dc18, 0x5dc18, 0, 0]);

    let drive = Drive { states: &states, supported: None };
    let plan = linux::build(&drive, Tolerance::Unlimited, Effects::NONE, &TWO_TIER);
    let limit = Fate::TooSlow { limit: Limit::TotalWithTiers, latency: micros(170_000), at_most: micros(100_000) };
    assert_eq!((plan.states[4].fate, plan.states[4].admitted_from), (limit, None));
    assert_eq!(plan.states[3].admitted_from, Some(micros(25_000)));

    let remedies = linux::remedies(&drive, ps(4), Effects::NONE, &TWO_TIER);
    let wider = Parameters { secondary_tolerance: micros(170_000), ..TWO_TIER };
    let found: Vec<_> = remedies.iter().map(|remedy| (remedy.parameters, remedy.tolerance)).collect();
    assert_eq!(found, [(wider, micros(70_000)), (TWO_PERCENT, micros(70_000))]);
    for (parameters, tolerance) in found {
        let table = entries(&states, Tolerance::AtMost(tolerance), &parameters);
        assert!(table.iter().any(|entry| entry >> 3 & 31 == 4), "{parameters:?}");
    }
    let quirk = Effects::NONE.with(Effect::NoDeepestState);
    assert!(linux::remedies(&drive, ps(4), quirk, &TWO_TIER).is_empty());
}

#[test]
fn wd_sn850x() {
    let drive = three_and([idle(5_000, 10_000), idle(3_900, 45_700)]);
    assert_eq!(entries(&drive, DEFAULT, &TWO_TIER), [0x6418, 0x6418, 0x6418, 0x7d020, 0]);
    assert_eq!(entries(&drive, DEFAULT, &TWO_PERCENT), [0x2ee18, 0x2ee18, 0x2ee18, 0x9b020, 0]);
}

#[test]
fn liteon_cx2() {
    let drive = three_and([idle(5_000, 5_000), idle(50_000, 100_000)]);
    assert_eq!(entries(&drive, DEFAULT, &TWO_TIER), [0x6418, 0x6418, 0x6418, 0, 0]);
    assert_eq!(entries(&drive, DEFAULT, &TWO_PERCENT), [0x1f418, 0x1f418, 0x1f418, 0x1d4c20, 0]);
}

#[test]
fn sandisk_a400() {
    let drive = three_and([idle(51_000, 10_000), idle(1_000_000, 100_000)]);
    assert_eq!(entries(&drive, DEFAULT, &TWO_TIER), [0x7d018, 0x7d018, 0x7d018, 0, 0]);
    assert_eq!(entries(&drive, DEFAULT, &TWO_PERCENT), [0xbea18, 0xbea18, 0xbea18, 0xd6d820, 0]);
}

/// Operational states with exit latencies, and a deepest state that is faster than its neighbour in nothing but entry.
#[test]
fn the_deepest_state_of_a_tier_wins() {
    let states = [operational(0, 0), operational(0, 200), operational(0, 1_000), idle(2_000, 1_200), idle(500, 9_500)];
    assert_eq!(entries(&states, DEFAULT, &TWO_TIER), [0x6420, 0x6420, 0x6420, 0x6420, 0]);
    assert_eq!(entries(&states, DEFAULT, &TWO_PERCENT), [0xa018, 0xa018, 0xa018, 0x1f420, 0]);
    let plan = linux::build(&Drive { states: &states, supported: Some(true) }, DEFAULT, Effects::NONE, &TWO_TIER);
    assert_eq!(plan.states[3].fate, Fate::Shadowed { by: ps(4) });
    // With less tolerance than the deepest state takes, the other has the tier for itself.
    assert_eq!(plan.states[3].admitted_from, Some(micros(1_200)));
    let less = Tolerance::AtMost(micros(9_499));
    assert_eq!(entries(&states, less, &TWO_TIER), [0x6418, 0x6418, 0x6418, 0, 0]);
}

#[test]
fn three_operational_states_give_an_enabled_table_of_zeros() {
    let states = [operational(0, 0), operational(0, 0), operational(0, 0)];
    for parameters in [TWO_TIER, TWO_PERCENT] {
        assert_eq!(entries(&states, DEFAULT, &parameters), [0; 3]);
        let plan = linux::build(&Drive { states: &states, supported: Some(true) }, DEFAULT, Effects::NONE, &parameters);
        assert_eq!((plan.enabled, plan.answer), (true, Answer::Empty));
    }
}

#[test]
fn synthetic_tables() {
    assert_eq!(entries(&[operational(0, 0), idle(0, 0)], DEFAULT, &TWO_TIER), [0x6408, 0]);
    let states = [operational(0, 0), idle(1_000, 1_000), idle(2_000, 3_000), idle(20_000, 30_000)];
    assert_eq!(entries(&states, DEFAULT, &TWO_TIER), [0x6410, 0x6410, 0x7d018, 0]);
    assert_eq!(entries(&states, DEFAULT, &TWO_PERCENT), [0x6408, 0xfa10, 0x9c418, 0]);
}

/// The 2 % rule gives latencies of 0 a time of 0: the kernel writes an entry that is no transition.
#[test]
fn no_latencies_in_two_percent_mode_are_no_transition() {
    let states = [operational(0, 0), idle(0, 0)];
    assert_eq!(entries(&states, DEFAULT, &TWO_PERCENT), [0x8, 0]);
    let plan = linux::build(&Drive { states: &states, supported: Some(true) }, DEFAULT, Effects::NONE, &TWO_PERCENT);
    assert!(plan.table.is_empty());
    assert_eq!((plan.answer, plan.states[1].fate), (Answer::Empty, Fate::NoTime));
    assert_eq!(plan.states[1].admitted_from, None);
}
