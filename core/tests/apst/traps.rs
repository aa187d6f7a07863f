//! What real drives' tables have in them that a policy may trip over.

use proptest::prelude::*;
use wattline_core::apst::linux::{self, Parameters};
use wattline_core::apst::quirk::{Effect, Effects};
use wattline_core::apst::windows::{self, Scheme, Source};
use wattline_core::apst::{Answer, Drive, Fate, Limit, Plan, Tolerance, Wish};
use wattline_core::nvme::PowerStateDescriptor;

use crate::{idle, micros, operational, ps};

fn default_plan(states: &[PowerStateDescriptor]) -> Plan {
    let drive = Drive { states, supported: Some(true) };
    linux::build(&drive, linux::DEFAULT_TOLERANCE, Effects::NONE, &Parameters::TWO_TIER)
}

/// Every policy's plan for these states.
fn plans(states: &[PowerStateDescriptor]) -> Vec<Plan> {
    let drive = Drive { states, supported: Some(true) };
    let mut plans = Vec::new();
    for parameters in [Parameters::TWO_TIER, Parameters::TWO_PERCENT] {
        plans.push(linux::build(&drive, Tolerance::Unlimited, Effects::NONE, &parameters));
    }
    for scheme in [Scheme::HighPerformance, Scheme::Balanced, Scheme::PowerSaver, Scheme::ModernStandby] {
        for source in [Source::Ac, Source::Dc] {
            plans.push(windows::build(&drive, Effects::NONE, &windows::Parameters { scheme, source, wear: None }));
        }
    }
    plans
}

#[test]
fn an_all_zero_table_has_four_reasons() {
    let slow = [operational(0, 0), idle(50_000, 40_000)];
    let build = |states: &[PowerStateDescriptor], supported, micro| {
        let drive = Drive { states, supported };
        linux::build(&drive, Tolerance::AtMost(micros(micro)), Effects::NONE, &Parameters::TWO_TIER)
    };
    let all_zero = [
        (build(&slow, Some(false), 100_000), false, Answer::Unsupported),
        (build(&slow, Some(true), 0), false, Answer::Disabled),
        (build(&slow, Some(true), 39_999), true, Answer::Filtered),
        (build(&slow[..1], Some(true), 100_000), true, Answer::Empty),
    ];
    for (plan, enabled, answer) in all_zero {
        assert!(plan.table.is_empty());
        assert_eq!((plan.enabled, plan.answer), (enabled, answer));
    }
    assert_eq!(build(&slow, None, 40_000).answer, Answer::Built);
}

#[test]
fn off_leave_and_apply_are_three_wishes() {
    let states = [operational(0, 0), idle(500, 500)];
    let drive = Drive { states: &states, supported: Some(true) };
    let apply = || default_plan(&states);
    assert_eq!(Wish::default(), Wish::Leave);
    let left = Wish::Leave.plan(&drive, || unreachable!("nobody wanted a table"));
    assert_eq!((left.answer, left.states[1].fate), (Answer::LeftAlone, Fate::LeftAlone));
    let off = Wish::Off.plan(&drive, || unreachable!("nobody wanted a table"));
    assert_eq!((off.enabled, off.answer, off.states[1].fate), (false, Answer::Disabled, Fate::SwitchedOff));
    assert_eq!(Wish::Apply.plan(&drive, apply), apply());
    let without = Drive { supported: Some(false), ..drive };
    let off = Wish::Off.plan(&without, || unreachable!("nobody wanted a table"));
    assert_eq!(off.answer, Answer::Unsupported, "there is nothing to switch off");
}

#[test]
fn one_state_or_no_idle_state_is_an_empty_table_and_no_failure() {
    for count in [1, 2, 3, 7, 8, 16, 32] {
        let states = vec![operational(15_000, 15_000); count];
        for plan in plans(&states) {
            assert_eq!((plan.answer, plan.states.len()), (Answer::Empty, count));
            assert!(plan.states.iter().all(|verdict| verdict.fate == Fate::Operational));
        }
    }
    for plan in plans(&[]) {
        assert_eq!((plan.answer, plan.states.len()), (Answer::Empty, 0));
    }
}

#[test]
fn sixteen_operational_states_all_lead_to_the_idle_one() {
    for count in [8, 16, 31] {
        let mut states = vec![operational(10, 10); count];
        states.push(idle(1_000, 1_000));
        let plan = default_plan(&states);
        let Fate::Chosen { from } = plan.states[count].fate else { panic!("{plan:?}") };
        assert_eq!(from.iter().count(), count);
        assert_eq!(plan.table.transitions().count(), count);
    }
}

/// Operational latencies count for nothing: the drive does not go there by itself.
#[test]
fn operational_states_with_latencies_of_seconds_change_nothing() {
    let quick = [operational(0, 0), operational(0, 0), idle(500, 5_000)];
    let slow = [operational(7_000_000, 1), operational(1, 7_000_000), idle(500, 5_000)];
    for (quick, slow) in plans(&quick).iter().zip(plans(&slow)) {
        assert_eq!(*quick, slow);
    }
}

#[test]
fn latencies_in_the_billions_are_slow_and_not_wrapped() {
    let states = [operational(0, 0), idle(u32::MAX, u32::MAX), idle(4_000_000_000, 1)];
    let drive = Drive { states: &states, supported: Some(true) };
    let total = 2 * u64::from(u32::MAX);
    let plan = linux::build(&drive, Tolerance::Unlimited, Effects::NONE, &Parameters::TWO_TIER);
    let limit = Fate::TooSlow { limit: Limit::TotalWithTiers, latency: micros(total), at_most: micros(100_000) };
    assert_eq!((plan.answer, plan.states[1].fate), (Answer::Empty, limit));
    // In 2 % mode the time is as long as the table can hold.
    let plan = linux::build(&drive, Tolerance::Unlimited, Effects::NONE, &Parameters::TWO_PERCENT);
    assert_eq!(plan.table.transition(ps(0)).map(|transition| transition.idle_milliseconds()), Some(0xFF_FFFF));
    assert_eq!(plan.table.transition(ps(1)).map(|transition| transition.target()), Some(ps(2)));
}

/// A limit that is met exactly is kept: 40 of 594 posted drives stand at 15,000 µs to the microsecond.
#[test]
fn a_limit_that_is_met_exactly_is_kept() {
    let at = |micros| default_plan(&[operational(0, 0), idle(5_000, micros)]).table.transition(ps(0)).unwrap();
    assert_eq!(at(10_000).idle_milliseconds(), 100);
    assert_eq!(at(10_001).idle_milliseconds(), 2_000);
    let exit = [operational(0, 0), idle(1, 10_000)];
    let drive = Drive { states: &exit, supported: Some(true) };
    let built = |micro| linux::build(&drive, Tolerance::AtMost(micros(micro)), Effects::NONE, &Parameters::TWO_TIER);
    assert_eq!((built(10_000).answer, built(9_999).answer), (Answer::Built, Answer::Filtered));
}

#[test]
fn a_deeper_state_that_is_faster_is_the_target_of_all() {
    let states = [operational(0, 0), idle(40_000, 40_000), idle(1_000, 1_000)];
    let plan = default_plan(&states);
    let targets: Vec<_> = plan.table.transitions().map(|(source, to)| (source, to.target())).collect();
    assert_eq!(targets, [(ps(0), ps(2)), (ps(1), ps(2))]);
    assert_eq!(plan.states[1].fate, Fate::Shadowed { by: ps(2) });
    assert_eq!(plan.states[1].admitted_from, None, "the faster one is there whenever it is");
}

#[test]
fn an_idle_state_above_an_operational_one_leads_on_like_any_other() {
    let states = [idle(10, 10), operational(0, 0), idle(500, 500), operational(0, 0)];
    let plan = default_plan(&states);
    assert_eq!(plan.states[0].fate, Fate::Shadowed { by: ps(2) });
    assert_eq!(plan.table.transition(ps(0)).map(|to| to.target()), Some(ps(2)));
    assert_eq!(plan.table.transition(ps(2)), None, "PS3 is operational");
    let alone = [idle(10, 10), operational(0, 0)];
    assert_eq!(default_plan(&alone).states[0].fate, Fate::NoSource);
}

/// Latencies that are not reported: 0 for the kernel, which then takes the state for the fastest of all.
#[test]
fn latencies_that_are_not_reported_are_zero_for_the_kernel_only() {
    let states = [operational(0, 0), idle(0, 0)];
    let drive = Drive { states: &states, supported: Some(true) };
    let plan = linux::build(&drive, Tolerance::AtMost(micros(1)), Effects::NONE, &Parameters::TWO_TIER);
    assert_eq!((plan.answer, plan.states[1].admitted_from), (Answer::Built, Some(micros(1))));
    for plan in &plans(&states)[2..] {
        assert_eq!((plan.answer, plan.states[1].fate), (Answer::Empty, Fate::LatencyNotReported));
    }
}

#[test]
fn ranks_and_powers_out_of_order_change_nothing() {
    let plain = [operational(0, 0), operational(0, 0), idle(500, 5_000), idle(5_000, 40_000)];
    let mut odd = plain;
    for (state, rank) in odd.iter_mut().zip([3, 0, 31, 1]) {
        state.relative_read_latency = rank;
        state.relative_write_throughput = 31 - rank;
        state.max_power =
            wattline_core::nvme::Power::new(u16::from(rank), wattline_core::nvme::PowerScale::TenMilliwatts);
    }
    assert_eq!(plans(&plain), plans(&odd));
}

#[test]
fn the_quirk_about_the_deepest_state_is_the_kernels() {
    let quirk = Effects::NONE.with(Effect::NoDeepestState);
    let build = |states: &[PowerStateDescriptor]| {
        let drive = Drive { states, supported: Some(true) };
        linux::build(&drive, linux::DEFAULT_TOLERANCE, quirk, &Parameters::TWO_TIER)
    };
    let two = build(&[operational(0, 0), idle(500, 500), idle(500, 500)]);
    assert_eq!(two.states[2].fate, Fate::Quirk(Effect::NoDeepestState));
    assert!(matches!(two.states[1].fate, Fate::Chosen { .. }), "a second bad state is kept");
    let operational_last = build(&[operational(0, 0), idle(500, 500), operational(0, 0)]);
    assert!(matches!(operational_last.states[1].fate, Fate::Chosen { .. }), "the quirk has no effect");
}

#[test]
fn more_states_than_a_controller_can_have_are_refused() {
    let states = vec![idle(500, 500); 33];
    for plan in plans(&states) {
        assert_eq!((plan.answer, plan.enabled, plan.states.len()), (Answer::Unsupported, false, 32));
    }
}

fn any_state() -> impl Strategy<Value = PowerStateDescriptor> {
    let latency = prop_oneof![Just(0), 0u32..200_000, any::<u32>()];
    (any::<bool>(), latency.clone(), latency)
        .prop_map(|(idle_state, entry, exit)| if idle_state { idle(entry, exit) } else { operational(entry, exit) })
}

proptest! {
    /// Whatever a drive says: a plan speaks about every state, targets are non-operational states of the drive and
    /// deeper than the source, and a verdict's promise is kept by building at that tolerance.
    #[test]
    fn whatever_a_drive_says(
        states in prop::collection::vec(any_state(), 0..33), cap in prop::option::of(0u64..300_000),
    ) {
        let drive = Drive { states: &states, supported: None };
        let tolerance = cap.map_or(Tolerance::Unlimited, |cap| Tolerance::AtMost(micros(cap)));
        for parameters in [Parameters::TWO_TIER, Parameters::TWO_PERCENT] {
            let build = |tolerance| linux::build(&drive, tolerance, Effects::NONE, &parameters);
            let plan = build(tolerance);
            prop_assert_eq!(plan.states.len(), states.len());
            for (source, transition) in plan.table.transitions() {
                prop_assert!(source < transition.target());
                prop_assert!(states[transition.target().index()].non_operational);
            }
            for verdict in &plan.states {
                let chosen = |plan: &Plan| matches!(plan.states[verdict.state.index()].fate, Fate::Chosen { .. });
                match verdict.admitted_from {
                    Some(from) => {
                        prop_assert!(chosen(&build(Tolerance::AtMost(from))));
                        let less = Tolerance::AtMost(from.saturating_sub(micros(1)));
                        prop_assert!(!chosen(&build(less)));
                    }
                    None => prop_assert!(!chosen(&plan)),
                }
            }
        }
        for plan in plans(&states) {
            for (source, transition) in plan.table.transitions() {
                prop_assert!(source < transition.target());
                prop_assert!(states[transition.target().index()].non_operational);
            }
        }
    }
}
