//! Equals take turns.
//!
//! **Goal.** Drives of one kind that do the same work get the same over time, although a plan gives some of them a
//! better state.
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
//! Drives that were all seen doing nothing are left asleep: they take no turns.
//!
//! **Cost.** A turn is one raise, which waits for the lowered drives to settle: that long a drive's better state is
//! given up. The interval between turns should be long against settling.

use heapless::Vec;

use super::config::ProfileIndex;
use super::entry::{Entry, Figures};
use crate::nvme::PowerState;
use crate::profile::WorkSet;
use crate::units::{Microseconds, Milliwatts};

/// What makes drives equals, which take turns: they are of one kind, in slots of one kind, and do the same work.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind {
    profile: ProfileIndex,
    slot_limit: Milliwatts,
    work: WorkSet,
}

impl Kind {
    /// The kind of a drive.
    pub(super) fn of(entry: &Entry) -> Self {
        Self { profile: entry.config.profile, slot_limit: entry.config.slot_limit, work: entry.work() }
    }
}

/// Notes what every drive has had during `span`, in the value of its state times milliseconds.
pub(super) fn serve<const DRIVES: usize>(
    figures: Figures<'_>,
    entries: &mut [Option<Entry>; DRIVES],
    span: Microseconds,
) {
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

/// One turn for every group of equals.
pub(super) fn rotate<const DRIVES: usize>(figures: Figures<'_>, entries: &mut [Option<Entry>; DRIVES]) {
    for entry in entries.iter_mut().flatten() {
        entry.turns = entry.turns.saturating_add(1);
    }
    for slot in 0..DRIVES {
        let Some(entry) = entries.get(slot).and_then(Option::as_ref) else { continue };
        let kind = Kind::of(entry);
        let is_first = !entries.iter().take(slot).flatten().any(|earlier| Kind::of(earlier) == kind);
        // Turns wake drives, and those that do nothing have nothing to share.
        let has_work = entries.iter().flatten().any(|equal| Kind::of(equal) == kind && !equal.idle);
        if is_first && has_work {
            let moves = moves(figures, entries, kind);
            forget(entries, kind);
            for (slot, state) in moves {
                if let Some(entry) = entries.get_mut(slot).and_then(Option::as_mut) {
                    entry.aim(state);
                }
            }
        }
    }
}

/// Lets the differences between equals shrink by an eighth.
fn forget<const DRIVES: usize>(entries: &mut [Option<Entry>; DRIVES], kind: Kind) {
    let managed = |entry: &&mut Entry| entry.drive.is_managed() && Kind::of(entry) == kind;
    let least = entries.iter_mut().flatten().filter(managed).map(|entry| entry.service).min().unwrap_or_default();
    for entry in entries.iter_mut().flatten().filter(managed) {
        let ahead = entry.service.saturating_sub(least);
        entry.service = ahead - ahead / 8;
    }
}

/// Who goes where among the equals of one kind: one move for each state in use, none where that is only one.
fn moves<const DRIVES: usize>(
    figures: Figures<'_>,
    entries: &[Option<Entry>; DRIVES],
    kind: Kind,
) -> Vec<(usize, PowerState), { PowerState::COUNT }> {
    let at_rest = |entry: &Entry| entry.target.filter(|target| entry.drive.ready_in() == Some(*target));
    let equals = || {
        let all = entries.iter().enumerate().filter_map(|(slot, entry)| Some((slot, entry.as_ref()?)));
        all.filter(|(_, entry)| Kind::of(entry) == kind)
            .filter_map(|(slot, entry)| Some((slot, entry, at_rest(entry)?)))
    };
    let mut levels: Vec<(u32, PowerState), { PowerState::COUNT }> = Vec::new();
    for (_, entry, state) in equals() {
        if !levels.iter().any(|(_, known)| *known == state) {
            // There is one level for each state, and room for all.
            let _ = levels.push((u32::MAX - figures.value(entry, state), state));
        }
    }
    levels.sort_unstable();
    let (Some((_, best)), Some((_, worst))) = (levels.first().copied(), levels.last().copied()) else {
        return Vec::new();
    };
    if best == worst {
        return Vec::new();
    }
    let mover = |level: PowerState| {
        let there = equals().filter(|(_, _, state)| *state == level).map(|(slot, entry, _)| (slot, entry));
        let first = if level == worst {
            // Nothing but the plan must keep it from the best state: a drive that is too warm is passed over.
            let free = there.filter(|(_, entry)| figures.is_available(entry, best));
            free.min_by_key(|(slot, entry)| (entry.service, *slot))
        } else if level == best {
            there.min_by_key(|(slot, entry)| (u64::MAX - entry.service, *slot))
        } else {
            there.min_by_key(|(slot, entry)| (u32::MAX - entry.turns, *slot))
        };
        first.map(|(slot, _)| slot)
    };
    let next = levels.iter().skip(1).chain(levels.first()).map(|(_, state)| *state);
    let moves: Option<_> = levels.iter().zip(next).map(|((_, level), next)| Some((mover(*level)?, next))).collect();
    // A ring with a gap would leave one state with one drive too many: then nobody moves.
    moves.unwrap_or_default()
}
