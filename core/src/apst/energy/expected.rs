//! Thresholds for recorded gaps: the way down with the least energy on them.
//!
//! Between two recorded lengths, leaving later only costs more, as each state takes no more than the one above it. So
//! a best way leaves each state where a recorded gap ends (those that end there stay), or as soon as the floor lets
//! it. These ways are compared from the last state up: what a way costs from a state on depends only on when that
//! state was left for, which leaves few numbers for each state (dynamic programming). Sums over all longer gaps are
//! made once.
//!
//! For s targets and b bins with gaps that is at most s² · b² steps, for each of the 2ˢ sets of targets; and about 16
//! KB of stack.

use heapless::Vec;

use super::descent::{Descent, MILLI, Rest, Step};
use super::envelope;
use super::figures::{Energy, Target};
use crate::apst::gaps::{BINS, Gaps};
use crate::nvme::feature::autonomous_transitions::Transition;

/// The most targets of one way down. Drives with three non-operational states are the deepest known.
const DEEPEST: usize = 3;

/// The most ways to have come into a state: into the first one by each bin, into the next by each and from each of
/// these, …
const WAYS: usize = 1 + DEEPEST * BINS;

/// Recorded gaps with sums from each length on.
pub(super) struct Recorded {
    /// Lengths in microseconds.
    lengths: Vec<u64, BINS>,
    /// How many gaps have this length or a later one.
    count: Vec<u64, BINS>,
    /// How long these are together, in microseconds.
    sum: Vec<u64, BINS>,
}

/// Gaps longer than some length.
#[derive(Clone, Copy)]
struct Longer {
    count: u64,
    sum: u64,
}

impl Recorded {
    pub(super) fn of(gaps: &Gaps) -> Self {
        let mut recorded = Self { lengths: Vec::new(), count: Vec::new(), sum: Vec::new() };
        let (mut count, mut sum) = (0, 0);
        for held in gaps.held().rev() {
            let length = u64::from(held.milliseconds) * MILLI;
            count += u64::from(held.count);
            sum += u64::from(held.count) * length;
            // There are as many places as bins.
            let _ = recorded.lengths.push(length).and(recorded.count.push(count)).and(recorded.sum.push(sum));
        }
        recorded.lengths.reverse();
        recorded.count.reverse();
        recorded.sum.reverse();
        recorded
    }

    /// The recorded lengths in microseconds, from short to long.
    pub(super) fn lengths(&self) -> &[u64] {
        &self.lengths
    }

    /// The longest, in microseconds; 0 if there is none.
    pub(super) fn longest(&self) -> u64 {
        self.lengths.last().copied().unwrap_or(0)
    }

    fn longer(&self, than: u64) -> Longer {
        let first = self.lengths.partition_point(|length| *length <= than);
        match (self.count.get(first), self.sum.get(first)) {
            (Some(&count), Some(&sum)) => Longer { count, sum },
            _ => Longer { count: 0, sum: 0 },
        }
    }

    /// The energy of all gaps while they are in one state of this power, from `since` to `until`.
    fn stay(&self, power: u32, since: u64, until: u64) -> Energy {
        let (begun, left) = (self.longer(since), self.longer(until));
        let ended = (begun.sum - left.sum) - (begun.count - left.count) * since;
        Energy::of(power, u128::from(ended) + u128::from(left.count) * u128::from(until.saturating_sub(since)))
    }

    /// The energy of this many microseconds on the way, for each of so many gaps.
    fn moving(rest: &Rest, micros: u64, count: u64) -> Energy {
        Energy::of(rest.transition, u128::from(micros) * u128::from(count))
    }

    /// What a way down costs on all gaps together.
    pub(super) fn expected(&self, rest: &Rest, descent: &[Step]) -> Energy {
        let (mut since, mut power, mut exit) = (0, rest.power, 0);
        let mut arrived = self.longer(0).count;
        let mut total = Energy::ZERO;
        for step in descent {
            let leaves = since + u64::from(step.wait) * MILLI;
            let left = self.longer(leaves).count;
            total = total + self.stay(power, since, leaves) + Self::moving(rest, exit, arrived - left);
            total = total + Self::moving(rest, step.target.entry, left);
            (since, power, exit, arrived) = (leaves + step.target.entry, step.target.power, step.target.exit, left);
        }
        total + self.stay(power, since, since.max(self.longest())) + Self::moving(rest, exit, arrived)
    }

    /// The way down with the least energy on these gaps, and then, for gaps longer than all of them, on along the
    /// lower envelope, which costs nothing on them. Each wait is at least `floor` milliseconds.
    pub(super) fn descend(&self, rest: &Rest, all: &[Target], floor: u32) -> Descent {
        let targets = self.few(rest, all, floor);
        let mut best = (self.expected(rest, &[]), Descent::new());
        for set in 1..1_u32 << targets.len() {
            let member = |(at, _): &(usize, &Target)| set & 1 << at != 0;
            let chosen = targets.iter().enumerate().filter(member).map(|(_, target)| *target);
            let way: Vec<Target, DEEPEST> = chosen.collect();
            let falls = way.first().is_none_or(|first| first.power < rest.power)
                && way.windows(2).all(|pair| pair[1].power <= pair[0].power);
            if !falls {
                continue;
            }
            if let Some((energy, descent)) = self.through(rest, &way, floor)
                && energy < best.0
            {
                best = (energy, descent);
            }
        }
        self.on(rest, all, best.1, floor)
    }

    /// At most [`DEEPEST`] of the targets, in their order: those that cost least when each is the only one.
    fn few(&self, rest: &Rest, targets: &[Target], floor: u32) -> Vec<Target, DEEPEST> {
        let mut rated: Vec<(Energy, Target), 32> = Vec::new();
        for target in targets {
            let alone = self.through(rest, &[*target], floor).map_or(Energy::MAX, |(energy, _)| energy);
            let _ = rated.push((alone, *target));
        }
        // There are 32 at most: counting who is better takes less flash than sorting.
        let key = |(alone, target): &(Energy, Target)| (*alone, target.state);
        let better = |one| rated.iter().filter(|other| key(other) < key(one)).count();
        rated.iter().filter(|one| better(one) < DEEPEST).map(|(_, target)| *target).collect()
    }

    /// The best way through exactly these targets. `None` where no table can hold one.
    fn through(&self, rest: &Rest, targets: &[Target], floor: u32) -> Option<(Energy, Descent)> {
        let way = Way { recorded: self, rest, targets, floor: u64::from(floor) * MILLI };
        let mut costs: Vec<Energy, WAYS> = (0..way.keys(targets.len())).map(|key| way.for_ever(key)).collect();
        let mut choices: [Vec<u8, WAYS>; DEEPEST] = [const { Vec::new() }; DEEPEST];
        for (stage, choices) in choices.iter_mut().enumerate().take(targets.len()).rev() {
            for key in 0..way.keys(stage) {
                // The entry of this key is not looked at again: later keys look at their own, and at those above
                // `keys(stage)`.
                let (cost, choice) = way.best(stage, key, &costs);
                costs[key] = cost;
                let _ = choices.push(choice);
            }
            costs.truncate(way.keys(stage));
        }
        let energy = costs.first().copied().filter(|energy| *energy < Energy::MAX)?;
        let mut descent = Descent::new();
        let mut key = 0;
        for (stage, target) in targets.iter().enumerate() {
            let choice = choices[stage][key];
            let wait = (way.leaves(stage, key, choice)? - way.arrives(stage, key)) / MILLI;
            descent.push(Step { wait: u32::try_from(wait).ok()?, target: *target }).ok()?;
            key = way.then(stage, key, choice);
        }
        Some((energy, descent))
    }

    /// A way down, continued for gaps longer than all recorded ones.
    fn on(&self, rest: &Rest, targets: &[Target], mut descent: Descent, floor: u32) -> Descent {
        let mut since = descent.iter().map(|step| u64::from(step.wait) * MILLI + step.target.entry).sum::<u64>();
        let mut walk = envelope::walk(rest, descent.last().map(|step| step.target), targets).peekable();
        while let Some((crossing, target)) = walk.next() {
            let is_passed = walk.peek().is_some_and(|(next, _)| *next <= self.longest());
            if is_passed {
                continue;
            }
            let wait = crossing.max(self.longest()).saturating_sub(since).div_ceil(MILLI).max(floor.into());
            let Ok(wait) = u32::try_from(wait) else { break };
            if wait > Transition::LONGEST_IDLE_TIME || descent.push(Step { wait, target }).is_err() {
                break;
            }
            since += u64::from(wait) * MILLI + target.entry;
        }
        descent
    }
}

/// The ways through given targets. Stage 0 is waiting, stage n is the n-th target.
///
/// A *key* says how a stage was come into, as far as it matters: 0, if every state so far was left as soon as it could
/// be; else by the last stage that was left where a recorded gap ends, and by which of them. Choice 0 leaves as soon
/// as it can be, choice n where the n-th recorded length ends.
struct Way<'a> {
    recorded: &'a Recorded,
    rest: &'a Rest,
    targets: &'a [Target],
    /// The shortest wait in microseconds, in whole milliseconds.
    floor: u64,
}

impl Way<'_> {
    fn bins(&self) -> usize {
        self.recorded.lengths.len()
    }

    /// How many keys a stage has.
    fn keys(&self, stage: usize) -> usize {
        1 + stage * self.bins()
    }

    /// The key that a choice at a stage leads to in the next.
    fn then(&self, stage: usize, key: usize, choice: u8) -> usize {
        if choice == 0 { key } else { self.keys(stage) + usize::from(choice) - 1 }
    }

    fn target(&self, stage: usize) -> &Target {
        &self.targets[stage - 1]
    }

    /// Time spent on entering the targets from one stage on, up to but without another.
    fn entries(&self, from: usize, to: usize) -> u64 {
        (from..to).map(|stage| self.target(stage).entry).sum()
    }

    /// When the stage before was left for this one.
    fn left(&self, stage: usize, key: usize) -> u64 {
        match key.checked_sub(1) {
            None => stage as u64 * self.floor + self.entries(1, stage),
            Some(place) => {
                let (by, length) = (place / self.bins() + 1, place % self.bins());
                self.end(by - 1, length) + self.entries(by, stage) + (stage - by) as u64 * self.floor
            }
        }
    }

    /// When this stage is there.
    fn arrives(&self, stage: usize, key: usize) -> u64 {
        if stage == 0 { 0 } else { self.left(stage, key) + self.target(stage).entry }
    }

    /// The first moment at which `stage` can be left, not before gaps of a recorded length are over: a wait is whole
    /// milliseconds, but entering the states before took no whole ones.
    fn end(&self, stage: usize, length: usize) -> u64 {
        let odd = self.entries(1, stage + 1) % MILLI;
        let length = self.recorded.lengths[length];
        length.saturating_sub(odd).div_ceil(MILLI) * MILLI + odd
    }

    /// When a choice leaves a stage. `None`: the wait is shorter than the floor, no longer than it and so choice 0, or
    /// longer than a table holds.
    fn leaves(&self, stage: usize, key: usize, choice: u8) -> Option<u64> {
        let earliest = self.arrives(stage, key) + self.floor;
        let Some(length) = usize::from(choice).checked_sub(1) else { return Some(earliest) };
        let end = self.end(stage, length);
        let longest = u64::from(Transition::LONGEST_IDLE_TIME) * MILLI;
        (end > earliest && end <= earliest - self.floor + longest).then_some(end)
    }

    /// How many gaps are longer than it took to leave for this stage.
    fn arrived(&self, stage: usize, key: usize) -> u64 {
        self.recorded.longer(if stage == 0 { 0 } else { self.left(stage, key) }).count
    }

    /// What entering this stage, staying in it until a moment, and waking up from it costs those that do not go on.
    fn visit(&self, stage: usize, key: usize, until: u64) -> Energy {
        let (power, entry, exit) = match stage {
            0 => (self.rest.power, 0, 0),
            _ => (self.target(stage).power, self.target(stage).entry, self.target(stage).exit),
        };
        let arrived = self.arrived(stage, key);
        let ended = arrived - self.recorded.longer(until).count;
        Recorded::moving(self.rest, entry, arrived)
            + self.recorded.stay(power, self.arrives(stage, key), until)
            + Recorded::moving(self.rest, exit, ended)
    }

    /// What the last stage costs.
    fn for_ever(&self, key: usize) -> Energy {
        let stage = self.targets.len();
        self.visit(stage, key, self.arrives(stage, key).max(self.recorded.longest()))
    }

    /// The least that a stage and all after it cost, and the choice that does it; later before earlier. `costs` are
    /// those of the next stage.
    fn best(&self, stage: usize, key: usize, costs: &[Energy]) -> (Energy, u8) {
        let choices = (0..=u8::try_from(self.bins()).unwrap_or(u8::MAX)).rev();
        let cost = |choice| {
            let until = self.leaves(stage, key, choice)?;
            Some((self.visit(stage, key, until) + costs[self.then(stage, key, choice)], choice))
        };
        choices.filter_map(cost).min_by_key(|(cost, _)| *cost).unwrap_or((Energy::MAX, 0))
    }
}
