//! Who should get how much: a multiple-choice knapsack, solved with integers in bounded time.
//!
//! **Goal.** Choose one point, (power, value), for each offer (a drive, or a striped group), so that the values add up
//! to as much as possible while the powers stay within the limits.
//!
//! **Order.** Every offer starts at its cheapest point. Then guarantees are met, class after class in the order of
//! their priority, and within a class in the order of the offers, as far as the watts go. Then the classes share what
//! is left, one after the other: a later class gets what the earlier ones cannot use. Nobody is put below his
//! guarantee again.
//!
//! **Within a class** of up to four offers that have something to choose, the best choice is found exactly, and of
//! equally good ones the one that takes least (`exact`). Among more, the step with the most value per
//! watt that still fits is taken, again and again, until none fits (`fill`). Then each step taken is tried the other
//! way round (`improve`): take it back, and spend its watts on smaller steps; the best such exchange is kept, at most
//! once for each offer. Where all offers in one state would give more, that is where it starts from.
//!
//! **How good.** Steps in the order of their value per watt solve the problem with divisible steps, for one limit and
//! for limits inside a limit alike: the limits are laminar, and what each offer gives is made concave by passing over
//! the points below its hull. So the distance to the optimum of a class is less than the steps that did not fit: one
//! for each limit that stopped one, the total or a shelf's.
//!
//! **What it leaves out.** Among more than four, a mix that differs in two large steps at once can be missed. Of
//! equally good choices within a class, the one that leaves the better watts to later classes may be missed where
//! shelves differ.
//! An offer keeps [`POINTS`](super::POINTS) points: of a drive with more operational states, what it gives up is not
//! considered.
//!
//! **Ties** go to the offer that comes first, so the caller's order decides who of equals gets the better point.

use heapless::Vec;

use super::exact;
use super::nested::{Limits, Sums};
use super::offer::Offers;
use crate::units::Milliwatts;

/// A choice for each offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation<const ITEMS: usize> {
    /// The chosen choice of each offer; `None` for one that has no points.
    pub choices: Vec<Option<u8>, ITEMS>,
    /// What the chosen points cost together, in milliwatts.
    pub power: u64,
    /// What they are worth together.
    pub value: u64,
    /// How many offers have less than their guarantee.
    pub unmet: usize,
}

/// Chooses a point for each offer. Where even the cheapest points exceed a limit, those that are under it get just
/// these, and the allocation's power says by how much.
#[must_use]
pub fn allocate<const ITEMS: usize>(offers: &Offers<ITEMS>, limits: &Limits) -> Allocation<ITEMS> {
    let mut plan = Plan::cheapest(offers, limits);
    let mut class = plan.next_class(None);
    while let Some(priority) = class {
        plan.guarantee(priority);
        class = plan.next_class(class);
    }
    plan.floors = plan.places.clone();
    class = plan.next_class(None);
    while let Some(priority) = class {
        plan.share(priority);
        class = plan.next_class(class);
    }
    plan.allocation()
}

/// A place among its points for each offer.
#[derive(Clone)]
struct Plan<'a, const ITEMS: usize> {
    offers: &'a Offers<ITEMS>,
    places: Vec<u8, ITEMS>,
    /// Below these nobody is put.
    floors: Vec<u8, ITEMS>,
    /// What is left of the limits.
    room: Limits,
    /// What has been gained above the cheapest points.
    gained: u64,
}

/// A change of one offer to a later place.
#[derive(Clone, Copy)]
struct Step {
    to: u8,
    cost: Milliwatts,
    gain: u32,
}

impl Step {
    /// Whether this step gives more for its watts, or as much in one larger step.
    fn beats(self, other: Self) -> bool {
        let rate = |gain: u32, cost: Milliwatts| u64::from(gain) * u64::from(cost.get());
        let (one, two) = (rate(self.gain, other.cost), rate(other.gain, self.cost));
        one > two || (one == two && self.gain > other.gain)
    }
}

impl<'a, const ITEMS: usize> Plan<'a, ITEMS> {
    fn cheapest(offers: &'a Offers<ITEMS>, limits: &Limits) -> Self {
        let mut sums = Sums::ZERO;
        let mut places = Vec::new();
        for offer in offers.iter() {
            if let Some(point) = offer.point(0) {
                sums.add(offer.shelf, point.power);
            }
            // As many places as offers.
            let _ = places.push(0);
        }
        Self { offers, floors: places.clone(), places, room: limits.less(&sums), gained: 0 }
    }

    /// The class that is served after this one.
    fn next_class(&self, after: Option<u8>) -> Option<u8> {
        let priorities = self.offers.iter().map(|offer| offer.priority);
        priorities.filter(|priority| after.is_none_or(|after| *priority > after)).min()
    }

    fn place(&self, item: usize) -> u8 {
        self.places.get(item).copied().unwrap_or_default()
    }

    fn floor(&self, item: usize) -> u8 {
        self.floors.get(item).copied().unwrap_or_default()
    }

    /// The step from an offer's place to another; `None` where that is not a later one.
    fn step(&self, item: usize, to: u8) -> Option<Step> {
        let offer = self.offers.get(item)?;
        let (here, there) = (offer.point(self.place(item))?, offer.point(to)?);
        let cost = there.power.checked_sub(here.power)?;
        Some(Step { to, cost, gain: there.value.checked_sub(here.value)? })
    }

    /// What an offer may take more.
    fn budget(&self, item: usize) -> Milliwatts {
        self.offers.get(item).map_or(Milliwatts::ZERO, |offer| self.room.of_shelf(offer.shelf))
    }

    fn take(&mut self, item: usize, step: Step) {
        if let Some((offer, place)) = self.offers.get(item).zip(self.places.get_mut(item)) {
            self.room.take(offer.shelf, step.cost);
            self.gained = self.gained.saturating_add(u64::from(step.gain));
            *place = step.to;
        }
    }

    /// Puts an offer back to an earlier place; returns the watts that this frees.
    fn put_back(&mut self, item: usize, to: u8) -> Milliwatts {
        let from = self.place(item);
        if let Some((offer, place)) = self.offers.get(item).zip(self.places.get_mut(item)) {
            *place = to;
            if let Some((here, there)) = offer.point(from).zip(offer.point(to)) {
                let freed = here.power.saturating_sub(there.power);
                self.room.give_back(offer.shelf, freed);
                self.gained = self.gained.saturating_sub(u64::from(here.value.saturating_sub(there.value)));
                return freed;
            }
        }
        Milliwatts::ZERO
    }

    /// Gives each offer of a class its guarantee, or as much of it as fits.
    fn guarantee(&mut self, class: u8) {
        for (item, offer) in self.offers.iter().enumerate() {
            if offer.priority != class || offer.guarantee == 0 {
                continue;
            }
            let short = offer.points().iter().take_while(|point| point.value < offer.guarantee).count();
            let wanted = short.min(offer.points().len().saturating_sub(1));
            let place = offer.highest(0, self.budget(item)).min(u8::try_from(wanted).unwrap_or(u8::MAX));
            if let Some(step) = self.step(item, place) {
                self.take(item, step);
            }
        }
    }

    /// Shares what is left among the offers of a class.
    fn share(&mut self, class: u8) {
        if self.decide_exactly(class) {
            return;
        }
        let mut uniform = self.best_uniform(class);
        self.grow(class);
        if let Some(uniform) = uniform.as_mut().filter(|uniform| uniform.gained > self.gained) {
            uniform.grow(class);
            *self = uniform.clone();
        }
    }

    /// Makes the best choice for a class of few offers; `false`: there are too many.
    fn decide_exactly(&mut self, class: u8) -> bool {
        let mut items: Vec<(usize, exact::Item<'_>), { exact::MOST }> = Vec::new();
        for (item, offer) in self.offers.iter().enumerate() {
            let floor = self.floor(item);
            if offer.priority == class && usize::from(floor) + 1 < offer.points().len() {
                if items.is_full() {
                    return false;
                }
                // There is room for one more.
                let _ = items.push((item, exact::Item::new(offer, floor)));
            }
        }
        let mut plain: Vec<exact::Item<'_>, { exact::MOST }> = Vec::new();
        plain.extend(items.iter().map(|(_, item)| *item));
        let mut good = self.clone();
        good.fill(class, Milliwatts::MAX);
        let mut known = [0; exact::MOST];
        for (known, (item, _)) in known.iter_mut().zip(&items) {
            *known = good.place(*item);
        }
        let places = exact::best(&plain, self.room, known);
        for ((item, _), place) in items.iter().zip(places) {
            if let Some(step) = self.step(*item, place) {
                self.take(*item, step);
            }
        }
        true
    }

    /// Every offer of a class at the same choice: of the choices that all have and that fit, the one that is worth
    /// most.
    fn best_uniform(&self, class: u8) -> Option<Self> {
        let mut best: Option<Self> = None;
        let first = self.offers.iter().find(|offer| offer.priority == class)?;
        for choice in first.points().iter().map(|point| point.choice) {
            if let Some(uniform) = self.uniform(class, choice)
                && best.as_ref().is_none_or(|best| uniform.gained > best.gained)
            {
                best = Some(uniform);
            }
        }
        best
    }

    fn uniform(&self, class: u8, choice: u8) -> Option<Self> {
        let mut uniform = self.clone();
        for (item, offer) in self.offers.iter().enumerate().filter(|(_, offer)| offer.priority == class) {
            let place = offer.points().iter().position(|point| point.choice == choice)?;
            let step = uniform.step(item, u8::try_from(place).ok()?)?;
            if step.cost > uniform.budget(item) {
                return None;
            }
            uniform.take(item, step);
        }
        Some(uniform)
    }

    /// Spends what is left of the limits, and trades steps as long as that gains.
    fn grow(&mut self, class: u8) {
        self.fill(class, Milliwatts::MAX);
        for _ in 0..self.places.len() {
            let Some(better) = self.improve(class) else { break };
            *self = better;
        }
    }

    /// Takes the best step that fits, until none does. Steps must cost less than `limit`.
    fn fill(&mut self, class: u8, limit: Milliwatts) {
        let below = limit.saturating_sub(Milliwatts::new(1));
        let mut steps: Vec<Option<Step>, ITEMS> = Vec::new();
        for (item, offer) in self.offers.iter().enumerate() {
            let step = if self.repeats(item) {
                steps.last().copied().flatten()
            } else if offer.priority == class {
                self.best_step(item, self.budget(item).min(below))
            } else {
                None
            };
            // As many places as offers.
            let _ = steps.push(step);
        }
        loop {
            let mut best: Option<(usize, Step)> = None;
            for (item, slot) in steps.iter_mut().enumerate() {
                // The one before it has the same step, and goes first.
                let Some(mut step) = slot.filter(|_| !self.repeats(item)) else { continue };
                let budget = self.budget(item).min(below);
                if step.cost > budget {
                    *slot = self.best_step(item, budget);
                    let Some(smaller) = *slot else { continue };
                    step = smaller;
                }
                if best.is_none_or(|(_, champion)| step.beats(champion)) {
                    best = Some((item, step));
                }
            }
            let Some((item, step)) = best else { return };
            self.take(item, step);
            if let Some(slot) = steps.get_mut(item) {
                *slot = self.best_step(item, self.budget(item).min(below));
            }
        }
    }

    /// Whether an offer is like the one before it, and in the same place.
    fn repeats(&self, item: usize) -> bool {
        let before = item.checked_sub(1);
        before.is_some_and(|before| self.place(before) == self.place(item) && self.offers.are_alike(before, item))
    }

    fn best_step(&self, item: usize, budget: Milliwatts) -> Option<Step> {
        let mut best: Option<Step> = None;
        let mut to = self.place(item);
        loop {
            to = to.saturating_add(1);
            // The points are in order of their power: what comes after one that is too dear is dearer.
            let Some(step) = self.step(item, to).filter(|step| step.cost <= budget) else { return best };
            if best.is_none_or(|champion| step.beats(champion)) {
                best = Some(step);
            }
        }
    }

    /// The best plan that takes back one step and spends its watts on smaller ones; `None` where none is better.
    fn improve(&self, class: u8) -> Option<Self> {
        let mut best: Option<Self> = None;
        for (item, offer) in self.offers.iter().enumerate() {
            let (place, floor) = (self.place(item), self.floor(item));
            let same = |earlier: usize| (self.place(earlier), self.floor(earlier)) == (place, floor);
            if offer.priority != class || (0..item).any(|earlier| same(earlier) && self.offers.are_alike(earlier, item))
            {
                continue;
            }
            for lower in floor..place {
                let mut trial = self.clone();
                let freed = trial.put_back(item, lower);
                trial.fill(class, freed);
                if trial.gained > best.as_ref().unwrap_or(self).gained {
                    best = Some(trial);
                }
            }
        }
        best
    }

    fn allocation(&self) -> Allocation<ITEMS> {
        let mut allocation = Allocation { choices: Vec::new(), power: 0, value: 0, unmet: 0 };
        for (item, offer) in self.offers.iter().enumerate() {
            let point = offer.point(self.place(item));
            if let Some(point) = point {
                allocation.power += u64::from(point.power.get());
                allocation.value += u64::from(point.value);
            }
            allocation.unmet += usize::from(point.map_or(0, |point| point.value) < offer.guarantee);
            // As many places as offers.
            let _ = allocation.choices.push(point.map(|point| point.choice));
        }
        allocation
    }
}
