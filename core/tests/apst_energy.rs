//! The energy policy against naive second implementations: what a drive does in one gap, step by step, all tables of
//! small instances, and all lengths of a gap.

use proptest::prelude::*;
use wattline_core::apst::energy::{self, Basis, Parameters, PerMille};
use wattline_core::apst::gaps::Gaps;
use wattline_core::apst::quirk::{Effect, Effects};
use wattline_core::apst::wear::TransitionsPerDay;
use wattline_core::apst::{Answer, Drive, Fate, Limit, Plan, Tolerance};
use wattline_core::nvme::feature::autonomous_transitions::{Table, Transition};
use wattline_core::nvme::{Power, PowerScale, PowerState, PowerStateDescriptor, ScaledPower};
use wattline_core::units::Microseconds;

fn ps(number: u8) -> PowerState {
    PowerState::new(number).unwrap()
}

fn tenths(count: u16) -> ScaledPower {
    ScaledPower::of(Power::new(count, PowerScale::TenthMilliwatt))
}

/// An operational state with this maximum in hundredths of a watt, and this idle power in tenths of a milliwatt.
fn operational(maximum: u16, idle: u16) -> PowerStateDescriptor {
    let max_power = Power::new(maximum, PowerScale::TenMilliwatts);
    PowerStateDescriptor { max_power, idle_power: tenths(idle), ..Default::default() }
}

/// A non-operational state with this maximum in tenths of a milliwatt, and these latencies in microseconds.
fn idle(maximum: u16, entry: u64, exit: u64) -> PowerStateDescriptor {
    PowerStateDescriptor {
        max_power: tenths(maximum).power(),
        non_operational: true,
        entry_latency: Some(entry).filter(|entry| *entry > 0).map(Microseconds::new),
        exit_latency: Some(exit).filter(|exit| *exit > 0).map(Microseconds::new),
        ..Default::default()
    }
}

/// WD Blue SN550, whose states and idle powers are all reported.
fn sn550() -> Vec<PowerStateDescriptor> {
    let mut states = vec![operational(350, 6300), operational(240, 6300), operational(190, 6300)];
    states.extend([idle(200, 3900, 11_000), idle(50, 5000, 39_000)]);
    states
}

fn drive(states: &[PowerStateDescriptor]) -> Drive<'_> {
    Drive { states, supported: None }
}

fn build(states: &[PowerStateDescriptor], tolerance: Tolerance, gaps: Option<&Gaps>) -> Plan {
    let parameters = Parameters { least_gaps: 1, ..Parameters::default() };
    energy::build(&drive(states), tolerance, Effects::NONE, &parameters, gaps)
}

fn worst(states: &[PowerStateDescriptor], table: &Table) -> PerMille {
    energy::worst_ratio(&drive(states), table, ps(0), Tolerance::Unlimited, Effects::NONE).unwrap()
}

fn recorded(milliseconds: &[u64]) -> Gaps {
    let mut gaps = Gaps::new();
    milliseconds.iter().for_each(|gap| gaps.record(Microseconds::from_millis(*gap)));
    gaps
}

fn table(transitions: &[(u8, u8, u32)]) -> Table {
    let mut table = Table::EMPTY;
    for (source, target, wait) in transitions {
        table.set(ps(*source), Transition::new(ps(*target), *wait));
    }
    table
}

/// Tenths of a milliwatt of waiting in PS0 and of a state, as documented, for the drives of these tests.
fn power(states: &[PowerStateDescriptor], state: PowerState) -> u128 {
    let state = &states[state.index()];
    state.idle_power.power().or(state.max_power).unwrap().tenths_of_milliwatt().into()
}

/// Tenths of a milliwatt on the way, as documented.
fn moving(states: &[PowerStateDescriptor]) -> u128 {
    let maxima = states.iter().filter(|state| !state.non_operational).map(|state| state.max_power.unwrap());
    u128::from(maxima.map(Power::tenths_of_milliwatt).min().unwrap()).max(power(states, ps(0)))
}

/// A gap's energy, from what the drive does at each moment.
fn naive(states: &[PowerStateDescriptor], table: &Table, gap: u64) -> u128 {
    let mut spent = 0;
    let (mut at, mut now) = (ps(0), 0);
    loop {
        let wait = table.transition(at).map_or(u64::MAX, |transition| transition.idle_time().get());
        if gap - now <= wait {
            spent += u128::from(gap - now) * power(states, at);
            break;
        }
        spent += u128::from(wait) * power(states, at);
        at = table.transition(at).unwrap().target();
        let entry = states[at.index()].entry_latency.unwrap().get();
        spent += u128::from(entry) * moving(states);
        now += wait + entry;
        if now >= gap {
            break;
        }
    }
    let exit = states[at.index()].exit_latency.map_or(0, Microseconds::get);
    spent + if at == ps(0) { 0 } else { u128::from(exit) * moving(states) }
}

/// The energy of somebody who knows the gap.
fn clairvoyant(states: &[PowerStateDescriptor], tolerance: Tolerance, gap: u64) -> u128 {
    let staying = u128::from(gap) * power(states, ps(0));
    let admitted = states.iter().filter(|state| {
        state.non_operational && state.round_trip_latency().is_some_and(|latency| tolerance.admits(latency))
    });
    let at_best = admitted.map(|state| {
        let (entry, exit) = (state.entry_latency.unwrap().get(), state.exit_latency.unwrap().get());
        let power = u128::from(state.idle_power.power().or(state.max_power).unwrap().tenths_of_milliwatt());
        u128::from(entry + exit) * moving(states) + u128::from(gap.saturating_sub(entry)) * power
    });
    at_best.fold(staying, u128::min)
}

#[test]
fn break_even_times_are_those_of_the_formula() {
    let states = sn550();
    let drive = drive(&states);
    // 1.9 W for 14.9 ms is 28 310 µJ; its own 20 mW are not paid for the 3.9 ms of entering, 78 µJ; then PS3 saves 610
    // mW. (28 310 − 78) µJ / 610 mW = 46.282 ms.
    assert_eq!(energy::break_even(&drive, ps(0), ps(3)), Some(Microseconds::new(46_282)));
    assert_eq!(energy::idle(&drive, ps(0)).unwrap().basis, Basis::Reported);
    assert_eq!(energy::idle(&drive, ps(3)).unwrap().basis, Basis::Maximum);
    assert_eq!(energy::in_transition(&drive).unwrap().tenths_of_milliwatt, 19_000);

    let plan = build(&states, Tolerance::Unlimited, None);
    // That is 46.3 ms, and 46 is the better one of its neighbours.
    let first = plan.table.transition(ps(0)).unwrap();
    assert_eq!((first.target(), first.idle_milliseconds()), (ps(3), 46));
    // From PS3 on: 1.9 W for 29.1 ms more is 55.29 mJ, at 15 mW saved about 3.7 s.
    let second = plan.table.transition(ps(3)).unwrap();
    assert_eq!(second.target(), ps(4));
    assert!((3_600..3_700).contains(&second.idle_milliseconds()), "{second:?}");
    assert_eq!(plan.table.transition(ps(2)), Some(first));
}

#[test]
fn what_is_not_reported_is_estimated_and_labelled_or_not_used() {
    let mut states =
        [operational(600, 0), operational(300, 0), idle(500, 500, 500), idle(0, 500, 500), idle(50, 0, 500)];
    let idle_figure = |states: &[PowerStateDescriptor], state| energy::idle(&drive(states), ps(state));
    let estimate = idle_figure(&states, 0).unwrap();
    assert_eq!((estimate.tenths_of_milliwatt, estimate.basis), (7_500, Basis::ShareOfMaximum));
    assert_eq!(idle_figure(&states, 3), None);
    let plan = build(&states, Tolerance::Unlimited, None);
    let fates: Vec<_> = plan.states.iter().map(|verdict| verdict.fate).collect();
    assert!(matches!(fates[2], Fate::Chosen { .. }));
    assert_eq!(fates[3..], [Fate::PowerNotReported, Fate::LatencyNotReported]);

    states[1].idle_power = tenths(4_000);
    assert_eq!(idle_figure(&states, 0).unwrap().basis, Basis::OtherState);
    states[0].max_power = None;
    states[1] = PowerStateDescriptor { max_power: None, idle_power: ScaledPower::NOT_REPORTED, ..states[1] };
    let plan = build(&states, Tolerance::Unlimited, None);
    assert_eq!((plan.states[2].fate, plan.answer), (Fate::PowerNotReported, Answer::Empty));
}

#[test]
fn the_bound_is_on_entry_and_exit_together_and_met_exactly() {
    let states = sn550();
    let at = |micros| build(&states, Tolerance::AtMost(Microseconds::new(micros)), None);
    assert_eq!(at(14_899).answer, Answer::Filtered);
    assert!(at(14_900).table.transition(ps(0)).is_some() && at(43_999).table.transition(ps(3)).is_none());
    assert_eq!(at(44_000), at(u64::MAX));
    let verdict = at(20_000).states[4];
    let (latency, at_most) = (Microseconds::new(44_000), Microseconds::new(20_000));
    assert_eq!(verdict.fate, Fate::TooSlow { limit: Limit::TotalWithTolerance, latency, at_most });
    assert_eq!(verdict.admitted_from, Some(latency));
    assert_eq!(at(0).answer, Answer::Disabled);
    assert_eq!(at(0).states[3].admitted_from, Some(Microseconds::new(14_900)));
}

#[test]
fn a_deepest_state_that_a_quirk_forbids_is_not_used() {
    let states = sn550();
    let quirks = Effects::NONE.with(Effect::NoDeepestState);
    let plan = energy::build(&drive(&states), Tolerance::Unlimited, quirks, &Parameters::default(), None);
    assert_eq!(plan.states[4].fate, Fate::Quirk(Effect::NoDeepestState));
    assert_eq!(plan.table.transition(ps(3)), None);
    assert!(plan.table.transition(ps(0)).is_some());
}

#[test]
fn a_state_that_takes_more_and_is_slower_than_a_deeper_one_is_shadowed() {
    let mut states = sn550();
    states[3] = idle(200, 5000, 39_001);
    let plan = build(&states, Tolerance::Unlimited, None);
    assert_eq!(plan.states[3].fate, Fate::Shadowed { by: ps(4) });
    // Under a tolerance that admits only the shallow one it is used; no tolerance admits it beside the deeper one.
    assert_eq!(plan.states[3].admitted_from, None);
    states[3] = idle(60_000, 3900, 11_000);
    assert_eq!(build(&states, Tolerance::Unlimited, None).states[3].fate, Fate::NotWorthIt);
}

#[test]
fn wear_puts_a_floor_under_every_wait() {
    let states = sn550();
    let per_day = |number: u32| Some(TransitionsPerDay(number.try_into().unwrap()));
    for gaps in [None, Some(&recorded(&[5_000; 100]))] {
        let with = |wear| {
            let parameters = Parameters { wear, ..Parameters::default() };
            energy::build(&drive(&states), Tolerance::Unlimited, Effects::NONE, &parameters, gaps)
        };
        let waits: Vec<_> = with(per_day(86_400)).table.transitions().map(|(_, to)| to.idle_milliseconds()).collect();
        assert!(!waits.is_empty() && waits.iter().all(|wait| *wait >= 1000), "{waits:?}");
        assert_eq!(with(per_day(3)).states[3].fate, Fate::TooOften);
    }
}

#[test]
fn a_drive_that_was_never_left_alone_for_long_still_goes_to_sleep_when_it_is() {
    let states = sn550();
    let gaps = recorded(&[20; 1000]);
    let plan = build(&states, Tolerance::Unlimited, Some(&gaps));
    assert_eq!(plan.table.transition(ps(0)), Transition::new(ps(3), 47));
    let gaps = recorded(&[2, 2, 2, 60_000]);
    let plan = build(&states, Tolerance::Unlimited, Some(&gaps));
    assert_eq!(plan.table.transition(ps(0)), Transition::new(ps(4), 2));
}

#[test]
fn too_few_gaps_are_not_believed() {
    let states = sn550();
    let gaps = recorded(&[60_000; 99]);
    let with = |gaps| energy::build(&drive(&states), Tolerance::Unlimited, Effects::NONE, &Parameters::default(), gaps);
    assert_eq!(with(Some(&gaps)), with(None));
    let more = recorded(&[60_000; 100]);
    assert_ne!(with(Some(&more)), with(None));
}

/// Waiting power, then (power, entry, exit) of each target; powers fall.
fn instance(targets: usize, slowest: u64) -> impl Strategy<Value = Vec<PowerStateDescriptor>> {
    let target = (1_u16..3_000, 1..slowest, 1..slowest);
    (2_000_u16..9_000, 20_u16..400, prop::collection::vec(target, 1..=targets)).prop_map(
        |(waiting, maximum, mut targets)| {
            targets.sort_by_key(|(power, ..)| std::cmp::Reverse(*power));
            targets.iter_mut().for_each(|(power, ..)| *power = (*power).min(waiting - 1));
            let states = [operational(maximum, waiting)].into_iter();
            states.chain(targets.iter().map(|(power, entry, exit)| idle(*power, *entry, *exit))).collect()
        },
    )
}

/// Every table with these waits at most, through any targets downwards.
fn all_tables(targets: u8, longest: u32) -> Vec<Table> {
    let mut tables = vec![(Table::EMPTY, ps(0))];
    let mut all = vec![Table::EMPTY];
    while !tables.is_empty() {
        let mut next = Vec::new();
        for (table, at) in tables {
            for target in at.number() + 1..=targets {
                for wait in 1..=longest {
                    let mut longer = table;
                    longer.set(at, Transition::new(ps(target), wait));
                    next.push((longer, ps(target)));
                }
            }
        }
        all.extend(next.iter().map(|(table, _)| *table));
        tables = next;
    }
    all
}

fn on_all(states: &[PowerStateDescriptor], table: &Table, gaps: &Gaps) -> u128 {
    let held = gaps.held();
    held.map(|held| naive(states, table, u64::from(held.milliseconds) * 1000) * u128::from(held.count)).sum()
}

proptest! {
    /// What the core counts for a table is what the drive does.
    #[test]
    fn a_gap_costs_what_happens_in_it(
        states in instance(3, 9_000), waits in prop::array::uniform3(1_u32..20), gap in 1_u64..60_000,
    ) {
        let last = u8::try_from(states.len() - 1).unwrap();
        let way: Vec<_> = (0..last).map(|at| (at, at + 1, waits[usize::from(at)])).collect();
        let table = table(&way);
        let spent = energy::spent(&drive(&states), &table, ps(0), Microseconds::new(gap)).unwrap();
        prop_assert_eq!(spent.tenths_of_nanojoule(), naive(&states, &table, gap));
        let gaps = recorded(&[gap / 1000 + 1, gap / 500 + 1, gap / 500 + 1, 3]);
        let expected = energy::expected(&drive(&states), &table, ps(0), &gaps).unwrap();
        prop_assert_eq!(expected.tenths_of_nanojoule(), on_all(&states, &table, &gaps));
    }

    /// With one target, at most twice what somebody spends who knows the gap, but for half a millisecond: waits are
    /// whole ones.
    #[test]
    fn one_target_costs_at_most_twice_what_knowing_costs(states in instance(1, 200_000)) {
        let plan = build(&states, Tolerance::Unlimited, None);
        let ratio = worst(&states, &plan.table);
        let crossing = energy::break_even(&drive(&states), ps(0), ps(1)).unwrap().get();
        if (1_000..10_000_000_000).contains(&crossing) {
            let slack = 500 * 1000 / crossing + 2;
            prop_assert!(ratio <= PerMille(2000 + slack), "{ratio:?} {crossing}");
        }
    }

    /// With more states to choose from, at most as many times as there are such states, and once more. States that the
    /// policy leaves out count: who knows the gap may use them.
    #[test]
    fn more_targets_cost_what_theory_says(states in instance(5, 200_000)) {
        let plan = build(&states, Tolerance::Unlimited, None);
        let is_used = plan.states.iter().any(|verdict| matches!(verdict.fate, Fate::Chosen { .. }));
        let choice = states.iter().filter(|state| state.non_operational).count() as u64;
        let ratio = worst(&states, &plan.table);
        let mut latencies = states.iter().filter_map(PowerStateDescriptor::round_trip_latency);
        let all_long = latencies.all(|latency| latency.get() > 1_000);
        if is_used && all_long {
            prop_assert!(ratio <= PerMille((choice + 1) * 1000 + 500), "{ratio:?}");
        }
    }

}

proptest! {
    // Each case of these looks at thousands of tables or gaps.
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The smallest tolerance is the smallest.
    #[test]
    fn a_state_is_admitted_from_where_it_is_said(
        states in instance(4, 50), gaps in prop::collection::vec(1_u64..9, 0..6),
    ) {
        let gaps = Some(recorded(&gaps)).filter(|gaps| gaps.total() > 0);
        let told = build(&states, Tolerance::Unlimited, gaps.as_ref());
        for (at, verdict) in told.states.iter().enumerate() {
            let chosen = |micros| {
                let plan = build(&states, Tolerance::AtMost(Microseconds::new(micros)), gaps.as_ref());
                matches!(plan.states[at].fate, Fate::Chosen { .. })
            };
            let first = (0..=100).find(|micros| chosen(*micros));
            prop_assert_eq!(verdict.admitted_from, first.map(Microseconds::new), "PS{}", at);
        }
    }

    /// The ratio is that of the worst gap.
    #[test]
    fn the_ratio_is_the_worst_over_all_gaps(states in instance(3, 3_000), waits in prop::array::uniform3(1_u32..9)) {
        let last = u8::try_from(states.len() - 1).unwrap();
        let way: Vec<_> = (0..last).map(|at| (at, at + 1, waits[usize::from(at)])).collect();
        let table = table(&way);
        let told = worst(&states, &table);
        let told = u128::from(told.0);
        let mut worst = 0;
        for gap in (1..40_000).chain([1 << 50]) {
            let known = clairvoyant(&states, Tolerance::Unlimited, gap);
            worst = worst.max((naive(&states, &table, gap) * 1000).div_ceil(known));
            prop_assert!(worst <= told, "{gap}: {worst} > {told}");
        }
        prop_assert_eq!(worst, told);
    }

    /// On the recorded gaps no table costs less: of every table of waits up to the longest gap, through all sets of
    /// targets.
    #[test]
    fn no_table_of_two_targets_is_better_on_the_recorded_gaps(
        states in instance(2, 6_000), gaps in prop::collection::vec(1_u64..24, 1..12),
    ) {
        let gaps = recorded(&gaps);
        let found = on_all(&states, &build(&states, Tolerance::Unlimited, Some(&gaps)).table, &gaps);
        let last = u8::try_from(states.len() - 1).unwrap();
        let least = all_tables(last, 25).iter().map(|table| on_all(&states, table, &gaps)).min();
        prop_assert_eq!(Some(found), least);
    }

    /// Whatever a drive says, a table comes out that keeps the bound, names non-operational states only, and never
    /// goes up.
    #[test]
    fn any_drive_gets_a_table_that_may_be_written(
        bytes in prop::collection::vec(any::<[u8; 32]>(), 0..34), micros: u32,
        gaps in prop::collection::vec(any::<u64>(), 0..9), per_day in prop::option::of(1_u32..), rests_in in 0_u8..32,
    ) {
        let states: Vec<_> = bytes.iter().map(PowerStateDescriptor::decode).collect();
        let tolerance = Tolerance::AtMost(Microseconds::new(micros.into()));
        let mut recorded = Gaps::new();
        gaps.iter().for_each(|gap| recorded.record(Microseconds::new(*gap)));
        let wear = per_day.map(|number| TransitionsPerDay(number.try_into().unwrap()));
        let parameters = Parameters { rests_in: ps(rests_in), wear, least_gaps: 1 };
        for gaps in [None, Some(&recorded)] {
            let plan = energy::build(&drive(&states), tolerance, Effects::NONE, &parameters, gaps);
            for (source, transition) in plan.table.transitions() {
                let target = &states[transition.target().index()];
                prop_assert!(target.non_operational && source < transition.target());
                prop_assert!(tolerance.admits(target.round_trip_latency().unwrap()));
                prop_assert!(wear.is_none_or(|wear| transition.idle_milliseconds() >= wear.floor().unwrap()));
            }
            let _ = energy::worst_ratio(&drive(&states), &plan.table, ps(rests_in), tolerance, Effects::NONE);
        }
    }

    #[test]
    fn no_table_of_three_targets_is_better_on_the_recorded_gaps(
        states in instance(3, 3_000), gaps in prop::collection::vec(1_u64..11, 1..8),
    ) {
        let gaps = recorded(&gaps);
        let found = on_all(&states, &build(&states, Tolerance::Unlimited, Some(&gaps)).table, &gaps);
        let last = u8::try_from(states.len() - 1).unwrap();
        let least = all_tables(last, 12).iter().map(|table| on_all(&states, table, &gaps)).min();
        prop_assert_eq!(Some(found), least);
    }
}

/// PS0 may be a state to sleep in, and nothing forbids a drive without any other.
#[test]
fn a_drive_waits_in_an_operational_state_or_nowhere() {
    let states = [idle(50, 10, 10), operational(500, 5_000), operational(400, 4_000), idle(5, 10, 10)];
    let waits = |rests_in, count| Parameters { rests_in, ..Parameters::default() }.rest(&drive(&states[..count]));
    assert_eq!(
        [waits(ps(0), 4), waits(ps(2), 4), waits(ps(3), 4), waits(ps(31), 4)].map(Option::unwrap),
        [ps(1), ps(2), ps(1), ps(1)]
    );
    assert_eq!(waits(ps(0), 1), None);
}

/// Posted drives have both: neighbours that say the same, and non-operational states of watts.
#[test]
fn equal_neighbours_and_warm_idle_states_bring_no_transition_more() {
    let waiting = 5_000;
    let warm = [idle(waiting, 10, 10), idle(60_000, 10, 10)];
    let equal = [idle(50, 1_000, 1_000), idle(50, 1_000, 1_000)];
    let states: Vec<_> = [operational(500, waiting)].into_iter().chain(warm).chain(equal).collect();
    for gaps in [None, Some(&recorded(&[1, 1_000, 100_000]))] {
        let plan = build(&states, Tolerance::Unlimited, gaps);
        let targets: Vec<_> = plan.table.transitions().map(|(_, transition)| transition.target()).collect();
        assert!(targets == [ps(3)] || targets == [ps(4)], "{targets:?}");
        assert_eq!([plan.states[1].fate, plan.states[2].fate], [Fate::NotWorthIt; 2]);
        assert_eq!(plan.states[1].admitted_from.or(plan.states[2].admitted_from), None);
    }
}

/// Latencies up to what a descriptor holds, and beyond, are slow: nothing wraps and nothing panics.
#[test]
fn endless_latencies_and_gaps_are_slow_and_not_wrapped() {
    let extremes = [1, 1 << 31, u64::from(u32::MAX), 1 << 53, u64::MAX / 2, u64::MAX];
    let held = recorded(&[1, 1_000, 1 << 24]);
    for (entry, exit) in extremes.iter().flat_map(|entry| extremes.map(|exit| (*entry, exit))) {
        let states = [operational(500, 5_000), idle(50, entry, exit), idle(5, exit, entry)];
        for tolerance in
            [Tolerance::Unlimited, Tolerance::AtMost(Microseconds::MAX), Tolerance::AtMost(Microseconds::new(1))]
        {
            for gaps in [None, Some(&held)] {
                let plan = build(&states, tolerance, gaps);
                let ratio = energy::worst_ratio(&drive(&states), &plan.table, ps(0), tolerance, Effects::NONE);
                assert!(ratio.is_some_and(|ratio| ratio.0 >= 1000), "{entry} {exit}: {ratio:?}");
                for gap in extremes {
                    let gap = Microseconds::new(gap);
                    let none = energy::spent(&drive(&states), &Table::EMPTY, ps(0), gap).unwrap();
                    assert!(energy::spent(&drive(&states), &plan.table, ps(0), gap).is_some());
                    assert_eq!(none.tenths_of_nanojoule(), u128::from(gap.get()) * 5_000);
                }
                assert!(energy::break_even(&drive(&states), ps(0), ps(1)).is_none_or(|gap| gap.get() > 0));
            }
        }
    }
}
