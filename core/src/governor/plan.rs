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
            entry.aim(Some(state));
        }
    }
}

fn standing_value<const DRIVES: usize>(figures: Figures<'_>, entries: &[Option<Entry>; DRIVES]) -> u64 {
    let managed = entries.iter().flatten().filter(|entry| entry.drive.is_managed());
    managed.filter_map(|entry| Some(u64::from(figures.value(entry, entry.target?)))).sum()
}

/// Managed slots: who has more now comes first, so that few drives change.
fn by_preference<const DRIVES: usize>(figures: Figures<'_>, entries: &[Option<Entry>; DRIVES]) -> Vec<u8, DRIVES> {
    let slots = (0..=u8::MAX).zip(entries).filter_map(|(slot, entry)| Some((slot, entry.as_ref()?)));
    let managed = slots.filter(|(_, entry)| entry.drive.is_managed());
    let mut keyed: Vec<(u32, u8), DRIVES> = managed
        .map(|(slot, entry)| {
            let has = entry.drive.heading_for().map_or(0, |state| figures.figure(entry, state).get());
            (u32::MAX - has, slot)
        })
        .collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, slot)| slot).collect()
}

/// One turn: among equals, one drive of each state that is in use goes to the next worse one, and one of the worst to the best.
///
/// ```text
///   PS0  a b c d e f g ─┐ a: longest there
///   PS1  h             ─┤ h        as if the drives stood in a ring, and the pattern of states moved on by one
///   PS2  i j k l m …   ─┘ i
/// ```
///
/// So every equal gets the same time in every state, and a turn costs one raise.
pub(super) fn rotate<const DRIVES: usize>(figures: Figures<'_>, entries: &mut [Option<Entry>; DRIVES]) {
    for entry in entries.iter_mut().flatten() {
        entry.turns = entry.turns.saturating_add(1);
    }
    for slot in 0..DRIVES {
        let Some(entry) = entries.get(slot).and_then(Option::as_ref) else { continue };
        let is_first = !entries.iter().take(slot).flatten().any(|earlier| alike(earlier, entry));
        if is_first {
            turn(figures, entries, slot);
        }
    }
}

/// A state that is in use among equals, and who leaves it next.
struct Level {
    state: PowerState,
    value: u32,
    /// Slot and turns of the drive that has been there longest.
    longest: (usize, u32),
}

/// One turn among the equals of the drive in `first`.
fn turn<const DRIVES: usize>(figures: Figures<'_>, entries: &mut [Option<Entry>; DRIVES], first: usize) {
    let mut levels: Vec<Level, { PowerState::COUNT }> = Vec::new();
    {
        let Some(Some(leader)) = entries.get(first) else { return };
        let at_rest = |entry: &Entry| entry.target.filter(|target| entry.drive.ready_in() == Some(*target));
        let best = entries.iter().flatten().filter(|entry| alike(entry, leader)).filter_map(at_rest);
        let best = best.max_by_key(|state| figures.value(leader, *state));
        for (slot, entry) in entries.iter().enumerate() {
            let Some(entry) = entry.as_ref().filter(|entry| alike(entry, leader)) else { continue };
            let Some(state) = at_rest(entry).filter(|state| Some(*state) == best || is_free(figures, entry, best))
            else {
                continue;
            };
            match levels.iter_mut().find(|level| level.state == state) {
                Some(level) if entry.turns > level.longest.1 => level.longest = (slot, entry.turns),
                Some(_) => {}
                None => {
                    let level = Level { state, value: figures.value(entry, state), longest: (slot, entry.turns) };
                    // There is one level for each state, and room for all.
                    let _ = levels.push(level);
                }
            }
        }
    }
    levels.sort_unstable_by_key(|level| u32::MAX - level.value);
    for (number, level) in levels.iter().enumerate() {
        let next = levels.get(number + 1).or(levels.first()).map(|next| next.state);
        if let Some(entry) = entries.get_mut(level.longest.0).and_then(Option::as_mut) {
            entry.aim(next);
        }
    }
}

/// Whether nothing but the plan keeps the drive from the best state: its heat allows it.
fn is_free(figures: Figures<'_>, entry: &Entry, best: Option<PowerState>) -> bool {
    best.is_some_and(|best| figures.is_available(entry, best))
}
