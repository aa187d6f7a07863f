//! The best that any assignment of power states could give, exactly, and the best with one state for all.
//!
//! Equal drives: only the number of drives in each state matters, so every split is tried. Groups that do different
//! work are joined by their fronts: of all (watts, GB/s) of a group only those count that no other beats in both.

use wattline_core::profile::{Work, WorkSet};

use crate::check::figures::Figures;

/// Watts and GB/s of some assignment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Watts of the drives.
    pub watts: f64,
    /// Throughput in GB/s.
    pub gb_s: f64,
}

/// Equal drives that do the same work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// How many.
    pub drives: usize,
    /// What they do.
    pub work: Work,
    /// What they count for.
    pub counted: WorkSet,
}

/// One state for all drives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Uniform {
    /// The state.
    pub ps: usize,
    /// Throughput in GB/s.
    pub gb_s: f64,
}

/// Slack for sums of figures that are exact in decimal and not in binary, in watts.
const ROUNDING_W: f64 = 1e-6;

/// The most GB/s that these groups can give within `watts`; `None` where even the lowest states take more, or where
/// some work was never measured.
#[must_use]
pub fn best_gb_s(figures: &Figures<'_>, groups: &[Group], watts: f64) -> Option<f64> {
    let mut joined = vec![Point { watts: 0.0, gb_s: 0.0 }];
    for group in groups {
        let own = front(splits(&states(figures, *group)?, group.drives));
        let sums = joined.iter().flat_map(|a| own.iter().map(move |b| sum(*a, *b)));
        joined = front(sums.collect());
    }
    joined.iter().rev().find(|point| point.watts <= watts + ROUNDING_W).map(|point| point.gb_s)
}

/// The best state among those that all drives can have within `watts`.
#[must_use]
pub fn best_uniform(figures: &Figures<'_>, groups: &[Group], watts: f64) -> Option<Uniform> {
    let of_state = |ps: usize| {
        let points = groups.iter().map(|group| {
            let one = *states(figures, *group)?.get(ps)?;
            Some(times(one, group.drives))
        });
        let all = points.collect::<Option<Vec<_>>>()?.into_iter().fold(Point { watts: 0.0, gb_s: 0.0 }, sum);
        (all.watts <= watts + ROUNDING_W).then_some(Uniform { ps, gb_s: all.gb_s })
    };
    (0..figures.states()).filter_map(of_state).max_by(|a, b| a.gb_s.total_cmp(&b.gb_s))
}

/// One drive of the group in each state.
fn states(figures: &Figures<'_>, group: Group) -> Option<Vec<Point>> {
    let point = |ps| Some(Point { watts: figures.watts(ps, group.counted), gb_s: figures.gb_s(ps, group.work)? });
    (0..figures.states()).map(point).collect()
}

/// Every way to split `drives` over the states.
fn splits(states: &[Point], drives: usize) -> Vec<Point> {
    match states {
        [] => Vec::new(),
        [only] => vec![times(*only, drives)],
        [first, rest @ ..] => {
            let with = |n| splits(rest, drives - n).into_iter().map(move |others| sum(times(*first, n), others));
            (0..=drives).flat_map(with).collect()
        }
    }
}

/// Those that no other beats in both, by rising watts and rising GB/s.
fn front(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_by(|a, b| a.watts.total_cmp(&b.watts).then(b.gb_s.total_cmp(&a.gb_s)));
    let mut kept: Vec<Point> = Vec::new();
    for point in points {
        if kept.last().is_none_or(|last| point.gb_s > last.gb_s) {
            kept.push(point);
        }
    }
    kept
}

fn sum(a: Point, b: Point) -> Point {
    Point { watts: a.watts + b.watts, gb_s: a.gb_s + b.gb_s }
}

fn times(point: Point, n: usize) -> Point {
    Point { watts: point.watts * n as f64, gb_s: point.gb_s * n as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::Article;

    fn writers(drives: usize) -> Group {
        Group { drives, work: Work::SequentialWrite, counted: WorkSet::of(Work::SequentialWrite) }
    }

    #[test]
    fn the_optimum_at_the_cap_is_the_known_one() {
        let article = Article::embedded();
        let figures = Figures::new(&article, 1.125, true);
        let known = [
            (760.0, 23.0),
            (800.0, 30.3),
            (825.0, 35.0),
            (858.0, 40.7),
            (900.0, 48.2),
            (950.0, 57.0),
            (1000.0, 66.3),
            (1050.0, 75.1),
        ];
        for (cap_w, gb_s) in known {
            let best = best_gb_s(&figures, &[writers(24)], cap_w - 462.0).unwrap();
            assert!((best - gb_s).abs() < 0.05, "{cap_w} W: {best}");
            let uniform = best_uniform(&figures, &[writers(24)], cap_w - 462.0).unwrap();
            assert!(uniform.gb_s <= best + 1e-9, "{uniform:?}");
        }
        assert_eq!(best_uniform(&figures, &[writers(24)], 588.0).map(|uniform| uniform.ps), Some(1));
        assert_eq!(best_gb_s(&figures, &[writers(24)], 263.9), None);
        assert!(best_gb_s(&figures, &[writers(24)], 264.0).is_some());
    }

    #[test]
    fn joined_groups_are_as_good_as_one() {
        let article = Article::embedded();
        let figures = Figures::new(&article, 1.125, true);
        for watts in [300.0, 365.5, 450.0, 588.0] {
            let one = best_gb_s(&figures, &[writers(24)], watts).unwrap();
            let two = best_gb_s(&figures, &[writers(10), writers(14)], watts).unwrap();
            assert!((one - two).abs() < 1e-9, "{watts}: {one} {two}");
        }
    }

    #[test]
    fn work_that_was_never_measured_has_no_optimum() {
        let article = Article::embedded();
        let figures = Figures::new(&article, 1.125, true);
        let random = Group { drives: 2, work: Work::RandomRead, counted: WorkSet::ALL };
        assert_eq!(best_gb_s(&figures, &[random], 1e6), None);
        assert_eq!(best_uniform(&figures, &[random], 1e6), None);
    }
}
