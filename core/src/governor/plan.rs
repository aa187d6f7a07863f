//! Which state each drive should be in.
//!
//! A plan stands until it does not fit any more, and then it is replaced in the same call; or until a better one is to be had, and
//! then it is replaced once it has stood for `dwell` and only if the new one is worth at least half a percent more. Between
//! plans, equal drives trade places.

use heapless::Vec;

use super::entry::{Entry, Figures};
use crate::budget::{Offers, Point, allocate};
use crate::drive::Phase;
use crate::nvme::PowerState;
use crate::units::Milliwatts;

/// A plan must be worth this much more than the one that stands: one part in 200. Less is not worth the transitions. A guess.
const WORTHWHILE: u64 = 200;

/// The managed drives, in the order in which they are preferred among equals.
struct ManagedDrives<'a, const DRIVES: usize> {
    figures: Figures<'a>,
    entries: &'a [Option<Entry>; DRIVES],
    order: Vec<u8, DRIVES>,
}

impl<const DRIVES: usize> ManagedDrives<'_, DRIVES> {
    fn entry(&self, drive: usize) -> Option<&Entry> {
        self.entries.get(usize::from(*self.order.get(drive)?))?.as_ref()
    }
}

impl<const DRIVES: usize> Offers for ManagedDrives<'_, DRIVES> {
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
            .is_some_and(|(one, other)| alike(one, other) && one.level() == other.level())
    }
}

/// Whether two drives take turns: they are of one kind and do the same work.
fn alike(one: &Entry, other: &Entry) -> bool {
    one.config.profile == other.config.profile
        && one.config.slot_limit == other.config.slot_limit
        && one.work() == other.work()
}

/// Whether the standing plan can be carried out within `allowance`.
pub(super) fn fits<const DRIVES: usize>(
    figures: Figures<'_>,
    entries: &[Option<Entry>; DRIVES],
    allowance: Milliwatts,
) -> bool {
    let mut sum = 0u64;
    for entry in entries.iter().flatten() {
        match entry.target {
            Some(target) if entry.drive.is_managed() => {
                if !figures.is_available(entry, target) {
                    return false;
                }
                sum += u64::from(figures.figure(entry, target).get());
            }
            _ => sum += u64::from(figures.draw(entry, entry.drive.may_be_in()).get()),
        }
    }
    sum <= u64::from(allowance.get())
}

/// The least that all drives can be brought down to, in milliwatts: the lowest state of each, but what it may take now of one that is
/// not controlled.
pub(super) fn floor<const DRIVES: usize>(figures: Figures<'_>, entries: &[Option<Entry>; DRIVES]) -> u64 {
    let least = entries.iter().flatten().map(|entry| match (entry.drive.phase(), figures.range(entry)) {
        (Phase::Unmanaged { may, .. }, _) => figures.draw(entry, may),
        (_, Some((lowest, _))) => lowest,
        (_, None) => entry.config.slot_limit,
    });
    least.map(|least| u64::from(least.get())).sum()
}

/// Makes a new plan, and puts it in force where the standing one does not fit or the new one is worth it.
pub(super) fn replan<const DRIVES: usize>(
    figures: Figures<'_>,
    entries: &mut [Option<Entry>; DRIVES],
    allowance: Milliwatts,
    standing_fits: bool,
) {
    let (new, worth) = {
        let drives = ManagedDrives { figures, entries, order: by_preference(figures, entries) };
        let others = entries.iter().flatten().filter(|entry| !entry.drive.is_managed());
        let others: Milliwatts = others.map(|entry| figures.draw(entry, entry.drive.may_be_in())).sum();
        let plan = allocate::<DRIVES>(&drives, allowance.saturating_sub(others));
        let new: Vec<(u8, Option<u8>), DRIVES> = drives.order.iter().copied().zip(plan.choices).collect();
        (new, plan.value)
    };
    if standing_fits && worth <= standing_value(figures, entries).saturating_mul(WORTHWHILE + 1) / WORTHWHILE {
        return;
    }
    for (slot, choice) in new {
        if let Some(entry) = entries.get_mut(usize::from(slot)).and_then(Option::as_mut)
            && let Some(state) = choice.and_then(PowerState::new)
        {
            entry.target = Some(state);
        }
    }
}

fn standing_value<const DRIVES: usize>(figures: Figures<'_>, entries: &[Option<Entry>; DRIVES]) -> u64 {
    let managed = entries.iter().flatten().filter(|entry| entry.drive.is_managed());
    managed.filter_map(|entry| Some(u64::from(figures.value(entry, entry.target?)))).sum()
}

/// Managed slots: who has more now comes first, so that few drives change; then who has had less so far.
fn by_preference<const DRIVES: usize>(figures: Figures<'_>, entries: &[Option<Entry>; DRIVES]) -> Vec<u8, DRIVES> {
    let slots = (0..=u8::MAX).zip(entries).filter_map(|(slot, entry)| Some((slot, entry.as_ref()?)));
    let managed = slots.filter(|(_, entry)| entry.drive.is_managed());
    let mut keyed: Vec<(u32, u64, u8), DRIVES> = managed
        .map(|(slot, entry)| {
            let has = entry.drive.heading_for().map_or(0, |state| figures.figure(entry, state).get());
            (u32::MAX - has, entry.service, slot)
        })
        .collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, _, slot)| slot).collect()
}

/// Notes what every drive was given since the last turn, then lets one pair of equals trade places: the one that has had
/// most while in a better state, and the one that has had least while in a worse one.
pub(super) fn rotate<const DRIVES: usize>(figures: Figures<'_>, entries: &mut [Option<Entry>; DRIVES]) {
    for entry in entries.iter_mut().flatten() {
        if let Some(target) = entry.target.filter(|_| entry.drive.is_managed()) {
            entry.service = entry.service.saturating_add(u64::from(figures.value(entry, target)));
        }
    }
    if let Some((one, other)) = pair(figures, entries)
        && let Ok([Some(one), Some(other)]) = entries.get_disjoint_mut([one, other])
    {
        core::mem::swap(&mut one.target, &mut other.target);
    }
}

/// The pair of equals that is furthest from its fair share.
fn pair<const DRIVES: usize>(figures: Figures<'_>, entries: &[Option<Entry>; DRIVES]) -> Option<(usize, usize)> {
    let at_rest = |entry: &&Entry| entry.target.is_some() && entry.drive.ready_in() == entry.target;
    let mut furthest: Option<(u64, usize, usize)> = None;
    for (rich, had_more) in entries.iter().enumerate() {
        let Some(had_more) = had_more.as_ref().filter(at_rest) else { continue };
        for (poor, had_less) in entries.iter().enumerate() {
            let Some(had_less) = had_less.as_ref().filter(at_rest) else { continue };
            let (Some(better), Some(worse)) = (had_more.target, had_less.target) else { continue };
            let owed = had_more.service.saturating_sub(had_less.service);
            let trade = owed > furthest.map_or(0, |(most, _, _)| most)
                && figures.value(had_more, better) > figures.value(had_less, worse)
                && alike(had_more, had_less)
                && figures.is_available(had_less, better)
                && figures.is_available(had_more, worse);
            if trade {
                furthest = Some((owed, rich, poor));
            }
        }
    }
    furthest.map(|(_, rich, poor)| (rich, poor))
}

/// What the one of a drive's equals has had that has had least; 0 where it has no equals. A drive that was away counts as served
/// that much, so that it neither waits for turns that the others have had long ago nor keeps the better state until it has caught up.
pub(super) fn least_service<const DRIVES: usize>(entries: &[Option<Entry>; DRIVES], slot: u8) -> u64 {
    let Some(Some(drive)) = entries.get(usize::from(slot)) else { return 0 };
    let others = (0..=u8::MAX).zip(entries).filter(|(other, _)| *other != slot).filter_map(|(_, entry)| entry.as_ref());
    let equals = others.filter(|other| alike(other, drive) && other.drive.is_managed() && other.target.is_some());
    equals.map(|equal| equal.service).min().unwrap_or(0)
}
