//! Real drives' power tables, up to 32 drives, and anything at all that can be told to a governor, thousands of events
//! long: nothing panics, a drive never has two commands in flight, and the same events give the same commands, for a
//! governor of another capacity too.

use std::collections::BTreeMap;
use std::num::NonZeroU16;

use wattline::catalogue;
use wattline_core::apst::Tolerance;
use wattline_core::governor::{
    BackstopConfig, Command, CommandId, Config, DriveConfig, Event, Governor, Levers, MeterConfig, Outcome,
    ProfileIndex, Request, Share, Slot,
};
use wattline_core::history::Counters;
use wattline_core::nvme::feature::ocp_power_state::OcpPowerState;
use wattline_core::nvme::feature::thermal_management::ThermalManagement;
use wattline_core::nvme::{Power, PowerState, Status};
use wattline_core::profile::{Profile, StateProfile, Work, WorkSet};
use wattline_core::sleep::{Conditions, Costs, CyclesPerDay, Slot as SlotAbilities};
use wattline_core::thermal::{Cooling, CoolingConfig, Fans, ThermalLimits, ThrottleCounters};
use wattline_core::units::{BytesPerSecond, Instant, Kelvin, Microseconds, Millijoules, Milliwatts};

const PROFILES: usize = 8;
const EVENTS: usize = 4_000;
const SECOND: u64 = 1_000_000;

/// SplitMix64: the same numbers on every machine.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// Mostly below the bound, now and then absurd.
    fn u32(&mut self, bound: u32) -> u32 {
        let any = u32::try_from(self.next() >> 32).expect("32 bits");
        match self.below(30) {
            0 => u32::MAX,
            1 => 0,
            2 => any,
            _ => any % bound,
        }
    }

    fn u64(&mut self, bound: u64) -> u64 {
        match self.below(30) {
            0 => u64::MAX,
            1 => self.next(),
            _ => self.below(bound),
        }
    }

    fn small(&mut self, bound: u64) -> u8 {
        u8::try_from(self.below(bound)).expect("a byte")
    }

    fn sometimes<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (!self.once_in(3)).then(|| make(self))
    }

    fn watts(&mut self, bound: u32) -> Milliwatts {
        Milliwatts::new(self.u32(bound.saturating_mul(1000)))
    }

    fn span(&mut self, seconds: u64) -> Microseconds {
        Microseconds::new(self.u64(seconds * SECOND))
    }

    fn kelvin(&mut self) -> Kelvin {
        Kelvin::new(u16::try_from(self.u32(90) & 0xFFFF).expect("16 bits").saturating_add(270))
    }

    fn work(&mut self) -> WorkSet {
        Work::ALL.into_iter().filter(|_| self.once_in(2)).collect()
    }

    fn thresholds(&mut self) -> ThermalManagement {
        ThermalManagement { light: self.sometimes(Self::kelvin), heavy: self.sometimes(Self::kelvin) }
    }

    fn state(&mut self) -> PowerState {
        let number = if self.once_in(20) { self.small(32) } else { self.small(6) };
        PowerState::new(number).expect("below 32")
    }
}

fn profile(dice: &mut Dice) -> Profile {
    let drives = catalogue::drives();
    let drive = &drives[usize::try_from(dice.below(drives.len() as u64)).expect("a place")];
    let states = drive.states().map(|state| StateProfile {
        non_operational: state.non_operational,
        max_power: state.max_power.map(Power::milliwatts),
        entry_latency: state.entry_latency,
        exit_latency: state.exit_latency,
        ..StateProfile::default()
    });
    Profile { states: states.collect(), ..Profile::default() }
}

fn config(dice: &mut Dice) -> Config {
    let meter = dice.sometimes(|dice| MeterConfig {
        quantum: dice.watts(40),
        noise: dice.watts(5),
        full_scale: dice.watts(3000),
        timeout: dice.span(10),
        stuck_after: dice.sometimes(|dice| dice.span(60)),
    });
    let cooling = dice.sometimes(|dice| CoolingConfig {
        fans_at_limit: dice.watts(900),
        fans_failed: dice.watts(500),
        coolant_lost: dice.watts(500),
        design_inlet: dice.kelvin(),
        hottest_inlet: dice.kelvin(),
        dwell: dice.span(60),
        timeout: dice.span(60),
    });
    Config {
        margin: dice.watts(40),
        overhead: dice.watts(3),
        window: dice.span(3),
        trust_measured: dice.once_in(2),
        meter,
        dwell: dice.span(5),
        rotation_interval: dice.span(20),
        patience: dice.small(5),
        shelves: (0..dice.below(4)).map(|_| dice.watts(300)).collect(),
        transitions_per_day: dice.sometimes(|dice| u16::from(dice.small(200))),
        cooling,
        ..Config::new(dice.watts(700), dice.watts(200))
    }
}

fn drive(dice: &mut Dice) -> DriveConfig {
    DriveConfig {
        declared: dice.work(),
        fallback: dice.state(),
        thermal: dice.sometimes(|dice| {
            let (warning, critical) = (dice.sometimes(Dice::kelvin), dice.sometimes(Dice::kelvin));
            ThermalLimits::from_thresholds(warning, critical)
        }),
        share: Share {
            weight: dice.small(20),
            priority: dice.small(3),
            guarantee: BytesPerSecond::new(dice.u64(3_000_000_000)),
            group: dice.sometimes(|dice| dice.small(3)),
            shelf: dice.sometimes(|dice| dice.small(5)),
        },
        levers: Levers { ocp_power_state: dice.once_in(2) },
        backstop: dice.sometimes(|dice| BackstopConfig {
            thresholds: dice.thresholds(),
            last_resort: dice.sometimes(Dice::thresholds),
        }),
        ..DriveConfig::new(ProfileIndex(dice.small(PROFILES as u64 + 1)), dice.watts(40))
    }
}

fn conditions(dice: &mut Dice) -> Conditions {
    Conditions {
        wanted: !dice.once_in(4),
        slot: SlotAbilities { power_can_be_switched: !dice.once_in(4), can_shut_down: !dice.once_in(4) },
        entry: dice.sometimes(|dice| dice.span(5)),
        resume: dice.sometimes(|dice| dice.span(5)),
        costs: Costs {
            idle: dice.watts(8),
            moving: dice.watts(15),
            off: dice.watts(1),
            cycle: Millijoules::new(dice.u32(100_000)),
        },
        tolerance: if dice.once_in(2) { Tolerance::Unlimited } else { Tolerance::AtMost(dice.span(20)) },
    }
}

/// What a drive may answer: mostly what it was asked for, sometimes anything.
fn outcome(dice: &mut Dice, request: Request) -> Outcome {
    if dice.once_in(6) {
        return match dice.below(5) {
            0 => Outcome::Done,
            1 => Outcome::Is(dice.state()),
            2 => Outcome::OcpPowerState(OcpPowerState::new(dice.small(128)).expect("below 128")),
            3 => Outcome::ThermalManagement(dice.thresholds()),
            _ => Outcome::Rejected(Status::from_bits(u16::try_from(dice.below(1 << 15)).expect("15 bits"))),
        };
    }
    match request {
        Request::ReadPowerState => Outcome::Is(dice.state()),
        Request::ReadOcpPowerState => Outcome::OcpPowerState(OcpPowerState::new(dice.small(26)).expect("below 128")),
        Request::ReadThermalManagement => Outcome::ThermalManagement(dice.thresholds()),
        _ => Outcome::Done,
    }
}

fn event(dice: &mut Dice, slots: u64, in_flight: &BTreeMap<Slot, (CommandId, Request)>) -> Event {
    // Now and then a slot where nothing is attached on purpose.
    let slot = dice.small(slots + 2);
    let waiting = usize::try_from(dice.below(in_flight.len().max(1) as u64)).expect("a place");
    if let Some((slot, (id, request))) = in_flight.iter().nth(waiting).filter(|_| dice.once_in(2)) {
        return if dice.once_in(15) {
            Event::Lost { slot: *slot, id: *id }
        } else {
            Event::Completed { slot: *slot, id: *id, outcome: outcome(dice, *request) }
        };
    }
    match dice.below(40) {
        0 | 1 => Event::Cap(dice.watts(900)),
        2..=4 => Event::Attached { slot, drive: drive(dice) },
        5 => Event::Removed { slot },
        6 => Event::Reset { slot },
        7..=10 => Event::Work { slot, seen: dice.work() },
        11..=14 => Event::Temperature { slot, reading: dice.sometimes(Dice::kelvin) },
        15 => {
            let id = CommandId(dice.u32(2_000));
            Event::Completed { slot, id, outcome: outcome(dice, Request::ReadPowerState) }
        }
        16 => Event::Lost { slot, id: CommandId(dice.u32(2_000)) },
        17..=19 => Event::Meter(dice.sometimes(|dice| dice.watts(900))),
        20 => Event::Restored { slot, counters: Counters { transitions: dice.u32(10), ..Counters::default() } },
        21..=23 => Event::Demand { slot, wanted: dice.sometimes(|dice| BytesPerSecond::new(dice.u64(4_000_000_000))) },
        24 => Event::ShelfLimit { shelf: dice.small(9), limit: dice.watts(300) },
        25 | 26 => {
            let most = NonZeroU16::new(u16::from(dice.small(100)) + 1).expect("not 0");
            let limit = CyclesPerDay::new(most, NonZeroU16::MIN).expect("one of many");
            Event::MaySleep { slot, conditions: conditions(dice), limit }
        }
        27 => Event::Power { slot, on: dice.once_in(2) },
        28 => Event::BitFlip { slot, bit: u16::from(dice.small(256)) },
        29 => Event::Throttling {
            slot,
            counters: ThrottleCounters { light_transitions: dice.u32(5), ..ThrottleCounters::default() },
        },
        30 => Event::Cooling(Cooling {
            inlet: dice.sometimes(Dice::kelvin),
            fans: [Fans::Regulating, Fans::AtLimit, Fans::Failed][usize::from(dice.small(3))],
            coolant_lost: dice.once_in(4),
        }),
        _ => Event::Tick,
    }
}

type Small = Governor<32, PROFILES, 32>;
type Large = Governor<40, PROFILES, 40>;

#[test]
fn whatever_it_is_told_of_real_drives_it_keeps_its_contract() {
    let mut commands = 0;
    for seed in 0..24 {
        let mut dice = Dice(seed);
        let config = config(&mut dice);
        let (mut governor, mut again) = (Small::new(config.clone()), Large::new(config));
        for _ in 0..PROFILES {
            let profile = profile(&mut dice);
            governor.add_profile(profile.clone()).expect("room");
            again.add_profile(profile).expect("room");
        }
        let slots = 1 + dice.below(32);
        let mut in_flight: BTreeMap<Slot, (CommandId, Request)> = BTreeMap::new();
        let mut now = 0u64;
        for _ in 0..EVENTS {
            // Mostly onwards: to the next deadline, or a bit; sometimes back, or very far.
            now = match dice.below(40) {
                0 => now.saturating_sub(dice.below(3_600 * SECOND)),
                1 => now.saturating_add(dice.below(3_600 * SECOND)),
                2..=9 => governor.next_deadline().map_or(now, |due| due.as_micros().max(now)),
                _ => now.saturating_add(dice.below(SECOND / 2)),
            };
            let event = event(&mut dice, slots.min(30), &in_flight);
            match &event {
                Event::Attached { slot, .. } | Event::Removed { slot } | Event::Reset { slot } => {
                    in_flight.remove(slot);
                }
                Event::Power { slot, .. } => {
                    // A drive that loses its power loses what was in flight to it, if that is believed.
                    in_flight.remove(slot);
                }
                Event::Completed { slot, id, .. } | Event::Lost { slot, id }
                    if in_flight.get(slot).is_some_and(|(known, _)| known == id) =>
                {
                    in_flight.remove(slot);
                }
                _ => {}
            }
            let at = Instant::from_micros(now);
            governor.handle(at, event.clone());
            again.handle(at, event);
            let mut drained = 0;
            while let Some(command) = governor.poll() {
                assert_eq!(again.poll(), Some(command), "seed {seed}: a larger governor decides otherwise");
                drained += 1;
                assert!(drained < 1_000, "seed {seed}: poll does not come to an end");
                if let Command::Drive { slot, id, request, .. } = command {
                    commands += 1;
                    let before = in_flight.insert(slot, (id, request));
                    assert_eq!(before, None, "seed {seed}: {request:?} to slot {slot}, and an answer is awaited");
                }
            }
            assert_eq!(again.poll(), None, "seed {seed}: a larger governor decides more");
            assert_eq!(governor.next_deadline(), again.next_deadline(), "seed {seed}");
        }
    }
    println!("{commands} commands after {} events", 24 * EVENTS);
    assert!(commands > 10_000, "{commands} commands: nothing was put to the test");
}
