//! Equals take turns.
//!
//! **Goal.** Drives of one kind that do the same work get the same over time, although a plan gives some of them a
//! better state. Equal striped groups take turns like drives, each as one.
//!
//! **Method.** At each turn, one drive of each state in use goes to the next worse one, and one of the worst state to
//! the best: as if the drives stood in a ring, and the pattern of states moved on by one.
//!
//! ```text
//!   PS0  a b c d e f g ──▶ the one that has had most
//!   PS1  h             ──▶ the one that has been there longest
//!   PS2  i j k l m …   ──▶ the one that has had least, to PS0
//! ```
//!
//! What a drive *has had* is the value of its states, summed over time, compared with its equals; an eighth of the
//! difference is forgotten at each turn. While nothing disturbs the ring this is the order in which the drives came.
//! After a new plan has taken a turn away from a drive, it is nearly first in line; but a drive that was favoured for
//! an hour is not made to wait for one.
//!
//! Drives that were all seen doing nothing are left asleep: they take no turns. Nor does one that has been set too
//! often for its configured bound.
//!
//! **Cost.** A turn is one raise, which waits for the lowered drives to settle: that long a drive's better state is
//! given up. The interval between turns should be long against settling.

use heapless::Vec;

use super::config::{ProfileIndex, Share};
use super::entry::{Entry, Figures};
use super::unit;
use crate::nvme::PowerState;
use crate::profile::WorkSet;
use crate::units::{Microseconds, Milliwatts};

/// What makes drives equals, which take turns: they are of one kind, in slots of one kind and in one shelf, do the same
/// work, are asked for as much, and have the same claims.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind {
    profile: ProfileIndex,
    slot_limit: Milliwatts,
    work: WorkSet,
    demand: Option<u32>,
    share: Share,
}

impl Kind {
    /// The kind of a drive.
    pub(super) fn of(entry: &Entry) -> Self {
        Self {
            profile: entry.config.profile,
            slot_limit: entry.config.slot_limit,
            work: entry.work(),
            demand: entry.demand.most(),
            share: Share { group: None, ..entry.config.share },
        }
    }
}

/// What makes units equals: as many drives, all of one kind.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Rank {
    kind: Kind,
    size: u32,
}

impl Rank {
    /// The rank of the unit whose first drive is in a slot; `None` where none begins there, or its drives are of
    /// several kinds.
    fn of<const DRIVES: usize>(entries: &[Option<Entry>; DRIVES], slot: u8) -> Option<Self> {
        let kind = Kind::of(entries.get(usize::from(slot))?.as_ref()?);
        let uniform = unit::members(entries, slot).all(|(_, entry)| Kind::of(entry) == kind);
        (uniform && unit::is_first(entries, slot)).then(|| Self { kind, size: unit::size(entries, slot) })
    }
}

/// Notes what every drive has had during `span`, in the value of its state times milliseconds.
pub(super) fn serve<const DRIVES: usize>(
    figures: Figures<'_>,
    entries: &mut [Option<Entry>; DRIVES],
    span: Microseconds,
) {
    if span == Microseconds::ZERO {
        return;
    }
    for entry in entries.iter_mut().flatten() {
        if let Some(state) = entry.drive.heading_for() {
            let had = u64::from(figures.value(entry, state)).saturating_mul(span.get()) / 1000;
            entry.service = entry.service.saturating_add(had);
        }
    }
}

/// A drive that was away counts as served like the one of its equals that has had least, so that it neither waits for
/// turns that the others have had long ago nor keeps the better state until it has caught up.
pub(super) fn welcome<const DRIVES: usize>(entries: &mut [Option<Entry>; DRIVES], slot: u8) {
    let Some(Some(drive)) = entries.get(usize::from(slot)) else { return };
    let others = (0..=u8::MAX).zip(entries.iter()).filter(|(other, _)| *other != slot);
    let kind = Kind::of(drive);
    let equals = others.filter_map(|(_, entry)| entry.as_ref()).filter(|other| Kind::of(other) == kind);
    let least = equals.filter(|equal| equal.drive.is_managed()).map(|equal| equal.service).min();
    if let Some(Some(drive)) = entries.get_mut(usize::from(slot)) {
        drive.service = drive.service.max(least.unwrap_or_default());
    }
}

/// One turn for every set of equals.
pub(super) fn rotate<const DRIVES: usize>(figures: Figures<'_>, entries: &mut [Option<Entry>; DRIVES]) {
    for entry in entries.iter_mut().flatten() {
        entry.turns = entry.turns.saturating_add(1);
    }
    // The first unit of each rank.
    for first in (0..=u8::MAX).take(DRIVES) {
        let Some(rank) = Rank::of(entries, first) else { continue };
        let mut equals: Vec<u8, DRIVES> = Vec::new();
        for slot in (0..=u8::MAX).take(DRIVES).filter(|slot| Rank::of(entries, *slot) == Some(rank)) {
            if slot < first {
                break;
            }
            // As many places as slots.
            let _ = equals.push(slot);
        }
        if !equals.is_empty() {
            turn(figures, entries, &equals);
        }
    }
}

/// One turn of some equals.
fn turn<const DRIVES: usize>(figures: Figures<'_>, entries: &mut [Option<Entry>; DRIVES], equals: &Vec<u8, DRIVES>) {
    // Turns wake drives, and those that do nothing have nothing to share.
    if equals.iter().all(|slot| unit::members(entries, *slot).all(|(_, entry)| entry.idle)) {
        return;
    }
    let moves = moves(figures, entries, equals);
    forget(entries, equals);
    for (slot, state) in moves {
        for member in unit::reach(entries, slot) {
            if unit::pair(entries, slot, member).is_some()
                && let Some(Some(entry)) = entries.get_mut(member)
            {
                entry.aim(state);
            }
        }
    }
}

/// Lets the differences between equals shrink by an eighth.
fn forget<const DRIVES: usize>(entries: &mut [Option<Entry>; DRIVES], equals: &Vec<u8, DRIVES>) {
    let mut least = None;
    for slot in equals {
        if let Some(Some(entry)) = entries.get(usize::from(*slot))
            && entry.drive.is_managed()
        {
            least = Some(least.map_or(entry.service, |least: u64| least.min(entry.service)));
        }
    }
    for slot in equals {
        if let Some(Some(entry)) = entries.get_mut(usize::from(*slot))
            && entry.drive.is_managed()
        {
            let ahead = entry.service.saturating_sub(least.unwrap_or_default());
            entry.service = ahead - ahead / 8;
        }
    }
}

/// The state in which a unit is at rest, where the plan wants it; `None` while one of its drives is on its way.
fn rests_in<const DRIVES: usize>(entries: &[Option<Entry>; DRIVES], slot: u8) -> Option<PowerState> {
    let state = entries.get(usize::from(slot))?.as_ref()?.target?;
    let rests = |entry: &Entry| entry.target == Some(state) && entry.drive.ready_in() == Some(state);
    unit::members(entries, slot).all(|(_, entry)| rests(entry)).then_some(state)
}

/// Who goes where among equals: one move for each state in use, none where that is only one.
fn moves<const DRIVES: usize>(
    figures: Figures<'_>,
    entries: &[Option<Entry>; DRIVES],
    equals: &Vec<u8, DRIVES>,
) -> Vec<(u8, PowerState), { PowerState::COUNT }> {
    let mut levels: Vec<(u32, PowerState), { PowerState::COUNT }> = Vec::new();
    for slot in equals {
        if let (Some(Some(entry)), Some(state)) = (entries.get(usize::from(*slot)), rests_in(entries, *slot))
            && !levels.iter().any(|(_, known)| *known == state)
        {
            let value = figures.value(entry, state);
            let place = levels.iter().take_while(|(more, earlier)| (*more, state) > (value, *earlier)).count();
            // There is one level for each state, and room for all.
            let _ = levels.insert(place, (value, state));
        }
    }
    let mut moves = Vec::new();
    let (Some((_, best)), Some((_, worst))) = (levels.first().copied(), levels.last().copied()) else { return moves };
    if best == worst {
        return moves;
    }
    for (place, (_, level)) in levels.iter().enumerate() {
        let to = levels.get(place + 1).map_or(best, |(_, next)| *next);
        let mut mover: Option<(u64, u8)> = None;
        for slot in equals.iter().filter(|slot| rests_in(entries, **slot) == Some(*level)) {
            let Some(Some(entry)) = entries.get(usize::from(*slot)) else { continue };
            // Nothing but the plan must keep it from where it goes: a drive that is too warm is passed over.
            let can_go = |entry: &Entry| !entry.held && (*level != worst || figures.is_available(entry, best));
            if !unit::members(entries, *slot).all(|(_, entry)| can_go(entry)) {
                continue;
            }
            let waits = if *level == worst {
                entry.service
            } else if *level == best {
                u64::MAX - entry.service
            } else {
                u64::from(u32::MAX - entry.turns)
            };
            if mover.is_none_or(|(least, _)| waits < least) {
                mover = Some((waits, *slot));
            }
        }
        // A ring with a gap would leave one state with one drive too many: then nobody moves.
        let Some((_, slot)) = mover else { return Vec::new() };
        // As many places as levels.
        let _ = moves.push((slot, to));
    }
    moves
}
