//! Thresholds without knowing the gaps: down along the lower envelope of what the states cost.
//!
//! Against the gap's length, each state is a line: what going there and back costs, plus its power. Somebody who knows
//! the length pays the lowest of the lines. Who does not know it waits until the time at which the next line becomes
//! the lower one: then what was spent on waiting equals what going costs, as with rented and bought skis. On a way of
//! one target this costs at most twice as much as knowing ([`worst_ratio`] says how much, exactly).
//!
//! On a way of m targets every entry on the way is paid besides, so that the bound is m + 1: waiting costs at most the
//! envelope, and so does each entry. States on the way that make this ratio worse are left out. (For any system of
//! states some way exists with 3 + 2√2, or 5.83: Augustine, Irani and Swamy, "Optimal power-down strategies", 2004.)
//! The last state is never left out: what is idle for days should end up with the least power.

use super::descent::{Descent, MILLI, Rest, Step};
use super::figures::Target;
use crate::nvme::feature::autonomous_transitions::Transition;
use crate::units::Microseconds;

/// A gap that stands for an endless one, in microseconds: 35 years.
const ENDLESS: u64 = 1 << 50;

/// Energy relative to that of somebody who knows each gap in advance, in thousandths: 2000 is twice as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PerMille(pub u64);

/// From which length of the gap on `target` costs no more than `from`, or than waiting (`None`). `None` if from none.
pub(super) fn break_even(rest: &Rest, from: Option<&Target>, target: &Target) -> Option<Microseconds> {
    // A line's cost at the length 0, were it straight: the time of the entry is not spent at the state's own power.
    let line = |target: &Target| {
        let moving = i128::from(rest.transition) * (i128::from(target.entry) + i128::from(target.exit));
        moving - i128::from(target.power) * i128::from(target.entry)
    };
    let (power, cost) = from.map_or((rest.power, 0), |from| (from.power, line(from)));
    let saved = i128::from(power.checked_sub(target.power).filter(|saved| *saved > 0)?);
    let more = (line(target) - cost).max(0);
    Some(Microseconds::new(u64::try_from((more + saved - 1) / saved).ok()?))
}

/// The targets along the lower envelope, each with the length of the gap from which it is the cheapest.
pub(super) fn walk<'a>(
    rest: &'a Rest,
    from: Option<Target>,
    targets: &'a [Target],
) -> impl Iterator<Item = (u64, Target)> + 'a {
    let mut here = from;
    core::iter::from_fn(move || {
        let at = here.map_or(rest.state, |target| target.state);
        let below = targets.iter().filter(|target| target.state > at);
        let lines = below.filter_map(|target| Some((break_even(rest, here.as_ref(), target)?.get(), *target)));
        let next = lines.min_by_key(|(from, target)| (*from, target.power))?;
        here = Some(next.1);
        Some(next)
    })
}

/// The way down for a gap of unknown length. Each wait is at least `floor` milliseconds.
pub(super) fn descend(rest: &Rest, targets: &[Target], floor: u32) -> Descent {
    let mut way: heapless::Vec<Target, 32> = walk(rest, None, targets).map(|(_, target)| target).collect();
    let mut best = timed(rest, targets, &way, floor);
    // One state after the other is left out, as long as that helps.
    loop {
        let without = |at: usize| {
            let mut fewer = way.clone();
            fewer.remove(at);
            let descent = timed(rest, targets, &fewer, floor);
            (ratio(rest, targets, &descent), at, descent)
        };
        let fewer = (0..way.len().saturating_sub(1)).map(without).min_by_key(|(ratio, ..)| *ratio);
        match fewer {
            Some((better, at, descent)) if better < ratio(rest, targets, &best) => {
                way.remove(at);
                best = descent;
            }
            _ => return best,
        }
    }
}

/// The way through these targets, left for where their lines cross. Of the two milliseconds beside such a point it is
/// the one with the better ratio.
fn timed(rest: &Rest, targets: &[Target], way: &[Target], floor: u32) -> Descent {
    let mut descent = Descent::new();
    let (mut since, mut from) = (0, None);
    for target in way {
        let Some(crossing) = break_even(rest, from, target) else { break };
        let wait = crossing.get().saturating_sub(since).div_ceil(MILLI).max(floor.into());
        let Ok(wait) = u32::try_from(wait) else { break };
        if wait > Transition::LONGEST_IDLE_TIME || descent.push(Step { wait, target: *target }).is_err() {
            break;
        }
        since += u64::from(wait) * MILLI + target.entry;
        from = Some(target);
    }
    for at in 0..descent.len() {
        if descent[at].wait > floor {
            let mut earlier = descent.clone();
            earlier[at].wait -= 1;
            if ratio(rest, targets, &earlier) < ratio(rest, targets, &descent) {
                descent = earlier;
            }
        }
    }
    descent
}

/// The most that a way down costs, for any length of a gap, relative to going at once to the best of `targets`.
///
/// Both costs are straight between the lengths at which something begins, so the ratio is largest at one of these, or
/// in the microsecond after it.
pub(super) fn ratio(rest: &Rest, targets: &[Target], descent: &[Step]) -> PerMille {
    let mut worst = 0;
    let mut look = |gap: u64| {
        for gap in [gap, gap + 1] {
            let known = rest.clairvoyant(targets, gap).tenths_of_nanojoule();
            let spent = rest.spent(descent, gap).tenths_of_nanojoule();
            if known > 0 {
                worst = worst.max((spent * 1000).div_ceil(known));
            }
        }
    };
    look(ENDLESS);
    let mut since = 0;
    for step in descent {
        let leaves = since + u64::from(step.wait) * MILLI;
        since = leaves + step.target.entry;
        look(leaves);
        look(since);
    }
    for target in targets {
        look(target.entry);
        for from in core::iter::once(None).chain(targets.iter().map(Some)) {
            if let Some(crossing) = break_even(rest, from, target) {
                look(crossing.get().saturating_sub(1));
            }
        }
    }
    PerMille(u64::try_from(worst).unwrap_or(u64::MAX))
}
