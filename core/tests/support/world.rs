//! Drives that answer, late or never, on a clock that jumps from one thing that happens to the next.

use std::collections::BTreeMap;

use wattline_core::governor::{Alarm, Command, CommandId, Config, DriveConfig, Event, Outcome, Request, Slot};
use wattline_core::nvme::{PowerState, Status};
use wattline_core::profile::Profile;
use wattline_core::units::Milliwatts;

use super::{MILLISECOND, SLOTS, Watched};

/// What becomes of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is carried out and answered after this many microseconds.
    Answer(u64),
    /// No answer comes, and after this time the adapter gives it up. Carried out or not; the drive is reset by it or
    /// not.
    Lose { after: u64, executed: bool, resets: bool },
    /// The drive refuses.
    Reject(Status),
    /// The drive says that it is done, and stays where it is.
    Ignore,
    /// Neither an answer nor a loss, for ever.
    Never,
}

/// How long a command takes where nothing is wrong.
pub(crate) const PROMPT: Fate = Fate::Answer(2 * MILLISECOND);

struct FakeDrive {
    config: DriveConfig,
    state: u8,
    /// It has gone to sleep by itself: the state that it reports.
    asleep: Option<u8>,
}

struct Due {
    slot: Slot,
    /// The state that the drive goes to, if it has not been reset since.
    goes_to: Option<u8>,
    event: Event,
}

/// A governor, the drives that it governs, and a clock.
pub(crate) struct World {
    pub(crate) watched: Watched,
    pub(crate) now: u64,
    /// Decides what becomes of each command.
    pub(crate) fate: Box<dyn FnMut(Slot, Request) -> Fate>,
    /// All commands so far, each with its time.
    pub(crate) log: Vec<(u64, Command)>,
    drives: Vec<Option<FakeDrive>>,
    pending: BTreeMap<(u64, u64), Due>,
    sequence: u64,
}

impl World {
    pub(crate) fn new(config: Config, profiles: &[Profile]) -> Self {
        Self {
            watched: Watched::new(config, profiles),
            now: 0,
            fate: Box::new(|_, _| PROMPT),
            log: Vec::new(),
            drives: (0..SLOTS).map(|_| None).collect(),
            pending: BTreeMap::new(),
            sequence: 0,
        }
    }

    // ---- what happens to the world ----

    /// A drive comes, in this state.
    pub(crate) fn attach(&mut self, slot: Slot, config: DriveConfig, state: u8) -> Vec<Command> {
        self.forget(slot);
        self.drives[usize::from(slot)] = Some(FakeDrive { config: config.clone(), state, asleep: None });
        self.event(Event::Attached { slot, drive: config })
    }

    pub(crate) fn remove(&mut self, slot: Slot) -> Vec<Command> {
        self.forget(slot);
        self.drives[usize::from(slot)] = None;
        self.event(Event::Removed { slot })
    }

    pub(crate) fn reset(&mut self, slot: Slot) -> Vec<Command> {
        self.forget(slot);
        if let Some(drive) = &mut self.drives[usize::from(slot)] {
            drive.state = drive.config.fallback.number();
            drive.asleep = None;
        }
        self.event(Event::Reset { slot })
    }

    /// The drive goes to sleep by itself; `None`: it wakes up. Nobody is told.
    pub(crate) fn sleep(&mut self, slot: Slot, state: Option<u8>) {
        self.drives[usize::from(slot)].as_mut().expect("a drive").asleep = state;
    }

    pub(crate) fn cap(&mut self, watts: u32) -> Vec<Command> {
        self.event(Event::Cap(Milliwatts::from_watts(watts)))
    }

    /// Tells the governor, and passes its commands on to the drives.
    pub(crate) fn event(&mut self, event: Event) -> Vec<Command> {
        let commands = self.watched.handle(self.now, &event);
        for &command in &commands {
            self.log.push((self.now, command));
            if let Command::Drive { slot, id, request, .. } = command {
                self.send(slot, id, request);
            }
        }
        self.check_truth();
        commands
    }

    // ---- time ----

    /// Jumps to the next thing that happens: an answer, or a deadline of the governor. `false`: nothing will by
    /// `until`.
    pub(crate) fn step(&mut self, until: u64) -> bool {
        let answer = self.pending.keys().next().copied();
        let deadline = self.watched.governor.next_deadline().map(wattline_core::units::Instant::as_micros);
        let next = match (answer, deadline) {
            (Some((answer, _)), Some(deadline)) => answer.min(deadline),
            (Some((answer, _)), None) => answer,
            (None, Some(deadline)) => deadline,
            (None, None) => u64::MAX,
        };
        if next > until {
            self.now = until;
            return false;
        }
        self.now = next;
        match answer.filter(|(time, _)| *time <= next) {
            Some(key) => {
                let due = self.pending.remove(&key).expect("it was there");
                if let (Some(state), Some(drive)) = (due.goes_to, &mut self.drives[usize::from(due.slot)]) {
                    drive.state = state;
                    drive.asleep = None;
                }
                let event = self.answer(due);
                self.event(event);
            }
            None => {
                self.event(Event::Tick);
            }
        }
        true
    }

    pub(crate) fn run_for(&mut self, span: u64) {
        let until = self.now + span;
        while self.step(until) {}
    }

    /// As [`Self::run_for`], with a reading of the meter every second.
    pub(crate) fn run_metered(&mut self, seconds: u64, reading: impl Fn(&Self) -> u64) {
        for _ in 0..seconds {
            self.run_for(super::SECOND);
            let reading = u32::try_from(reading(self)).expect("a reading");
            self.event(Event::Meter(Some(Milliwatts::new(reading))));
        }
    }

    /// Goes on until every command has been answered and every drive is where it should be.
    pub(crate) fn settle(&mut self, within: u64) {
        let until = self.now + within;
        while !self.is_settled() {
            assert!(self.step(until), "not settled by {until} us: {}", self.describe());
        }
    }

    /// Lets plans be made and remade, then waits for a moment of rest.
    pub(crate) fn calm(&mut self) {
        self.run_for(15 * super::SECOND);
        self.settle(30 * super::SECOND);
    }

    // ---- what it looks like ----

    pub(crate) fn is_settled(&self) -> bool {
        self.pending.is_empty()
            && self.watched.ledger.draws() <= self.watched.ledger.allowance().max(self.floor())
            && self.slots().all(|slot| {
                let target = self.watched.governor.target(slot).map(PowerState::number);
                !self.watched.ledger.is_managed(slot) || target == Some(self.state(slot))
            })
    }

    /// What is drawn at least as long as `CannotHold` is up; else nothing.
    fn floor(&self) -> u64 {
        if self.alarms().iter().any(|alarm| matches!(alarm, Alarm::CannotHold { .. })) { u64::MAX } else { 0 }
    }

    pub(crate) fn slots(&self) -> impl Iterator<Item = Slot> {
        (0..SLOTS).filter(|slot| self.drives[usize::from(*slot)].is_some())
    }

    /// Where a drive really is.
    pub(crate) fn state(&self, slot: Slot) -> u8 {
        self.drives[usize::from(slot)].as_ref().expect("a drive").state
    }

    /// How many drives are in PS0, PS1, PS2.
    pub(crate) fn states(&self) -> [usize; 3] {
        [0, 1, 2].map(|state| self.slots().filter(|slot| self.state(*slot) == state).count())
    }

    /// What all drives take at most, where they really are.
    pub(crate) fn true_draws(&self) -> u64 {
        self.slots().map(|slot| self.watched.ledger.figure(slot, self.state(slot))).sum()
    }

    pub(crate) fn alarms(&self) -> &[Alarm] {
        self.watched.ledger.alarms()
    }

    pub(crate) fn describe(&self) -> String {
        use std::fmt::Write as _;
        let (draws, allowance) = (self.watched.ledger.draws(), self.watched.ledger.allowance());
        let mut text = format!("draws {draws} mW of {allowance} mW, alarms {:?}", self.alarms());
        for slot in self.slots() {
            let target = self.watched.governor.target(slot);
            let (phase, state) = (self.watched.governor.phase(slot), self.state(slot));
            write!(text, "\n  {slot}: in {state}, target {target:?}, {phase:?}").expect("a string takes it");
        }
        text
    }

    // ---- the drives ----

    fn send(&mut self, slot: Slot, id: CommandId, request: Request) {
        let fate = (self.fate)(slot, request);
        let drive = self.drives[usize::from(slot)].as_mut().expect("commands go to drives that are there");
        let fallback = drive.config.fallback.number();
        let asked = match request {
            Request::SetPowerState(state) => Some(state.number()),
            _ => None,
        };
        let done = |outcome| Event::Completed { slot, id, outcome };
        let (after, goes_to, event) = match fate {
            Fate::Answer(after) => (after, asked, done(Outcome::Done)),
            Fate::Reject(status) => (MILLISECOND, None, done(Outcome::Rejected(status))),
            Fate::Ignore => (MILLISECOND, None, done(Outcome::Done)),
            Fate::Lose { after, executed, resets } => {
                if let (true, Some(state)) = (executed, asked) {
                    drive.state = state;
                }
                (after, resets.then_some(fallback), Event::Lost { slot, id })
            }
            Fate::Never => return,
        };
        self.sequence += 1;
        self.pending.insert((self.now.saturating_add(after), self.sequence), Due { slot, goes_to, event });
    }

    /// A read is answered with what the drive says at that moment.
    fn answer(&self, due: Due) -> Event {
        let request = self.watched.ledger.in_flight(due.slot).map(|(_, request)| request);
        match (due.event, request) {
            (Event::Completed { slot, id, outcome: Outcome::Done }, Some(Request::ReadPowerState)) => {
                let drive = self.drives[usize::from(slot)].as_ref().expect("its answers went when it went");
                let state = PowerState::new(drive.asleep.unwrap_or(drive.state)).expect("a power state");
                Event::Completed { slot, id, outcome: Outcome::Is(state) }
            }
            (event, _) => event,
        }
    }

    fn forget(&mut self, slot: Slot) {
        self.pending.retain(|_, due| due.slot != slot);
    }

    /// The outside ledger has not lost sight of any drive.
    fn check_truth(&self) {
        for slot in self.slots() {
            let state = self.state(slot);
            assert!(self.watched.ledger.allows(slot, state), "slot {slot} is in {state}, which nobody thinks possible");
        }
    }
}

/// A small generator of numbers that anybody would call random.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed ^ 0x9E37_79B9_7F4A_7C15)
    }

    /// A number below `sides` (xorshift64*).
    pub(crate) fn below(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % sides
    }
}
