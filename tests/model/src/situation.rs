//! A governor, what is seen of it, and what can happen next.

use std::hash::{DefaultHasher, Hasher};

use wattline_core::governor::{CommandId, Event, Request};
use wattline_core::profile::{Work, WorkSet};
use wattline_core::units::{Instant, Milliwatts};

use crate::explore::{Broken, Model};
use crate::observer::{Drive, Observer};
use crate::plant::{Plant, Planted};
use crate::rules::{Own, judge, rule};
use crate::world::{BASE, May, SLOTS, Start, World};

/// What can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing, until the governor's next deadline; where there is none, for some time.
    Wait,
    /// Time passes, and the governor is not told: until its next deadline, so that something else comes before the
    /// tick; or for so many microseconds.
    Late(Option<u64>),
    /// The cap changes, and leaves the drives so many watts.
    Cap(u32),
    /// A drive comes.
    Attach(u8),
    /// A drive goes.
    Remove(u8),
    /// A drive is reset.
    Reset(u8),
    /// The command in flight comes back.
    Answer(u8, Answer),
    /// The command in flight is declared lost.
    Lose(u8),
    /// An answer comes to a command that is not in flight any more.
    Again(u8, Answer),
    /// A command is declared lost that is not in flight any more.
    LoseAgain(u8),
    /// The meter reads something.
    Meter(Reading),
    /// A drive was seen at work: `true`: also at work that was not declared.
    Work(u8, bool),
}

/// What comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A set was done.
    Done,
    /// The drive names this state.
    Is(u8),
    /// The drive refuses.
    Refuse,
    /// The drive refuses, and says not to try again.
    RefuseForGood,
}

/// What the meter reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// What the drives may take.
    Right,
    /// Five watts more than was promised.
    Surplus,
    /// More than it can show.
    Absurd,
    /// Nothing.
    Silent,
}

impl Reading {
    /// Whether it can be believed.
    #[must_use]
    pub fn is_valid(self) -> bool {
        matches!(self, Self::Right | Self::Surplus)
    }

    /// Whether it is more than was promised.
    #[must_use]
    pub fn is_surplus(self) -> bool {
        self == Self::Surplus
    }
}

const SURPLUS: u64 = 5_000;

/// How things stand.
#[derive(Clone, Debug)]
pub struct Situation {
    governor: Planted,
    seen: Observer,
    now: u64,
    /// The governor knows that it is now.
    is_told: bool,
    incidents: u8,
}

/// A world, and the error that is planted in its governor.
#[derive(Clone, Copy, Debug)]
pub struct Checked {
    /// What the search is about.
    pub world: World,
    /// What is wrong; `None`: nothing is known to be.
    pub plant: Option<Plant>,
}

impl Checked {
    /// The governor of this world as it is.
    #[must_use]
    pub const fn new(world: World) -> Self {
        Self { world, plant: None }
    }

    fn slots(&self) -> std::ops::Range<u8> {
        0..self.world.drives
    }

    /// Answers as they should be, and where drives name one of several states, all of them.
    fn answers(drive: &Drive) -> Vec<Answer> {
        match drive.flight {
            Some((_, Request::SetPowerState(_), _)) => vec![Answer::Done],
            Some(_) => (0..3).filter(|state| drive.within & 1 << state != 0).map(Answer::Is).collect(),
            None => Vec::new(),
        }
    }

    /// What should not happen to a drive, and does.
    fn incidents(&self, slot: u8, drive: Option<&Drive>, old: Option<CommandId>, steps: &mut Vec<Step>) {
        let world = &self.world;
        if old.is_some() && world.may(May::Again) {
            steps.extend([Step::Again(slot, Answer::Done), Step::Again(slot, Answer::Is(2)), Step::LoseAgain(slot)]);
        }
        let Some(drive) = drive else {
            if world.may(May::ComeAndGo) {
                steps.push(Step::Attach(slot));
            }
            return;
        };
        if world.may(May::ComeAndGo) {
            steps.push(Step::Remove(slot));
        }
        if world.may(May::Reset) {
            steps.push(Step::Reset(slot));
        }
        if world.may(May::Work) {
            steps.extend([Step::Work(slot, true), Step::Work(slot, false)]);
        }
        let Some((_, request, _)) = drive.flight else { return };
        let is_set = matches!(request, Request::SetPowerState(_));
        if world.may(May::Lose) {
            steps.push(Step::Lose(slot));
        }
        if world.may(May::Refuse) {
            let wrong = if is_set { Answer::Is(0) } else { Answer::Done };
            let answers = [Answer::Refuse, Answer::RefuseForGood, wrong];
            steps.extend(answers.map(|answer| Step::Answer(slot, answer)));
        }
        if world.may(May::Stray) && !is_set {
            let outside = (0..3).filter(|state| drive.within & 1 << state == 0);
            steps.extend(outside.map(|state| Step::Answer(slot, Answer::Is(state))));
        }
    }

    fn event(&self, situation: &Situation, step: Step) -> Event {
        let seen = &situation.seen;
        let flight = |slot: u8| seen.drives[usize::from(slot)].as_ref().and_then(|drive| drive.flight);
        let id = |slot: u8| flight(slot).map_or(CommandId(u32::MAX), |(id, ..)| id);
        let old = |slot: u8| seen.old[usize::from(slot)].unwrap_or(CommandId(u32::MAX));
        let milliwatts = |count: u64| Some(Milliwatts::new(u32::try_from(count).unwrap_or(u32::MAX)));
        match step {
            Step::Wait | Step::Late(_) => Event::Tick,
            Step::Cap(watts) => Event::Cap(World::cap(watts)),
            Step::Attach(slot) => Event::Attached { slot, drive: self.world.drive() },
            Step::Remove(slot) => Event::Removed { slot },
            Step::Reset(slot) => Event::Reset { slot },
            Step::Answer(slot, answer) => Event::Completed { slot, id: id(slot), outcome: answer.outcome() },
            Step::Lose(slot) => Event::Lost { slot, id: id(slot) },
            Step::Again(slot, answer) => Event::Completed { slot, id: old(slot), outcome: answer.outcome() },
            Step::LoseAgain(slot) => Event::Lost { slot, id: old(slot) },
            Step::Meter(Reading::Right) => Event::Meter(milliwatts(seen.reading())),
            Step::Meter(Reading::Surplus) => {
                Event::Meter(milliwatts(u64::from(situation.governor.ledger().prediction().get()) + SURPLUS))
            }
            Step::Meter(Reading::Absurd) => Event::Meter(milliwatts(10 * BASE)),
            Step::Meter(Reading::Silent) => Event::Meter(None),
            Step::Work(slot, more) => {
                let declared = WorkSet::of(Work::SequentialWrite);
                let seen = if more { declared.union(WorkSet::of(Work::SequentialRead)) } else { declared };
                Event::Work { slot, seen }
            }
        }
    }

    fn rest(&self) -> Result<Situation, Broken> {
        let mut situation = Situation {
            governor: Planted::new(&self.world, self.plant),
            seen: Observer::new(&self.world),
            now: 0,
            is_told: true,
            incidents: u8::MAX,
        };
        if self.world.start == Start::AtRest {
            for slot in self.slots() {
                situation = self.take(&situation, Step::Attach(slot))?;
            }
            situation = self.calm(situation)?;
        }
        situation.incidents = self.world.incidents;
        Ok(situation)
    }

    /// Lets everything go as it should, until all drives are where they should be.
    fn calm(&self, mut situation: Situation) -> Result<Situation, Broken> {
        for _ in 0..CALM {
            let flight = situation.seen.present().find_map(|(slot, drive)| {
                let answer = Self::answers(drive).first().copied()?;
                Some(Step::Answer(slot, answer))
            });
            if flight.is_none() && situation.is_calm() {
                return Ok(situation);
            }
            situation = self.take(&situation, flight.unwrap_or(Step::Wait))?;
        }
        Err(Broken { rule: "once all goes well, it comes to rest", how: format!("{:?}", situation.seen) })
    }
}

/// From one situation in so many it is tried whether all comes to rest.
const SAMPLE: u64 = 16;

/// A stall of the adapter, in microseconds: longer than everything that the governor waits for.
const STALL: u64 = 15_000_000;

/// Steps within which all drives are where they should be, if nothing happens that should not.
const CALM: usize = 60;

impl Situation {
    fn is_calm(&self) -> bool {
        let draws: u64 = self.seen.present().map(|(_, drive)| self.seen.draw(drive)).sum();
        let fits = draws <= self.own().allowance.max(self.seen.floor().1);
        fits && self.seen.present().all(|(slot, drive)| {
            let target = self.governor.target(slot).map(|state| state.number());
            let settled = drive.named.filter(|(_, settled)| *settled <= self.now).map(|(state, _)| state);
            self.seen.given_up(slot).is_some() || (drive.asked.is_none() && settled.is_some() && settled == target)
        })
    }

    fn own(&self) -> Own {
        let ledger = self.governor.ledger();
        let mut draws = [0; SLOTS];
        for (slot, draw) in draws.iter_mut().enumerate() {
            *draw = u64::from(ledger.draw(slot).get());
        }
        Own { draws, allowance: u64::from(self.governor.allowance().get()) }
    }

    fn governors_key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.governor.situation(&mut hasher);
        hasher.finish()
    }
}

impl Model for Checked {
    type State = Situation;
    type Step = Step;

    fn start(&self) -> Result<Situation, Broken> {
        self.rest()
    }

    fn steps(&self, situation: &Situation) -> Vec<Step> {
        let seen = &situation.seen;
        let mut steps = Vec::new();
        for (slot, drive) in seen.present() {
            steps.extend(Self::answers(drive).into_iter().map(|answer| Step::Answer(slot, answer)));
        }
        if self.world.prompt && !steps.is_empty() {
            return steps;
        }
        steps.push(Step::Wait);
        if situation.incidents == 0 {
            return steps;
        }
        for slot in self.slots() {
            self.incidents(slot, seen.drives[usize::from(slot)].as_ref(), seen.old[usize::from(slot)], &mut steps);
        }
        if self.world.may(May::Stall) {
            let deadline = situation.governor.next_deadline().map(|_| Step::Late(None));
            steps.extend(deadline.into_iter().chain([Step::Late(Some(STALL))]));
        }
        if self.world.may(May::Cap) {
            steps.extend(self.world.caps.iter().filter(|cap| **cap != seen.cap).map(|cap| Step::Cap(*cap)));
        }
        if self.world.may(May::Meter) {
            let readings = [Reading::Right, Reading::Surplus, Reading::Absurd, Reading::Silent];
            steps.extend(readings.map(Step::Meter));
        }
        steps
    }

    fn take(&self, situation: &Situation, step: Step) -> Result<Situation, Broken> {
        let event = self.event(situation, step);
        let mut next = situation.clone();
        if matches!(step, Step::Wait | Step::Late(None)) {
            let deadline = next.governor.next_deadline().map_or(next.now + STALL, Instant::as_micros);
            // After a stall a deadline can be over.
            next.now = deadline.max(next.now);
        }
        let is_expected = match step {
            Step::Wait => true,
            Step::Answer(slot, answer) => {
                let drive = situation.seen.drives[usize::from(slot)].as_ref();
                drive.is_some_and(|drive| Self::answers(drive).contains(&answer))
            }
            _ => false,
        };
        if !is_expected {
            next.incidents = next.incidents.saturating_sub(u8::from(next.incidents < u8::MAX));
        }
        if let Step::Late(span) = step {
            next.now += span.unwrap_or(0);
            next.is_told = false;
            return Ok(next);
        }
        next.is_told = true;
        next.seen.note(next.now, step);
        let commands = next.governor.handle(Instant::from_micros(next.now), event);
        let sets = next.seen.sent(&commands)?;
        let own = next.own();
        judge(&self.world, &next.seen, &sets, own, next.now)?;
        if step == Step::Meter(Reading::Surplus) {
            let told = || format!("{} mW of {} mW are left", own.allowance, next.seen.allowance());
            rule("the meter takes away at once", own.allowance + SURPLUS <= next.seen.allowance(), told)?;
        }
        if matches!(step, Step::Again(..) | Step::LoseAgain(_)) {
            let mut other = situation.clone();
            other.governor.handle(Instant::from_micros(next.now), Event::Tick);
            let same = other.governors_key() == next.governors_key();
            rule("an answer to nothing changes nothing", same, || format!("{commands:?}"))?;
        }
        Ok(next)
    }

    fn judge(&self, situation: &Situation) -> Result<(), Broken> {
        if !situation.is_told {
            return Ok(());
        }
        let now = Instant::from_micros(situation.now);
        let deadline = situation.governor.next_deadline();
        let told = || format!("{deadline:?} at {now:?}");
        rule("a deadline is still to come", deadline.is_none_or(|deadline| deadline > now), told)?;
        let mut again = situation.governor.clone();
        let commands = again.handle(now, Event::Tick);
        rule("nothing is left to do at the same moment", commands.is_empty(), || format!("{commands:?}"))?;
        // A drive that sleeps on confirms nothing, for as long as it sleeps.
        let may_sleep = self.world.states.iter().any(|state| state.sleeping);
        if may_sleep || !self.key(situation).is_multiple_of(SAMPLE) {
            return Ok(());
        }
        self.calm(situation.clone()).map(|_| ())
    }

    fn key(&self, situation: &Situation) -> u64 {
        let mut hasher = DefaultHasher::new();
        situation.governor.situation(&mut hasher);
        situation.seen.hash_from_now(&mut hasher);
        hasher.write_u8(situation.incidents);
        // How far the governor lags behind.
        let behind = if situation.is_told { 0 } else { situation.now - situation.seen.now() };
        hasher.write_u64(behind);
        hasher.finish()
    }
}
