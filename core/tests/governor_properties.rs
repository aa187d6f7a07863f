//! Whatever a governor is told, it does not panic, holds every rule of the outside ledger in `support`, and does the
//! same again. And in a world that means well, it comes to rest.

mod support;

use proptest::prelude::*;
use proptest::sample::Index;
use support::{Dice, Fate, MILLISECOND, PROMPT, SECOND, TestGovernor, Watched, World, nameplate};
use wattline_core::governor::{
    CommandId, Config, DriveConfig, Event, MeterConfig, Outcome, ProfileIndex, Request, Share, Slot,
};
use wattline_core::nvme::{PowerState, Status};
use wattline_core::profile::{Measured, PerWork, Profile, StateProfile, Work, WorkSet};
use wattline_core::thermal::{Cooling, CoolingConfig, Fans, ThermalLimits, Threshold, ThrottleCounters};
use wattline_core::units::{BytesPerSecond, Instant, Kelvin, Microseconds, Milliwatts};

// ---- anything ----

/// Mostly what can be meant, sometimes what cannot.
fn milliwatts() -> impl Strategy<Value = Milliwatts> {
    let raw = prop_oneof![6 => 0..60_000u32, 1 => Just(0), 1 => Just(u32::MAX), 1 => any::<u32>()];
    raw.prop_map(Milliwatts::new)
}

fn total_milliwatts() -> impl Strategy<Value = Milliwatts> {
    let raw = prop_oneof![8 => 0..900_000u32, 1 => Just(0), 1 => Just(u32::MAX)];
    raw.prop_map(Milliwatts::new)
}

fn span() -> impl Strategy<Value = Microseconds> {
    let raw = prop_oneof![6 => 0..3 * SECOND, 1 => Just(0), 1 => 0..100 * SECOND, 1 => Just(u64::MAX)];
    raw.prop_map(Microseconds::new)
}

fn work() -> impl Strategy<Value = WorkSet> {
    prop::sample::subsequence(Work::ALL.to_vec(), 0..=4).prop_map(WorkSet::from_iter)
}

fn power_state() -> impl Strategy<Value = PowerState> {
    let number = prop_oneof![8 => 0..5u8, 1 => 0..32u8];
    number.prop_map(|number| PowerState::new(number).expect("below 32"))
}

fn kelvin() -> impl Strategy<Value = Kelvin> {
    prop_oneof![8 => 300..360u16, 1 => Just(0), 1 => Just(u16::MAX), 1 => any::<u16>()].prop_map(Kelvin::new)
}

fn measured() -> impl Strategy<Value = Measured> {
    (milliwatts(), any::<u64>(), any::<bool>()).prop_map(|(power, throughput, limited_by_fabric)| Measured {
        power,
        throughput: BytesPerSecond::new(throughput % 10_000_000_000),
        limited_by_fabric,
    })
}

fn state_profile() -> BoxedStrategy<StateProfile> {
    let measured = || prop::option::weighted(0.4, measured());
    let measured = (measured(), measured(), measured(), measured()).prop_map(
        |(sequential_read, sequential_write, random_read, random_write)| PerWork {
            sequential_read,
            sequential_write,
            random_read,
            random_write,
        },
    );
    let latency = || prop::option::of(span());
    (prop::bool::weighted(0.2), prop::option::weighted(0.9, milliwatts()), latency(), latency(), measured)
        .prop_map(|(non_operational, max_power, entry_latency, exit_latency, measured)| StateProfile {
            non_operational,
            max_power,
            entry_latency,
            exit_latency,
            measured,
        })
        .boxed()
}

fn profile() -> BoxedStrategy<Profile> {
    let count = prop_oneof![8 => 1..5usize, 1 => 0..=32usize];
    let states = count.prop_flat_map(|count| prop::collection::vec(state_profile(), count));
    (states, prop::option::weighted(0.3, span()))
        .prop_map(|(states, settling)| Profile { settling, states: states.into_iter().collect(), ..Profile::default() })
        .boxed()
}

fn limits() -> impl Strategy<Value = ThermalLimits> {
    let sensible = (310..370u16).prop_map(|warning| ThermalLimits::from_thresholds(Some(Kelvin::new(warning)), None));
    let threshold = || (kelvin(), kelvin(), span()).prop_map(|(enter, leave, dwell)| Threshold { enter, leave, dwell });
    let thresholds = (threshold(), threshold(), threshold(), kelvin());
    let any = (thresholds, span(), any::<u32>(), span(), prop::option::of(span())).prop_map(
        |((warm, hot, critical, limit), look_ahead, worst_slew_mk_per_s, timeout, frozen_after)| ThermalLimits {
            warm,
            hot,
            critical,
            limit,
            look_ahead,
            worst_slew_mk_per_s,
            timeout,
            frozen_after,
        },
    );
    prop_oneof![2 => sensible, 1 => any]
}

fn throughput() -> impl Strategy<Value = BytesPerSecond> {
    let raw = prop_oneof![6 => 0..10_000_000_000u64, 2 => Just(0), 1 => any::<u64>()];
    raw.prop_map(BytesPerSecond::new)
}

/// Few groups and shelves, so that they have several drives.
fn share() -> impl Strategy<Value = Share> {
    let number = || prop::option::weighted(0.4, prop_oneof![8 => 0..3u8, 1 => any::<u8>()]);
    let any = (any::<u8>(), 0..3u8, throughput(), number(), number())
        .prop_map(|(weight, priority, guarantee, group, shelf)| Share { weight, priority, guarantee, group, shelf });
    prop_oneof![1 => Just(Share::default()), 2 => any]
}

fn drive_config() -> BoxedStrategy<DriveConfig> {
    let declared = prop_oneof![2 => Just(WorkSet::ALL), 2 => work()];
    let profile = prop_oneof![9 => 0..4u8, 1 => any::<u8>()];
    (profile, milliwatts(), declared, power_state(), prop::option::weighted(0.3, limits()), share())
        .prop_map(|(profile, slot_limit, declared, fallback, thermal, share)| DriveConfig {
            declared,
            fallback,
            thermal,
            share,
            ..DriveConfig::new(ProfileIndex(profile), slot_limit)
        })
        .boxed()
}

fn meter_config() -> impl Strategy<Value = MeterConfig> {
    (milliwatts(), milliwatts(), milliwatts(), span(), prop::option::of(span())).prop_map(
        |(quantum, noise, full_scale, timeout, stuck_after)| MeterConfig {
            quantum,
            noise,
            full_scale,
            timeout,
            stuck_after,
        },
    )
}

fn cooling() -> impl Strategy<Value = Cooling> {
    let fans = prop_oneof![Just(Fans::Regulating), Just(Fans::AtLimit), Just(Fans::Failed)];
    (prop::option::weighted(0.9, kelvin()), fans, prop::bool::weighted(0.2))
        .prop_map(|(inlet, fans, coolant_lost)| Cooling { inlet, fans, coolant_lost })
}

fn cooling_config() -> impl Strategy<Value = CoolingConfig> {
    let figures = (total_milliwatts(), total_milliwatts(), total_milliwatts());
    (figures, kelvin(), kelvin(), span(), span()).prop_map(
        |((fans_at_limit, fans_failed, coolant_lost), design_inlet, hottest_inlet, dwell, timeout)| CoolingConfig {
            fans_at_limit,
            fans_failed,
            coolant_lost,
            design_inlet,
            hottest_inlet,
            dwell,
            timeout,
        },
    )
}

fn config() -> BoxedStrategy<Config> {
    let powers = (total_milliwatts(), total_milliwatts(), milliwatts(), milliwatts());
    let spans = (span(), span(), span());
    let shelves = prop::collection::vec(milliwatts(), 0..4);
    let per_day = prop::option::weighted(0.3, prop_oneof![Just(0), 0..40u16, any::<u16>()]);
    let cooling = prop::option::weighted(0.3, cooling_config());
    let bounds = (shelves, per_day, cooling);
    (powers, spans, bounds, any::<bool>(), prop::option::weighted(0.4, meter_config()), 0..5u8)
        .prop_map(
            |(
                (cap, base, margin, overhead),
                (window, dwell, rotation_interval),
                bounds,
                trust_measured,
                meter,
                patience,
            )| {
                let (shelves, transitions_per_day, cooling) = bounds;
                Config {
                    // Half of the draws, so that there is something to share out.
                    base_load: Milliwatts::new(base.get() / 4),
                    margin: Milliwatts::new(margin.get() / 4),
                    overhead: Milliwatts::new(overhead.get() / 8),
                    window,
                    trust_measured,
                    meter,
                    dwell,
                    rotation_interval,
                    patience,
                    shelves: shelves.into_iter().map(|limit| Milliwatts::new(limit.get().saturating_mul(4))).collect(),
                    transitions_per_day,
                    cooling,
                    ..Config::new(cap, Milliwatts::ZERO)
                }
            },
        )
        .boxed()
}

/// What happens, and how long after the last.
#[derive(Clone, Debug)]
enum Happening {
    /// Something that anybody can say.
    Event(Event),
    /// The answer to one of the commands in flight; the state that a drive names is the one asked for last, or this.
    Answer { which: Index, state: Option<PowerState> },
    /// One of the commands in flight comes back otherwise.
    Fails { which: Index, outcome: Option<Outcome> },
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Forwards(u64),
    Backwards(u64),
    ToDeadline,
}

fn step() -> BoxedStrategy<Step> {
    prop_oneof![
        4 => Just(Step::Forwards(0)),
        4 => (0..20 * MILLISECOND).prop_map(Step::Forwards),
        3 => (0..4 * SECOND).prop_map(Step::Forwards),
        6 => Just(Step::ToDeadline),
        1 => (0..7_200 * SECOND).prop_map(Step::Forwards),
        1 => (0..7_200 * SECOND).prop_map(Step::Backwards),
    ]
    .boxed()
}

/// A step that takes the clock to one of its ends is rare, since nothing much can happen after it.
fn far_step() -> BoxedStrategy<Step> {
    prop_oneof![200 => step(), 1 => Just(Step::Forwards(u64::MAX)), 1 => Just(Step::Backwards(u64::MAX))].boxed()
}

fn slot() -> impl Strategy<Value = Slot> {
    prop_oneof![20 => 0..32u8, 1 => any::<u8>()]
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        Just(Outcome::Done),
        power_state().prop_map(Outcome::Is),
        any::<u16>().prop_map(|bits| Outcome::Rejected(Status::from_bits(bits))),
    ]
}

fn event() -> BoxedStrategy<Event> {
    let id = || prop_oneof![0..500u32, any::<u32>()].prop_map(CommandId);
    prop_oneof![
        4 => Just(Event::Tick),
        2 => total_milliwatts().prop_map(Event::Cap),
        2 => (slot(), drive_config()).prop_map(|(slot, drive)| Event::Attached { slot, drive }),
        1 => slot().prop_map(|slot| Event::Removed { slot }),
        1 => slot().prop_map(|slot| Event::Reset { slot }),
        2 => (slot(), work()).prop_map(|(slot, seen)| Event::Work { slot, seen }),
        2 => (slot(), prop::option::of(kelvin())).prop_map(|(slot, reading)| Event::Temperature { slot, reading }),
        1 => (slot(), id(), outcome()).prop_map(|(slot, id, outcome)| Event::Completed { slot, id, outcome }),
        1 => (slot(), id()).prop_map(|(slot, id)| Event::Lost { slot, id }),
        2 => prop::option::weighted(0.9, total_milliwatts()).prop_map(Event::Meter),
        2 => (slot(), prop::option::weighted(0.8, throughput()))
            .prop_map(|(slot, wanted)| Event::Demand { slot, wanted }),
        1 => (0..5u8, total_milliwatts()).prop_map(|(shelf, limit)| Event::ShelfLimit { shelf, limit }),
        1 => (slot(), 0..4u32, 0..4u32).prop_map(|(slot, light_transitions, heavy_transitions)| {
            let counters = ThrottleCounters { light_transitions, heavy_transitions, ..ThrottleCounters::default() };
            Event::Throttling { slot, counters }
        }),
        2 => cooling().prop_map(Event::Cooling),
    ]
    .boxed()
}

fn happening() -> BoxedStrategy<Happening> {
    prop_oneof![
        4 => event().prop_map(Happening::Event),
        6 => (any::<Index>(), prop::option::weighted(0.2, power_state()))
            .prop_map(|(which, state)| Happening::Answer { which, state }),
        1 => (any::<Index>(), prop::option::of(outcome()))
            .prop_map(|(which, outcome)| Happening::Fails { which, outcome }),
    ]
    .boxed()
}

/// Plays a story to a governor under watch and to one that is not; both must do the same.
fn play(config: Config, profiles: &[Profile], drives: Vec<DriveConfig>, story: Vec<(Step, Happening)>) {
    let mut watched = Watched::new(config.clone(), profiles);
    let mut other = TestGovernor::new(config);
    for profile in profiles {
        other.add_profile(profile.clone());
    }
    let mut last_asked = [PowerState::PS0; 32];
    let mut now = 0u64;
    let attached = (0..).zip(drives).map(|(slot, drive)| Event::Attached { slot, drive });
    let attached = attached.map(|event| (Step::Forwards(0), Happening::Event(event)));
    for (step, happening) in attached.chain(story) {
        now = match step {
            Step::Forwards(span) => now.saturating_add(span),
            Step::Backwards(span) => now.saturating_sub(span),
            Step::ToDeadline => watched.governor.next_deadline().map_or(now, Instant::as_micros),
        };
        let Some(event) = tell(&watched, &mut last_asked, &happening) else { continue };
        let commands = watched.handle(now, &event);
        other.handle(Instant::from_micros(now), event);
        let same: Vec<_> = std::iter::from_fn(|| other.poll()).collect();
        assert_eq!(commands, same);
    }
}

/// What the governor is told; nothing where there is nothing to answer.
fn tell(watched: &Watched, last_asked: &mut [PowerState; 32], happening: &Happening) -> Option<Event> {
    let in_flight = || {
        let of = |slot| watched.ledger.in_flight(slot).map(|(id, request)| (slot, id, request));
        (0..32).filter_map(of).collect::<Vec<_>>()
    };
    match happening {
        Happening::Event(event) => Some(event.clone()),
        Happening::Answer { which, state } => {
            let in_flight = in_flight();
            let &(slot, id, request) = (!in_flight.is_empty()).then(|| which.get(&in_flight))?;
            let asked = &mut last_asked[usize::from(slot)];
            let outcome = match request {
                Request::SetPowerState(state) => {
                    *asked = state;
                    Outcome::Done
                }
                Request::ReadPowerState => Outcome::Is(state.unwrap_or(*asked)),
                other => panic!("no configuration here allows {other:?}"),
            };
            Some(Event::Completed { slot, id, outcome })
        }
        Happening::Fails { which, outcome } => {
            let in_flight = in_flight();
            let &(slot, id, _) = (!in_flight.is_empty()).then(|| which.get(&in_flight))?;
            Some(match *outcome {
                Some(outcome) => Event::Completed { slot, id, outcome },
                None => Event::Lost { slot, id },
            })
        }
    }
}

// ---- a world that means well ----

#[derive(Clone, Copy, Debug)]
enum Incident {
    Cap(u32),
    Reset(Slot),
    Remove(Slot),
    Attach(Slot, u8),
    Work(Slot, WorkSet),
    Asleep(Slot, bool),
    Nothing,
}

fn incident() -> impl Strategy<Value = Incident> {
    prop_oneof![
        3 => (0..700u32).prop_map(Incident::Cap),
        1 => (0..24u8).prop_map(Incident::Reset),
        1 => (0..24u8).prop_map(Incident::Remove),
        1 => (0..24u8, 0..3u8).prop_map(|(slot, state)| Incident::Attach(slot, state)),
        1 => (0..24u8, work()).prop_map(|(slot, seen)| Incident::Work(slot, seen)),
        1 => (0..24u8, any::<bool>()).prop_map(|(slot, asleep)| Incident::Asleep(slot, asleep)),
        3 => Just(Incident::Nothing),
    ]
}

/// Two kinds of drive, each with a state that does no work at the end.
fn kinds() -> [Profile; 2] {
    [
        nameplate(&[(25, true), (15, true), (10, true), (3, false)]),
        nameplate(&[(14, true), (9, true), (6, true), (1, false)]),
    ]
}

fn kind(slot: Slot, fallback: u8) -> DriveConfig {
    DriveConfig {
        profile: ProfileIndex(slot % 2),
        fallback: PowerState::new(fallback).expect("a state"),
        ..support::drive()
    }
}

/// Faults for some time, then none: after that, everybody is where he should be, within what there is.
fn settle(seed: u64, cap: u32, drives: u8, fallback: u8, faulty: u64, incidents: Vec<(u64, Incident)>) {
    let mut world = World::new(Config::new(Milliwatts::from_watts(cap), Milliwatts::ZERO), &kinds());
    let mut dice = Dice::new(seed);
    world.fate = Box::new(move |_, _| match dice.below(100) {
        fault if fault >= faulty => Fate::Answer(1 + dice.below(30 * MILLISECOND)),
        fault => match fault % 5 {
            0 => Fate::Answer(2 * SECOND),
            1 => Fate::Reject(Status::INVALID_FIELD),
            2 => Fate::Ignore,
            _ => Fate::Lose {
                after: 1 + dice.below(3 * SECOND),
                executed: dice.below(2) == 0,
                resets: dice.below(2) == 0,
            },
        },
    });
    for slot in 0..drives {
        world.attach(slot, kind(slot, fallback), slot % 3);
    }
    for (wait, incident) in incidents {
        world.run_for(wait);
        let there = |slot: &Slot| world.slots().any(|other| other == *slot);
        match incident {
            Incident::Cap(watts) => drop(world.cap(watts)),
            Incident::Reset(slot) if there(&slot) => drop(world.reset(slot)),
            Incident::Remove(slot) => drop(world.remove(slot)),
            Incident::Attach(slot, state) => drop(world.attach(slot, kind(slot, fallback), state)),
            Incident::Work(slot, seen) => drop(world.event(Event::Work { slot, seen })),
            Incident::Asleep(slot, asleep) if there(&slot) => world.sleep(slot, asleep.then_some(3)),
            _ => {}
        }
    }
    world.fate = Box::new(|_, _| PROMPT);
    // A drive that sleeps on confirms nothing, for as long as it sleeps.
    for slot in world.slots().collect::<Vec<_>>() {
        world.sleep(slot, None);
    }
    world.run_for(20 * SECOND);
    world.settle(30 * SECOND);
    // And it stays so, turns aside: in each of them, one drive of each kind and state in use is set and read back.
    let before = world.log.len();
    world.run_for(100 * SECOND);
    let commands = world.log.len() - before;
    let turns = 11;
    assert!(commands <= turns * kinds().len() * 3 * 2, "{commands} commands in 100 s: {:?}", &world.log[before..]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, max_shrink_iters: 60, ..ProptestConfig::default() })]

    #[test]
    fn whatever_it_is_told_it_keeps_its_rules(
        config in config(),
        profiles in prop::collection::vec(profile(), 4),
        drives in prop::collection::vec(drive_config(), 1..=32),
        story in prop::collection::vec((far_step(), happening()), 0..400),
    ) {
        play(config, &profiles, drives, story);
    }

    #[test]
    fn once_the_faults_stop_it_comes_to_rest(
        seed in any::<u64>(),
        cap in 0..700u32,
        drives in 1..=24u8,
        fallback in 0..3u8,
        faulty in 0..40u64,
        incidents in prop::collection::vec((0..3 * SECOND, incident()), 0..30),
    ) {
        settle(seed, cap, drives, fallback, faulty, incidents);
    }
}
