//! Whether two governors are in the same situation: for checkers that search through what can happen.
//!
//! Two governors that differ only in what time it is, or in how many commands they have sent, go on alike. So moments
//! count as spans from now, moments that are over as over, and a command in flight by being in flight, not by its
//! number.
//!
//! **What it leaves out.** How much each drive *has had* counts by its place among the others, since the sums never
//! come again. That is more than orders: two situations that are taken for the same can differ in a turn that is still
//! far away. Heat counts by the clock, so drives whose heat is managed are seldom in the same situation. Counters
//! decide nothing, nor does until when nothing needs to be looked at. Records are taken to be intact, so it does not
//! matter which is looked at next.

use core::hash::{Hash, Hasher};

use super::Governor;
use super::alarms::{Alarms, DriveAlarms};
use super::config::Config;
use super::entry::Entry;
use super::meter::Meter;
use crate::drive::CommandId;
use crate::units::{Instant, Microseconds};

/// Of a governor that lets no drive sleep.
impl<const DRIVES: usize, const PROFILES: usize> Governor<DRIVES, PROFILES, 0> {
    /// Feeds a hasher with the situation: what decides how this governor goes on, seen from now. It is to be compared
    /// only with governors of the same configuration and profiles, after [`poll`](Self::poll) has returned `None`.
    pub fn situation(&self, hasher: &mut impl Hasher) {
        // Every field is named, so that a new one is not forgotten here.
        let Self {
            config,
            profiles: _,
            entries,
            sleepers: _,
            ledger,
            meter,
            alarms,
            clock,
            next_id: _,
            next_rotation,
            planned,
            stale,
            scrubbed: _,
            damaged: _,
            chassis,
            moved: _,
            rests: _,
            due: _,
            unserved: _,
        } = self;
        let moment = Moment { now: clock.ours(), config };
        for (slot, entry) in entries.iter().enumerate() {
            entry.is_some().hash(hasher);
            if let Some(entry) = entry {
                entry.situation(moment, hasher);
                let rank =
                    |of: fn(&Entry) -> u64| entries.iter().flatten().filter(|other| of(other) < of(entry)).count();
                (rank(|entry| entry.service), rank(|entry| u64::from(entry.turns))).hash(hasher);
            }
            ledger.draw(slot).hash(hasher);
        }
        (ledger.cap(), ledger.correction(), ledger.promised()).hash(hasher);
        if let Some(meter) = meter {
            meter.situation(moment.now, hasher);
            (ledger.prediction(), ledger.held()).hash(hasher);
        }
        alarms.situation(entries, hasher);
        chassis.hash(hasher);
        (moment.left(*next_rotation), moment.age(*planned, config.dwell), stale).hash(hasher);
    }
}

/// Now, and how long what is over matters.
#[derive(Clone, Copy)]
struct Moment<'a> {
    now: Instant,
    config: &'a Config,
}

impl Moment<'_> {
    /// How long it is until then; `None` where that is over.
    fn left(self, then: Instant) -> Option<Microseconds> {
        then.since(self.now)
    }

    /// How long it has been, up to a span after which it does not matter.
    fn age(self, then: Instant, matters: Microseconds) -> Microseconds {
        self.now.since(then).unwrap_or_default().min(matters)
    }
}

impl Entry {
    fn situation(&self, moment: Moment<'_>, hasher: &mut impl Hasher) {
        let Self {
            config,
            drive,
            backstop,
            awaits,
            damaged,
            thermal,
            target,
            seen,
            seen_until,
            idle,
            demand,
            pace,
            held,
            lowered,
            service: _,
            turns: _,
            sent,
            outbox: _,
            counters: _,
            power: _,
            reserved: _,
            watched,
        } = self;
        drive.seen_from(moment.now, *awaits).hash(hasher);
        (backstop, awaits.is_some(), damaged, thermal, target, seen, idle, watched, held).hash(hasher);
        (demand.most(), demand.until().map(|until| moment.left(until)), moment.left(pace.permits_from())).hash(hasher);
        config.hash(hasher);
        (seen_until.map(|until| moment.left(until)), moment.age(*lowered, moment.config.dwell)).hash(hasher);
        let late = moment.config.window.saturating_add(Microseconds::new(1));
        awaits.map(|_| moment.age(*sent, late)).hash(hasher);
    }
}

impl Meter {
    fn situation(&self, now: Instant, hasher: &mut impl Hasher) {
        let Self { config, last_valid, value, lost } = self;
        let age = |since: Instant| now.since(since);
        (last_valid.map(age), lost).hash(hasher);
        if config.stuck_after.is_some() {
            value.map(|(value, since)| (value, age(since))).hash(hasher);
        }
    }
}

impl<const DRIVES: usize> Alarms<DRIVES> {
    fn situation(&self, entries: &[Option<Entry>; DRIVES], hasher: &mut impl Hasher) {
        let Self {
            cannot_hold,
            shelves,
            meter_lost,
            meter_above_prediction,
            clock_backwards,
            cooling_reduced,
            drives,
            told: _,
        } = self;
        (cannot_hold, shelves, meter_lost, meter_above_prediction, clock_backwards, cooling_reduced).hash(hasher);
        for (alarms, entry) in drives.iter().zip(entries) {
            let DriveAlarms {
                unmanaged,
                undeclared_work,
                temperature_lost,
                lever_refused,
                backstop_refused,
                record_damaged,
                no_answer,
                guarantee_unmet,
                temperature_frozen,
                throttled,
                // Of a governor that lets no drive sleep.
                cannot_wake: _,
            } = alarms;
            (unmanaged, undeclared_work, temperature_lost, lever_refused, backstop_refused, record_damaged)
                .hash(hasher);
            let awaited = entry.as_ref().and_then(|entry| entry.awaits);
            (guarantee_unmet, temperature_frozen, throttled).hash(hasher);
            no_answer.map(|id: CommandId| Some(id) == awaited).hash(hasher);
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::hash::DefaultHasher;
    use std::vec::Vec;

    use super::*;
    use crate::governor::{Command, DriveConfig, Event, Outcome, Request};
    use crate::nvme::PowerState;
    use crate::profile::d5_p5336;
    use crate::units::Milliwatts;

    type Two = Governor<2, 1>;

    fn key(governor: &Two) -> u64 {
        let mut hasher = DefaultHasher::new();
        governor.situation(&mut hasher);
        hasher.finish()
    }

    /// The situations of a governor to which the same happens, from some time on and after so many commands.
    fn story(start: u64, earlier_commands: u32) -> Vec<u64> {
        let mut config = Config::new(Milliwatts::from_watts(40), Milliwatts::ZERO);
        config.rotation_interval = Microseconds::ZERO;
        let mut governor = Two::new(config);
        let profile = governor.add_profile(d5_p5336()).unwrap();
        let drive = || DriveConfig::new(profile, Milliwatts::from_watts(25));
        let mut now = Instant::from_micros(start);
        let mut keys = Vec::new();
        let mut tell = |governor: &mut Two, now: Instant, event: Event| {
            governor.handle(now, event);
            let commands: Vec<_> = std::iter::from_fn(|| governor.poll()).collect();
            keys.push(key(governor));
            commands
        };
        for _ in 0..earlier_commands {
            tell(&mut governor, now, Event::Attached { slot: 0, drive: drive() });
            tell(&mut governor, now, Event::Removed { slot: 0 });
        }
        now = now.after(Microseconds::from_secs(10));
        tell(&mut governor, now, Event::Tick);
        now = now.after(Microseconds::from_secs(10));
        let mut commands = tell(&mut governor, now, Event::Attached { slot: 0, drive: drive() });
        commands.extend(tell(&mut governor, now, Event::Attached { slot: 1, drive: drive() }));
        for _ in 0..40 {
            let command = commands.pop();
            let event = match command {
                Some(Command::Drive { slot, id, request, .. }) => {
                    let outcome = match request {
                        Request::ReadPowerState => Outcome::Is(governor.target(slot).unwrap_or(PowerState::PS0)),
                        _ => Outcome::Done,
                    };
                    Event::Completed { slot, id, outcome }
                }
                Some(Command::Alarm { .. }) => continue,
                None => {
                    now = governor.next_deadline().unwrap_or(now);
                    Event::Tick
                }
            };
            commands.extend(tell(&mut governor, now, event));
        }
        keys.split_off(2 * usize::try_from(earlier_commands).unwrap() + 1)
    }

    #[test]
    fn the_same_at_another_time_is_the_same_situation() {
        let first = story(10_000_000, 0);
        assert_eq!(first, story(98_765_432, 0));
        assert_eq!(first, story(10_000_000, 3));
        assert!(first.iter().collect::<std::collections::BTreeSet<_>>().len() > 6, "{first:?}");
    }
}
