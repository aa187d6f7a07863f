//! What a plan gives a state to: a drive by itself, or the drives of a striped group as one.

use super::entry::Entry;

/// The drives that move together with the one in a slot, it among them, with their slots.
pub(super) fn members<const DRIVES: usize>(
    entries: &[Option<Entry>; DRIVES],
    slot: u8,
) -> impl Iterator<Item = (u8, &Entry)> {
    let own = entries.get(usize::from(slot)).and_then(Option::as_ref);
    let group = own.and_then(|own| own.config.share.group.map(|group| (group, own.config.share.shelf)));
    // A drive by itself is not looked for among the others.
    let (start, count) = if group.is_some() { (0, DRIVES) } else { (slot, 1) };
    let slots = (start..=u8::MAX).zip(entries.iter().skip(usize::from(start))).take(count);
    slots.filter_map(|(slot, entry)| Some((slot, entry.as_ref()?))).filter(move |(_, entry)| {
        let share = entry.config.share;
        group.is_none_or(|own| share.group.map(|group| (group, share.shelf)) == Some(own))
    })
}

/// The slots among which those of a drive's unit are: only its own, where it is in no group.
pub(super) fn reach<const DRIVES: usize>(entries: &[Option<Entry>; DRIVES], slot: u8) -> core::ops::Range<usize> {
    let own = usize::from(slot);
    let is_grouped = matches!(entries.get(own), Some(Some(entry)) if entry.config.share.group.is_some());
    if is_grouped { 0..DRIVES } else { own..own + 1 }
}

/// A drive, and one that moves together with it or is it; `None` where that one does not.
pub(super) fn pair<const DRIVES: usize>(
    entries: &[Option<Entry>; DRIVES],
    slot: u8,
    member: usize,
) -> Option<(&Entry, &Entry)> {
    let (own, other) = (entries.get(usize::from(slot))?.as_ref()?, entries.get(member)?.as_ref()?);
    let (one, two) = (own.config.share, other.config.share);
    let together = one.group.is_some() && (one.group, one.shelf) == (two.group, two.shelf);
    (together || member == usize::from(slot)).then_some((own, other))
}

/// Whether the drive in a slot is the first of those that move together.
pub(super) fn is_first<const DRIVES: usize>(entries: &[Option<Entry>; DRIVES], slot: u8) -> bool {
    members(entries, slot).next().is_some_and(|(first, _)| first == slot)
}

/// How many drives move together with the one in a slot, it among them.
pub(super) fn size<const DRIVES: usize>(entries: &[Option<Entry>; DRIVES], slot: u8) -> u32 {
    members(entries, slot).fold(0, |size, _| size + 1)
}

/// The most that any of them is asked for, in kilobytes per second; `None`: anything.
pub(super) fn demand<const DRIVES: usize>(entries: &[Option<Entry>; DRIVES], slot: u8) -> Option<u32> {
    let mut most = Some(0);
    for (_, entry) in members(entries, slot) {
        most = most.zip(entry.demand.most()).map(|(most, other): (u32, u32)| most.max(other));
    }
    most
}
