//! Which state each drive should be in.
//!
//! A plan stands until it does not fit any more, and then it is replaced in the same call; or until a better one is to
//! be had, and then it is replaced once it has stood for `dwell` and only if the new one is worth at least half a
//! percent more.

use heapless::Vec;

use super::entry::{Entry, Figures};
use super::rotation::Kind;
use crate::budget::{Offers, Point, allocate};
use crate::drive::Phase;
use crate::nvme::PowerState;
use crate::units::{Instant, Microseconds, Milliwatts};

/// A plan must be worth this much more than the one that stands: one part in 200. Less is not worth the transitions. A
/// guess.
const WORTHWHILE: u64 = 200;

/// The drives that can be given a state, in the order in which they are preferred among equals.
struct FreeDrives<'a, const DRIVES: usize> {
    figures: Figures<'a>,
    entries: &'a [Option<Entry>; DRIVES],
    order: Vec<u8, DRIVES>,
}

impl<const DRIVES: usize> FreeDrives<'_, DRIVES> {
    fn entry(&self, drive: usize) -> Option<&Entry> {
        self.entries.get(usize::from(*self.order.get(drive)?))?.as_ref()
    }
}

impl<const DRIVES: usize> Offers for FreeDrives<'_, DRIVES> {
    fn drives(&self) -> usize {
        self.order.len()
    }

    fn choices(&self, drive: usize) -> u8 {
        let profile =
            self.entry(drive).and_then(|entry| self.figures.profiles.get(usize::from(entry.config.profile.0)));
        profile.map_or(0, |profile| u8::try_from(profile.states.len()).unwrap_or(u8::MAX))
    }

    fn point(&self, drive: usize, choice: u8) -> Option<Point> {
        let (entry, state) = (self.entry(drive)?, PowerState::new(choice)?);
        self.figures
            .is_available(entry, state)
            .then(|| Point { power: self.figures.figure(entry, state), value: self.figures.value(entry, state) })
    }

    fn alike(&self, one: usize, other: usize) -> bool {
        self.entry(one)
            .zip(self.entry(other))
            .is_some_and(|(one, other)| Kind::of(one) == Kind::of(other) && one.level() == other.level())
    }
}

/// What a plan can do about one drive.
enum Share {
    /// It can be given a state.
    Free,
    /// It is on its way, and follows its completion: until then it counts for where it is heading.
    Busy(PowerState),
    /// It is not managed, has just failed, sleeps, or its answer is late: it counts for all that it may take now.
    Fixed,
}

/// What is needed to make or judge a plan.
#[derive(Clone, Copy)]
pub(super) struct Terms<'a> {
    pub(super) figures: Figures<'a>,
    pub(super) allowance: Milliwatts,
    pub(super) now: Instant,
    /// After so long without an answer, others make up for what a drive may still take: the span over which the cap is
    /// averaged.
    pub(super) late: Microseconds,
}

impl Terms<'_> {
    fn share(self, entry: &Entry) -> Share {
        match entry.drive.heading_for().filter(|_| self.now >= entry.drive.not_before()) {
            Some(state) if entry.is_busy() && !entry.is_late(self.now, self.late) => Share::Busy(state),
            Some(_) if !entry.is_busy() => Share::Free,
            _ => Share::Fixed,
        }
    }

    /// What a drive counts for that no plan can do anything about now; zero for one that is free.
    fn committed(self, entry: &Entry) -> Milliwatts {
        match self.share(entry) {
            Share::Free => Milliwatts::ZERO,
            Share::Busy(state) => self.figures.figure(entry, state),
            Share::Fixed => self.figures.draw_now(entry),
        }
    }
}

/// Whether the standing plan can be carried out.
pub(super) fn fits<const DRIVES: usize>(terms: Terms<'_>, entries: &[Option<Entry>; DRIVES]) -> bool {
    let mut sum = 0u64;
    for entry in entries.iter().flatten() {
        let figure = match (terms.share(entry), entry.target) {
            (Share::Free, Some(target)) if !terms.figures.is_available(entry, target) => return false,
            (Share::Free, Some(target)) => terms.figures.figure(entry, target),
            _ => terms.committed(entry),
        };
        sum += u64::from(figure.get());
    }
    sum <= u64::from(terms.allowance.get())
}

/// The least that all drives can be brought down to, in milliwatts: the lowest state of each, but what it may take now
/// of one that is not controlled.
pub(super) fn floor<const DRIVES: usize>(figures: Figures<'_>, entries: &[Option<Entry>; DRIVES]) -> u64 {
    let least = entries.iter().flatten().map(|entry| match (entry.drive.phase(), figures.range(entry)) {
        (Phase::Unmanaged { .. }, _) | (_, None) => figures.draw_now(entry),
        (_, Some((lowest, _))) => lowest,
    });
    least.map(|least| u64::from(least.get())).sum()
}

/// Whether a plan made now has to go around a drive that will be free later.
pub(super) fn is_constrained<const DRIVES: usize>(terms: Terms<'_>, entries: &[Option<Entry>; DRIVES]) -> bool {
    let managed = entries.iter().flatten().filter(|entry| entry.drive.is_managed());
    managed.map(|entry| terms.share(entry)).any(|share| !matches!(share, Share::Free))
}

/// Makes a new plan, and puts it in force where the standing one does not fit or the new one is worth it.
pub(super) fn replan<const DRIVES: usize>(
    terms: Terms<'_>,
    entries: &mut [Option<Entry>; DRIVES],
    standing_fits: bool,
) {
    let (new, worth) = {
        let drives = FreeDrives { figures: terms.figures, entries, order: by_preference(terms, entries) };
        let committed: Milliwatts = entries.iter().flatten().map(|entry| terms.committed(entry)).sum();
        let plan = allocate::<DRIVES>(&drives, terms.allowance.saturating_sub(committed));
        let new: Vec<(u8, Option<u8>), DRIVES> = drives.order.iter().copied().zip(plan.choices).collect();
        (new, plan.value)
    };
    if standing_fits && worth <= standing_value(terms, entries).saturating_mul(WORTHWHILE + 1) / WORTHWHILE {
        return;
    }
    for (slot, choice) in new {
        if let Some(entry) = entries.get_mut(usize::from(slot)).and_then(Option::as_mut)
            && let Some(state) = choice.and_then(PowerState::new)
        {
            entry.aim(state);
        }
    }
    for entry in entries.iter_mut().flatten() {
        if let Share::Busy(state) = terms.share(entry) {
            entry.aim(state);
        }
    }
}

fn standing_value<const DRIVES: usize>(terms: Terms<'_>, entries: &[Option<Entry>; DRIVES]) -> u64 {
    let free = entries.iter().flatten().filter(|entry| matches!(terms.share(entry), Share::Free));
    free.filter_map(|entry| Some(u64::from(terms.figures.value(entry, entry.target?)))).sum()
}

/// The drives that a plan can give a state to. Who has more now comes first, so that few drives change; of equals, who
/// has had less so far.
fn by_preference<const DRIVES: usize>(terms: Terms<'_>, entries: &[Option<Entry>; DRIVES]) -> Vec<u8, DRIVES> {
    let slots = (0..=u8::MAX).zip(entries).filter_map(|(slot, entry)| Some((slot, entry.as_ref()?)));
    let free = slots.filter(|(_, entry)| matches!(terms.share(entry), Share::Free));
    let mut keyed: Vec<(u32, u64, u8), DRIVES> = free
        .map(|(slot, entry)| {
            let has = entry.drive.heading_for().map_or(0, |state| terms.figures.figure(entry, state).get());
            (u32::MAX - has, entry.service, slot)
        })
        .collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, _, slot)| slot).collect()
}
