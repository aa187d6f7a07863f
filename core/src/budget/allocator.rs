//! Who should get how much: a multiple-choice knapsack, solved with integers in bounded time.
//!
//! **Goal.** Choose one point, (power, value), for each drive, so that the values add up to as much as possible while
//! the powers stay within an allowance.
//!
//! **Method.** Every drive starts at its cheapest point. Then the step with the most value per watt that still fits is
//! taken, again and again, until none fits (`fill`). What is left over by then is less than one step, and so is the
//! distance to the optimum. Then each step taken is tried the other way round (`improve`): take it back, and spend its
//! watts on smaller steps; the best such exchange is kept, at most once for each drive. Where all drives in one state
//! would give more, that is where it starts from.
//!
//! **What it leaves out.** It is not exact: a mix that differs in two large steps at once can be missed. The tests
//! compare it with every assignment on small instances.
//!
//! **Ties** go to the drive that comes first, so the caller's order decides who of equals gets the better point.

use heapless::Vec;

use crate::units::Milliwatts;

/// What a drive costs and gives at one choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// The most that the drive takes.
    pub power: Milliwatts,
    /// What it is worth; any unit, the same for all drives.
    pub value: u32,
}

/// What the drives can be given.
pub trait Offers {
    /// How many drives there are.
    fn drives(&self) -> usize;

    /// How many choices drive number `drive` has; some may be unavailable.
    fn choices(&self, drive: usize) -> u8;

    /// A drive's point at a choice; `None` where the choice is not available to it.
    fn point(&self, drive: usize, choice: u8) -> Option<Point>;

    /// Whether two drives have the same points. May say `false` of equals; that costs time, not quality.
    fn alike(&self, one: usize, other: usize) -> bool;
}

/// Each drive's points in a slice; the choice is the position.
impl Offers for [&[Point]] {
    fn drives(&self) -> usize {
        self.len()
    }

    fn choices(&self, drive: usize) -> u8 {
        u8::try_from(self[drive].len()).unwrap_or(u8::MAX)
    }

    fn point(&self, drive: usize, choice: u8) -> Option<Point> {
        self[drive].get(usize::from(choice)).copied()
    }

    fn alike(&self, one: usize, other: usize) -> bool {
        self[one] == self[other]
    }
}

/// A choice for each drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation<const DRIVES: usize> {
    /// The chosen choice of each drive; `None` for a drive that has none available.
    pub choices: Vec<Option<u8>, DRIVES>,
    /// What the chosen points cost together, in milliwatts.
    pub power: u64,
    /// What they are worth together.
    pub value: u64,
}

/// Chooses a point for each of the first `DRIVES` drives. Where even the cheapest points exceed the allowance, those
/// are the answer, and its power says by how much.
#[must_use]
pub fn allocate<const DRIVES: usize>(offers: &(impl Offers + ?Sized), allowance: Milliwatts) -> Allocation<DRIVES> {
    let allowance = u64::from(allowance.get());
    let grown = grow(offers, cheapest(offers), allowance);
    match best_uniform(offers, allowance) {
        Some(uniform) if uniform.value > grown.value => grow(offers, uniform, allowance),
        _ => grown,
    }
}

/// Spends what is left of the allowance, and trades steps as long as that gains.
fn grow<const DRIVES: usize>(
    offers: &(impl Offers + ?Sized),
    mut allocation: Allocation<DRIVES>,
    allowance: u64,
) -> Allocation<DRIVES> {
    fill(offers, &mut allocation, allowance, u32::MAX);
    for _ in 0..allocation.choices.len() {
        let Some(better) = improve(offers, &allocation, allowance) else { break };
        allocation = better;
    }
    allocation
}

/// Every drive at the same choice: of the choices that all have and that fit, the one that is worth most.
fn best_uniform<const DRIVES: usize>(offers: &(impl Offers + ?Sized), allowance: u64) -> Option<Allocation<DRIVES>> {
    let drives = || 0..offers.drives().min(DRIVES);
    let most = drives().map(|drive| offers.choices(drive)).min()?;
    let all_at = |choice: u8| {
        let mut allocation = Allocation { choices: Vec::new(), power: 0, value: 0 };
        for drive in drives() {
            let point = offers.point(drive, choice)?;
            allocation.power += u64::from(point.power.get());
            allocation.value += u64::from(point.value);
            allocation.choices.push(Some(choice)).ok()?;
        }
        Some(allocation)
    };
    (0..most).filter_map(all_at).filter(|all| all.power <= allowance).max_by_key(|all| all.value)
}

fn cheapest<const DRIVES: usize>(offers: &(impl Offers + ?Sized)) -> Allocation<DRIVES> {
    let mut allocation = Allocation { choices: Vec::new(), power: 0, value: 0 };
    for drive in 0..offers.drives().min(DRIVES) {
        let points = (0..offers.choices(drive)).filter_map(|choice| Some((choice, offers.point(drive, choice)?)));
        let lowest = points.min_by_key(|(_, point)| (point.power, u32::MAX - point.value));
        if let Some((_, point)) = lowest {
            allocation.power += u64::from(point.power.get());
            allocation.value += u64::from(point.value);
        }
        // `drive` is below the capacity.
        let _ = allocation.choices.push(lowest.map(|(choice, _)| choice));
    }
    allocation
}

/// A change of one drive to a choice that costs more and gives more.
#[derive(Clone, Copy)]
struct Step {
    choice: u8,
    cost: u32,
    gain: u32,
}

impl Step {
    /// Whether this step gives more for its watts, or as much in one larger step.
    fn beats(self, other: Self) -> bool {
        let (one, two) = (u64::from(self.gain) * u64::from(other.cost), u64::from(other.gain) * u64::from(self.cost));
        one > two || (one == two && self.gain > other.gain)
    }
}

/// Takes the best step that fits, until none does. Steps must cost less than `limit`.
fn fill<const DRIVES: usize>(
    offers: &(impl Offers + ?Sized),
    allocation: &mut Allocation<DRIVES>,
    allowance: u64,
    limit: u32,
) {
    let budget = |spent: u64| u32::try_from(allowance.saturating_sub(spent)).unwrap_or(u32::MAX).min(limit - 1);
    let affordable = budget(allocation.power);
    let mut steps: Vec<Option<Step>, DRIVES> = allocation
        .choices
        .iter()
        .enumerate()
        .map(|(drive, choice)| best_step(offers, drive, (*choice)?, affordable))
        .collect();
    loop {
        let affordable = budget(allocation.power);
        let mut best: Option<(usize, Step)> = None;
        for (drive, slot) in steps.iter_mut().enumerate() {
            if slot.is_some_and(|step| step.cost > affordable) {
                *slot = allocation.choices[drive].and_then(|choice| best_step(offers, drive, choice, affordable));
            }
            if let Some(step) = *slot
                && best.is_none_or(|(_, champion)| step.beats(champion))
            {
                best = Some((drive, step));
            }
        }
        let Some((drive, step)) = best else { return };
        allocation.choices[drive] = Some(step.choice);
        allocation.power += u64::from(step.cost);
        allocation.value += u64::from(step.gain);
        steps[drive] = best_step(offers, drive, step.choice, budget(allocation.power));
    }
}

fn best_step(offers: &(impl Offers + ?Sized), drive: usize, from: u8, affordable: u32) -> Option<Step> {
    let here = offers.point(drive, from)?;
    let mut best: Option<Step> = None;
    for choice in 0..offers.choices(drive) {
        let Some(there) = offers.point(drive, choice) else { continue };
        let (Some(cost), Some(gain)) =
            (there.power.get().checked_sub(here.power.get()), there.value.checked_sub(here.value))
        else {
            continue;
        };
        let step = Step { choice, cost, gain };
        if gain > 0 && cost <= affordable && best.is_none_or(|champion| step.beats(champion)) {
            best = Some(step);
        }
    }
    best
}

/// The best allocation that takes back one step and spends its watts on smaller ones; `None` where none is better.
fn improve<const DRIVES: usize>(
    offers: &(impl Offers + ?Sized),
    allocation: &Allocation<DRIVES>,
    allowance: u64,
) -> Option<Allocation<DRIVES>> {
    if allocation.power > allowance {
        return None;
    }
    let mut best: Option<Allocation<DRIVES>> = None;
    for (drive, choice) in allocation.choices.iter().enumerate() {
        let Some((choice, here)) = choice.and_then(|choice| Some((choice, offers.point(drive, choice)?))) else {
            continue;
        };
        let seen = |earlier: usize| allocation.choices[earlier] == Some(choice) && offers.alike(earlier, drive);
        if (0..drive).any(seen) {
            continue;
        }
        for lower in 0..offers.choices(drive) {
            let Some(there) = offers.point(drive, lower) else { continue };
            let Some(freed) = here.power.checked_sub(there.power).filter(|freed| *freed > Milliwatts::ZERO) else {
                continue;
            };
            let mut trial = allocation.clone();
            trial.choices[drive] = Some(lower);
            trial.power -= u64::from(freed.get());
            trial.value = trial.value + u64::from(there.value) - u64::from(here.value);
            fill(offers, &mut trial, allowance, freed.get());
            if trial.value > best.as_ref().unwrap_or(allocation).value {
                best = Some(trial);
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use proptest::prelude::*;
    use proptest::strategy::ValueTree;

    use super::*;

    /// The best value by trying everything; `None` where nothing fits.
    fn brute_force(offers: &[&[Point]], allowance: u64) -> Option<u64> {
        let Some((first, rest)) = offers.split_first() else { return Some(0) };
        let tries = first.iter().filter_map(|point| {
            let left = allowance.checked_sub(u64::from(point.power.get()))?;
            Some(u64::from(point.value) + brute_force(rest, left)?)
        });
        tries.max()
    }

    const fn point(power: u32, value: u32) -> Point {
        Point { power: Milliwatts::new(power), value }
    }

    /// The reference drive, writing: milliwatts over base, megabytes per second.
    const WRITING: &[Point] = &[point(26_125, 3437), point(15_125, 1433), point(11_000, 721)];

    /// The best value for 24 such drives, over every way to count them out; `None` where nothing fits.
    fn writing_optimum(allowance: u32) -> Option<u64> {
        let mixes = (0..=24u32).flat_map(|ps0| (0..=24 - ps0).map(move |ps1| [ps0, ps1, 24 - ps0 - ps1]));
        let sum =
            |mix: [u32; 3], of: fn(&Point) -> u32| mix.iter().zip(WRITING).map(|(n, point)| n * of(point)).sum::<u32>();
        let fits = mixes.filter(|mix| sum(*mix, |point| point.power.get()) <= allowance);
        fits.map(|mix| u64::from(sum(mix, |point| point.value))).max()
    }

    #[test]
    fn the_reference_server_gets_its_optimal_mix() {
        for allowance in (264_000..=640_000).step_by(500) {
            let value = allocate::<24>([WRITING; 24].as_slice(), Milliwatts::new(allowance)).value;
            let optimum = writing_optimum(allowance).unwrap();
            assert!(value <= optimum && value * 1000 >= optimum * 999, "{value} of {optimum} at {allowance} mW");
        }
        let at_1050_watts = allocate::<24>([WRITING; 24].as_slice(), Milliwatts::new(1_050_000 - 462_000));
        let in_state = |state| at_1050_watts.choices.iter().filter(|choice| **choice == Some(state)).count();
        assert_eq!((in_state(0), in_state(1), in_state(2)), (21, 1, 2));
        assert_eq!(at_1050_watts.value, 75_052);
    }

    #[test]
    fn what_does_not_fit_gets_the_cheapest_points_and_says_so() {
        let allocation = allocate::<24>([WRITING; 24].as_slice(), Milliwatts::new(100_000));
        assert_eq!(allocation.power, 264_000);
        assert!(allocation.choices.iter().all(|choice| *choice == Some(2)));
    }

    #[test]
    fn drives_without_points_get_nothing() {
        let offers: [&[Point]; 3] = [&[], WRITING, &[]];
        let allocation = allocate::<3>(offers.as_slice(), Milliwatts::new(20_000));
        assert_eq!(allocation.choices, [None, Some(1), None]);
    }

    fn points() -> impl Strategy<Value = Vec<Point>> {
        prop::collection::vec((1u32..30_000, 0u32..5_000).prop_map(|(power, value)| point(power, value)), 1..6)
    }

    proptest! {
        /// Never over the allowance where anything fits, never worse than the optimum by more than one step, and the
        /// sums are true.
        #[test]
        fn it_is_near_the_optimum(drives in prop::collection::vec(points(), 1..6), allowance in 0u32..120_000) {
            let offers: Vec<&[Point]> = drives.iter().map(Vec::as_slice).collect();
            let allocation = allocate::<6>(offers.as_slice(), Milliwatts::new(allowance));
            let chosen = || offers.iter().zip(&allocation.choices).map(|(points, choice)| points[usize::from(choice.unwrap())]);
            prop_assert_eq!(allocation.power, chosen().map(|point| u64::from(point.power.get())).sum::<u64>());
            prop_assert_eq!(allocation.value, chosen().map(|point| u64::from(point.value)).sum::<u64>());
            let optimum = brute_force(&offers, u64::from(allowance));
            prop_assert_eq!(allocation.power <= u64::from(allowance), optimum.is_some());
            if let Some(optimum) = optimum {
                let step = offers.iter().flat_map(|points| points.iter()).map(|point| u64::from(point.value)).max().unwrap();
                prop_assert!(allocation.value <= optimum && optimum - allocation.value <= step);
            }
        }
    }

    proptest! {
        /// Drives of one kind never get less than the best single state would give them.
        #[test]
        fn it_is_never_below_the_best_uniform_state(points in points(), drives in 1usize..25, allowance in 0u32..600_000) {
            let offers = std::vec![points.as_slice(); drives];
            let allocation = allocate::<24>(offers.as_slice(), Milliwatts::new(allowance));
            let count = u32::try_from(drives).unwrap();
            let uniform = points.iter().filter(|point| point.power.get() * count <= allowance);
            let best = uniform.map(|point| u64::from(point.value * count)).max().unwrap_or(0);
            prop_assert!(allocation.value >= best, "{} of {best}", allocation.value);
        }
    }

    /// How near on the whole: the mean over a fixed family of instances.
    #[test]
    fn on_the_whole_it_is_within_half_a_percent() {
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        let instance = (prop::collection::vec(points(), 2..6), 20_000u32..120_000);
        let (mut sum, mut count) = (0.0, 0);
        while count < 2000 {
            let (drives, allowance) = instance.new_tree(&mut runner).unwrap().current();
            let offers: Vec<&[Point]> = drives.iter().map(Vec::as_slice).collect();
            let Some(optimum) = brute_force(&offers, u64::from(allowance)).filter(|optimum| *optimum > 0) else {
                continue;
            };
            let value = allocate::<6>(offers.as_slice(), Milliwatts::new(allowance)).value;
            #[expect(clippy::cast_precision_loss, reason = "values stay below 2^53")]
            {
                sum += value as f64 / optimum as f64;
            }
            count += 1;
        }
        let mean = sum / f64::from(count);
        std::println!("mean {mean:.4} of the optimum over {count} instances");
        assert!(mean >= 0.995, "{mean}");
    }
}
