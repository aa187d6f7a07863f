//! Gap after gap: what a drive spends, how often it is woken and by what, and how long commands wait.
//!
//! **Polls are charged.** Reading a temperature or a feature is a command: it restarts the drive's idle clock, and most
//! drives leave a non-operational state for it. So a poll costs the exit, the power of waiting until the drive goes to
//! sleep again, and the next entry. Whatever wakes a drive is recorded with its cause.

use wattline_core::nvme::feature::autonomous_transitions::Table;
use wattline_core::units::Microseconds;

use super::drive::{Sleeper, Spent, Truth};
use crate::time::Micros;

/// Somebody who looks at the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polls {
    /// From one look to the next, from the start of the run on.
    pub every: Micros,
    /// How long the drive is busy with one, at the power of waiting.
    pub takes: Micros,
    /// Whether it leaves a non-operational state for it. Where not, only its idle clock starts again.
    pub wakes: bool,
}

/// What a drive was woken by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Work: the end of a gap.
    Work,
    /// A poll.
    Poll,
    /// The governor: it reads or sets a power state.
    Governor,
}

/// A drive was woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wake {
    /// When the command came.
    pub at: Micros,
    /// Which kind of command.
    pub cause: Cause,
    /// How long it waited.
    pub waited: Micros,
}

/// What came of a sequence of gaps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// What was spent.
    pub spent: Spent,
    /// How long the gaps were together.
    pub idle: Micros,
    /// How many commands of work ended a gap.
    pub commands: u64,
    /// How long these waited together.
    pub waited: Micros,
    /// How long the one waited that waited longest.
    pub longest_wait: Micros,
    /// Every time that the drive was woken.
    pub wakes: Vec<Wake>,
}

/// A drive under a table, through gaps, with and without polls.
///
/// # Panics
///
/// If the table names a state of which the drive does not report enough ([`Sleeper::knows`]).
#[must_use]
pub fn walk(sleeper: &Sleeper, table: &Table, gaps: &[Micros], polls: Option<Polls>) -> Walk {
    let mut walk = Walk::default();
    let mut now = 0;
    let mut next_poll = polls.map_or(Micros::MAX, |polls| polls.every);
    for gap in gaps {
        let end = now + gap;
        let mut place = sleeper.awake();
        while let Some(polls) = polls.filter(|_| next_poll < end) {
            let at = next_poll.max(now);
            next_poll += polls.every;
            let (there, spent) = sleeper.left_alone(table, place, at - now);
            walk.spent += spent;
            (now, place) = (at, there);
            if !sleeper.sleeps(place) || polls.wakes {
                walk.wake(sleeper, place, at, Cause::Poll);
                let serving = u128::from(polls.takes) * u128::from(sleeper.resting().power);
                walk.spent += Spent { in_states: serving, moving: sleeper.wait(place) };
                now += sleeper.wait(place) + polls.takes;
                place = sleeper.awake();
            }
        }
        // Work that comes while the drive wakes up for a poll waits for that.
        let (there, spent) = sleeper.left_alone(table, place, end.saturating_sub(now));
        walk.spent += spent;
        walk.spent.moving += sleeper.wait(there);
        walk.wake(sleeper, there, end, Cause::Work);
        let waited = now.saturating_sub(end) + sleeper.wait(there);
        walk.idle += gap;
        walk.commands += 1;
        walk.waited += waited;
        walk.longest_wait = walk.longest_wait.max(waited);
        now = end + waited;
    }
    walk
}

impl Walk {
    fn wake(&mut self, sleeper: &Sleeper, place: super::drive::Place, at: Micros, cause: Cause) {
        if sleeper.sleeps(place) {
            self.wakes.push(Wake { at, cause, waited: sleeper.wait(place) });
        }
    }
}

/// Somebody who knows each gap in advance, and at its beginning stays or goes to the best state whose latency is at
/// most `tolerance`; who does not wake the drive before the command, so that no state beyond the bound is of use.
#[must_use]
pub fn clairvoyant(sleeper: &Sleeper, gaps: &[Micros], tolerance: Microseconds, truth: Truth) -> Walk {
    let mut walk = Walk::default();
    for gap in gaps {
        let stay = Spent { in_states: u128::from(*gap) * u128::from(sleeper.resting().power), moving: 0 };
        let options = sleeper.targets(tolerance).map(|state| {
            let in_states = u128::from(gap.saturating_sub(state.entry)) * u128::from(state.power);
            (Spent { in_states, moving: state.entry + state.exit }, state.entry.saturating_sub(*gap) + state.exit)
        });
        let best = options.chain([(stay, 0)]).min_by_key(|(spent, _)| sleeper.thirds(*spent, truth));
        let (spent, waited) = best.unwrap_or((stay, 0));
        walk.spent += spent;
        walk.idle += gap;
        walk.commands += 1;
        walk.waited += waited;
        walk.longest_wait = walk.longest_wait.max(waited);
        if waited > 0 {
            walk.wakes.push(Wake { at: walk.idle, cause: Cause::Work, waited });
        }
    }
    walk
}
