//! Idle drives: the walk against a drive that lives microsecond by microsecond and against the core's own sums, polls
//! that are charged, and a system that nothing wakes but what was declared.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use wattline_core::apst::gaps::Gaps;
use wattline_core::apst::{Drive, energy};
use wattline_core::nvme::feature::autonomous_transitions::{Table, Transition};
use wattline_core::nvme::{Power, PowerScale, PowerState, PowerStateDescriptor, ScaledPower};
use wattline_core::units::Microseconds;
use wattline_sim::calibration::Calibration;
use wattline_sim::idle::catalogue::PowerTable;
use wattline_sim::idle::drive::{Sleeper, Spent, Truth};
use wattline_sim::idle::families::Family;
use wattline_sim::idle::study::{Policy, TOLERANCE};
use wattline_sim::idle::walk::{Cause, Polls, Wake, clairvoyant, walk};
use wattline_sim::model::ssd::{Sleep, Spread, Ssd, SsdModel};
use wattline_sim::scenario;
use wattline_sim::time::{Micros, SECOND};
use wattline_sim::trace::Trace;
use wattline_sim::world::World;

fn ps(number: u8) -> PowerState {
    PowerState::new(number).unwrap()
}

fn tenths(count: u16) -> ScaledPower {
    ScaledPower::of(Power::new(count, PowerScale::TenthMilliwatt))
}

/// One operational state of 2 W that waits at `waiting`, and these (power, entry, exit).
fn drive(waiting: u16, targets: &[(u16, u64, u64)]) -> PowerTable {
    let max_power = Power::new(200, PowerScale::TenMilliwatts);
    let operational = PowerStateDescriptor { max_power, idle_power: tenths(waiting), ..Default::default() };
    let asleep = targets.iter().map(|(power, entry, exit)| PowerStateDescriptor {
        idle_power: tenths(*power),
        non_operational: true,
        entry_latency: Some(Microseconds::new(*entry)),
        exit_latency: Some(Microseconds::new(*exit)),
        ..Default::default()
    });
    PowerTable { name: "test".into(), posts: 1, states: [operational].into_iter().chain(asleep).collect() }
}

fn table(transitions: &[(u8, u8, u32)]) -> Table {
    let mut table = Table::EMPTY;
    for (source, target, wait) in transitions {
        table.set(ps(*source), Transition::new(ps(*target), *wait));
    }
    table
}

/// WD Blue SN550's figures.
fn sn550() -> PowerTable {
    drive(6300, &[(200, 3900, 11_000), (50, 5000, 39_000)])
}

/// What a drive spends in a gap, and how long the command after it waits: one microsecond after the other.
fn lived(drive: &PowerTable, table: &Table, gap: Micros) -> (Spent, Micros) {
    let state = |number: usize| &drive.states[number];
    let power = |number: usize| u128::from(state(number).idle_power.power().unwrap().tenths_of_milliwatt());
    let mut spent = Spent::default();
    let (mut at, mut entering, mut idle) = (0_usize, 0, 0);
    for _ in 0..gap {
        if entering == 0
            && let Some(transition) = table.transition(ps(u8::try_from(at).unwrap()))
            && idle == transition.idle_time().get()
        {
            at = transition.target().index();
            (entering, idle) = (state(at).entry_latency.unwrap().get(), 0);
        }
        if entering > 0 {
            entering -= 1;
            spent.moving += 1;
        } else {
            idle += 1;
            spent.in_states += power(at);
        }
    }
    let wait = entering + state(at).exit_latency.map_or(0, Microseconds::get);
    spent.moving += wait;
    (spent, wait)
}

#[test]
fn a_gap_is_what_can_be_reckoned_by_hand() {
    let drive = sn550();
    let sleeper = Sleeper::new(&drive.drive()).unwrap();
    let table = table(&[(0, 1, 100), (1, 2, 2000)]);
    let walk = |gap| walk(&sleeper, &table, &[gap], None);
    assert_eq!(walk(100_000).spent, Spent { in_states: 100_000 * 6300, moving: 0 });
    // A microsecond more, and the whole entry is waited for, and the exit.
    let interrupted = walk(100_001);
    assert_eq!(interrupted.spent, Spent { in_states: 100_000 * 6300, moving: 14_900 });
    assert_eq!(interrupted.longest_wait, 14_899);
    let deep = walk(10 * SECOND);
    let in_states = 100_000 * 6300 + 2_000_000 * 200 + (10_000_000 - 100_000 - 3900 - 2_000_000 - 5000) * 50;
    assert_eq!(deep.spent, Spent { in_states, moving: 3900 + 5000 + 39_000 });
    assert_eq!((deep.longest_wait, deep.wakes.len()), (39_000, 1));
    let joules = sleeper.joules(deep.spent, Truth::Assumed);
    assert!((joules - (0.063 + 0.04 + 0.039_455_5 + 2.0 * 0.0479)).abs() < 1e-6, "{joules}");
}

#[test]
fn a_poll_that_wakes_the_drive_is_charged() {
    let drive = sn550();
    let sleeper = Sleeper::new(&drive.drive()).unwrap();
    let table = table(&[(0, 1, 100)]);
    let hour = |polls| walk(&sleeper, &table, &[3600 * SECOND], polls);
    let polls = Polls { every: 10 * SECOND, takes: 1000, wakes: true };
    let (alone, polled) = (hour(None), hour(Some(polls)));
    // Each of the 359 polls: waiting 101 ms instead of sleeping, and one more way out and in.
    let more = polled.spent.in_states - alone.spent.in_states;
    assert_eq!(polled.spent.moving - alone.spent.moving, 359 * 14_900);
    assert_eq!(more, 359 * (101_000 * 6300 - (101_000 + 14_900) * 200));
    // One that is served asleep only starts the idle clock again.
    let asleep = hour(Some(Polls { wakes: false, ..polls }));
    assert_eq!(asleep, alone);
    // One that comes before the drive sleeps keeps it awake for ever.
    let restless = hour(Some(Polls { every: SECOND / 20, takes: 1000, wakes: false }));
    assert_eq!((restless.wakes.len(), restless.spent.in_states), (0, 3_600_000_000 * 6300));
}

#[test]
fn a_steady_idle_drive_is_woken_by_nothing_but_its_declared_polls() {
    let drive = sn550();
    let sleeper = Sleeper::new(&drive.drive()).unwrap();
    for policy in [Policy::Linux, Policy::Windows, Policy::Energy] {
        let table = policy.table(&drive, &Gaps::new());
        let day = 86_400 * SECOND;
        let alone = walk(&sleeper, &table, &[day], None);
        assert_eq!(alone.wakes.iter().map(|wake| (wake.at, wake.cause)).collect::<Vec<_>>(), [(day, Cause::Work)]);
        let every = 60 * SECOND;
        let polled = walk(&sleeper, &table, &[day], Some(Polls { every, takes: 1000, wakes: true }));
        let (work, polls): (Vec<Wake>, Vec<Wake>) =
            polled.wakes.into_iter().partition(|wake| wake.cause == Cause::Work);
        assert_eq!((work.len(), polls.len()), (1, 1439));
        assert!(polls.iter().zip(1_u64..).all(|(wake, number)| wake.at == number * every));
    }
}

/// 24 drives that sleep after 0.1 s, in a run of two minutes.
fn sleeping(more: &str) -> Trace {
    let text = format!(
        "name = \"idle\"\nduration_s = 120\n[drives]\nspread_percent = 0\n\
         sleep = {{ power_w = 0.5, entry_s = 0.02, exit_s = 0.01, after_s = 0.1 }}\n{more}"
    );
    let scenario = scenario::parse("idle", &text).unwrap_or_else(|error| panic!("{error}"));
    World::new(&scenario, &Calibration::embedded(), 1).run(|_| {})
}

/// Every wake of any drive from this moment on.
fn wakes(trace: &Trace, from: Micros) -> Vec<Wake> {
    trace.wakes.iter().flatten().filter(|wake| wake.at >= from).copied().collect()
}

/// The governor itself: once it knows its drives, and has lowered them as the cap wants it, it wakes none, although
/// turns are due twice a second. The caps let all drives have PS0, some of them, and none.
#[test]
fn a_steady_idle_system_is_woken_by_nothing_but_its_declared_polls() {
    for (cap_w, is_mixed) in [(2000, false), (900, true), (760, false)] {
        let governor = format!("[governor]\ncap_w = {cap_w}\nmargin_w = 21\nrotation_s = 0.5\n");
        let quiet = sleeping(&governor);
        let held: BTreeSet<_> = quiet.states.iter().filter_map(|steps| steps.last()?.1).collect();
        assert_eq!(held.len() > 1, is_mixed, "{cap_w} W: {held:?}");
        assert_eq!(wakes(&quiet, 30 * SECOND), [], "{cap_w} W");

        let polled = sleeping(&format!("{governor}warning_c = 70\n"));
        let polls = wakes(&polled, 30 * SECOND);
        assert_eq!(polls.len(), 24 * 91, "{cap_w} W: once a second, the last one included");
        let declared = |wake: &Wake| wake.cause == Cause::Poll && wake.at.is_multiple_of(SECOND);
        assert!(polls.iter().all(declared), "{cap_w} W");
    }
}

/// That the test above sees a governor that does something.
#[test]
fn a_new_cap_wakes_those_that_it_moves() {
    let trace = sleeping("[governor]\ncap_w = 2000\nmargin_w = 21\n[[cap]]\nat_s = 60\ncap_w = 760\n");
    let woken = wakes(&trace, 30 * SECOND);
    assert!(!woken.is_empty() && woken.iter().all(|wake| wake.cause == Cause::Governor && wake.at >= 60 * SECOND));
    assert_eq!(wakes(&trace, 90 * SECOND), []);
}

#[test]
fn polls_of_a_whole_server_are_charged() {
    const GOVERNOR: &str = "[governor]\ncap_w = 2000\nmargin_w = 21\nmeter = false\n";
    let energy_j = |more| sleeping(&format!("{GOVERNOR}{more}")).energy_j(60 * SECOND, 120 * SECOND);
    let more_j = energy_j("warning_c = 70\n") - energy_j("");
    // Each second: 10 ms out and 20 ms in at PS2's 10 W, the command's 0.5 ms and the idle time at 5.5 W; and not 0.5
    // W.
    let poll_j = 0.03 * 10.0 + (0.000_5 + 0.1) * 5.5 - (0.03 + 0.000_5 + 0.1) * 0.5;
    assert!((more_j / (24.0 * 60.0 * poll_j) - 1.0).abs() < 1e-9, "{more_j} {poll_j}");
}

/// Lets an idle drive live until just before what happens then.
fn pass(ssd: &mut Ssd, now: &mut Micros, until: Micros) {
    loop {
        ssd.run(*now, None);
        let next = ssd.next_change().unwrap_or(until).min(until);
        ssd.advance(next - *now);
        *now = next;
        if next == until {
            return;
        }
        ssd.apply_due(next);
    }
}

fn instance() -> impl Strategy<Value = PowerTable> {
    let target = (1_u16..3000, 1_u64..4000, 1_u64..4000);
    (2000_u16..9000, prop::collection::vec(target, 1..4)).prop_map(|(waiting, targets)| drive(waiting, &targets))
}

fn chain(drive: &PowerTable, waits: [u32; 3]) -> Table {
    let last = u8::try_from(drive.states.len() - 1).unwrap();
    table(&(0..last).map(|at| (at, at + 1, waits[usize::from(at)])).collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn a_gap_is_what_a_drive_lives_through(
        drive in instance(), waits in prop::array::uniform3(1_u32..6), gap in 1_u64..40_000,
    ) {
        let table = chain(&drive, waits);
        let walk = walk(&Sleeper::new(&drive.drive()).unwrap(), &table, &[gap], None);
        prop_assert_eq!((walk.spent, walk.longest_wait), lived(&drive, &table, gap));
    }

    /// A drive of a whole server lives as the walk says.
    #[test]
    fn a_drive_of_a_server_spends_what_the_walk_says(
        drive in instance(), waits in prop::array::uniform3(1_u32..6), every in 10_000_u64..40_000, polls in 0_u64..20,
    ) {
        let table = chain(&drive, waits);
        let sleeper = Sleeper::new(&drive.drive()).unwrap();
        let gap = (polls + 1) * every - 1;
        let takes = 500;
        let walk = walk(&sleeper, &table, &[gap], Some(Polls { every, takes, wakes: true }));
        let model = SsdModel {
            idle_w: sleeper.watts(sleeper.awake()),
            sleep: Some(Sleep { sleeper: sleeper.clone(), table }),
            ..Calibration::embedded().ssd
        };
        let mut ssd = Ssd::new(Arc::new(model), Spread::NONE, 0, 0, 25.0);
        let mut now = 0;
        for command in (1..=polls).map(|poll| poll * every).chain([gap]) {
            pass(&mut ssd, &mut now, command);
            // The end of the gap is not a poll, but wakes the drive as one does; the drive takes no time for it.
            let (busy, cause) = if command == gap { (0, Cause::Work) } else { (takes, Cause::Poll) };
            let served = ssd.serve(now, busy, cause);
            if command == gap {
                pass(&mut ssd, &mut now, served);
            }
        }
        prop_assert_eq!(ssd.wakes(), &walk.wakes[..]);
        let expected_j = sleeper.joules(walk.spent, Truth::Assumed);
        prop_assert!((ssd.energy_j() - expected_j).abs() < 1e-9, "{} {}", ssd.energy_j(), expected_j);
    }

    /// Core and simulator were written apart, and count the same.
    #[test]
    fn the_core_counts_what_the_simulator_does(
        drive in instance(), waits in prop::array::uniform3(1_u32..6), gap in 1_u64..100_000,
    ) {
        let table = chain(&drive, waits);
        let sleeper = Sleeper::new(&drive.drive()).unwrap();
        let walk = walk(&sleeper, &table, &[gap], None);
        let Drive { states, supported } = drive.drive();
        let spent = energy::spent(&Drive { states, supported }, &table, ps(0), Microseconds::new(gap)).unwrap();
        prop_assert_eq!(sleeper.thirds(walk.spent, Truth::Assumed), spent.tenths_of_nanojoule() * 3);
    }

    /// Nobody spends less than who knows the gaps, whatever transitions cost, and nobody waits longer than the bound.
    #[test]
    fn nobody_beats_the_clairvoyant(drive in instance(), seed: u64) {
        let sleeper = Sleeper::new(&drive.drive()).unwrap();
        for family in Family::ALL {
            let gaps = family.gaps(seed, 50);
            for policy in Policy::ALL {
                let table = policy.table(&drive, &Gaps::new());
                let walk = walk(&sleeper, &table, &gaps, None);
                for truth in Truth::ALL {
                    let known = clairvoyant(&sleeper, &gaps, TOLERANCE, truth);
                    prop_assert!(sleeper.thirds(known.spent, truth) <= sleeper.thirds(walk.spent, truth));
                    prop_assert!(known.longest_wait <= TOLERANCE.get() && walk.longest_wait <= TOLERANCE.get());
                }
            }
        }
    }
}
