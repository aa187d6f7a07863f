//! Drives that go without power while nobody needs them: what their [`Sleeper`]s wish is sent, and what comes back is
//! told to them.
//!
//! A drive is shut down only while it holds the state that it was given and nothing is in flight to it; from then on no
//! power state is asked of it, until it has been attached anew. Its power comes back out of watts that the ledger has:
//! while somebody waits for it, the plan keeps what it will take free, provided that this can be had at all.

use super::entry::{Entry, Figures, Outgoing};
use super::event::{Reason, Slot};
use super::{CommandId, Governor, Outcome, Request, plan};
use crate::drive::{Drive, Sealed, StateSet};
use crate::profile::WorkSet;
use crate::sleep::{Conditions, Counts, CyclesPerDay, Event, Sleeper, State, Wish};
use crate::units::{BytesPerSecond, Instant, Milliwatts};

/// One drive's sleep, and what was sent for its sake.
#[derive(Clone, Debug)]
pub(super) struct Sleeping {
    sleeper: Sleeper,
    in_flight: Option<(CommandId, Wish)>,
}

/// What an entry needs to know of its drive's sleep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Power {
    /// It is awake, or does not sleep at all.
    #[default]
    Awake,
    /// It is on its way down: no power state is asked of it, and it counts for what it did.
    Leaving,
    /// It has no power, and its slot takes this.
    Off(Milliwatts),
    /// As `Off`, and somebody waits for it.
    Wanted(Milliwatts),
    /// It is on its way up, into its fallback state.
    Returning,
    /// Nobody knows: it may be as it was, or in its fallback state.
    Unclear,
}

impl Sleeping {
    pub(super) const fn sleeper(&self) -> &Sleeper {
        &self.sleeper
    }

    fn power(&self) -> Power {
        match (self.sleeper.state(), self.sleeper.counts()) {
            (State::Working | State::Idle { .. } | State::Absent, _) => Power::Awake,
            (State::Off { wanted: true }, _) => Power::Wanted(self.sleeper.off()),
            (_, Counts::Off) => Power::Off(self.sleeper.off()),
            (_, Counts::Fallback) => Power::Returning,
            (_, Counts::Either) => Power::Unclear,
            (_, Counts::Awake | Counts::Nothing) => Power::Leaving,
        }
    }
}

const fn request(wish: Wish) -> Option<Request> {
    match wish {
        Wish::ShutDown => Some(Request::ShutDown),
        Wish::PowerOff => Some(Request::PowerOff),
        Wish::PowerOn => Some(Request::PowerOn),
        Wish::Restart => Some(Request::Restart),
        Wish::Attach => None,
    }
}

impl<const DRIVES: usize, const PROFILES: usize, const SLEEPERS: usize> Governor<DRIVES, PROFILES, SLEEPERS> {
    /// From now on the drive in a slot may sleep, on these conditions.
    pub(super) fn may_sleep(&mut self, slot: Slot, conditions: Conditions, limit: CyclesPerDay, now: Instant) {
        if let Some(place) = self.sleepers.get_mut(usize::from(slot)) {
            match place {
                // New conditions change nothing of where the drive is.
                Some(sleeping) if sleeping.power() != Power::Awake => sleeping.sleeper.reconfigure(conditions),
                _ => *place = Some(Sleeping { sleeper: Sleeper::new(conditions, limit, now), in_flight: None }),
            }
        }
    }

    /// The drive in a slot is gone, and with it what was allowed of it.
    pub(super) fn may_not_sleep(&mut self, slot: Slot) {
        if let Some(place) = self.sleepers.get_mut(usize::from(slot)) {
            *place = None;
        }
    }

    /// A drive is seen to work, or not to.
    pub(super) fn sleeper_sees(&mut self, slot: Slot, seen: WorkSet, now: Instant) {
        self.sleeper_steps(slot, if seen.is_empty() { Event::Idle } else { Event::Work }, now);
    }

    /// So much is wanted of a drive.
    pub(super) fn sleeper_is_wanted(&mut self, slot: Slot, wanted: Option<BytesPerSecond>, now: Instant) {
        if wanted.is_some_and(|wanted| wanted > BytesPerSecond::ZERO) {
            self.sleeper_steps(slot, Event::Demand, now);
        }
    }

    /// Something happened to a drive that may sleep.
    pub(super) fn sleeper_steps(&mut self, slot: Slot, event: Event, now: Instant) {
        let figures = Figures { profiles: &self.profiles, rule: self.rule() };
        let Some(Some(sleeping)) = self.sleepers.get_mut(usize::from(slot)) else { return };
        let state = sleeping.sleeper.state();
        sleeping.sleeper.step(now, event);
        self.moved |= state != sleeping.sleeper.state();
        // A cut that is on its way is not undone by a reset, and its answer still counts.
        if event == Event::Attached && !matches!(sleeping.sleeper.state(), State::CuttingPower { .. }) {
            sleeping.in_flight = None;
        }
        let power = sleeping.power();
        if let Some(Some(entry)) = self.entries.get_mut(usize::from(slot)) {
            let before = core::mem::replace(&mut entry.power, power);
            let lost_power = matches!(power, Power::Off(_) | Power::Wanted(_) | Power::Returning);
            if before != power && lost_power {
                // The answer to what was sent for its sleep is still to come.
                let awaited = entry.awaits.filter(|id| sleeping.in_flight.is_some_and(|(sent, _)| sent == *id));
                entry.lose_power(figures.fallback(entry));
                entry.awaits = awaited;
            }
            self.stale |= before != power;
        }
    }

    /// A command came back, or was lost (`None`).
    pub(super) fn sleeper_hears(&mut self, slot: Slot, id: CommandId, outcome: Option<Outcome>, now: Instant) {
        let Some(Some(sleeping)) = self.sleepers.get_mut(usize::from(slot)) else { return };
        let Some((_, wish)) = sleeping.in_flight.take_if(|(sent, _)| *sent == id) else { return };
        let event = match (outcome, wish) {
            (None, _) => Event::Lost,
            (Some(Outcome::Done), Wish::ShutDown) => Event::ShutdownDone,
            (Some(Outcome::Done), Wish::PowerOff) => Event::PoweredOff,
            (Some(Outcome::Done), Wish::PowerOn) => Event::PoweredOn,
            (Some(Outcome::Done), Wish::Restart | Wish::Attach) => Event::Attached,
            (Some(_), _) => Event::Failed,
        };
        if event == Event::Attached {
            self.with(slot, |entry, figures| entry.reset(figures.fallback(entry)));
        }
        self.sleeper_steps(slot, event, now);
    }

    /// Lets time pass.
    pub(super) fn sleepers_advance(&mut self, now: Instant) {
        for slot in (0..=u8::MAX).take(SLEEPERS) {
            self.sleeper_steps(slot, Event::Tick, now);
            let sleeper = self.sleeper(slot);
            // Before the plan, so that what is up again is read and counted in the same call.
            if sleeper.is_some_and(|sleeper| sleeper.wish(now) == Some(Wish::Attach))
                && self.entry(slot).is_some_and(|entry| entry.awaits.is_none())
            {
                self.sleeper_steps(slot, Event::Sent(Wish::Attach), now);
                self.sleeper_steps(slot, Event::Attached, now);
            }
        }
    }

    /// When something changes although nothing happens.
    pub(super) fn sleepers_deadline(&self, now: Instant) -> Option<Instant> {
        self.sleepers.iter().flatten().filter_map(|sleeping| sleeping.sleeper.next_deadline(now)).min()
    }

    /// Keeps free what drives will take that somebody waits for, as far as that can be had at all.
    pub(super) fn plan_to_wake(&mut self) {
        let (limits, rule) = (self.ledger.limits(), self.rule());
        let mut sums = plan::floor(Figures { profiles: &self.profiles, rule }, &self.entries);
        for slot in 0..SLEEPERS.min(DRIVES) {
            let figures = Figures { profiles: &self.profiles, rule };
            let Some(Some(entry)) = self.entries.get_mut(slot) else { continue };
            entry.reserved = Milliwatts::ZERO;
            if let Power::Wanted(off) = entry.power {
                let returning = figures.returning(entry);
                let mut with = sums;
                with.add(entry.config.share.shelf, returning.saturating_sub(off));
                if limits.excess(&with) == Milliwatts::ZERO {
                    entry.reserved = returning;
                    sums = with;
                }
            }
        }
    }

    /// Sends what is wished and possible. `false`: a drive's power would have been paid out of a damaged record;
    /// nothing was sent.
    pub(super) fn send_wishes(&mut self, now: Instant) -> bool {
        let wakes = |sleeping: &Sleeping| sleeping.sleeper.wish(now) == Some(Wish::PowerOn);
        if self.sleepers.iter().flatten().any(wakes)
            && !self.entries.iter().flatten().all(|entry| entry.drive.is_intact())
        {
            return false;
        }
        for slot in 0..SLEEPERS.min(DRIVES) {
            let figures = Figures { profiles: &self.profiles, rule: self.rule() };
            let Some(Some(sleeping)) = self.sleepers.get_mut(slot) else { continue };
            let Some(Some(entry)) = self.entries.get_mut(slot) else { continue };
            let Some(wish) = sleeping.sleeper.wish(now).filter(|_| entry.awaits.is_none()) else { continue };
            let possible = match wish {
                Wish::ShutDown => entry.drive.ready_in().is_some() && entry.drive.ready_in() == entry.target,
                Wish::PowerOn => self.ledger.raise(slot, figures.returning(entry)).is_ok(),
                Wish::PowerOff | Wish::Restart => true,
                Wish::Attach => false,
            };
            if !possible {
                continue;
            }
            let Some(request) = request(wish) else { continue };
            sleeping.sleeper.step(now, Event::Sent(wish));
            let id = CommandId(self.next_id);
            self.next_id = self.next_id.wrapping_add(1);
            sleeping.in_flight = Some((id, wish));
            (entry.sent, entry.awaits) = (now, Some(id));
            entry.outbox = Some(Outgoing { id, request, reason: Reason::Sleep, saving: Milliwatts::ZERO });
            entry.power = sleeping.power();
        }
        true
    }
}

impl Entry {
    /// Whether no power state can be asked of the drive, because it sleeps or is on its way there or back.
    pub(super) fn sleeps(&self) -> bool {
        self.power != Power::Awake
    }

    /// Whether somebody waits for it, and the watts for it cannot be had: not even with every other drive in its lowest
    /// state.
    pub(super) fn cannot_wake(&self) -> bool {
        matches!(self.power, Power::Wanted(_)) && self.reserved == Milliwatts::ZERO
    }

    /// The drive has lost its power: nothing of what was known of it counts any more. It comes back in a state of
    /// `fallback`.
    fn lose_power(&mut self, fallback: StateSet) {
        self.drive = Sealed::new(Drive::powered_on(fallback));
        self.target = None;
        (self.awaits, self.outbox) = (None, None);
        if let Some(backstop) = self.backstop.as_mut() {
            backstop.reset();
        }
    }
}

impl Figures<'_> {
    /// What a drive takes at most when its power comes back.
    fn returning(self, entry: &Entry) -> Milliwatts {
        self.draw(entry, self.fallback(entry))
    }

    /// What the drive takes at most now, asleep or awake.
    pub(super) fn draw_now(self, entry: &Entry) -> Milliwatts {
        let awake = self.draw(entry, entry.drive.may_be_in());
        match entry.power {
            Power::Awake | Power::Leaving => awake,
            Power::Off(off) | Power::Wanted(off) => off,
            Power::Returning => self.returning(entry),
            Power::Unclear => awake.max(self.returning(entry)),
        }
    }
}
