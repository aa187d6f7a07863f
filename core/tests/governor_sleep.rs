//! Drives that go without power while nobody needs them: what the governor sends for it, and what they count for.

mod support;

use proptest::prelude::*;
use support::{OFF, may_sleep};
use wattline_core::governor::{
    Command, CommandId, Config, DriveConfig, Event, Governor, Outcome, ProfileIndex, Reason, Request, Slot,
};
use wattline_core::nvme::{PowerState, Status};
use wattline_core::profile::{Work, WorkSet, d5_p5336};
use wattline_core::sleep::State;
use wattline_core::units::{BytesPerSecond, Instant, Milliwatts};

const DRIVES: usize = 3;
const SECOND: u64 = 1_000_000;
const HOUR: u64 = 3_600 * SECOND;
const BASE: u32 = 100;

/// One slot as it really is.
#[derive(Clone, Copy)]
struct Bench {
    powered: bool,
    /// Shut down cleanly, and not used since.
    clean: bool,
    state: PowerState,
    refuses_shutdown: bool,
}

struct World {
    governor: Governor<DRIVES, 1, DRIVES>,
    drives: [Bench; DRIVES],
    now: u64,
    sent: Vec<(u64, Slot, Request, Reason)>,
    in_flight: [Option<CommandId>; DRIVES],
    /// The highest that the drives ever took together, in the watts that their states may take.
    highest: u32,
}

impl World {
    fn new(watts: u32) -> Self {
        let mut governor =
            Governor::new(Config::new(Milliwatts::from_watts(BASE + watts), Milliwatts::from_watts(BASE)));
        governor.add_profile(d5_p5336()).unwrap();
        let bench = Bench { powered: true, clean: false, state: PowerState::PS0, refuses_shutdown: false };
        let mut world =
            Self { governor, drives: [bench; DRIVES], now: 0, sent: Vec::new(), in_flight: [None; DRIVES], highest: 0 };
        for slot in 0..3 {
            let drive = DriveConfig::new(ProfileIndex(0), Milliwatts::from_watts(25));
            world.tell(Event::Attached { slot, drive });
            world.tell(may_sleep(slot));
        }
        world
    }

    /// What the drives may take now, by their true states.
    fn takes(&self) -> u32 {
        let profile = d5_p5336();
        let of = |bench: &Bench| match bench.powered {
            true => profile.state(bench.state).unwrap().max_power.unwrap().get(),
            false => OFF.get(),
        };
        self.drives.iter().map(of).sum()
    }

    fn answer(&mut self, slot: Slot, request: Request) -> Outcome {
        let bench = &mut self.drives[usize::from(slot)];
        let asleep = Outcome::Rejected(Status::of(0, 0x06));
        match request {
            Request::ShutDown if bench.refuses_shutdown => return asleep,
            Request::ShutDown => {
                assert!(bench.powered, "a drive without power is shut down");
                bench.clean = true;
            }
            Request::PowerOff => {
                assert!(bench.clean, "power is cut without a clean shutdown");
                bench.powered = false;
            }
            Request::PowerOn | Request::Restart => {
                *bench = Bench { powered: true, clean: false, state: PowerState::PS0, ..*bench };
            }
            _ if !bench.powered || bench.clean => panic!("{request:?} to a drive that is not there"),
            Request::SetPowerState(state) => bench.state = state,
            Request::ReadPowerState => return Outcome::Is(bench.state),
            other => panic!("{other:?}"),
        }
        Outcome::Done
    }

    /// Tells the governor; every command is answered after everything that was decided with it.
    fn tell(&mut self, event: Event) {
        let mut events = std::collections::VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            if let Event::Completed { slot, .. } = event {
                self.in_flight[usize::from(slot)] = None;
            }
            self.governor.handle(Instant::from_micros(self.now), event);
            while let Some(command) = self.governor.poll() {
                let Command::Drive { slot, id, request, reason } = command else { continue };
                let flight = &mut self.in_flight[usize::from(slot)];
                assert_eq!(flight.replace(id), None, "{request:?} while another command is in flight");
                self.sent.push((self.now, slot, request, reason));
                let outcome = self.answer(slot, request);
                events.push_back(Event::Completed { slot, id, outcome });
                self.highest = self.highest.max(self.takes());
            }
        }
    }

    fn run(&mut self, micros: u64) {
        let until = self.now + micros;
        while let Some(due) = self.governor.next_deadline().map(Instant::as_micros).filter(|due| *due <= until) {
            self.now = self.now.max(due);
            self.tell(Event::Tick);
        }
        self.now = until;
        self.tell(Event::Tick);
    }

    fn idle(&mut self, slot: Slot) {
        self.tell(Event::Work { slot, seen: WorkSet::NONE });
    }

    fn wanted(&mut self, slot: Slot) {
        self.tell(Event::Demand { slot, wanted: Some(BytesPerSecond::new(1_000_000)) });
    }

    fn count(&self, wanted: Request) -> usize {
        self.sent.iter().filter(|(_, _, request, _)| *request == wanted).count()
    }
}

#[test]
fn a_drive_that_nobody_needs_loses_its_power_after_a_clean_shutdown_and_gets_it_back() {
    let mut world = World::new(80);
    // Power cycles are earned before the first is spent.
    world.run(2 * HOUR);
    assert_eq!(world.count(Request::ShutDown), 0, "nobody has said that a drive is idle");
    let promised = world.governor.ledger().promised();
    world.idle(1);
    world.run(HOUR);
    assert!(!world.drives[1].powered && world.drives[0].powered);
    assert_eq!((world.count(Request::ShutDown), world.count(Request::PowerOff)), (1, 1));
    let asleep = world.governor.ledger().promised();
    assert!(asleep < promised);
    assert_eq!(world.governor.ledger().draw(1), OFF);
    world.wanted(1);
    world.run(10 * SECOND);
    assert!(world.drives[1].powered);
    assert_eq!(world.governor.sleeper(1).unwrap().state(), State::Working);
    assert_eq!(world.governor.ledger().promised(), promised);
    assert!(world.sent.iter().filter(|(.., reason)| *reason == Reason::Sleep).count() == 3);
}

/// The watts of a drive that sleeps are lent to the others, and come back before its power does.
#[test]
fn power_comes_back_only_out_of_watts_that_are_back() {
    // All in the middle state, or two in the highest once the third sleeps.
    let mut world = World::new(54);
    world.run(2 * HOUR);
    world.idle(2);
    world.run(HOUR);
    assert!(!world.drives[2].powered);
    assert!(world.drives[0].state == PowerState::PS0 && world.drives[1].state == PowerState::PS0);
    world.highest = 0;
    world.wanted(2);
    world.run(30 * SECOND);
    assert!(world.drives[2].powered);
    assert!(world.highest <= 54_000, "{} mW", world.highest);
}

#[test]
fn a_drive_for_which_there_are_no_watts_stays_without_power_and_nobody_else_suffers() {
    let mut world = World::new(60);
    world.run(2 * HOUR);
    world.idle(2);
    world.run(HOUR);
    assert!(!world.drives[2].powered);
    // Its fallback state takes more than two drives in their lowest state leave.
    world.tell(Event::Cap(Milliwatts::from_watts(BASE + 40)));
    world.wanted(2);
    world.run(HOUR);
    assert!(!world.drives[2].powered);
    assert_eq!(world.governor.ledger().excess(), Milliwatts::ZERO);
    let raises = world.sent.iter().filter(|(at, _, _, reason)| *at > 3 * HOUR && *reason == Reason::Raise);
    assert!(raises.count() > 100, "nothing is kept free in vain: the others take turns in the highest state");
    world.tell(Event::Cap(Milliwatts::from_watts(BASE + 60)));
    world.run(30 * SECOND);
    assert!(world.drives[2].powered);
}

#[test]
fn a_drive_that_cannot_be_shut_down_keeps_its_power() {
    let mut world = World::new(80);
    world.drives[0].refuses_shutdown = true;
    world.run(2 * HOUR);
    world.idle(0);
    world.run(10 * HOUR);
    world.idle(0);
    world.run(10 * HOUR);
    assert_eq!(world.count(Request::PowerOff), 0);
    assert!(world.count(Request::ShutDown) >= 1 && world.drives[0].powered);
    assert_eq!(world.governor.sleeper(0).unwrap().state(), State::Working);
}

#[test]
fn power_that_fails_by_itself_is_noticed_and_counted() {
    let mut world = World::new(80);
    world.run(60 * SECOND);
    world.drives[1] = Bench { powered: false, ..world.drives[1] };
    world.tell(Event::Power { slot: 1, on: false });
    assert_eq!(world.governor.ledger().draw(1), OFF);
    world.drives[1] = Bench { powered: true, clean: false, state: PowerState::PS0, refuses_shutdown: false };
    world.tell(Event::Power { slot: 1, on: true });
    assert!(world.governor.ledger().draw(1) >= Milliwatts::from_watts(25));
    world.run(10 * SECOND);
    assert_eq!(world.governor.sleeper(1).unwrap().state(), State::Working);
}

#[test]
fn a_governor_without_room_for_sleep_ignores_it() {
    let mut governor = Governor::<1, 1>::new(Config::new(Milliwatts::from_watts(130), Milliwatts::from_watts(100)));
    governor.add_profile(d5_p5336()).unwrap();
    governor.handle(Instant::START, may_sleep(0));
    governor.handle(Instant::START, Event::Power { slot: 0, on: false });
    assert!(governor.sleeper(0).is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever is worked, wanted, capped and removed: power is never cut uncleanly (the bench says so), two commands
    /// are never in flight, and no command of the governor's makes the drives take more than the cap leaves.
    #[test]
    fn whatever_happens_sleep_keeps_its_rules(
        steps in prop::collection::vec((0u8..3, 0u8..6, 1u64..400), 1..120),
    ) {
        let mut world = World::new(60);
        world.run(HOUR);
        world.highest = 0;
        for (slot, what, minutes) in steps {
            match what {
                0 | 1 => world.idle(slot),
                2 => world.wanted(slot),
                3 if world.drives[usize::from(slot)].powered && !world.drives[usize::from(slot)].clean => {
                    world.tell(Event::Work { slot, seen: WorkSet::of(Work::SequentialWrite) });
                }
                4 => world.run(minutes * SECOND),
                _ => world.run(minutes * 60 * SECOND),
            }
        }
        world.run(60 * SECOND);
        prop_assert!(world.highest <= 60_000, "{} mW", world.highest);
        prop_assert_eq!(world.governor.ledger().excess(), Milliwatts::ZERO);
    }
}
