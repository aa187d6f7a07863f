//! Events in, commands out: the composition of all other rooms.
//!
//! **Contract.** The adapter owns the clock, the wires and the errors; the governor owns the decisions.
//!
//! - [`Governor::handle`] is told what happened and when, and decides.
//! - [`Governor::poll`] hands out what was decided, until it returns `None`. It takes no time and decides nothing.
//!   After every `handle`, drain it: a command counts as sent from the moment that it was decided.
//! - [`Governor::next_deadline`] says by when to send [`Event::Tick`] if nothing else happens. Early is harmless, late
//!   is safe but worse.
//! - Every drive command is answered once, by [`Event::Completed`] or [`Event::Lost`]. The governor never repeats one
//!   on its own clock while an answer can still come.
//!
//! Memory and work per call are bounded by `DRIVES` and `PROFILES`. No input panics; the same inputs give the same
//! commands.
//!
//! **How a call decides**, always in this order (a report that changes nothing ends after its first step): what
//! happened is noted; draws are brought up to date; the plan is replaced if it must or may be; reads and lowering
//! commands go out; raises go out as far as the ledger grants them.

mod alarms;
mod clock;
mod config;
mod demand;
mod entry;
mod event;
mod meter;
mod pace;
mod plan;
mod rotation;
mod situation;
mod sleep;
mod unit;
mod words;

use heapless::Vec;

use self::alarms::Alarms;
use self::clock::Clock;
pub use self::config::{BackstopConfig, Config, DriveConfig, MeterConfig, ProfileIndex, Share};
use self::entry::{Due, Entry, Figures, Outgoing};
pub use self::event::{Alarm, Command, Event, Reason, Slot};
use self::meter::Meter;
use self::sleep::Sleeping;
use crate::budget::{Ledger, Sums};
pub use crate::budget::{SHELVES, Shelf};
use crate::drive::{Backstop, BackstopPhase};
pub use crate::drive::{Cause, CommandId, Lever, Levers, Outcome, Phase, Request};
use crate::history::Counters;
use crate::nvme::PowerState;
use crate::profile::{FigureRule, Profile};
use crate::sleep::Sleeper;
use crate::thermal::{Chassis, Sensing, Thermal};
use crate::units::{Instant, Kelvin, Microseconds, Milliwatts};

/// Raised whenever the same events are meant to give other commands than before. Journals carry it.
pub const DECISION_VERSION: u16 = 2;

/// Holds up to `DRIVES` drives of up to `PROFILES` kinds within a power and a heat budget.
#[derive(Clone, Debug)]
pub struct Governor<const DRIVES: usize, const PROFILES: usize, const SLEEPERS: usize = 0> {
    config: Config,
    profiles: Vec<Profile, PROFILES>,
    entries: [Option<Entry>; DRIVES],
    sleepers: [Option<Sleeping>; SLEEPERS],
    ledger: Ledger<DRIVES>,
    meter: Option<Meter>,
    chassis: Option<Chassis>,
    alarms: Alarms<DRIVES>,
    clock: Clock,
    next_id: u32,
    next_rotation: Instant,
    planned: Instant,
    /// Something has changed since the plan was made.
    stale: bool,
    /// Something has happened since the last decision that may change it.
    moved: bool,
    /// The plan that stood at the last decision fitted: until the next deadline, time alone changes no decision.
    rests: bool,
    /// When time alone changes something next, but for the deadlines of the meter and of the cooling.
    due: Option<Instant>,
    /// Time that has passed and has not been counted as service yet.
    unserved: Microseconds,
    /// The slot whose record was looked at last.
    scrubbed: u8,
    /// How many records have been found damaged.
    damaged: u32,
}

impl<const DRIVES: usize, const PROFILES: usize, const SLEEPERS: usize> Governor<DRIVES, PROFILES, SLEEPERS> {
    /// How many slots there are.
    #[expect(clippy::cast_possible_truncation, reason = "the constructor asserts at most 256 when it is compiled")]
    pub const SLOTS: u16 = DRIVES as u16;

    /// A governor without drives.
    #[must_use]
    pub fn new(config: Config) -> Self {
        const { assert!(DRIVES <= 256, "a slot is a byte") };
        let mut ledger = Ledger::new(config.cap, config.base_load, config.margin);
        for (shelf, limit) in (0..).zip(&config.shelves) {
            ledger.set_shelf(shelf, *limit);
        }
        Self {
            ledger,
            meter: config.meter.clone().map(Meter::new),
            chassis: config.cooling.clone().map(Chassis::new),
            next_rotation: Instant::START.after(config.rotation_interval),
            config,
            profiles: Vec::new(),
            entries: [const { None }; DRIVES],
            sleepers: [const { None }; SLEEPERS],
            alarms: Alarms::new(),
            clock: Clock::default(),
            next_id: 0,
            planned: Instant::START,
            stale: false,
            moved: false,
            rests: false,
            due: None,
            unserved: Microseconds::ZERO,
            scrubbed: u8::MAX,
            damaged: 0,
        }
    }

    /// Adds a kind of drive. `None` where there are `PROFILES` already.
    pub fn add_profile(&mut self, profile: Profile) -> Option<ProfileIndex> {
        let index = u8::try_from(self.profiles.len()).ok()?;
        self.profiles.push(profile).ok()?;
        Some(ProfileIndex(index))
    }

    /// Takes note of what happened at `now`, and decides.
    pub fn handle(&mut self, now: Instant, event: Event) {
        let before = self.clock.ours();
        let (now, backwards) = self.clock.advance(now);
        self.unserved = self.unserved.saturating_add(now.since(before).unwrap_or_default());
        if backwards || now > before {
            self.alarms.clock_backwards.set(backwards.then_some(()));
        }
        let intact = self.scrub_next();
        // The clock of turns goes on even where nobody takes any.
        let turn_is_due = self.config.rotation_interval > Microseconds::ZERO && now >= self.next_rotation;
        let rests = self.rests && !turn_is_due && self.due().is_none_or(|due| now < due);
        self.moved = !intact || !event.is_report() || !rests;
        if self.moved {
            self.serve();
        }
        let slot = event.slot();
        let due = |governor: &Self| governor.entry(slot?)?.due(now);
        let was_due = if self.moved { None } else { due(self) };
        self.note(now, event);
        if self.moved {
            self.serve();
            self.rests = self.decide(now);
        }
        // A report only changes the deadline of the drive that it is about.
        self.due = if self.moved || (was_due.is_some() && was_due == self.due) {
            self.next_due(now)
        } else {
            [self.due, due(self)].into_iter().flatten().min()
        };
    }

    /// Counts the time that has passed as service of the states that the drives had.
    fn serve(&mut self) {
        let figures = Figures { profiles: &self.profiles, rule: self.rule() };
        rotation::serve(figures, &mut self.entries, core::mem::take(&mut self.unserved));
    }

    /// What was counted of the drive in a slot, to be kept in its [`History`](crate::history::History).
    #[must_use]
    pub fn counters(&self, slot: Slot) -> Option<Counters> {
        Some(self.entry(slot)?.counters)
    }

    /// How many drives' records were found damaged so far: each was forgotten, and its drive read again.
    #[must_use]
    pub const fn damaged_records(&self) -> u32 {
        self.damaged
    }

    /// The next thing to do or to tell: first what frees watts, most first; then other commands; then alarms.
    pub fn poll(&mut self) -> Option<Command> {
        let waiting = (0..=u8::MAX).zip(&self.entries).filter_map(|(slot, entry)| {
            let outgoing = entry.as_ref()?.outbox.as_ref()?;
            Some((core::cmp::Reverse(outgoing.saving), slot))
        });
        if let Some((_, slot)) = waiting.min()
            && let Some(entry) = self.entries.get_mut(usize::from(slot)).and_then(Option::as_mut)
            && let Some(Outgoing { id, request, reason, .. }) = entry.outbox.take()
        {
            return Some(Command::Drive { slot, id, request, reason });
        }
        self.alarms.next()
    }

    /// When a [`Event::Tick`] is due at the latest; `None` where only an event can change anything.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.due().map(|due| self.clock.theirs(due))
    }

    /// The same on our own clock.
    fn due(&self) -> Option<Instant> {
        let of_meter = self.meter.as_ref().and_then(Meter::next_deadline);
        let of_cooling = self.chassis.as_ref().and_then(|chassis| chassis.next_deadline(self.clock.ours()));
        [self.due, of_meter, of_cooling].into_iter().flatten().min()
    }

    /// When time alone changes something about the drives or the plan.
    fn next_due(&self, now: Instant) -> Option<Instant> {
        let (dwell, window) = (self.config.dwell, self.config.window);
        let entries = || self.entries.iter().flatten();
        let of_drives = entries().filter_map(|entry| entry.next_deadline(now, dwell, window));
        let of_plan = self.stale.then(|| self.planned.after(dwell)).filter(|due| *due > now);
        let rotates = self.config.rotation_interval > Microseconds::ZERO
            && entries().filter(|entry| entry.drive.is_managed()).count() > 1;
        let of_rotation = rotates.then_some(self.next_rotation);
        of_drives.chain(of_plan).chain(of_rotation).chain(self.sleepers_deadline(now)).min()
    }

    /// The ledger: cap, allowance, and what has been promised.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger<DRIVES> {
        &self.ledger
    }

    /// Where the drive in a slot is; `None` where there is none.
    #[must_use]
    pub fn phase(&self, slot: Slot) -> Option<Phase> {
        self.entry(slot).map(|entry| entry.drive.phase())
    }

    /// The state that the plan gives the drive in a slot.
    #[must_use]
    pub fn target(&self, slot: Slot) -> Option<PowerState> {
        self.entry(slot).and_then(|entry| entry.target)
    }

    /// The sleep of the drive in a slot; `None` where it may not sleep.
    #[must_use]
    pub fn sleeper(&self, slot: Slot) -> Option<&Sleeper> {
        Some(self.sleepers.get(usize::from(slot))?.as_ref()?.sleeper())
    }

    fn entry(&self, slot: Slot) -> Option<&Entry> {
        self.entries.get(usize::from(slot))?.as_ref()
    }

    fn rule(&self) -> FigureRule {
        let meter_lost = self.meter.as_ref().is_some_and(Meter::is_lost);
        FigureRule { overhead: self.config.overhead, trust_measured: self.config.trust_measured && !meter_lost }
    }

    fn note(&mut self, now: Instant, event: Event) {
        match event {
            Event::Tick => {}
            Event::Cap(cap) => {
                self.stale |= cap != self.ledger.cap();
                self.ledger.set_cap(cap);
            }
            Event::Attached { slot, drive } => {
                self.attach(slot, drive, now);
                self.sleeper_steps(slot, crate::sleep::Event::Attached, now);
            }
            Event::Removed { slot } => {
                self.remove(slot);
                self.may_not_sleep(slot);
            }
            Event::MaySleep { slot, conditions, limit } => self.may_sleep(slot, conditions, limit, now),
            Event::Power { slot, on } => {
                let event = if on { crate::sleep::Event::PoweredOn } else { crate::sleep::Event::PoweredOff };
                self.sleeper_steps(slot, event, now);
            }
            Event::Meter(reading) => self.meter_reads(reading, now),
            Event::Reset { slot } => {
                self.with(slot, |entry, figures| entry.reset(figures.fallback(entry)));
                self.sleeper_steps(slot, crate::sleep::Event::Attached, now);
            }
            Event::Work { slot, seen } => {
                let counts_for = self.config.window.saturating_add(self.config.dwell);
                self.with(slot, |entry, figures| {
                    entry.idle = seen.is_empty();
                    entry.watched = true;
                    if !entry.config.declared.contains_all(seen) {
                        entry.seen = entry.seen.union(seen);
                        entry.seen_until = None;
                    } else if !entry.seen.is_empty() {
                        entry.seen_until.get_or_insert(now.after(counts_for));
                    }
                    let load = figures.load(entry);
                    if let Some(thermal) = entry.thermal.as_mut() {
                        thermal.loads(load, now);
                    }
                });
                self.sleeper_sees(slot, seen, now);
            }
            Event::Temperature { slot, reading } => self.with(slot, |entry, _| {
                if let Some((thermal, reading)) = entry.thermal.as_mut().zip(reading) {
                    thermal.reads(reading, now);
                }
            }),
            Event::Demand { slot, wanted } => {
                self.with(slot, |entry, _| entry.demand.wants(wanted, now));
                self.sleeper_is_wanted(slot, wanted, now);
            }
            Event::ShelfLimit { shelf, limit } => {
                self.ledger.set_shelf(shelf, limit);
                self.stale = true;
            }
            Event::Throttling { slot, counters } => self.with(slot, |entry, _| {
                if let Some(thermal) = entry.thermal.as_mut() {
                    thermal.throttles(counters, now);
                }
            }),
            Event::Cooling(cooling) => {
                if let Some(chassis) = self.chassis.as_mut() {
                    chassis.reads(cooling, now);
                }
            }
            Event::Completed { slot, id, outcome } => {
                let known = self.entry(slot).is_some_and(|entry| entry.drive.is_managed());
                let (window, patience) = (self.config.window, self.config.patience);
                self.with(slot, |entry, figures| {
                    entry.count(id, Some(outcome));
                    entry.answered(id);
                    let at = figures.circumstances(entry, now, window, patience);
                    let understood = figures.understood(entry, outcome);
                    entry.drive.change(|drive| drive.completed(id, understood, at));
                    if let Some(backstop) = entry.backstop.as_mut() {
                        backstop.completed(id, outcome, patience);
                    }
                    // A drive that has just become known keeps its state until a plan says otherwise.
                    entry.target = entry.target.or(entry.drive.heading_for());
                });
                self.sleeper_hears(slot, id, Some(outcome), now);
                if !known && self.entry(slot).is_some_and(|entry| entry.drive.is_managed()) {
                    rotation::welcome(&mut self.entries, slot);
                }
            }
            Event::BitFlip { slot, bit } => self.with(slot, |entry, _| entry.drive.flip(usize::from(bit))),
            Event::Restored { slot, counters } => self.with(slot, |entry, _| entry.counters.restore(counters)),
            Event::Lost { slot, id } => {
                let (window, patience) = (self.config.window, self.config.patience);
                self.with(slot, |entry, figures| {
                    let awaited = entry.awaits == Some(id);
                    entry.count(id, None);
                    entry.answered(id);
                    let at = figures.circumstances(entry, now, window, patience);
                    let fallback = figures.fallback(entry);
                    entry.drive.change(|drive| drive.lost(id, fallback, at));
                    if let Some(backstop) = entry.backstop.as_mut() {
                        if backstop.lost(id, patience) {
                            entry.drive.change(|drive| drive.disturbed(fallback));
                        } else if awaited {
                            backstop.disturbed();
                        }
                    }
                });
                self.sleeper_hears(slot, id, None, now);
            }
        }
    }

    /// Looks at the record of one drive more, in turn; `false`: it was damaged.
    fn scrub_next(&mut self) -> bool {
        let occupied = |(slot, entry): (Slot, &Option<Entry>)| entry.is_some().then_some(slot);
        let mut slots = (0..=u8::MAX).zip(&self.entries).filter_map(occupied);
        let Some(first) = slots.next() else { return true };
        let next = slots.find(|slot| *slot > self.scrubbed);
        self.scrubbed = if first > self.scrubbed { first } else { next.unwrap_or(first) };
        self.scrub(self.scrubbed)
    }

    fn scrub(&mut self, slot: Slot) -> bool {
        let mut intact = true;
        self.with(slot, |entry, _| intact = entry.scrub());
        self.damaged = self.damaged.saturating_add(u32::from(!intact));
        intact
    }

    /// Lets something happen to the drive in a slot, if there is one.
    fn with(&mut self, slot: Slot, happens: impl FnOnce(&mut Entry, Figures<'_>)) {
        let figures = Figures { profiles: &self.profiles, rule: self.rule() };
        if let Some(entry) = self.entries.get_mut(usize::from(slot)).and_then(Option::as_mut) {
            let inputs = |entry: &Entry| {
                let heat =
                    entry.thermal.as_ref().map(|thermal| (thermal.level(), thermal.sensing(), thermal.lowered()));
                (entry.drive.is_managed(), entry.work(), heat, entry.demand.most(), entry.held)
            };
            let before = inputs(entry);
            happens(entry, figures);
            let moved = before != inputs(entry);
            self.stale |= moved;
            self.moved |= moved;
        }
    }

    fn attach(&mut self, slot: Slot, config: DriveConfig, now: Instant) {
        let mut entry = Entry::new(config, now);
        let rule = self.rule();
        if (Figures { profiles: &self.profiles, rule }).range(&entry).is_none() {
            entry.drive.change(|drive| drive.give_up(Cause::NoUsableState));
        }
        if let Some(place) = self.entries.get_mut(usize::from(slot)) {
            self.ledger.place(usize::from(slot), entry.config.share.shelf);
            self.ledger.explain((Figures { profiles: &self.profiles, rule }).draw_now(&entry));
            *place = Some(entry);
            self.stale = true;
        }
    }

    fn remove(&mut self, slot: Slot) {
        if let Some(place) = self.entries.get_mut(usize::from(slot)) {
            *place = None;
            self.ledger.set_draw(usize::from(slot), Milliwatts::ZERO);
            if let Some(alarms) = self.alarms.of_drives().get_mut(usize::from(slot)) {
                alarms.clear();
            }
            self.stale = true;
        }
    }

    fn meter_reads(&mut self, reading: Option<Milliwatts>, now: Instant) {
        let base_load = self.config.base_load;
        let Some(meter) = self.meter.as_mut() else { return };
        let was_lost = meter.is_lost();
        if let Some(valid) = reading.and_then(|reading| meter.reads(reading, now, base_load)) {
            let before = (self.ledger.correction(), self.ledger.is_held());
            self.ledger.meter_reads(valid.value, valid.uncertainty, valid.since_last);
            self.stale |= was_lost || before.0 != self.ledger.correction();
            self.moved |= was_lost || before != (self.ledger.correction(), self.ledger.is_held());
            self.alarms.meter_above_prediction.worsen(self.ledger.correction());
        }
    }

    /// Decides; `false`: the plan that stood until now did not fit.
    fn decide(&mut self, now: Instant) -> bool {
        self.advance(now);
        let mut fitted = self.plan(now);
        if !self.send(now) || !self.send_wishes(now) {
            for slot in (0..=u8::MAX).take(DRIVES) {
                self.scrub(slot);
            }
            fitted &= self.plan(now);
            self.send(now);
            self.send_wishes(now);
        }
        self.raise_alarms(now);
        fitted
    }

    /// Brings the draws up to date, and the plan where it must or may be; `false`: the one that stood did not fit.
    fn plan(&mut self, now: Instant) -> bool {
        let figures = Figures { profiles: &self.profiles, rule: self.rule() };
        for (slot, entry) in self.entries.iter().enumerate() {
            if let Some(entry) = entry {
                self.ledger.set_draw(slot, figures.draw_now(entry));
            }
        }
        if SLEEPERS > 0 {
            self.plan_to_wake();
        }
        let figures = Figures { profiles: &self.profiles, rule: self.rule() };
        let terms = plan::Terms { figures, limits: self.ledger.limits(), now, late: self.config.window };
        let fits = plan::fits(&terms, &self.entries);
        if !fits || (self.stale && now >= self.planned.after(self.config.dwell)) {
            plan::replan(&terms, &mut self.entries, fits);
            self.planned = now;
            self.stale = plan::is_constrained(&terms, &self.entries);
        }
        if self.config.rotation_interval > Microseconds::ZERO && now >= self.next_rotation {
            rotation::rotate(figures, &mut self.entries);
            self.next_rotation = now.after(self.config.rotation_interval);
        }
        fits
    }

    /// Lets time pass in every part that has a deadline.
    fn advance(&mut self, now: Instant) {
        self.sleepers_advance(now);
        if let Some(meter) = self.meter.as_mut() {
            let was_lost = meter.is_lost();
            meter.advance(now);
            if meter.is_lost() {
                self.ledger.meter_lost();
            }
            self.stale |= was_lost != meter.is_lost();
        }
        if let Some(chassis) = self.chassis.as_mut() {
            chassis.advance(now);
            let before = self.ledger.allowance();
            self.ledger.set_cooling(chassis.ceiling());
            self.stale |= before != self.ledger.allowance();
            self.alarms.cooling_reduced.worsen(chassis.reduced_by());
        }
        for slot in (0..=u8::MAX).take(DRIVES) {
            let per_day = self.config.transitions_per_day;
            self.with(slot, |entry, figures| {
                if entry.drive.settles_at().is_some_and(|settled| settled <= now) {
                    entry.drive.change(|drive| drive.advance(now));
                }
                entry.want_backstop();
                entry.demand.advance(now);
                entry.hold(now, per_day);
                if entry.seen_until.is_some_and(|until| until <= now) {
                    entry.seen = crate::profile::WorkSet::NONE;
                    entry.seen_until = None;
                }
                let load = figures.load(entry);
                if let Some(thermal) = entry.thermal.as_mut() {
                    thermal.loads(load, now);
                    thermal.advance(now);
                }
            });
        }
    }

    /// Sends what is due: reads and lowering commands at once, then raises as far as the ledger grants them. `false`:
    /// a state would have been set, or a raise paid, out of a damaged record; it was not sent. What such a record calls
    /// a lowering may be a raise.
    fn send(&mut self, now: Instant) -> bool {
        let figures = Figures { profiles: &self.profiles, rule: self.rule() };
        let per_day = self.config.transitions_per_day;
        for (slot, entry) in self.entries.iter_mut().enumerate() {
            let Some(entry) = entry else { continue };
            let shedding = self.ledger.is_over(slot).then(|| {
                let by_heat = self.ledger.excess() > Milliwatts::ZERO && self.ledger.is_limited_by_cooling();
                if by_heat { Reason::Cooling } else { Reason::Shed }
            });
            if let Some(due) = due(figures, entry, shedding, now).filter(|(_, reason, _)| *reason != Reason::Raise) {
                if matches!(due, (Request::SetPowerState(_), ..)) {
                    if !entry.drive.is_intact() {
                        return false;
                    }
                    entry.lowered = now;
                    entry.changes(now, per_day);
                }
                figures.send(entry, now, due, CommandId(self.next_id));
                self.next_id = self.next_id.wrapping_add(1);
            }
        }
        let mut checked = false;
        for slot in 0..DRIVES {
            let Some(Some(entry)) = self.entries.get(slot) else { continue };
            if now < entry.lowered.after(self.config.dwell) || entry.held {
                continue;
            }
            let Some(due) = due(figures, entry, None, now) else { continue };
            let (Request::SetPowerState(target), Reason::Raise, _) = due else { continue };
            let (before, draw) = (self.ledger.draw(slot), figures.draw(entry, entry.drive.may_be_in().with(target)));
            if self.ledger.raise(slot, draw).is_err() {
                continue;
            }
            checked = checked || self.entries.iter().flatten().all(|entry| entry.drive.is_intact());
            if !checked {
                self.ledger.set_draw(slot, before);
                return false;
            }
            if let Some(Some(entry)) = self.entries.get_mut(slot) {
                entry.changes(now, per_day);
                figures.send(entry, now, due, CommandId(self.next_id));
                self.next_id = self.next_id.wrapping_add(1);
            }
        }
        true
    }

    fn raise_alarms(&mut self, now: Instant) {
        let window = self.config.window;
        let figures = Figures { profiles: &self.profiles, rule: self.rule() };
        for (entry, alarms) in self.entries.iter().zip(self.alarms.of_drives()) {
            let Some(entry) = entry else { continue };
            alarms.unmanaged.set(match entry.drive.phase() {
                Phase::Unmanaged { cause, .. } => Some(cause),
                _ => None,
            });
            alarms.undeclared_work.set((!entry.seen.is_empty()).then(|| entry.work()));
            alarms.guarantee_unmet.set(figures.unmet(entry));
            let lever = entry.drive.lever();
            alarms.lever_refused.set((lever != Lever::PowerState).then_some(lever));
            alarms.backstop_refused.set(match entry.backstop.as_ref().map(Backstop::phase) {
                Some(BackstopPhase::Failed(status)) => Some(status),
                _ => None,
            });
            alarms.record_damaged.set(entry.damaged.then_some(()));
            alarms.cannot_wake.set(entry.cannot_wake().then_some(()));
            alarms.no_answer.set(entry.awaits.filter(|_| entry.is_late(now, window) && !entry.sleeps()));
            let senses = |sensing| entry.thermal.as_ref().is_some_and(|thermal| thermal.sensing() == sensing);
            alarms.temperature_lost.set(senses(Sensing::Lost).then_some(()));
            alarms.temperature_frozen.set(senses(Sensing::Frozen).then_some(()));
            let lowered = entry.thermal.as_ref().map(Thermal::lowered);
            alarms.throttled.set(lowered.filter(|lowered| *lowered > Kelvin::ZERO));
        }
        // The least that can be promised is never more than what is promised.
        let exceeded = self.ledger.excess() > Milliwatts::ZERO;
        let floor = if exceeded { plan::floor(figures, &self.entries) } else { Sums::ZERO };
        let limits = self.ledger.limits();
        self.alarms.cannot_hold.worsen(limits.total_excess(&floor));
        for (shelf, alarm) in (0..).zip(&mut self.alarms.shelves) {
            alarm.worsen(limits.shelf_excess(&floor, shelf));
        }
        self.alarms.meter_lost.set(self.meter.as_ref().filter(|meter| meter.is_lost()).map(|_| ()));
    }
}

/// What a drive is to be asked next, why, and the watts that it frees; `None` where there is nothing to ask, or an
/// answer is awaited.
fn due(figures: Figures<'_>, entry: &Entry, shedding: Option<Reason>, now: Instant) -> Option<Due> {
    if entry.awaits.is_some() || entry.sleeps() || now < entry.drive.not_before() {
        return None;
    }
    if entry.drive.read_due() {
        let known = entry.drive.is_managed();
        let reason = if known { Reason::ReadBack } else { Reason::Discovery };
        return Some((Request::ReadPowerState, reason, Milliwatts::ZERO));
    }
    let change = entry.drive.ready_in().zip(entry.target).filter(|(is, wanted)| is != wanted);
    let Some((current, target)) = change else {
        let backstop = entry
            .backstop
            .as_ref()
            .filter(|_| shedding.is_none() || !entry.drive.is_managed())
            .and_then(Backstop::due)?;
        return Some((backstop, Reason::Backstop, Milliwatts::ZERO));
    };
    // A sleeping drive has what it may wake into.
    let is_awake = figures.operational_states(entry).contains(current);
    let has = if is_awake { figures.figure(entry, current) } else { figures.draw_now(entry) };
    let gets = figures.figure(entry, target);
    let reason = if gets > has {
        Reason::Raise
    } else if let Some(shedding) = shedding {
        shedding
    } else if !figures.is_available(entry, current) {
        Reason::Heat
    } else {
        Reason::Yield
    };
    Some((Request::SetPowerState(target), reason, has.saturating_sub(gets)))
}

#[cfg(test)]
mod tests;
