//! A search through everything that can happen, breadth first: the first broken rule is found on a shortest way.

use std::collections::HashSet;
use std::fmt::Debug;

/// Something that can be searched.
pub trait Model: Sync {
    /// How things stand.
    type State: Send + Sync;
    /// What can happen.
    type Step: Copy + Debug + Send + Sync;

    /// How it begins.
    ///
    /// # Errors
    /// The rule that is broken already.
    fn start(&self) -> Result<Self::State, Broken>;

    /// All that can happen now.
    fn steps(&self, state: &Self::State) -> Vec<Self::Step>;

    /// What comes of it, judged.
    ///
    /// # Errors
    /// The rule that is broken by it.
    fn take(&self, state: &Self::State, step: Self::Step) -> Result<Self::State, Broken>;

    /// Judges a state that was not met before.
    ///
    /// # Errors
    /// The rule that is broken in it.
    fn judge(&self, state: &Self::State) -> Result<(), Broken>;

    /// States with the same key go on alike, and one of them is enough. Two that differ have the same key by chance
    /// with a probability of one in 2⁶⁴.
    fn key(&self, state: &Self::State) -> u64;
}

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Which.
    pub rule: &'static str,
    /// How.
    pub how: String,
}

/// What a search has seen.
#[derive(Clone, Debug)]
pub struct Search<S> {
    /// How many states that differ.
    pub states: usize,
    /// How many steps were judged.
    pub steps: usize,
    /// Every way of so many steps was judged.
    pub depth: usize,
    /// There is nothing beyond: longer ways lead to no other states.
    pub closed: bool,
    /// A shortest way to a broken rule, and the rule.
    pub broken: Option<(Vec<S>, Broken)>,
}

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Steps from the start.
    pub depth: usize,
    /// Once so many states have been met, the search ends with the depth that is complete.
    pub states: usize,
    /// On so many threads. What is found does not depend on it.
    pub threads: usize,
}

/// A step from a state, and where it leads.
struct Reached<M: Model> {
    key: u64,
    from: usize,
    step: M::Step,
    state: Box<M::State>,
}

/// How a state was reached: by a step from an earlier one.
type Origin<S> = Option<(usize, S)>;

/// States of the search's front are looked at in portions of so many, so that what was reached twice is not kept for
/// long.
const PORTION: usize = 4096;

/// Searches all that can happen.
pub fn explore<M: Model>(model: &M, limits: Limits) -> Search<M::Step> {
    let mut search = Search { states: 0, steps: 0, depth: 0, closed: false, broken: None };
    let start = match model.start().and_then(|start| model.judge(&start).map(|()| start)) {
        Ok(start) => start,
        Err(broken) => return Search { broken: Some((Vec::new(), broken)), ..search },
    };
    let mut seen = HashSet::from([model.key(&start)]);
    let mut origins: Vec<Origin<M::Step>> = vec![None];
    let mut front = vec![(0, Box::new(start))];
    while search.depth < limits.depth && !front.is_empty() {
        let mut next = Vec::new();
        let is_last = search.depth + 1 == limits.depth;
        for portion in front.chunks(PORTION) {
            for (steps, reached) in in_parallel(model, portion, &seen, limits.threads) {
                search.steps += steps;
                for result in reached {
                    match result {
                        Ok(reached) if seen.insert(reached.key) => {
                            // Nothing is asked of the last states but what was judged already.
                            if !is_last {
                                origins.push(Some((reached.from, reached.step)));
                                next.push((origins.len() - 1, reached.state));
                            }
                        }
                        Ok(_) => {}
                        Err((from, step, broken)) => {
                            search.states = seen.len();
                            search.broken = Some((way(&origins, from, step), broken));
                            return search;
                        }
                    }
                }
            }
            if seen.len() > limits.states {
                search.states = seen.len();
                return search;
            }
        }
        search.depth += 1;
        search.closed = next.is_empty() && !is_last;
        front = next;
    }
    search.states = seen.len();
    search
}

/// What some states lead to, in their order: how many steps, and all that is not known already.
#[expect(clippy::type_complexity, reason = "a result or a broken rule, and how many steps it took")]
fn in_parallel<M: Model>(
    model: &M,
    states: &[(usize, Box<M::State>)],
    seen: &HashSet<u64>,
    threads: usize,
) -> Vec<(usize, Vec<Result<Reached<M>, (usize, M::Step, Broken)>>)> {
    let share = states.len().div_ceil(threads.max(1)).max(1);
    std::thread::scope(|scope| {
        let work = states.chunks(share).map(|states| scope.spawn(|| successors(model, states, seen)));
        let work: Vec<_> = work.collect();
        work.into_iter().map(|thread| thread.join().expect("a model does not panic")).collect()
    })
}

#[expect(clippy::type_complexity, reason = "as above")]
fn successors<M: Model>(
    model: &M,
    states: &[(usize, Box<M::State>)],
    seen: &HashSet<u64>,
) -> (usize, Vec<Result<Reached<M>, (usize, M::Step, Broken)>>) {
    let mut reached = Vec::new();
    let mut new = HashSet::new();
    let mut count = 0;
    for (from, state) in states {
        for step in model.steps(state) {
            count += 1;
            let next = model.take(state, step).and_then(|next| {
                let key = model.key(&next);
                let is_new = !seen.contains(&key) && new.insert(key);
                if is_new { model.judge(&next).map(|()| Some((key, next))) } else { Ok(None) }
            });
            match next {
                Ok(Some((key, state))) => {
                    reached.push(Ok(Reached { key, from: *from, step, state: Box::new(state) }));
                }
                Ok(None) => {}
                Err(broken) => {
                    reached.push(Err((*from, step, broken)));
                    return (count, reached);
                }
            }
        }
    }
    (count, reached)
}

/// Goes so many ways by chance, each of so many steps: further than a search gets, and without taking two states for
/// one. The same seed goes the same ways.
///
/// # Errors
/// A way to a broken rule, and the rule.
pub fn stroll<M: Model>(model: &M, seed: u64, ways: usize, steps: usize) -> Result<(), (Vec<M::Step>, Broken)> {
    let mut dice = seed;
    for _ in 0..ways {
        let mut way = Vec::new();
        let mut state = model.start().map_err(|broken| (Vec::new(), broken))?;
        for _ in 0..steps {
            let possible = model.steps(&state);
            let Some(step) = possible.get(below(&mut dice, possible.len())).copied() else { break };
            way.push(step);
            let next = model.take(&state, step).and_then(|next| model.judge(&next).map(|()| next));
            state = next.map_err(|broken| (way.clone(), broken))?;
        }
    }
    Ok(())
}

/// A number below a bound, by splitmix64.
fn below(dice: &mut u64, bound: usize) -> usize {
    *dice = dice.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*dice ^ *dice >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    usize::try_from((mixed ^ mixed >> 31) % (bound.max(1) as u64)).unwrap_or(0)
}

fn way<S: Copy>(origins: &[Origin<S>], mut from: usize, last: S) -> Vec<S> {
    let mut way = vec![last];
    while let Some((earlier, step)) = origins[from] {
        way.push(step);
        from = earlier;
    }
    way.reverse();
    way
}
