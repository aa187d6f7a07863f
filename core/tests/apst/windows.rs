//! Windows' defaults.

use core::num::NonZeroU32;

use wattline_core::apst::quirk::{Effect, Effects};
use wattline_core::apst::wear::TransitionsPerDay;
use wattline_core::apst::windows::{self, Parameters, Scheme, Source};
use wattline_core::apst::{Answer, Drive, Fate, Limit, Plan};
use wattline_core::nvme::PowerStateDescriptor;

use crate::{idle, micros, operational, ps};

fn build(states: &[PowerStateDescriptor], scheme: Scheme, source: Source) -> Plan {
    let drive = Drive { states, supported: Some(true) };
    windows::build(&drive, Effects::NONE, &Parameters { scheme, source, wear: None })
}

/// Target and milliseconds for each state.
fn table(plan: &Plan) -> Vec<Option<(u8, u32)>> {
    let transition = |state| plan.table.transition(state);
    let entry = |state| transition(state).map(|to| (to.target().number(), to.idle_milliseconds()));
    plan.states.iter().map(|verdict| entry(verdict.state)).collect()
}

/// The example in Microsoft's documentation: within 50 ms PS1 is the deepest, within 500 ms PS2.
fn documented() -> [PowerStateDescriptor; 3] {
    [operational(5, 5), idle(10_000, 300), idle(50_000, 10_000)]
}

#[test]
fn the_documented_example() {
    let on_battery = build(&documented(), Scheme::Balanced, Source::Dc);
    // The secondary tier, 100 ms, has PS2: one second after the last I/O, of which PS1 has had 100 ms.
    assert_eq!(table(&on_battery), [Some((1, 100)), Some((2, 900)), None]);
    let standby = build(&documented(), Scheme::ModernStandby, Source::Dc);
    assert_eq!(table(&standby), [Some((2, 50)), Some((2, 50)), None]);
    assert_eq!(standby.states[1].fate, Fate::Shadowed { by: ps(2) });
    assert_eq!(standby.states[1].admitted_from, Some(micros(10_300)));
}

#[test]
fn every_scheme_has_the_documented_tiers() {
    let milliseconds = |scheme, source| {
        let (primary, secondary) = windows::tiers(scheme, source);
        let tier = |tier: windows::Tier| (tier.timeout, tier.tolerance.get() / 1_000);
        (tier(primary), secondary.map(tier))
    };
    let expected = [
        (Scheme::HighPerformance, Source::Ac, (200, 0), Some((2_000, 0))),
        (Scheme::HighPerformance, Source::Dc, (200, 10), Some((2_000, 0))),
        (Scheme::Balanced, Source::Ac, (200, 15), Some((2_000, 100))),
        (Scheme::Balanced, Source::Dc, (100, 50), Some((1_000, 100))),
        (Scheme::PowerSaver, Source::Ac, (100, 100), Some((1_000, 200))),
        (Scheme::PowerSaver, Source::Dc, (100, 200), Some((1_000, 200))),
        (Scheme::ModernStandby, Source::Ac, (50, 500), None),
        (Scheme::ModernStandby, Source::Dc, (50, 500), None),
    ];
    for (scheme, source, primary, secondary) in expected {
        assert_eq!(milliseconds(scheme, source), (primary, secondary), "{scheme:?} {source:?}");
    }
}

#[test]
fn a_scheme_that_tolerates_nothing_filters_everything() {
    let plan = build(&documented(), Scheme::HighPerformance, Source::Ac);
    assert_eq!((plan.enabled, plan.answer), (true, Answer::Filtered));
    let limit = Fate::TooSlow { limit: Limit::TotalWithTolerance, latency: micros(10_300), at_most: micros(0) };
    assert_eq!(plan.states[1].fate, limit);
}

#[test]
fn a_latency_that_is_not_reported_is_neither_zero_nor_for_ever() {
    for states in [[operational(0, 0), idle(0, 5_000)], [operational(0, 0), idle(5_000, 0)]] {
        let plan = build(&states, Scheme::PowerSaver, Source::Dc);
        assert_eq!((plan.answer, plan.states[1].fate), (Answer::Empty, Fate::LatencyNotReported));
        assert_eq!(plan.states[1].admitted_from, None);
    }
}

/// A deeper state that is no slower takes a shallower one's place at every tolerance.
#[test]
fn a_state_that_is_never_the_deepest_is_admitted_at_no_tolerance() {
    let plan = build(&[operational(0, 0), idle(2_000, 9_000), idle(500, 9_500)], Scheme::Balanced, Source::Ac);
    assert_eq!(table(&plan), [Some((2, 200)), Some((2, 200)), None]);
    assert_eq!((plan.states[1].fate, plan.states[1].admitted_from), (Fate::Shadowed { by: ps(2) }, None));
}

#[test]
fn without_a_primary_target_the_secondary_one_waits_its_whole_time() {
    let states = [operational(0, 0), operational(0, 0), idle(20_000, 30_000)];
    let plan = build(&states, Scheme::Balanced, Source::Ac);
    assert_eq!(table(&plan), [Some((2, 2_000)), Some((2, 2_000)), None]);
}

#[test]
fn quirks_and_wear_hold_as_everywhere() {
    let states = documented();
    let drive = Drive { states: &states, supported: Some(true) };
    let parameters = Parameters { scheme: Scheme::Balanced, source: Source::Dc, wear: None };
    let plan = windows::build(&drive, Effects::NONE.with(Effect::NoDeepestState), &parameters);
    assert_eq!(table(&plan), [Some((1, 100)), None, None]);
    assert_eq!(plan.states[2].fate, Fate::Quirk(Effect::NoDeepestState));
    let plan = windows::build(&drive, Effects::NONE.with(Effect::NoTransitions), &parameters);
    assert_eq!((plan.answer, plan.states[1].fate), (Answer::Disabled, Fate::Quirk(Effect::NoTransitions)));

    let wear = |per_day| Some(TransitionsPerDay(NonZeroU32::new(per_day).unwrap()));
    let plan = windows::build(&drive, Effects::NONE, &Parameters { wear: wear(100_000), ..parameters });
    assert_eq!(table(&plan), [Some((1, 864)), Some((2, 900)), None]);
    let plan = windows::build(&drive, Effects::NONE, &Parameters { wear: wear(5), ..parameters });
    assert_eq!((plan.answer, plan.states[1].fate), (Answer::Empty, Fate::TooOften));
}
