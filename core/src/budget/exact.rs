//! The best choice for a handful of offers, by branch and bound.
//!
//! **Method.** Depth first, the dearest points first, from a choice that is good already. A branch is left where what
//! the remaining offers could have at best would not beat what was found: each the best that fits by itself, and all
//! together no more than the remaining watts at the best value per watt that any of them has. The last offer is not
//! branched over: of its points, the last that fits is best.
//!
//! **Bound.** With [`MOST`] offers of 8 points each at most 8 + 8² + 8³ = 584 branches are entered.

use super::nested::Limits;
use super::offer::Offer;
use crate::units::Milliwatts;

/// So many offers are decided exactly.
pub(super) const MOST: usize = 4;

/// An offer, and the place among its points below which it must not come.
#[derive(Clone, Copy)]
pub(super) struct Item<'a> {
    pub(super) offer: &'a Offer,
    pub(super) floor: u8,
    /// The cost and the gain of the step from the floor that has the most value per watt.
    densest: (Milliwatts, u32),
}

impl<'a> Item<'a> {
    pub(super) fn new(offer: &'a Offer, floor: u8) -> Self {
        let mut item = Self { offer, floor, densest: (Milliwatts::ZERO, 0) };
        for place in (floor..).take(offer.points().len()).skip(1) {
            let (cost, gain) = item.above_floor(place);
            let (known, most) = item.densest;
            let is_denser = u64::from(gain) * u64::from(known.get()) > u64::from(most) * u64::from(cost.get());
            if most == 0 || is_denser {
                item.densest = (cost, gain);
            }
        }
        item
    }

    /// What a place costs and gives above the floor.
    fn above_floor(&self, place: u8) -> (Milliwatts, u32) {
        let (Some(floor), Some(point)) = (self.offer.point(self.floor), self.offer.point(place)) else {
            return (Milliwatts::ZERO, 0);
        };
        (point.power.saturating_sub(floor.power), point.value.saturating_sub(floor.value))
    }
}

/// The places of a choice, and what they come to above the floors.
#[derive(Clone, Copy, Default)]
struct Found {
    places: [u8; MOST],
    value: u64,
    power: u64,
}

impl Found {
    const fn beats(&self, other: &Self) -> bool {
        self.value > other.value || (self.value == other.value && self.power < other.power)
    }
}

/// The places that are worth most together within `room`, which is what the limits leave above the floors; of equals,
/// those that take least, and of these the ones that are known already. Of the items, [`MOST`] are looked at.
pub(super) fn best(items: &[Item<'_>], room: Limits, known: [u8; MOST]) -> [u8; MOST] {
    let mut best = Found { places: known, ..Found::default() };
    for (place, item) in known.iter().zip(items) {
        let (cost, gain) = item.above_floor(*place);
        best.value += u64::from(gain);
        best.power += u64::from(cost.get());
    }
    descend(items, 0, room, Found::default(), &mut best);
    best.places
}

fn descend(items: &[Item<'_>], depth: usize, room: Limits, so_far: Found, best: &mut Found) {
    let Some(item) = items.get(depth).filter(|_| depth < MOST) else {
        if so_far.beats(best) {
            *best = so_far;
        }
        return;
    };
    let is_last = depth + 1 == items.len().min(MOST);
    let highest = item.offer.highest(item.floor, room.of_shelf(item.offer.shelf));
    let lowest = if is_last { highest } else { item.floor };
    for place in (lowest..=highest).rev() {
        let (cost, gain) = item.above_floor(place);
        let mut next = so_far;
        next.value += u64::from(gain);
        next.power += u64::from(cost.get());
        if let Some(own) = next.places.get_mut(depth) {
            *own = place;
        }
        let mut left = room;
        left.take(item.offer.shelf, cost);
        let rest = items.get(depth + 1..).unwrap_or_default();
        let hope = next.value.saturating_add(most(rest, &left));
        if hope > best.value || (hope == best.value && next.power < best.power) {
            descend(items, depth + 1, left, next, best);
        }
    }
}

/// No less than what some items can have together.
fn most(items: &[Item<'_>], room: &Limits) -> u64 {
    let mut alone = 0;
    let mut together = 0;
    for item in items {
        let highest = item.offer.highest(item.floor, room.of_shelf(item.offer.shelf));
        alone += u64::from(item.above_floor(highest).1);
        let (cost, gain) = item.densest;
        let all = u64::from(room.total.get()) * u64::from(gain) / u64::from(cost.get().max(1)) + 1;
        together = all.max(together);
    }
    together.min(alone)
}
