//! Which state each drive should be in.
//!
//! A plan stands until it does not fit any more, and then it is replaced in the same call; or until a better one is to
//! be had, and then it is replaced once it has stood for `dwell` and only if the new one is better by half a percent:
//! worth that much more to the first class that it makes a difference to, or worth as much to all and that much
//! cheaper.
//!
//! A striped group is planned as one ([`super::unit`]): it has one offer, whose value is as many times what its slowest
//! drive gives as it has drives.

use heapless::Vec;

use super::entry::{Entry, Figures};
use super::rotation::Kind;
use super::unit;
use crate::budget::{Limits, Offer, Offers, Point, Sums, allocate};
use crate::drive::Phase;
use crate::nvme::PowerState;
use crate::units::{Instant, Microseconds, Milliwatts};

/// A plan must be worth this much more than the one that stands, or cost this much less: one part in 200. Less is not
/// worth the transitions. A guess.
const WORTHWHILE: u64 = 200;

/// What a plan can do about one drive.
enum Standing {
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
    pub(super) limits: Limits,
    pub(super) now: Instant,
    /// After so long without an answer, others make up for what a drive may still take: the span over which the cap is
    /// averaged.
    pub(super) late: Microseconds,
}

impl Terms<'_> {
    fn standing(&self, entry: &Entry) -> Standing {
        match entry.drive.heading_for().filter(|_| self.now >= entry.drive.not_before() && !entry.sleeps()) {
            Some(state) if entry.is_busy() && !entry.is_late(self.now, self.late) => Standing::Busy(state),
            Some(_) if !entry.is_busy() => Standing::Free,
            _ => Standing::Fixed,
        }
    }

    fn is_free(&self, entry: &Entry) -> bool {
        matches!(self.standing(entry), Standing::Free)
    }

    /// Whether a plan may give a drive a state: it must be available, and not take more than now where the drive has
    /// been set too often.
    fn may_have(&self, entry: &Entry, state: PowerState) -> bool {
        self.figures.is_available(entry, state) && (!entry.held || !self.figures.is_raise(entry, state))
    }

    /// The state in which a drive of a group gives so much, in kilobytes per second, for the least power; where it
    /// cannot give so much, the one in which it gives most.
    fn serving(&self, entry: &Entry, rate: u32) -> Option<PowerState> {
        let mut best: Option<(PowerState, u32, Milliwatts)> = None;
        for (state, _) in self.figures.operational(entry).filter(|(state, _)| self.may_have(entry, *state)) {
            let (gives, power) = (self.figures.value(entry, state), self.figures.figure(entry, state));
            let better = best.is_none_or(|(_, most, least)| match (gives >= rate, most >= rate) {
                (true, true) => power < least,
                (false, false) => gives > most || (gives == most && power < least),
                (enough, _) => enough,
            });
            if better {
                best = Some((state, gives, power));
            }
        }
        best.map(|(state, ..)| state)
    }

    /// The state of a drive where the first free one of its group is in `choice`: as much as that one gives; where that
    /// one is as low as can be, its own lowest.
    fn follows(&self, first: &Entry, choice: PowerState, entry: &Entry) -> Option<PowerState> {
        if first.config.share.group.is_none() {
            return Some(choice);
        }
        self.serving(entry, if self.is_lowest(first, choice) { 0 } else { self.rate(first, choice) })
    }

    fn is_lowest(&self, entry: &Entry, state: PowerState) -> bool {
        self.figures.range(entry).is_none_or(|(low, _)| self.figures.figure(entry, state) <= low)
    }

    fn rate(&self, entry: &Entry, state: PowerState) -> u32 {
        self.figures.value(entry, state)
    }
}

/// Whether the standing plan can be carried out.
pub(super) fn fits<const DRIVES: usize>(terms: &Terms<'_>, entries: &[Option<Entry>; DRIVES]) -> bool {
    let mut sums = Sums::ZERO;
    for entry in entries.iter().flatten() {
        let figure = match (terms.standing(entry), entry.target) {
            (Standing::Free, Some(target)) if !terms.figures.is_available(entry, target) => return false,
            (Standing::Free, Some(state)) | (Standing::Busy(state), _) => terms.figures.figure(entry, state),
            (Standing::Free, None) => Milliwatts::ZERO,
            (Standing::Fixed, _) => terms.figures.draw_now(entry).max(entry.reserved),
        };
        sums.add(entry.config.share.shelf, figure);
    }
    terms.limits.excess(&sums) == Milliwatts::ZERO
}

/// The least that all drives can be brought down to: the lowest state of each, but what it may take now of one that is
/// not controlled.
pub(super) fn floor<const DRIVES: usize>(figures: Figures<'_>, entries: &[Option<Entry>; DRIVES]) -> Sums {
    let mut sums = Sums::ZERO;
    for entry in entries.iter().flatten() {
        let least = match (entry.drive.phase(), figures.range(entry)) {
            (Phase::Unmanaged { .. }, _) | (_, None) => figures.draw_now(entry),
            _ if entry.sleeps() => figures.draw_now(entry),
            (_, Some((lowest, _))) => lowest,
        };
        sums.add(entry.config.share.shelf, least);
    }
    sums
}

/// Whether a plan made now has to go around a drive that will be free later.
pub(super) fn is_constrained<const DRIVES: usize>(terms: &Terms<'_>, entries: &[Option<Entry>; DRIVES]) -> bool {
    entries.iter().flatten().any(|entry| entry.drive.is_managed() && !terms.is_free(entry))
}

/// Makes a new plan, and puts it in force where the standing one does not fit or the new one is worth it.
pub(super) fn replan<const DRIVES: usize>(
    terms: &Terms<'_>,
    entries: &mut [Option<Entry>; DRIVES],
    standing_fits: bool,
) {
    let order = by_preference(terms, entries);
    let mut committed = Sums::ZERO;
    for entry in entries.iter().flatten() {
        match terms.standing(entry) {
            Standing::Free => {}
            Standing::Busy(state) => committed.add(entry.config.share.shelf, terms.figures.figure(entry, state)),
            Standing::Fixed => {
                committed.add(entry.config.share.shelf, terms.figures.draw_now(entry).max(entry.reserved));
            }
        }
    }
    let mut offers = Offers::new();
    offer_all(terms, entries, &order, &mut offers);
    let plan = allocate(&offers, &terms.limits.less(&committed));
    if standing_fits && !is_better(terms, entries, &order, &offers, &plan.choices) {
        return;
    }
    for (slot, choice) in order.iter().zip(&plan.choices) {
        if let Some(state) = choice.and_then(PowerState::new) {
            give(terms, entries, *slot, state);
        }
    }
    for entry in entries.iter_mut().flatten() {
        if let Standing::Busy(state) = terms.standing(entry) {
            entry.aim(state);
        }
    }
}

/// Gives the free drives of a unit their states.
fn give<const DRIVES: usize>(terms: &Terms<'_>, entries: &mut [Option<Entry>; DRIVES], slot: u8, choice: PowerState) {
    for member in unit::reach(entries, slot) {
        let state = match unit::pair(entries, slot, member) {
            Some((first, entry)) if terms.is_free(entry) => terms.follows(first, choice, entry),
            _ => continue,
        };
        if let (Some(state), Some(Some(entry))) = (state, entries.get_mut(member)) {
            entry.aim(state);
        }
    }
}

/// What the units that a plan can give states to offer, in their order. Not returned, since that would be a copy of
/// kilobytes.
fn offer_all<const DRIVES: usize>(
    terms: &Terms<'_>,
    entries: &[Option<Entry>; DRIVES],
    order: &Vec<u8, DRIVES>,
    offers: &mut Offers<DRIVES>,
) {
    let mut last: Option<&Entry> = None;
    for slot in order {
        let Some(Some(entry)) = entries.get(usize::from(*slot)) else { continue };
        if last.is_some_and(|last| offers_alike(last, entry)) {
            offers.repeat();
        } else {
            offers.push(offer(terms, entries, *slot, entry));
        }
        last = Some(entry);
    }
}

/// Whether two drives surely have the same offer.
fn offers_alike(one: &Entry, other: &Entry) -> bool {
    let alone = one.config.share.group.is_none() && other.config.share.group.is_none();
    alone && !one.held && !other.held && one.level() == other.level() && Kind::of(one) == Kind::of(other)
}

fn offer<const DRIVES: usize>(terms: &Terms<'_>, entries: &[Option<Entry>; DRIVES], slot: u8, first: &Entry) -> Offer {
    let share = first.config.share;
    let mut offer = Offer::default();
    (offer.priority, offer.shelf) = (share.priority, share.shelf);
    let mut is_measured = true;
    for (state, profile) in terms.figures.operational(first) {
        let power = if share.group.is_some() {
            group_power(terms, entries, slot, first, state)
        } else {
            terms.may_have(first, state).then(|| terms.figures.figure(first, state))
        };
        let Some(power) = power else { continue };
        is_measured &= profile.throughput(first.work()).is_some();
        offer.add(Point { choice: state.number(), power, value: worth(terms, entries, slot, first, Some(state)) });
    }
    // Of states that were not measured nothing can be promised.
    if is_measured {
        let promised = u32::try_from(share.guarantee.get().div_ceil(1000)).unwrap_or(u32::MAX);
        let wanted = unit::demand(entries, slot).map_or(promised, |most| promised.min(most));
        offer.guarantee = weighed(wanted, unit::size(entries, slot), share.weight);
    }
    offer
}

/// What the free drives of a group take together where the first is in a state; `None` where one has no state to be in,
/// or where that is more than a power can be, unless it is the least that they can take.
fn group_power<const DRIVES: usize>(
    terms: &Terms<'_>,
    entries: &[Option<Entry>; DRIVES],
    slot: u8,
    first: &Entry,
    state: PowerState,
) -> Option<Milliwatts> {
    let mut power = 0u64;
    for (_, entry) in unit::members(entries, slot).filter(|(_, entry)| terms.is_free(entry)) {
        let follows = terms.follows(first, state, entry)?;
        power += u64::from(terms.figures.figure(entry, follows).get());
    }
    let most = terms.is_lowest(first, state).then_some(Milliwatts::MAX);
    u32::try_from(power).map(Milliwatts::new).ok().or(most)
}

/// What a unit is worth where its first drive is in a state, `None`: where each is in its target: its weight times its
/// drives times what the slowest gives, as far as it is asked for.
fn worth<const DRIVES: usize>(
    terms: &Terms<'_>,
    entries: &[Option<Entry>; DRIVES],
    slot: u8,
    first: &Entry,
    choice: Option<PowerState>,
) -> u32 {
    let mut slowest = u32::MAX;
    let mut wanted = Some(0);
    let mut size = 0;
    for (_, entry) in unit::members(entries, slot) {
        size += 1;
        let state = match terms.standing(entry) {
            Standing::Free => choice.map_or(entry.target, |choice| terms.follows(first, choice, entry)),
            Standing::Busy(state) => Some(state),
            // What it does is not known, and no reason to hold the others down.
            Standing::Fixed => continue,
        };
        slowest = slowest.min(state.map_or(0, |state| terms.rate(entry, state)));
        let most = state.and_then(|state| terms.figures.asked_for(entry, state));
        wanted = wanted.zip(most).map(|(wanted, most): (u32, u32)| wanted.max(most));
    }
    weighed(wanted.map_or(slowest, |wanted| slowest.min(wanted)), size, first.config.share.weight)
}

fn weighed(rate: u32, size: u32, weight: u8) -> u32 {
    let weight = weight.clamp(1, super::config::Share::MAX_WEIGHT);
    rate.saturating_mul(size).saturating_mul(u32::from(weight))
}

/// Whether a plan is better than the standing one by enough to be worth its transitions.
fn is_better<const DRIVES: usize>(
    terms: &Terms<'_>,
    entries: &[Option<Entry>; DRIVES],
    order: &Vec<u8, DRIVES>,
    offers: &Offers<DRIVES>,
    choices: &Vec<Option<u8>, DRIVES>,
) -> bool {
    let mut class = Some(0);
    let (mut unmet, mut unmet_now) = (0u32, 0u32);
    let (mut power, mut power_now) = (0u64, 0u64);
    let mut first_class = None;
    while let Some(priority) = class {
        class = None;
        let (mut value, mut value_now) = (0u64, 0u64);
        for ((slot, choice), offer) in order.iter().zip(choices).zip(offers.iter()) {
            if offer.priority > priority {
                class = Some(class.map_or(offer.priority, |next: u8| next.min(offer.priority)));
            }
            let Some(Some(first)) = entries.get(usize::from(*slot)).filter(|_| offer.priority == priority) else {
                continue;
            };
            let point = offer.points().iter().find(|point| Some(point.choice) == *choice);
            let (new, now) = (point.map_or(0, |point| point.value), worth(terms, entries, *slot, first, None));
            value += u64::from(new);
            value_now += u64::from(now);
            unmet += u32::from(new < offer.guarantee);
            unmet_now += u32::from(now < offer.guarantee);
            power += point.map_or(0, |point| u64::from(point.power.get()));
            for (_, entry) in unit::members(entries, *slot).filter(|(_, entry)| terms.is_free(entry)) {
                power_now += entry.target.map_or(0, |target| u64::from(terms.figures.figure(entry, target).get()));
            }
        }
        let worthwhile = |more: u64, less: u64| more > less.saturating_mul(WORTHWHILE + 1) / WORTHWHILE;
        if first_class.is_none() && worthwhile(value, value_now) {
            first_class = Some(true);
        } else if first_class.is_none() && value < value_now {
            first_class = Some(false);
        }
    }
    match unmet.cmp(&unmet_now) {
        core::cmp::Ordering::Less => true,
        core::cmp::Ordering::Greater => false,
        core::cmp::Ordering::Equal => {
            first_class.unwrap_or(power.saturating_mul(WORTHWHILE) < power_now.saturating_mul(WORTHWHILE - 1))
        }
    }
}

/// The units that a plan can give states to, each by its first free drive. Who has more now comes first, so that few
/// drives change; of equals, who has had less so far.
fn by_preference<const DRIVES: usize>(terms: &Terms<'_>, entries: &[Option<Entry>; DRIVES]) -> Vec<u8, DRIVES> {
    let mut keys: Vec<(Milliwatts, u64), DRIVES> = Vec::new();
    let mut order: Vec<u8, DRIVES> = Vec::new();
    for (slot, entry) in (0..=u8::MAX).zip(entries) {
        let Some(entry) = entry.as_ref().filter(|entry| terms.is_free(entry)) else { continue };
        if unit::members(entries, slot).take_while(|(other, _)| *other < slot).any(|(_, other)| terms.is_free(other)) {
            continue;
        }
        let has = entry.drive.heading_for().map_or(Milliwatts::ZERO, |state| terms.figures.figure(entry, state));
        let place = keys.iter().take_while(|(most, least)| (*most, entry.service) >= (has, *least)).count();
        // As many places as slots.
        let _ = (keys.insert(place, (has, entry.service)), order.insert(place, slot));
    }
    order
}
