//! What the governor lives through, and who answers its commands.

use core::mem::MaybeUninit;

use heapless::Deque;
use wattline_core::governor::{
    Command, CommandId, Config, DriveConfig, Event, MeterConfig, Outcome, ProfileIndex, Request, Slot,
};
use wattline_core::nvme::{PowerState, Status};
use wattline_core::profile::{Work, WorkSet, d5_p5336};
use wattline_core::thermal::ThermalLimits;
use wattline_core::units::{Instant, Kelvin, Microseconds, Milliwatts};

use crate::Subject;
use crate::counter::Counter;

/// As many as the reference server has.
pub(crate) const DRIVES: usize = 24;

/// A cap at which the best mix of states has all of them.
const CAP: Milliwatts = Milliwatts::from_watts(900);
const BASE_LOAD: Milliwatts = Milliwatts::from_watts(462);
/// Nothing is due for so long: drives have settled, and the next turn has not come.
const QUIET: Microseconds = Microseconds::from_millis(500);
const DISTURBANCES: u32 = 300;

/// The calls of one kind.
#[derive(Default)]
pub(crate) struct Calls {
    pub(crate) count: u32,
    pub(crate) total: u64,
    pub(crate) worst: u32,
}

impl Calls {
    fn add(&mut self, instructions: u32) {
        self.count += 1;
        self.total += u64::from(instructions);
        self.worst = self.worst.max(instructions);
    }
}

/// Kinds of calls: events, which are told to a governor and whose commands are then taken; and questions.
#[derive(Clone, Copy)]
enum Kind {
    /// Sensors that tell nothing new, while all is as planned.
    Temperature,
    Meter,
    Work,
    /// Sensors at any other time.
    Telemetry,
    Tick,
    Answer,
    Cap,
    Reset,
    Removal,
    Attachment,
    Deadline,
}

const NAMES: [&str; 11] = [
    "temperature",
    "meter",
    "work",
    "telemetry",
    "tick",
    "answer",
    "cap",
    "reset",
    "removal",
    "attachment",
    "next-deadline",
];

/// A governor without drives.
#[inline(never)]
pub(crate) fn start(place: &mut MaybeUninit<Subject>) -> &mut Subject {
    let meter = MeterConfig {
        quantum: Milliwatts::from_watts(33),
        noise: Milliwatts::ZERO,
        full_scale: Milliwatts::from_watts(2_800),
        timeout: Microseconds::from_secs(5),
        stuck_after: None,
    };
    let config = Config {
        margin: Milliwatts::from_watts(21),
        trust_measured: true,
        meter: Some(meter),
        ..Config::new(CAP, BASE_LOAD)
    };
    let governor = place.write(Subject::new(config));
    governor.add_profile(d5_p5336());
    governor
}

/// A governor, its drives, and what its calls took.
pub(crate) struct Bench<'a> {
    governor: &'a mut Subject,
    counter: Counter,
    calls: [Calls; NAMES.len()],
    now: Instant,
    states: [PowerState; DRIVES],
    answers: Deque<(Slot, CommandId, Outcome), DRIVES>,
    chance: u32,
}

impl<'a> Bench<'a> {
    pub(crate) fn new(governor: &'a mut Subject, counter: Counter) -> Self {
        Self {
            governor,
            counter,
            calls: Default::default(),
            now: Instant::START,
            states: [PowerState::PS0; DRIVES],
            answers: Deque::new(),
            chance: 1,
        }
    }

    pub(crate) fn calls(&self) -> impl Iterator<Item = (&'static str, &Calls)> {
        NAMES.into_iter().zip(&self.calls)
    }

    /// All drives come; then they are disturbed, and watched while nothing happens, in turns.
    #[inline(never)]
    pub(crate) fn run(&mut self) {
        for slot in slots() {
            self.attach(slot);
        }
        self.live(40);
        for _ in 0..DISTURBANCES {
            self.disturb();
            // Some disturbances come while the one before is still at work.
            let seconds = self.chance(6);
            self.live(seconds);
        }
        self.rest();
    }

    /// What the sensors say while nothing is due, and nothing has changed.
    fn rest(&mut self) {
        self.live(60);
        while self.deadline().is_some_and(|deadline| deadline < self.now.after(QUIET)) {
            self.live(1);
        }
        self.pass(Microseconds::from_millis(10));
        self.tell(Kind::Meter, meter());
        for slot in slots() {
            self.tell(Kind::Temperature, temperature(slot));
            self.tell(Kind::Work, work(slot));
            self.deadline();
        }
    }

    fn disturb(&mut self) {
        let slot = u8::try_from(self.chance(24)).unwrap_or_default();
        match self.chance(6) {
            0 | 1 => {
                self.states[usize::from(slot)] = PowerState::PS0;
                self.answers.retain(|(other, ..)| *other != slot);
                self.tell(Kind::Reset, Event::Reset { slot });
            }
            2 => {
                self.answers.retain(|(other, ..)| *other != slot);
                self.tell(Kind::Removal, Event::Removed { slot });
                self.live(3);
                self.attach(slot);
            }
            _ => {
                let cap = Milliwatts::from_watts(700 + self.chance(500));
                self.tell(Kind::Cap, Event::Cap(cap));
            }
        }
    }

    fn attach(&mut self, slot: Slot) {
        self.states[usize::from(slot)] = PowerState::PS0;
        let limit = Kelvin::new(343);
        let drive = DriveConfig {
            thermal: Some(ThermalLimits::from_thresholds(Some(limit), Some(limit))),
            declared: writing(),
            ..DriveConfig::new(ProfileIndex(0), Milliwatts::from_watts(25))
        };
        self.tell(Kind::Attachment, Event::Attached { slot, drive });
    }

    /// Some seconds, in each of which all sensors are read, and drives answer within a few milliseconds.
    fn live(&mut self, seconds: u32) {
        for _ in 0..seconds {
            let until = self.now.after(Microseconds::from_secs(1));
            self.tell(Kind::Telemetry, meter());
            for slot in slots() {
                self.tell(Kind::Telemetry, temperature(slot));
                self.tell(Kind::Telemetry, work(slot));
            }
            while let Some((slot, id, outcome)) = self.answers.pop_front() {
                self.pass(Microseconds::from_millis(1));
                self.tell(Kind::Answer, Event::Completed { slot, id, outcome });
            }
            while let Some(deadline) = self.deadline().filter(|deadline| *deadline <= until) {
                self.now = self.now.max(deadline);
                self.tell(Kind::Tick, Event::Tick);
                while let Some((slot, id, outcome)) = self.answers.pop_front() {
                    self.pass(Microseconds::from_millis(1));
                    self.tell(Kind::Answer, Event::Completed { slot, id, outcome });
                }
            }
            self.now = self.now.max(until);
        }
    }

    fn pass(&mut self, span: Microseconds) {
        self.now = self.now.after(span);
    }

    /// Tells the governor, and takes its commands.
    fn tell(&mut self, kind: Kind, event: Event) {
        let (governor, now) = (&mut *self.governor, self.now);
        let ((), mut instructions) = self.counter.instructions(|| governor.handle(now, event));
        loop {
            let (command, more) = self.counter.instructions(|| self.governor.poll());
            instructions += more;
            match command {
                Some(Command::Drive { slot, id, request, .. }) => self.send(slot, id, request),
                Some(Command::Alarm { .. }) => {}
                None => break,
            }
        }
        self.calls[kind as usize].add(instructions);
    }

    fn deadline(&mut self) -> Option<Instant> {
        let (deadline, instructions) = self.counter.instructions(|| self.governor.next_deadline());
        self.calls[Kind::Deadline as usize].add(instructions);
        deadline
    }

    fn send(&mut self, slot: Slot, id: CommandId, request: Request) {
        let state = &mut self.states[usize::from(slot)];
        let outcome = match request {
            Request::SetPowerState(wanted) => {
                *state = wanted;
                Outcome::Done
            }
            Request::ReadPowerState => Outcome::Is(*state),
            // The configuration allows nothing else.
            _ => Outcome::Rejected(Status::INVALID_FIELD),
        };
        assert!(self.answers.push_back((slot, id, outcome)).is_ok(), "one command for each drive");
    }

    /// A number below `end`, from xorshift32.
    fn chance(&mut self, end: u32) -> u32 {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 17;
        self.chance ^= self.chance << 5;
        self.chance % end
    }
}

fn slots() -> impl Iterator<Item = Slot> {
    (0..).take(DRIVES)
}

const fn meter() -> Event {
    Event::Meter(Some(Milliwatts::from_watts(693)))
}

const fn temperature(slot: Slot) -> Event {
    Event::Temperature { slot, reading: Some(Kelvin::new(318)) }
}

fn work(slot: Slot) -> Event {
    Event::Work { slot, seen: writing() }
}

fn writing() -> WorkSet {
    WorkSet::of(Work::SequentialWrite)
}
