//! What can be had: the points, (power, value), that a drive or a striped group can be given.

use heapless::Vec;

use super::nested::Shelf;
use crate::units::Milliwatts;

/// What a drive or a group costs and gives at one choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// The caller's name for it.
    pub choice: u8,
    /// The most that it takes.
    pub power: Milliwatts,
    /// What it is worth; any unit, the same for all offers of one priority.
    pub value: u32,
}

/// So many points an offer has at most: of a drive with no more operational states, all. An offer of all the 32 states
/// that a drive can have would take four times the stack, for the few that have more than eight of them; these give up
/// what makes the least difference.
pub const POINTS: usize = 8;

/// The points that one drive or group can be given: those that are worth considering, cheapest first. Each costs more
/// than the one before it, and is worth more.
#[derive(Clone, Debug, Default)]
pub struct Offer {
    /// With room for one more, which is then given up.
    points: Vec<Point, { POINTS + 1 }>,
    /// Classes are served in this order, 0 first.
    pub priority: u8,
    /// The shelf whose limit it is under.
    pub shelf: Option<Shelf>,
    /// The value that it is to have before any offer gets more than that.
    pub guarantee: u32,
}

impl Offer {
    /// Adds a point, and drops those that cost no less and give no more than another. Of equals the first stays. Of
    /// more than [`POINTS`], the one is dropped whose loss makes the least difference; the cheapest and the best stay.
    pub fn add(&mut self, point: Point) {
        let beats = |one: &Point, other: &Point| one.power <= other.power && one.value >= other.value;
        if self.points.iter().any(|known| beats(known, &point)) {
            return;
        }
        self.points.retain(|known| !beats(&point, known));
        let place = self.points.iter().take_while(|known| known.power < point.power).count();
        // There is room for one more.
        let _ = self.points.insert(place, point);
        if self.points.is_full() {
            self.give_up_one();
        }
    }

    /// Drops the point that makes the smallest triangle with its neighbours, or the first that does not lie above the
    /// line between them.
    fn give_up_one(&mut self) {
        let area = |[before, point, after]: [&Point; 3]| {
            let rectangle = |value: u32, power: Milliwatts| u64::from(value) * u64::from(power.get());
            let gained = rectangle(point.value.saturating_sub(before.value), after.power.saturating_sub(before.power));
            gained.saturating_sub(rectangle(
                after.value.saturating_sub(before.value),
                point.power.saturating_sub(before.power),
            ))
        };
        let triples = self.points.iter().zip(self.points.iter().skip(1)).zip(self.points.iter().skip(2));
        let areas = triples.map(|((before, point), after)| area([before, point, after]));
        if let Some((place, _)) = areas.enumerate().min_by_key(|(_, area)| *area) {
            self.points.remove(place + 1);
        }
    }

    /// The points, cheapest first.
    #[must_use]
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    pub(super) fn point(&self, place: u8) -> Option<&Point> {
        self.points.get(usize::from(place))
    }

    /// The place of the last point that costs no more than this above the one at `from`.
    pub(super) fn highest(&self, from: u8, budget: Milliwatts) -> u8 {
        let mut highest = from;
        if let Some(start) = self.point(from) {
            let most = start.power.saturating_add(budget);
            while self.point(highest.saturating_add(1)).is_some_and(|point| point.power <= most) {
                highest += 1;
            }
        }
        highest
    }

    fn is_like(&self, other: &Self) -> bool {
        self.priority == other.priority
            && self.shelf == other.shelf
            && self.guarantee == other.guarantee
            && self.points == other.points
    }
}

impl FromIterator<Point> for Offer {
    fn from_iter<I: IntoIterator<Item = Point>>(points: I) -> Self {
        let mut offer = Self::default();
        for point in points {
            offer.add(point);
        }
        offer
    }
}

/// All offers, in the order in which they are preferred among equals. Those that are alike are kept once.
#[derive(Clone, Debug, Default)]
pub struct Offers<const ITEMS: usize> {
    kinds: Vec<Offer, ITEMS>,
    /// For each offer its place among the kinds.
    items: Vec<u16, ITEMS>,
}

impl<const ITEMS: usize> Offers<ITEMS> {
    /// None yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { kinds: Vec::new(), items: Vec::new() }
    }

    /// Adds an offer behind the others. There is no room for more than `ITEMS`.
    pub fn push(&mut self, offer: Offer) {
        let known = self.kinds.iter().position(|known| known.is_like(&offer));
        let kind = known.unwrap_or(self.kinds.len());
        if known.is_some() || self.kinds.push(offer).is_ok() {
            // An array has at most as many places as a slot has numbers; what is beyond is not offered.
            let _ = u16::try_from(kind).map(|kind| self.items.push(kind));
        }
    }

    /// Adds once more what was added last.
    pub fn repeat(&mut self) {
        if let Some(kind) = self.items.last().copied() {
            // There is no room for more than `ITEMS`.
            let _ = self.items.push(kind);
        }
    }

    /// The offers, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Offer> {
        self.items.iter().filter_map(|kind| self.kinds.get(usize::from(*kind)))
    }

    /// One of the offers.
    pub(super) fn get(&self, item: usize) -> Option<&Offer> {
        self.kinds.get(usize::from(*self.items.get(item)?))
    }

    /// Whether two offers are the same but for their order.
    pub(super) fn are_alike(&self, one: usize, other: usize) -> bool {
        self.items.get(one) == self.items.get(other)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// What is kept are exactly the points that no other beats, in order of their power.
        #[test]
        fn only_points_that_nothing_beats_are_kept(raw in prop::collection::vec((0u32..12, 0u32..12), 0..32)) {
            let points: Vec<Point> = (0..)
                .zip(raw)
                .map(|(choice, (power, value))| Point { choice, power: Milliwatts::new(power), value })
                .collect();
            let offer: Offer = points.iter().copied().collect();
            let beaten = |point: &Point| points.iter().any(|other| {
                let (cheaper, better) = (other.power <= point.power, other.value >= point.value);
                cheaper && better && (other.power < point.power || other.value > point.value || other.choice < point.choice)
            });
            let mut kept: Vec<Point> = points.iter().copied().filter(|point| !beaten(point)).collect();
            kept.sort_by_key(|point| point.power);
            if points.len() <= POINTS {
                prop_assert_eq!(offer.points(), kept.as_slice());
            } else {
                prop_assert!(offer.points().len() <= POINTS);
                prop_assert_eq!(offer.points().first(), kept.first());
                prop_assert_eq!(offer.points().last(), kept.last());
                prop_assert!(offer.points().iter().all(|point| points.contains(point)));
                let rises = |pair: &[Point]| pair[0].power < pair[1].power && pair[0].value < pair[1].value;
                prop_assert!(offer.points().windows(2).all(rises));
            }
        }

        /// Of a concave curve with one point too many, the one is given up without which the line through the others
        /// comes closest to it: what can be had between two neighbours falls by the least area.
        #[test]
        fn what_is_given_up_makes_the_least_difference(
            steps in prop::collection::vec((1u32..1_000, 1u32..1_000), POINTS),
        ) {
            let mut steps = steps;
            steps.sort_by(|one, other| (other.1 * one.0).cmp(&(one.1 * other.0)));
            let mut points = std::vec![Point { choice: 0, power: Milliwatts::ZERO, value: 0 }];
            for (choice, (power, value)) in (1..).zip(steps) {
                let last = points[points.len() - 1];
                let power = last.power.saturating_add(Milliwatts::new(power));
                points.push(Point { choice, power, value: last.value + value });
            }
            let under = |curve: &[Point]| {
                let trapezium = |pair: &[Point]| {
                    u64::from(pair[1].power.get() - pair[0].power.get()) * u64::from(pair[0].value + pair[1].value)
                };
                curve.windows(2).map(trapezium).sum::<u64>()
            };
            let without = |place: usize| {
                let mut rest = points.clone();
                rest.remove(place);
                rest
            };
            let offer: Offer = points.iter().copied().collect();
            let most = (1..POINTS).map(|place| under(&without(place))).max();
            prop_assert_eq!(Some(under(offer.points())), most);
        }
    }
}
