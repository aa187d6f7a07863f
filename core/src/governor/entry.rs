//! What a governor knows of one slot, and what that comes to in watts.

use super::config::{BackstopConfig, DriveConfig, ProfileIndex, Share};
use super::demand::Demand;
use super::event::Reason;
use super::pace::Pace;
use super::sleep::Power;
use crate::drive::{
    Backstop, Cause, Circumstances, CommandId, Drive, KnownStates, Levers, Outcome, Phase, Request, Sealed, StateSet,
};
use crate::history::Counters;
use crate::nvme::PowerState;
use crate::profile::{self, FigureRule, Profile, StateProfile, WorkSet};
use crate::thermal::{Level, Thermal};
use crate::units::{BytesPerSecond, Instant, Microseconds, Milliwatts};

/// One slot.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) config: Configured,
    pub(super) drive: Sealed,
    pub(super) backstop: Option<Backstop>,
    /// The command in flight. It is kept beside the records that name it: what is in flight must be known even where
    /// a record has been damaged.
    pub(super) awaits: Option<CommandId>,
    /// Its record was found damaged, and it has not been looked at since the drive was read again.
    pub(super) damaged: bool,
    pub(super) thermal: Option<Thermal>,
    /// The state that the plan gives it; `None` until the drive was known for the first time.
    pub(super) target: Option<PowerState>,
    /// Work seen, some of it outside the declaration, which counts until `seen_until`; `None`: the last report has such
    /// work.
    pub(super) seen: WorkSet,
    pub(super) seen_until: Option<Instant>,
    /// It was seen doing nothing.
    pub(super) idle: bool,
    /// How much it is asked for.
    pub(super) demand: Demand,
    pub(super) pace: Pace,
    /// It has been set so often that it is not raised for now.
    pub(super) held: bool,
    /// What it does has been reported since it came.
    pub(super) watched: bool,
    /// When it was sent to a lower state last.
    pub(super) lowered: Instant,
    /// What it has had so far: the value of its states, summed over time.
    pub(super) service: u64,
    /// Turns of rotation since it was given this state.
    pub(super) turns: u32,
    /// When the last command was sent to it.
    pub(super) sent: Instant,
    pub(super) outbox: Option<Outgoing>,
    pub(super) counters: Counters,
    pub(super) power: Power,
    /// What is kept free for it, because it has no power and somebody waits for it.
    pub(super) reserved: Milliwatts,
}

/// What the configuration says of a drive, but for the limits of its heat, which its [`Thermal`] has.
#[derive(Clone, Debug, Hash)]
pub(super) struct Configured {
    pub(super) profile: ProfileIndex,
    pub(super) slot_limit: Milliwatts,
    /// The kinds of work that it is going to do; never none.
    pub(super) declared: WorkSet,
    pub(super) fallback: PowerState,
    pub(super) share: Share,
    pub(super) levers: Levers,
    pub(super) backstop: Option<BackstopConfig>,
}

/// A command that waits to be polled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outgoing {
    pub(super) id: CommandId,
    pub(super) request: Request,
    pub(super) reason: Reason,
    /// The watts that it frees: what frees most goes first.
    pub(super) saving: Milliwatts,
}

impl Entry {
    pub(super) fn new(config: DriveConfig, now: Instant) -> Self {
        let DriveConfig { profile, slot_limit, declared, fallback, thermal, share, levers, backstop } = config;
        let thermal = thermal.map(|limits| Thermal::new(limits, now));
        let declared = if declared.is_empty() { WorkSet::ALL } else { declared };
        let config = Configured { profile, slot_limit, declared, fallback, share, levers, backstop };
        let backstop = config.backstop.as_ref().map(|backstop| Backstop::new(backstop.thresholds));
        Self {
            config,
            drive: Sealed::new(Drive::attached()),
            backstop,
            awaits: None,
            damaged: false,
            thermal,
            target: None,
            seen: WorkSet::NONE,
            seen_until: None,
            idle: false,
            demand: Demand::default(),
            pace: Pace::default(),
            held: false,
            watched: false,
            lowered: now,
            service: 0,
            turns: 0,
            sent: now,
            outbox: None,
            counters: Counters::default(),
            power: Power::Awake,
            reserved: Milliwatts::ZERO,
        }
    }

    /// All kinds of work that the drive may be doing.
    pub(super) const fn work(&self) -> WorkSet {
        self.config.declared.union(self.seen)
    }

    /// How warm the drive is; cool where its heat is not managed.
    pub(super) fn level(&self) -> Level {
        self.thermal.as_ref().map_or(Level::Cool, Thermal::level)
    }

    /// When time alone changes what was reported of it: its heat, its work, its demand.
    pub(super) fn due(&self, now: Instant) -> Option<Instant> {
        let heat = self.thermal.as_ref().and_then(|thermal| thermal.next_deadline(now));
        [heat, self.seen_until, self.demand.until()].into_iter().flatten().min()
    }

    /// When time alone changes what is to be decided about it: by what was reported of it, or since a wait is over for
    /// its drive or for the answer of its drive.
    pub(super) fn next_deadline(&self, now: Instant, dwell: Microseconds, window: Microseconds) -> Option<Instant> {
        let mut next = self.due(now);
        let mut add = |due: Instant| {
            if next.is_none_or(|next| due < next) {
                next = Some(due);
            }
        };
        if let Some(settles) = self.drive.settles_at() {
            add(settles);
        }
        let mut add_later = |due: Instant| {
            if due > now {
                add(due);
            }
        };
        add_later(self.drive.not_before());
        if self.held {
            add_later(self.pace.permits_from());
        } else if self.drive.ready_in().is_some() && self.drive.ready_in() != self.target {
            add_later(self.lowered.after(dwell));
        }
        if self.awaits.is_some() {
            add_later(self.sent.after(window).after(Microseconds::new(1)));
        }
        next
    }

    /// Whether the answer to its last command takes longer than `late`.
    pub(super) fn is_late(&self, now: Instant, late: Microseconds) -> bool {
        now.since(self.sent).is_some_and(|waited| waited > late)
    }

    /// Whether a command is in flight, or due, that must be answered before another state can be asked for.
    pub(super) fn is_busy(&self) -> bool {
        self.drive.is_busy() || self.awaits.is_some()
    }

    /// It is set to another state.
    pub(super) fn changes(&mut self, now: Instant, per_day: Option<u16>) {
        self.pace.count(now, per_day);
        self.hold(now, per_day);
    }

    /// Notes whether it may be raised.
    pub(super) fn hold(&mut self, now: Instant, per_day: Option<u16>) {
        self.held = per_day == Some(0) || now < self.pace.permits_from();
    }

    /// Gives it a state.
    pub(super) fn aim(&mut self, target: PowerState) {
        if self.target != Some(target) {
            self.target = Some(target);
            self.turns = 0;
        }
    }

    /// What is to be set as the drive's own thermal thresholds: a last resort where the drive cannot be controlled.
    pub(super) fn want_backstop(&mut self) {
        if let Some((backstop, config)) = self.backstop.as_mut().zip(self.config.backstop.as_ref()) {
            let given_up = matches!(self.drive.phase(), Phase::Unmanaged { .. });
            backstop.want(config.last_resort.filter(|_| given_up).unwrap_or(config.thresholds));
        }
    }

    /// Counts what became of the command in flight; `None`: it was lost.
    pub(super) fn count(&mut self, id: CommandId, outcome: Option<Outcome>) {
        let counters = &mut self.counters;
        let counter = match (outcome, self.drive.phase()) {
            _ if self.awaits != Some(id) => return,
            (None, _) => &mut counters.lost,
            (Some(Outcome::Rejected(_)), _) => &mut counters.refused,
            (Some(Outcome::Done), Phase::Changing { .. }) => &mut counters.transitions,
            _ => return,
        };
        *counter = counter.saturating_add(1);
    }

    /// A command came back or was given up: it is not in flight any more.
    pub(super) fn answered(&mut self, id: CommandId) {
        self.outbox.take_if(|outgoing| outgoing.id == id);
        self.awaits.take_if(|awaited| *awaited == id);
    }

    /// The drive was reset, with whatever was in flight to it, into a state of `fallback`.
    pub(super) fn reset(&mut self, fallback: StateSet) {
        (self.outbox, self.awaits) = (None, None);
        self.counters.resets = self.counters.resets.saturating_add(1);
        self.drive.change(|drive| drive.reset(fallback));
        if let Some(backstop) = self.backstop.as_mut() {
            backstop.reset();
        }
    }

    /// Whether the record is as it was left. One that is not is forgotten: the drive is to be read again.
    pub(super) fn scrub(&mut self) -> bool {
        let intact = self.drive.is_intact();
        if intact {
            self.damaged &= matches!(self.drive.phase(), Phase::Unknown { .. });
        } else {
            // What is in flight is waited for, but its answer says nothing about the new record.
            self.drive = Sealed::new(Drive::attached());
            self.target = None;
            self.damaged = true;
            self.counters.damaged = self.counters.damaged.saturating_add(1);
        }
        intact
    }
}

/// What a drive is to be asked, why, and the watts that it frees.
pub(super) type Due = (Request, Reason, Milliwatts);

/// Turns states into watts.
#[derive(Clone, Copy)]
pub(super) struct Figures<'a> {
    pub(super) profiles: &'a [Profile],
    pub(super) rule: FigureRule,
}

/// What an unmeasured drive is worth: an unmeasured state counts 100 kB/s for each of its milliwatts, a little less
/// than the reference drive gives when it writes. A guess; it only matters where measured and unmeasured drives share a
/// budget.
const KILOBYTES_PER_SECOND_PER_MILLIWATT: u32 = 100;

/// A sleeping drive whose state is to be verified is looked at again after so many averaging windows: seldom, since a
/// look keeps it from deeper sleep. A guess.
const SLEEP_WINDOWS: u64 = 10;

/// How long a drive takes to enter a state of which it reports no entry latency. A guess.
const UNREPORTED_ENTRY_LATENCY: Microseconds = Microseconds::from_millis(100);

impl<'a> Figures<'a> {
    pub(super) fn operational(self, entry: &Entry) -> impl DoubleEndedIterator<Item = (PowerState, &'a StateProfile)> {
        let profile = self.profiles.get(usize::from(entry.config.profile.0));
        profile::operational(profile.map_or(&[], |profile| &profile.states))
    }

    /// The states in which the drive processes I/O.
    pub(super) fn operational_states(self, entry: &Entry) -> StateSet {
        self.operational(entry).map(|(number, _)| number).collect()
    }

    /// All states of the drive.
    fn known_states(self, entry: &Entry) -> KnownStates {
        let states = self.profiles.get(usize::from(entry.config.profile.0)).map_or(0, |profile| profile.states.len());
        let operational = self.operational_states(entry);
        let numbers = (0u8..).take(states).filter_map(PowerState::new);
        KnownStates { operational, non_operational: numbers.filter(|state| !operational.contains(*state)).collect() }
    }

    /// Puts a command into the outbox; from now on it counts as sent. Where the drive's lever has no words for it,
    /// there is nothing to hold the drive with.
    pub(super) fn send(self, entry: &mut Entry, now: Instant, (request, reason, saving): Due, id: CommandId) {
        let profile = self.profiles.get(usize::from(entry.config.profile.0));
        let worded = profile.and_then(|profile| entry.drive.lever().request(request, profile));
        let Some(worded) = worded else {
            return entry.drive.change(|drive| drive.give_up(Cause::NoUsableState));
        };
        match (request, entry.backstop.as_mut()) {
            (Request::SetThermalManagement(_) | Request::ReadThermalManagement, Some(backstop)) => backstop.sent(id),
            _ => entry.drive.change(|drive| drive.sent(request, id)),
        }
        entry.sent = now;
        entry.awaits = Some(id);
        entry.outbox = Some(Outgoing { id, request: worded, reason, saving });
    }

    /// A drive's answer, in terms of its power states.
    pub(super) fn understood(self, entry: &Entry, outcome: Outcome) -> Outcome {
        let profile = self.profiles.get(usize::from(entry.config.profile.0));
        profile.map_or(outcome, |profile| entry.drive.lever().outcome(outcome, profile))
    }

    /// Where a reset takes the drive: into its fallback state; into any, where that one processes no I/O or does not
    /// exist.
    pub(super) fn fallback(self, entry: &Entry) -> StateSet {
        let fallback = entry.config.fallback;
        if self.operational_states(entry).contains(fallback) { StateSet::of(fallback) } else { StateSet::ALL }
    }

    /// What a drive takes at most of which nothing is known: what its slot delivers, and the chassis's overhead.
    fn unknown(self, entry: &Entry) -> Milliwatts {
        entry.config.slot_limit.saturating_add(self.rule.overhead)
    }

    fn of(self, entry: &Entry, state: &StateProfile) -> Milliwatts {
        let figure = state.figure(entry.work(), self.rule);
        figure.unwrap_or_else(|| self.unknown(entry).max(state.measured_peak(entry.work())))
    }

    /// A state in which the drive processes I/O.
    fn state(self, entry: &Entry, number: PowerState) -> Option<&'a StateProfile> {
        let profile = self.profiles.get(usize::from(entry.config.profile.0))?;
        profile.state(number).filter(|state| !state.non_operational)
    }

    /// What the drive takes at most in a state; what its slot delivers where it has no such state.
    pub(super) fn figure(self, entry: &Entry, state: PowerState) -> Milliwatts {
        self.state(entry, state).map_or(self.unknown(entry), |state| self.of(entry, state))
    }

    /// What the drive takes at most in any state of a set; what its slot delivers where none of them is known to be
    /// operational.
    pub(super) fn draw(self, entry: &Entry, may: StateSet) -> Milliwatts {
        let states = self.operational(entry).filter(|(number, _)| may.contains(*number));
        states.map(|(_, state)| self.of(entry, state)).max().unwrap_or(self.unknown(entry))
    }

    /// The least and the most that the drive can be held at.
    pub(super) fn range(self, entry: &Entry) -> Option<(Milliwatts, Milliwatts)> {
        let mut figures = self.operational(entry).map(|(_, state)| self.of(entry, state));
        let first = figures.next()?;
        Some(figures.fold((first, first), |(least, most), figure| (least.min(figure), most.max(figure))))
    }

    /// Whether the drive has the state, and its heat and its slot allow it. They always allow its lowest.
    pub(super) fn is_available(self, entry: &Entry, state: PowerState) -> bool {
        let Some(found) = self.state(entry, state) else { return false };
        let within_slot = found.max_power.is_none_or(|most| most <= entry.config.slot_limit);
        if within_slot && entry.level() == Level::Cool {
            return true;
        }
        let figure = self.of(entry, found);
        self.range(entry).is_some_and(|(lowest, highest)| {
            figure == lowest || (within_slot && figure <= entry.level().ceiling(lowest, highest))
        })
    }

    /// What a state is worth to the plan, in kilobytes per second.
    pub(super) fn value(self, entry: &Entry, state: PowerState) -> u32 {
        let profile = self.profiles.get(usize::from(entry.config.profile.0)).and_then(|profile| profile.state(state));
        match profile.and_then(|state| state.throughput(entry.work())) {
            Some(throughput) => u32::try_from(throughput.get() / 1000).unwrap_or(u32::MAX),
            None => self.figure(entry, state).get().saturating_mul(KILOBYTES_PER_SECOND_PER_MILLIWATT),
        }
    }

    /// The most that the drive is asked for, in kilobytes per second, as far as its state lets that be compared;
    /// `None`: anything. What an unmeasured state gives is not known, so there only a demand of nothing counts.
    pub(super) fn asked_for(self, entry: &Entry, state: PowerState) -> Option<u32> {
        let most = entry.demand.most()?;
        (most == 0 || self.is_measured(entry, state)).then_some(most)
    }

    fn is_measured(self, entry: &Entry, state: PowerState) -> bool {
        let profile = self.profiles.get(usize::from(entry.config.profile.0)).and_then(|profile| profile.state(state));
        profile.is_some_and(|state| state.throughput(entry.work()).is_some())
    }

    /// By how much a drive in its target gives less than it is promised: its guarantee, or what it is asked for where
    /// that is less. Of a state that was not measured nothing can be promised.
    pub(super) fn unmet(self, entry: &Entry) -> Option<BytesPerSecond> {
        let promised = entry.config.share.guarantee;
        let wanted =
            entry.demand.most().map_or(promised, |most| promised.min(BytesPerSecond::new(u64::from(most) * 1000)));
        if wanted == BytesPerSecond::ZERO {
            return None;
        }
        let target = entry.target.filter(|target| entry.drive.is_managed() && self.is_measured(entry, *target));
        // What a state gives is cut off to whole kilobytes.
        let gives = target.map_or(0, |target| u64::from(self.value(entry, target)) * 1000 + 999);
        Some(wanted.saturating_sub(BytesPerSecond::new(gives))).filter(|missing| *missing > BytesPerSecond::ZERO)
    }

    /// Whether a state takes more than the one that the drive is in or on its way to; than any that it may wake into,
    /// where it sleeps.
    pub(super) fn is_raise(self, entry: &Entry, state: PowerState) -> bool {
        let awake = entry.drive.heading_for().filter(|state| self.operational_states(entry).contains(*state));
        let has = awake.map_or_else(|| self.draw_now(entry), |heading| self.figure(entry, heading));
        self.figure(entry, state) > has
    }

    /// About what the drive takes now, of one whose work is reported and that is not on its way between two states: the
    /// figure of its state, or its idle power, which is taken for a quarter of its lowest state's where the profile
    /// says nothing (a guess).
    pub(super) fn load(self, entry: &Entry) -> Option<Milliwatts> {
        let state = entry.drive.ready_in().filter(|_| entry.watched)?;
        if !entry.idle && self.operational_states(entry).contains(state) {
            return Some(self.figure(entry, state));
        }
        let profile = self.profiles.get(usize::from(entry.config.profile.0))?;
        let (lowest, _) = self.range(entry)?;
        Some(profile.idle.unwrap_or(Milliwatts::new(lowest.get() / 4)))
    }

    /// How long after an accepted change the drive's power has followed: what its profile says, else the state's entry
    /// latency and the span over which the cap is averaged.
    fn settling(self, entry: &Entry, window: Microseconds) -> Microseconds {
        let profile = self.profiles.get(usize::from(entry.config.profile.0));
        if let Some(measured) = profile.and_then(|profile| profile.settling) {
            return measured;
        }
        let entries = self.operational(entry).map(|(_, state)| state.entry_latency.unwrap_or(UNREPORTED_ENTRY_LATENCY));
        entries.max().unwrap_or(UNREPORTED_ENTRY_LATENCY).saturating_add(window)
    }

    /// What the drive's transitions need to know of the rest of the world.
    pub(super) fn circumstances(
        self,
        entry: &Entry,
        now: Instant,
        window: Microseconds,
        patience: u8,
    ) -> Circumstances {
        Circumstances {
            now,
            settled: now.after(self.settling(entry, window)),
            retry: now.after(window),
            recheck: now.after(Microseconds::new(window.get().saturating_mul(SLEEP_WINDOWS))),
            patience,
            states: self.known_states(entry),
            next_lever: entry.config.levers.after(entry.drive.lever()),
        }
    }
}
