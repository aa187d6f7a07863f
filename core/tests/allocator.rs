//! The allocator against exact answers that are found in other ways: every assignment where there are few, a dynamic
//! program over milliwatts where there are many.

mod support;

use support::Dice;
use wattline_core::budget::{Allocation, Limits, Offer, Offers, Point, allocate};
use wattline_core::units::Milliwatts;

const fn point(choice: u8, power: u32, value: u32) -> Point {
    Point { choice, power: Milliwatts::new(power), value }
}

/// The reference drive, writing: milliwatts over base, megabytes per second.
const WRITING: [Point; 3] = [point(0, 26_125, 3437), point(1, 15_125, 1433), point(2, 11_000, 721)];

/// What the tests know of one drive.
#[derive(Clone, Debug)]
struct Drive {
    points: Vec<Point>,
    priority: u8,
    shelf: Option<u8>,
    guarantee: u32,
}

impl Drive {
    const fn plain(points: Vec<Point>) -> Self {
        Self { points, priority: 0, shelf: None, guarantee: 0 }
    }

    fn offer(&self) -> Offer {
        let mut offer: Offer = self.points.iter().copied().collect();
        (offer.priority, offer.shelf, offer.guarantee) = (self.priority, self.shelf, self.guarantee);
        offer
    }

    /// The point that is called so.
    fn called(&self, choice: u8) -> Point {
        *self.points.iter().find(|point| point.choice == choice).expect("a choice among those that were offered")
    }

    fn cheapest(&self) -> Point {
        *self.points.iter().min_by_key(|point| (point.power, u32::MAX - point.value)).expect("a point")
    }
}

fn solve(drives: &[Drive], limits: &Limits) -> Allocation<24> {
    let mut offers = Offers::<24>::new();
    for drive in drives {
        offers.push(drive.offer());
    }
    allocate(&offers, limits)
}

/// The points that were chosen, after checking that the allocation's sums are true.
fn chosen(drives: &[Drive], allocation: &Allocation<24>) -> Vec<Point> {
    let chosen = drives.iter().zip(&allocation.choices).map(|(drive, choice)| drive.called(choice.expect("a choice")));
    let chosen: Vec<Point> = chosen.collect();
    assert_eq!(allocation.power, chosen.iter().map(|point| u64::from(point.power.get())).sum::<u64>());
    assert_eq!(allocation.value, chosen.iter().map(|point| u64::from(point.value)).sum::<u64>());
    let unmet = drives.iter().zip(&chosen).filter(|(drive, point)| point.value < drive.guarantee).count();
    assert_eq!(allocation.unmet, unmet);
    chosen
}

/// Whether points of all drives are within every limit; a limit that the cheapest points exceed admits just these.
fn fits(drives: &[Drive], points: &[Point], limits: &Limits) -> bool {
    let sum = |points: &mut dyn Iterator<Item = Point>| points.map(|point| u64::from(point.power.get())).sum::<u64>();
    let cheapest: Vec<Point> = drives.iter().map(Drive::cheapest).collect();
    let within = |limit: Milliwatts, counts: &dyn Fn(&Drive) -> bool| {
        let of = |points: &[Point]| {
            sum(&mut drives.iter().zip(points).filter(|(drive, _)| counts(drive)).map(|(_, point)| *point))
        };
        of(points) <= u64::from(limit.get()).max(of(&cheapest))
    };
    within(limits.total, &|_| true)
        && (0..)
            .zip(limits.shelves)
            .all(|(shelf, limit)| limit.is_none_or(|limit| within(limit, &|drive: &Drive| drive.shelf == Some(shelf))))
}

fn random_points(dice: &mut Dice, most: u64) -> Vec<Point> {
    let count = 1 + dice.below(most);
    (0..count)
        .map(|choice| point(narrow(choice), 1 + narrow32(dice.below(30_000)), narrow32(dice.below(5_000))))
        .collect()
}

fn narrow(number: u64) -> u8 {
    u8::try_from(number).expect("a small number")
}

fn narrow32(number: u64) -> u32 {
    u32::try_from(number).expect("a small number")
}

fn random_limits(dice: &mut Dice, drives: &[Drive], shelves: u8) -> Limits {
    let most = |counts: &dyn Fn(&Drive) -> bool| {
        let highest = |drive: &Drive| drive.points.iter().map(|point| point.power.get()).max().expect("a point");
        u64::from(drives.iter().filter(|drive| counts(drive)).map(highest).sum::<u32>())
    };
    let mut limits = Limits::of(Milliwatts::new(narrow32(dice.below(most(&|_| true) + 1))));
    for shelf in 0..shelves {
        let highest = most(&|drive: &Drive| drive.shelf == Some(shelf));
        limits.shelves[usize::from(shelf)] = Some(Milliwatts::new(narrow32(dice.below(highest + 1))));
    }
    limits
}

// ---- few: every assignment ----

/// Every way to give the drives of a class one of their points, the others as they are.
fn assignments(drives: &[Drive], class: u8, standing: &[Point]) -> Vec<Vec<Point>> {
    let mut all = vec![Vec::new()];
    for (drive, stands) in drives.iter().zip(standing) {
        let own: &[Point] = if drive.priority == class { &drive.points } else { std::slice::from_ref(stands) };
        all =
            all.iter().flat_map(|begun: &Vec<Point>| own.iter().map(|next| [&begun[..], &[*next]].concat())).collect();
    }
    all
}

/// The design's words, class after class: guarantees as far as the watts go, then the most value, and of equals the
/// least power. Each class is judged given what the classes before it were given.
fn check_every_class(drives: &[Drive], limits: &Limits) {
    let allocation = solve(drives, limits);
    let given = chosen(drives, &allocation);
    assert!(fits(drives, &given, limits), "{drives:?} {limits:?}: {given:?}");
    let mut standing: Vec<Point> = drives.iter().map(Drive::cheapest).collect();
    for class in 0..4 {
        for (number, drive) in drives.iter().enumerate().filter(|(_, drive)| drive.priority == class) {
            let possible = drive.points.iter().filter(|point| {
                let mut trial = standing.clone();
                trial[number] = **point;
                fits(drives, &trial, limits)
            });
            let (enough, short): (Vec<Point>, Vec<Point>) = possible.partition(|point| point.value >= drive.guarantee);
            let cheapest = enough.into_iter().min_by_key(|point| (point.power, u32::MAX - point.value));
            let most = || short.into_iter().max_by_key(|point| (point.value, u32::MAX - point.power.get()));
            let least = drive.cheapest();
            standing[number] = if drive.guarantee == 0 { least } else { cheapest.or_else(most).unwrap_or(least) };
        }
    }
    let floors = standing.clone();
    for class in 0..4 {
        let of = |points: &[Point]| {
            let own = drives.iter().zip(points).filter(|(drive, _)| drive.priority == class);
            let own = own.map(|(_, point)| (u64::from(point.value), u64::from(point.power.get())));
            own.fold((0, 0), |(values, powers), (value, power)| (values + value, powers + power))
        };
        let above = |points: &[Point]| points.iter().zip(&floors).all(|(point, floor)| point.value >= floor.value);
        let all = assignments(drives, class, &standing);
        let valid = all.iter().filter(|points| above(points) && fits(drives, points, limits));
        let best = valid.map(|points| of(points)).max_by_key(|(value, power)| (*value, u64::MAX - power));
        assert_eq!(Some(of(&given)), best, "class {class} of {drives:?} within {limits:?}: {given:?}");
        for ((stands, drive), given) in standing.iter_mut().zip(drives).zip(&given) {
            if drive.priority == class {
                *stands = *given;
            }
        }
    }
}

#[test]
fn up_to_four_are_decided_exactly() {
    let mut dice = Dice::new(1);
    let instances = 10_000;
    for _ in 0..instances {
        let count = 1 + dice.below(4);
        let shelves = narrow(dice.below(3));
        let drives: Vec<Drive> = (0..count)
            .map(|_| Drive {
                points: random_points(&mut dice, 6),
                priority: narrow(dice.below(3)),
                shelf: dice.below(4).checked_sub(1).map(narrow),
                guarantee: if dice.below(2) == 0 { 0 } else { narrow32(dice.below(4_000)) },
            })
            .collect();
        let limits = random_limits(&mut dice, &drives, shelves);
        check_every_class(&drives, &limits);
    }
    println!("{instances} instances of up to 4 drives, 3 classes, 2 shelves: all as the best of every assignment");
}

/// Four drives of so many states each that no greedy order sorts out, and a limit.
fn four_of(states: u8, dice: &mut Dice) -> (Vec<Drive>, Limits) {
    let apart = 22_400 / u32::from(states);
    let mut drive = || {
        let points = (0..states).map(|choice| {
            let power = 1_000 + apart * u32::from(choice) + narrow32(dice.below(u64::from(apart)));
            point(choice, power, power / 3 + narrow32(dice.below(300)))
        });
        Drive::plain(points.collect())
    };
    let drives = (0..4).map(|_| drive()).collect();
    (drives, Limits::of(Milliwatts::new(5_000 + apart * 4 + narrow32(dice.below(80_000)))))
}

#[test]
fn four_of_as_many_states_as_an_offer_keeps_are_decided_exactly() {
    let mut dice = Dice::new(2);
    for _ in 0..50 {
        let (drives, limits) = four_of(8, &mut dice);
        let value = solve(&drives, &limits).value;
        assert_eq!(Some(value), optimum(&drives, &limits), "{drives:?} {limits:?}");
    }
}

/// What an offer gives up of 32 states is worth little.
#[test]
fn four_of_32_states_are_within_two_percent() {
    let (mut dice, mut score) = (Dice::new(3), Score::default());
    for _ in 0..10 {
        let (drives, limits) = four_of(32, &mut dice);
        score.add(solve(&drives, &limits).value, optimum(&drives, &limits).expect("the cheapest points fit"));
    }
    score.print("4 drives of 32 states");
    assert!(score.worst > 0.98 && score.worst < 1.0, "{}", score.worst);
}

// ---- many: dynamic programs ----

/// The highest values, by the milliwatts that they take: index and entry rise together.
type Frontier = Vec<(u64, u64)>;

fn merge(one: &Frontier, other: &Frontier, limit: u64) -> Frontier {
    let sums = one.iter().flat_map(|(power, value)| other.iter().map(move |(more, gain)| (power + more, value + gain)));
    let mut sums: Frontier = sums.filter(|(power, _)| *power <= limit).collect();
    sums.sort_unstable_by_key(|(power, value)| (*power, u64::MAX - value));
    let mut best = None;
    sums.retain(|(_, value)| best.is_none_or(|most| *value > most) && best.replace(*value).is_none_or(|_| true));
    sums
}

/// The most value of drives of one class within the limits; `None` where not even the cheapest points fit. Shelf by
/// shelf, then the shelves together.
fn optimum(drives: &[Drive], limits: &Limits) -> Option<u64> {
    let total = u64::from(limits.total.get());
    let of_shelf = |shelf: Option<u8>| {
        let limit =
            shelf.and_then(|shelf| limits.shelves[usize::from(shelf)]).map_or(total, |limit| limit.get().into());
        drives.iter().filter(|drive| drive.shelf == shelf).fold(vec![(0, 0)], |so_far, drive| {
            let own = drive.points.iter().map(|point| (point.power.get().into(), point.value.into())).collect();
            merge(&so_far, &own, limit.min(total))
        })
    };
    let shelves = std::iter::once(None).chain((0..8).map(Some));
    let all = shelves.fold(vec![(0, 0)], |so_far, shelf| merge(&so_far, &of_shelf(shelf), total));
    all.last().map(|(_, value)| *value)
}

/// How far a family of instances is from the optimum.
#[derive(Default)]
struct Score {
    instances: u32,
    sum: f64,
    worst: f64,
}

impl Score {
    #[expect(clippy::cast_precision_loss, reason = "values stay far below 2^53")]
    fn add(&mut self, value: u64, optimum: u64) {
        let ratio = value as f64 / optimum as f64;
        self.worst = if self.instances == 0 { ratio } else { self.worst.min(ratio) };
        self.instances += 1;
        self.sum += ratio;
    }

    fn mean(&self) -> f64 {
        self.sum / f64::from(self.instances)
    }

    fn print(&self, what: &str) {
        println!("{} instances of {what}: mean {:.5}, worst {:.5}", self.instances, self.mean(), self.worst);
    }
}

/// Plays instances of drives of one class that fit, and holds each to its bound: one largest step for each limit.
fn score(instances: u32, mut next: impl FnMut(&mut Dice) -> (Vec<Drive>, Limits)) -> Score {
    let mut dice = Dice::new(3);
    let mut score = Score::default();
    while score.instances < instances {
        let (drives, limits) = next(&mut dice);
        let Some(best) = optimum(&drives, &limits).filter(|best| *best > 0) else { continue };
        let allocation = solve(&drives, &limits);
        let given = chosen(&drives, &allocation);
        assert!(fits(&drives, &given, &limits), "{drives:?} {limits:?}");
        let step = drives.iter().flat_map(|drive| &drive.points).map(|point| point.value).max().expect("a point");
        let limited = 1 + limits.shelves.iter().flatten().count() as u64;
        let apart = best.checked_sub(allocation.value).expect("nothing is better than the optimum");
        assert!(apart <= u64::from(step) * limited, "{apart} apart: {drives:?} {limits:?}");
        score.add(allocation.value, best);
    }
    score
}

#[test]
fn up_to_eight_it_is_within_half_a_percent_on_the_whole() {
    let score = score(3_000, |dice| {
        let count = 2 + dice.below(7);
        let drives: Vec<Drive> = (0..count).map(|_| Drive::plain(random_points(dice, 5))).collect();
        let limits = random_limits(dice, &drives, 0);
        (drives, limits)
    });
    score.print("2 to 8 drives");
    assert!(score.mean() >= 0.995, "{}", score.mean());
}

#[test]
fn in_shelves_it_is_within_half_a_percent_on_the_whole() {
    let score = score(2_000, |dice| {
        let count = 2 + dice.below(7);
        let shelved = |dice: &mut Dice| {
            let points = random_points(dice, 5);
            Drive { shelf: dice.below(3).checked_sub(1).map(narrow), ..Drive::plain(points) }
        };
        let drives: Vec<Drive> = (0..count).map(|_| shelved(dice)).collect();
        let limits = random_limits(dice, &drives, 2);
        (drives, limits)
    });
    score.print("2 to 8 drives in shelves");
    assert!(score.mean() >= 0.995, "{}", score.mean());
}

/// Powers on a grid of half a watt, so that the exact answer is not too long.
#[test]
fn of_24_drives_with_6_states_none_is_far_off() {
    let score = score(150, |dice| {
        let kinds = 1 + dice.below(24);
        let kinds: Vec<Vec<Point>> = (0..kinds)
            .map(|_| {
                (0..6).map(|n| point(n, 500 * (1 + narrow32(dice.below(50))), narrow32(dice.below(5_000)))).collect()
            })
            .collect();
        let pick = |dice: &mut Dice| kinds[usize::from(narrow(dice.below(kinds.len() as u64)))].clone();
        let drives: Vec<Drive> = (0..24).map(|_| Drive::plain(pick(dice))).collect();
        let limits = random_limits(dice, &drives, 0);
        (drives, limits)
    });
    score.print("24 drives with 6 states");
    assert!(score.worst >= 0.96, "{}", score.worst);
}

#[test]
fn the_reference_server_gets_its_optimal_mix() {
    let drives = vec![Drive::plain(WRITING.to_vec()); 24];
    for allowance in (264_000..=640_000).step_by(4_000) {
        let limits = Limits::of(Milliwatts::new(allowance));
        let (value, best) = (solve(&drives, &limits).value, optimum(&drives, &limits).expect("they fit"));
        assert!(value <= best && value * 1000 >= best * 999, "{value} of {best} at {allowance} mW");
    }
    let at_1050_watts = solve(&drives, &Limits::of(Milliwatts::new(1_050_000 - 462_000)));
    let in_state = |state| at_1050_watts.choices.iter().filter(|choice| **choice == Some(state)).count();
    assert_eq!((in_state(0), in_state(1), in_state(2)), (21, 1, 2));
    assert_eq!(at_1050_watts.value, 75_052);
}

#[test]
fn what_does_not_fit_gets_the_cheapest_points_and_says_so() {
    let drives = vec![Drive::plain(WRITING.to_vec()); 24];
    let allocation = solve(&drives, &Limits::of(Milliwatts::new(100_000)));
    assert_eq!(allocation.power, 264_000);
    assert!(allocation.choices.iter().all(|choice| *choice == Some(2)));
}

#[test]
fn a_shelf_that_does_not_fit_leaves_the_others_alone() {
    let in_shelf = |shelf| Drive { shelf: Some(shelf), ..Drive::plain(WRITING.to_vec()) };
    let drives: Vec<Drive> = [0, 0, 1, 1, 1, 1, 1, 1].map(in_shelf).into();
    let mut limits = Limits::of(Milliwatts::new(1_000_000));
    limits.shelves[0] = Some(Milliwatts::new(20_000));
    let allocation = solve(&drives, &limits);
    assert_eq!(allocation.choices, [2, 2, 0, 0, 0, 0, 0, 0].map(Some));
}

#[test]
fn offers_without_points_get_nothing() {
    let mut offers = Offers::<3>::new();
    offers.push(Offer::default());
    offers.push(WRITING.into_iter().collect());
    offers.push(Offer::default());
    let allocation = allocate(&offers, &Limits::of(Milliwatts::new(20_000)));
    assert_eq!(allocation.choices, [None, Some(1), None]);
}

/// Drives of one kind never get less than the best single state would give them.
#[test]
fn it_is_never_below_the_best_uniform_state() {
    let mut dice = Dice::new(4);
    for _ in 0..2_000 {
        let points = random_points(&mut dice, 6);
        let count = 1 + narrow32(dice.below(24));
        let drives = vec![Drive::plain(points.clone()); usize::from(narrow(count.into()))];
        let allowance = narrow32(dice.below(600_000));
        let value = solve(&drives, &Limits::of(Milliwatts::new(allowance))).value;
        let uniform = points.iter().filter(|point| point.power.get() * count <= allowance);
        let best = uniform.map(|point| u64::from(point.value * count)).max().unwrap_or(0);
        assert!(value >= best, "{value} of {best}");
    }
}

/// Whatever is offered, nothing panics: absurd powers and values, more choices than a drive has states.
#[test]
fn absurd_offers_are_survived() {
    let mut dice = Dice::new(5);
    for _ in 0..2_000 {
        let absurd = |dice: &mut Dice| match dice.below(3) {
            0 => u32::MAX,
            1 => 0,
            _ => narrow32(dice.below(1 << 31)),
        };
        let mut offers = Offers::<12>::new();
        for _ in 0..dice.below(14) {
            let count = dice.below(40);
            let points = (0..count).map(|n| point(narrow(n), absurd(&mut dice), absurd(&mut dice)));
            let mut offer: Offer = points.collect();
            offer.shelf = dice.below(12).checked_sub(1).map(narrow);
            offer.priority = narrow(dice.below(3) * 100);
            offer.guarantee = absurd(&mut dice);
            offers.push(offer);
        }
        let mut limits = Limits::of(Milliwatts::new(absurd(&mut dice)));
        limits.shelves[1] = Some(Milliwatts::new(absurd(&mut dice)));
        let allocation = allocate(&offers, &limits);
        assert_eq!(allocation.choices.len(), offers.iter().count());
    }
}
