//! What a governor knows of one slot, and what that comes to in watts.

use super::config::DriveConfig;
use super::event::Reason;
use crate::drive::{Circumstances, CommandId, Drive, KnownStates, Request, StateSet};
use crate::nvme::PowerState;
use crate::profile::{FigureRule, Profile, StateProfile, WorkSet};
use crate::thermal::{Level, Thermal};
use crate::units::{Instant, Microseconds, Milliwatts};

/// One slot.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) config: DriveConfig,
    pub(super) drive: Drive,
    pub(super) thermal: Option<Thermal>,
    /// The state that the plan gives it; `None` until the drive was known for the first time.
    pub(super) target: Option<PowerState>,
    /// Work seen, some of it outside the declaration, which counts until `seen_until`; `None`: the last report has such
    /// work.
    pub(super) seen: WorkSet,
    pub(super) seen_until: Option<Instant>,
    /// It was seen doing nothing.
    pub(super) idle: bool,
    /// When it was sent to a lower state last.
    pub(super) lowered: Instant,
    /// What it has had so far: the value of its states, summed over time.
    pub(super) service: u64,
    /// Turns of rotation since it was given this state.
    pub(super) turns: u32,
    /// When the last command was sent to it.
    pub(super) sent: Instant,
    pub(super) outbox: Option<Outgoing>,
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
    pub(super) fn new(mut config: DriveConfig, now: Instant) -> Self {
        if config.declared.is_empty() {
            config.declared = WorkSet::ALL;
        }
        let thermal = config.thermal.clone().map(|limits| Thermal::new(limits, now));
        Self {
            config,
            drive: Drive::attached(),
            thermal,
            target: None,
            seen: WorkSet::NONE,
            seen_until: None,
            idle: false,
            lowered: now,
            service: 0,
            turns: 0,
            sent: now,
            outbox: None,
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

    /// Whether the answer to its last command takes longer than `late`.
    pub(super) fn is_late(&self, now: Instant, late: Microseconds) -> bool {
        now.since(self.sent).is_some_and(|waited| waited > late)
    }

    /// Gives it a state.
    pub(super) fn aim(&mut self, target: PowerState) {
        if self.target != Some(target) {
            self.target = Some(target);
            self.turns = 0;
        }
    }

    /// Puts a command into the outbox; from now on it counts as sent.
    pub(super) fn send(&mut self, now: Instant, (request, reason, saving): Due, id: CommandId) {
        self.sent = now;
        self.drive.sent(request, id);
        self.outbox = Some(Outgoing { id, request, reason, saving });
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
    fn operational(self, entry: &Entry) -> impl DoubleEndedIterator<Item = (PowerState, &'a StateProfile)> {
        let profile = self.profiles.get(usize::from(entry.config.profile.0));
        profile.into_iter().flat_map(Profile::operational)
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

    /// What the drive takes at most in a state; what its slot delivers where it has no such state.
    pub(super) fn figure(self, entry: &Entry, state: PowerState) -> Milliwatts {
        let found = self.operational(entry).find(|(number, _)| *number == state);
        found.map_or(self.unknown(entry), |(_, state)| self.of(entry, state))
    }

    /// What the drive takes at most in any state of a set; what its slot delivers where none of them is known to be
    /// operational.
    pub(super) fn draw(self, entry: &Entry, may: StateSet) -> Milliwatts {
        let states = self.operational(entry).filter(|(number, _)| may.contains(*number));
        states.map(|(_, state)| self.of(entry, state)).max().unwrap_or(self.unknown(entry))
    }

    /// What the drive takes at most now.
    pub(super) fn draw_now(self, entry: &Entry) -> Milliwatts {
        self.draw(entry, entry.drive.may_be_in())
    }

    /// The least and the most that the drive can be held at.
    pub(super) fn range(self, entry: &Entry) -> Option<(Milliwatts, Milliwatts)> {
        let figures = || self.operational(entry).map(|(_, state)| self.of(entry, state));
        figures().min().zip(figures().max())
    }

    /// Whether the drive has the state, and its heat and its slot allow it. They always allow its lowest.
    pub(super) fn is_available(self, entry: &Entry, state: PowerState) -> bool {
        let Some((_, found)) = self.operational(entry).find(|(number, _)| *number == state) else { return false };
        let figure = self.of(entry, found);
        let within_slot = found.max_power.is_none_or(|most| most <= entry.config.slot_limit);
        if within_slot && entry.level() == Level::Cool {
            return true;
        }
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
        }
    }
}
