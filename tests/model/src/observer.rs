//! Somebody who sees only what goes over the wires, and knows from it what each drive may be in. He shares no code with
//! the governor: its ledger and its transitions are what he judges.

use std::hash::{Hash, Hasher};

use wattline_core::governor::{Alarm, Cause, Command, CommandId, Outcome, Reason, Request};

use crate::rules::{Sent, rule};
use crate::situation::Step;
use crate::world::{BASE, DWELL, METER_TIMEOUT, SLOTS, WINDOW, World};
use crate::{Broken, situation::Answer};

/// A set of the three power states of a drive, a bit for each.
type States = u8;

/// What can be known of one drive.
#[derive(Clone, Debug, Hash)]
pub struct Drive {
    /// The states whose power it may take, without the one asked for.
    base: States,
    /// The state asked for: in flight, or done and not yet read back.
    pub asked: Option<u8>,
    /// What it should name if it is read now: any of these.
    pub within: States,
    /// When power has followed a set that was done and is not yet read back.
    accepted: Option<u64>,
    /// The state that it named last, and when its power has followed.
    pub named: Option<(u8, u64)>,
    /// The command in flight, and since when.
    pub flight: Option<(CommandId, Request, u64)>,
    /// Until then it may be left alone: it has failed, or sleeps.
    rests: u64,
    /// Failures since the last set that was verified.
    pub failures: u8,
    /// It refused, and said not to try again.
    pub hopeless: bool,
    /// Work that was not declared: seen, and when it does not count any more.
    extra: bool,
    extra_until: Option<u64>,
    /// When it was in its best state last.
    pub favoured: u64,
}

/// What can be known of the whole system.
#[derive(Clone, Debug)]
pub struct Observer {
    world: World,
    /// The drives that are there.
    pub drives: [Option<Drive>; SLOTS],
    /// The last command of each slot that is not in flight any more.
    pub old: [Option<CommandId>; SLOTS],
    /// The watts that the cap in force leaves to the drives.
    pub cap: u32,
    /// The alarms that are up.
    pub alarms: Vec<Alarm>,
    /// When the meter gave a valid reading last; before the first, when one was waited for first.
    heard: Option<u64>,
    /// The meter read more than was promised at some time.
    pub surplus: bool,
    now: u64,
}

const fn bit(state: u8) -> States {
    1 << state
}

const EVERY: States = 0b111;

impl Drive {
    const fn new(now: u64) -> Self {
        Self {
            base: EVERY,
            asked: None,
            within: EVERY,
            accepted: None,
            named: None,
            flight: None,
            rests: 0,
            failures: 0,
            hopeless: false,
            extra: false,
            extra_until: None,
            favoured: now,
        }
    }

    /// The states whose power it may take.
    #[must_use]
    pub fn takes(&self) -> States {
        self.base | self.asked.map_or(0, bit)
    }

    /// Nothing is confirmed any more.
    fn unsettle(&mut self, more: States) {
        self.base = self.takes() | more;
        (self.asked, self.accepted, self.named) = (None, None, None);
    }

    fn failed(&mut self, rests: u64) {
        self.failures = self.failures.saturating_add(1);
        self.rests = rests;
    }

    /// Whether nothing need be done about it now.
    #[must_use]
    pub fn rests(&self, now: u64) -> bool {
        self.rests > now
    }

    /// Whether it is known: it named a state, and nothing was asked since.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.named.is_some() && self.asked.is_none()
    }

    /// Whether the answer to its command takes longer than the cap's window.
    #[must_use]
    pub fn is_late(&self, now: u64) -> bool {
        self.flight.is_some_and(|(_, _, since)| now - since > WINDOW)
    }

    fn pass(&mut self, now: u64, world: &World) {
        if let Some((state, settled)) = self.named
            && settled <= now
            && !world.states[usize::from(state)].sleeping
        {
            self.base = bit(state);
        }
        if self.extra_until.is_some_and(|until| until <= now) {
            (self.extra, self.extra_until) = (false, None);
        }
        if self.named.is_some_and(|(state, _)| state == 0) && self.asked.is_none() {
            self.favoured = now;
        }
    }
}

impl Observer {
    /// Nothing is there.
    #[must_use]
    pub fn new(world: &World) -> Self {
        Self {
            world: *world,
            drives: [const { None }; SLOTS],
            old: [None; SLOTS],
            cap: world.caps[0],
            alarms: Vec::new(),
            heard: None,
            surplus: false,
            now: 0,
        }
    }

    // ---- watts ----

    /// What the drives may take together, as far as the cap says.
    #[must_use]
    pub fn allowance(&self) -> u64 {
        u64::from(self.cap) * 1000
    }

    /// The most that a drive takes in any of these states.
    fn most(&self, drive: &Drive, states: States) -> u64 {
        let numbers = (0u8..).zip(self.world.states).filter(|(_, state)| !state.sleeping);
        let figure = |number: u8| self.figure(drive, number);
        let among = |states: States| numbers.clone().filter(move |(number, _)| states & bit(*number) != 0);
        // It wakes from sleep into a state that nobody knows.
        let known = among(states).map(|(number, _)| figure(number)).max();
        known.or_else(|| among(EVERY).map(|(number, _)| figure(number)).max()).unwrap_or(0)
    }

    /// What a drive takes in one state at most.
    #[must_use]
    pub fn figure(&self, drive: &Drive, state: u8) -> u64 {
        let state = self.world.states[usize::from(state)];
        let measured = if drive.extra { state.writing.max(state.reading) } else { state.writing };
        let trusted = self.has_meter() && !self.meter_is_lost();
        u64::from(if trusted { measured } else { measured.max(state.nameplate) })
    }

    /// What a drive may take now.
    #[must_use]
    pub fn draw(&self, drive: &Drive) -> u64 {
        self.most(drive, drive.takes())
    }

    /// What a drive may take once all that is under way is over. An answer that takes too long is not waited for.
    #[must_use]
    pub fn heading(&self, drive: &Drive) -> u64 {
        match (drive.asked, drive.named) {
            (Some(asked), _) if !drive.is_late(self.now) => self.figure(drive, asked),
            (None, Some((named, _))) if !self.world.states[usize::from(named)].sleeping => self.figure(drive, named),
            _ => self.draw(drive),
        }
    }

    /// The least that a drive can be brought down to.
    #[must_use]
    pub fn lowest(&self, drive: &Drive) -> u64 {
        let awake = (0u8..).zip(self.world.states).filter(|(_, state)| !state.sleeping);
        awake.map(|(number, _)| self.figure(drive, number)).min().unwrap_or(0)
    }

    /// The least that all drives can be brought down to: as far as it can be known, and as the most cautious would
    /// count.
    #[must_use]
    pub fn floor(&self) -> (u64, u64) {
        let floor = |(slot, drive): (u8, &Drive)| match self.given_up(slot) {
            None => (self.lowest(drive), self.lowest(drive)),
            Some(Cause::Rejected(_)) => (self.draw(drive), self.most(drive, EVERY)),
            Some(_) => (self.most(drive, EVERY), self.most(drive, EVERY)),
        };
        self.present().map(floor).fold((0, 0), |sum, floor| (sum.0 + floor.0, sum.1 + floor.1))
    }

    /// The drives that are there.
    pub fn present(&self) -> impl Iterator<Item = (u8, &Drive)> {
        (0u8..).zip(&self.drives).filter_map(|(slot, drive)| Some((slot, drive.as_ref()?)))
    }

    /// Why a drive is not controlled any more; `None`: it is.
    #[must_use]
    pub fn given_up(&self, slot: u8) -> Option<Cause> {
        self.alarms.iter().find_map(|alarm| match alarm {
            Alarm::Unmanaged { slot: of, cause } if *of == slot => Some(*cause),
            _ => None,
        })
    }

    /// Whether a drive was seen doing work that was not declared, and may still do it.
    #[must_use]
    pub fn works_more(&self, slot: u8) -> bool {
        self.drives[usize::from(slot)].as_ref().is_some_and(|drive| drive.extra)
    }

    fn has_meter(&self) -> bool {
        self.world.may(crate::world::May::Meter)
    }

    /// Whether the meter has been silent for too long.
    #[must_use]
    pub fn meter_is_lost(&self) -> bool {
        self.has_meter() && self.heard.is_some_and(|heard| self.now - heard >= METER_TIMEOUT)
    }

    /// What a meter shows that is right: all drives at their most.
    #[must_use]
    pub fn reading(&self) -> u64 {
        BASE + self.present().map(|(_, drive)| self.draw(drive)).sum::<u64>()
    }

    // ---- what happens ----

    /// Something happens.
    pub fn note(&mut self, now: u64, step: Step) {
        self.now = now;
        self.heard.get_or_insert(now);
        let world = self.world;
        for drive in self.drives.iter_mut().flatten() {
            drive.pass(now, &world);
        }
        let old = |of: &mut [Option<CommandId>; SLOTS], slot: u8, drive: &mut Drive| {
            if let Some((id, ..)) = drive.flight.take() {
                of[usize::from(slot)] = Some(id);
            }
        };
        let fallback = bit(world.fallback);
        match step {
            Step::Wait | Step::Late(_) | Step::Again(..) | Step::LoseAgain(_) => {}
            Step::Cap(watts) => {
                self.cap = watts;
                self.drives.iter_mut().flatten().for_each(|drive| drive.favoured = now);
            }
            Step::Attach(slot) => self.drives[usize::from(slot)] = Some(Drive::new(now)),
            Step::Remove(slot) => {
                if let Some(mut drive) = self.drives[usize::from(slot)].take() {
                    old(&mut self.old, slot, &mut drive);
                }
            }
            Step::Reset(slot) => {
                let was_given_up = self.given_up(slot).is_some();
                if let Some(drive) = &mut self.drives[usize::from(slot)] {
                    old(&mut self.old, slot, drive);
                    drive.unsettle(fallback);
                    (drive.within, drive.rests) = (fallback, 0);
                    if was_given_up {
                        (drive.failures, drive.hopeless) = (0, false);
                    }
                }
            }
            Step::Lose(slot) => {
                if let Some(drive) = &mut self.drives[usize::from(slot)] {
                    old(&mut self.old, slot, drive);
                    drive.unsettle(fallback);
                    drive.within |= fallback;
                    drive.failed(now);
                }
            }
            Step::Answer(slot, answer) => {
                if let Some(drive) = &mut self.drives[usize::from(slot)] {
                    let request = drive.flight.map(|(_, request, _)| request);
                    old(&mut self.old, slot, drive);
                    drive.answered(now, request, answer, &world);
                }
            }
            Step::Meter(reading) => {
                if reading.is_valid() {
                    self.heard = Some(now);
                }
                self.surplus |= reading.is_surplus();
            }
            Step::Work(slot, more) => {
                if let Some(drive) = &mut self.drives[usize::from(slot)] {
                    if more {
                        (drive.extra, drive.extra_until) = (true, None);
                    } else if drive.extra {
                        drive.extra_until.get_or_insert(now + WINDOW + DWELL);
                    }
                }
            }
        }
    }

    /// Commands are sent. Returns the sets among them.
    ///
    /// # Errors
    /// Where a command cannot be right, whatever else is sent.
    pub fn sent(&mut self, commands: &[Command]) -> Result<Vec<Sent>, Broken> {
        // A drive that is taken back may be sent something in the same moment.
        for command in commands {
            if let Command::Alarm { alarm, raised } = command {
                self.alarm(*alarm, *raised)?;
            }
        }
        let mut sets = Vec::new();
        for command in commands {
            if let Command::Drive { slot, id, request, reason } = command {
                let in_flight = self.drives.iter().flatten().filter_map(|drive| drive.flight).map(|(id, ..)| id);
                let is_new = !in_flight.chain(self.old.into_iter().flatten()).any(|other| other == *id);
                sets.extend(self.command(*slot, *id, *request, *reason)?);
                rule("a command has a number of its own", is_new, || format!("{command:?}"))?;
            }
        }
        Ok(sets)
    }

    fn command(&mut self, slot: u8, id: CommandId, request: Request, reason: Reason) -> Result<Option<Sent>, Broken> {
        let told = || format!("{request:?}, number {}, to slot {slot}, {reason:?}", id.0);
        let given_up = self.given_up(slot).is_some();
        let now = self.now;
        let drive = self.drives.get_mut(usize::from(slot)).and_then(Option::as_mut);
        let Some(drive) = drive else {
            return Err(Broken { rule: "no command goes to an absent drive", how: told() });
        };
        rule("one command to a drive is in flight at most", drive.flight.is_none(), told)?;
        rule("a drive that was given up is left alone", !given_up, told)?;
        drive.flight = Some((id, request, now));
        let Request::SetPowerState(state) = request else {
            let expected = if drive.accepted.is_some() { Reason::ReadBack } else { Reason::Discovery };
            let right = request == Request::ReadPowerState && reason == expected;
            rule("a read says whether it verifies", right, told)?;
            return Ok(None);
        };
        let state = state.number();
        let does_work = self.world.states.get(usize::from(state)).is_some_and(|state| !state.sleeping);
        rule("a drive is sent to a state in which it works", does_work, told)?;
        rule("what was set is read back before anything else", drive.accepted.is_none(), told)?;
        let before = drive.takes();
        let was_known = drive.is_known();
        drive.asked = Some(state);
        drive.within |= bit(state);
        let drive = self.drives[usize::from(slot)].as_ref().expect("it was there");
        let from = drive.named.map_or(0, |(named, _)| self.most(drive, bit(named)));
        let is_raise = self.figure(drive, state) > from || self.draw(drive) > self.most(drive, before);
        Ok(Some(Sent { slot, state, is_raise, was_known, reason }))
    }

    fn alarm(&mut self, alarm: Alarm, raised: bool) -> Result<(), Broken> {
        let told = || format!("{alarm:?}, raised: {raised}");
        let kind = std::mem::discriminant(&alarm);
        let same = |other: &Alarm| std::mem::discriminant(other) == kind && other.slot() == alarm.slot();
        let up = self.alarms.iter().copied().find(same);
        rule("an alarm is told when it changes", if raised { up != Some(alarm) } else { up.is_some() }, told)?;
        self.alarms.retain(|other| !same(other));
        if raised {
            self.alarms.push(alarm);
        }
        Ok(())
    }

    /// When something was seen last.
    #[must_use]
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// Feeds a hasher with what was seen, from now.
    pub fn hash_from_now(&self, hasher: &mut impl Hasher) {
        let Self { drives, old, cap, heard, surplus, now, .. } = self;
        let left = |moment: u64| moment.saturating_sub(*now);
        for (drive, old) in drives.iter().zip(old) {
            let seen = drive.as_ref().map(|drive| Drive {
                accepted: drive.accepted.map(left),
                named: drive.named.map(|(state, settled)| (state, left(settled))),
                flight: drive.flight.map(|(_, request, since)| {
                    let waited = (now - since).min(WINDOW + 1);
                    (CommandId(0), request, waited)
                }),
                rests: left(drive.rests),
                failures: drive.failures.min(PATIENCE_AND_MORE),
                extra_until: drive.extra_until.map(left),
                favoured: if self.world.turns.is_some() { now - drive.favoured } else { 0 },
                ..drive.clone()
            });
            (seen, old.is_some()).hash(hasher);
        }
        (cap, surplus, self.meter_is_lost(), heard.map(|heard| now - heard).filter(|_| self.has_meter())).hash(hasher);
    }
}

/// More failures are as bad.
const PATIENCE_AND_MORE: u8 = crate::world::PATIENCE + 2;

impl Drive {
    fn answered(&mut self, now: u64, request: Option<Request>, answer: Answer, world: &World) {
        match (request, answer) {
            (Some(Request::SetPowerState(state)), Answer::Done) => {
                self.accepted = Some(now + WINDOW);
                self.within = bit(state.number());
            }
            (Some(Request::ReadPowerState), Answer::Is(state)) => self.is_in(now, state, world),
            (_, answer) => {
                self.hopeless |= answer == Answer::RefuseForGood;
                self.unsettle(0);
                self.failed(now + WINDOW);
            }
        }
    }

    fn is_in(&mut self, now: u64, state: u8, world: &World) {
        let sleeps = world.states[usize::from(state)].sleeping;
        match (self.asked, self.accepted) {
            // It has gone to sleep since, and has not said that it did what it accepted.
            (Some(_), Some(_)) if sleeps => {
                self.rests = now + 10 * WINDOW;
                return;
            }
            (Some(asked), Some(settled)) if asked == state => {
                (self.asked, self.accepted, self.failures) = (None, None, 0);
                self.base |= bit(state);
                self.named = Some((state, settled));
            }
            (_, accepted) => {
                self.unsettle(if sleeps { EVERY } else { bit(state) });
                self.named = Some((state, now + WINDOW));
                if accepted.is_some() {
                    self.failed(now + WINDOW);
                }
            }
        }
        self.within = bit(state);
        self.pass(now, world);
    }
}

impl Answer {
    /// As the governor is told.
    #[must_use]
    pub fn outcome(self) -> Outcome {
        use wattline_core::nvme::Status;
        match self {
            Self::Done => Outcome::Done,
            Self::Is(state) => Outcome::Is(crate::world::power_state(state)),
            Self::Refuse => Outcome::Rejected(Status::INVALID_FIELD),
            Self::RefuseForGood => Outcome::Rejected(Status::from_bits(Status::INVALID_FIELD.bits() | 1 << 14)),
        }
    }
}
