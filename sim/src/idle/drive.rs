//! A drive as a sleeper: what it takes where, and what it does while nobody sends it a command.
//!
//! ```text
//!              ITPT over               entered, ITPT over
//!   resting ───────────────▶ entering ───────────────────▶ entering the next ─▶ …
//!      ▲                        │ command: the rest of the entry, then the exit
//!      └────────────────────────┴───────────────────────────────────────────────┘
//! ```
//!
//! The idle time of an entry of the table counts from when its state is there, in whole milliseconds; entries and exits
//! take the latencies of the descriptor, which are maxima, and a power of their own.
//!
//! Both walks use it: that through gaps ([`super::walk`]), and a drive of a whole server
//! ([`crate::model::ssd`]).

use wattline_core::apst::{Drive, energy};
use wattline_core::nvme::PowerState;
use wattline_core::nvme::feature::autonomous_transitions::Table;
use wattline_core::units::Microseconds;

use crate::time::Micros;

/// One power state of a sleeper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SleeperState {
    /// Tenths of a milliwatt while idle in it.
    pub power: u64,
    /// Microseconds from leaving for it to being in it; 0 for operational states.
    pub entry: Micros,
    /// Microseconds from a command to serving it; 0 for operational states.
    pub exit: Micros,
    /// Non-operational.
    pub sleeps: bool,
}

/// A drive that waits in one operational state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sleeper {
    /// By number. `None`: the drive does not report enough of it to say what it costs.
    states: Vec<Option<SleeperState>>,
    rest: usize,
    /// Tenths of a milliwatt on the way from one state to another, as assumed.
    moving: u64,
}

/// What was spent: what a place took, and for how long the drive was on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Tenths of a nanojoule in states.
    pub in_states: u128,
    /// Microseconds between states.
    pub moving: Micros,
}

/// Where a drive is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Number of its state, or of the one that it is entering.
    pub state: usize,
    /// Microseconds until it is there.
    pub pending: Micros,
}

/// True energy of transitions in thirds of what is assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// A third.
    Third,
    /// As assumed.
    Assumed,
    /// Three times as much.
    Triple,
}

impl Truth {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Assumed, Self::Third, Self::Triple];

    const fn thirds(self) -> u128 {
        match self {
            Self::Third => 1,
            Self::Assumed => 3,
            Self::Triple => 9,
        }
    }
}

impl Sleeper {
    /// The drive of these descriptors, resting in PS0. `None` where it does not report what is needed to say what that
    /// costs.
    #[must_use]
    pub fn new(drive: &Drive<'_>) -> Option<Self> {
        let rest = PowerState::PS0;
        let state = |(number, descriptor): (PowerState, &wattline_core::nvme::PowerStateDescriptor)| {
            let power = energy::idle(drive, number)?.tenths_of_milliwatt.into();
            let latencies = if descriptor.non_operational {
                (descriptor.entry_latency?.get(), descriptor.exit_latency?.get())
            } else {
                (0, 0)
            };
            Some(SleeperState { power, entry: latencies.0, exit: latencies.1, sleeps: descriptor.non_operational })
        };
        let states: Vec<_> = drive.numbered().map(state).collect();
        let waiting = states.first().copied().flatten().filter(|state| !state.sleeps)?;
        let moving = u64::from(energy::in_transition(drive)?.tenths_of_milliwatt).max(waiting.power);
        Some(Self { states, rest: rest.index(), moving })
    }

    /// Where it is right after a command.
    #[must_use]
    pub fn awake(&self) -> Place {
        Place { state: self.rest, pending: 0 }
    }

    /// The state in which it waits for work.
    ///
    /// # Panics
    ///
    /// Never: the drive was made of one that has it.
    #[must_use]
    pub fn resting(&self) -> SleeperState {
        self.state(self.rest)
    }

    /// Its non-operational states, as far as it reports what they cost, whose latency is at most `tolerance`.
    pub fn targets(&self, tolerance: Microseconds) -> impl Iterator<Item = SleeperState> {
        let states = self.states.iter().flatten().copied();
        states.filter(move |state| state.sleeps && state.entry + state.exit <= tolerance.get())
    }

    /// Whether it reports enough of every state that a table names.
    #[must_use]
    pub fn knows(&self, table: &Table) -> bool {
        table.transitions().all(|(_, to)| self.states.get(to.target().index()).is_some_and(Option::is_some))
    }

    /// Whether it has this non-operational state, and reports enough of it.
    #[must_use]
    pub fn has(&self, number: usize) -> bool {
        self.states.get(number).copied().flatten().is_some_and(|state| state.sleeps)
    }

    fn state(&self, number: usize) -> SleeperState {
        self.states[number].expect("a table that the drive knows")
    }

    /// A stretch of this length without a command, which finds the drive at a place, just after its idle clock was
    /// restarted.
    #[must_use]
    pub fn left_alone(&self, table: &Table, from: Place, length: Micros) -> (Place, Spent) {
        let mut spent = Spent::default();
        let mut place = from;
        let mut left = length;
        loop {
            let next = self.next(table, place);
            let staying = next.map_or(left, |(after, _)| after.min(left));
            left -= staying;
            if place.pending > 0 {
                spent.moving += staying;
                place.pending -= staying;
            } else {
                spent.in_states += u128::from(staying) * u128::from(self.state(place.state).power);
            }
            match next {
                Some((_, next)) if left > 0 => place = next,
                _ => return (place, spent),
            }
        }
    }

    /// Where a drive goes from a place if no command comes, and after how long; `None`: it stays.
    #[must_use]
    pub fn next(&self, table: &Table, place: Place) -> Option<(Micros, Place)> {
        if place.pending > 0 {
            return Some((place.pending, Place { pending: 0, ..place }));
        }
        let next = table.transition(PowerState::new(u8::try_from(place.state).ok()?)?)?;
        let state = next.target().index();
        Some((next.idle_time().get(), Place { state, pending: self.state(state).entry }))
    }

    /// What the drive takes at a place, in watts.
    #[must_use]
    pub fn watts(&self, place: Place) -> f64 {
        if place.pending > 0 { self.moving_w() } else { self.state(place.state).power as f64 / 1e4 }
    }

    /// What it takes on the way from one state to another, in watts.
    #[must_use]
    pub fn moving_w(&self) -> f64 {
        self.moving as f64 / 1e4
    }

    /// How long a command waits that finds the drive at a place.
    #[must_use]
    pub fn wait(&self, place: Place) -> Micros {
        place.pending + self.state(place.state).exit
    }

    /// Whether a place is a non-operational state or the way to one.
    #[must_use]
    pub fn sleeps(&self, place: Place) -> bool {
        self.state(place.state).sleeps
    }

    /// What was spent, in joules.
    #[must_use]
    pub fn joules(&self, spent: Spent, truth: Truth) -> f64 {
        self.thirds(spent, truth) as f64 / 3e10
    }

    /// What was spent, in thirds of a tenth of a nanojoule.
    #[must_use]
    pub fn thirds(&self, spent: Spent, truth: Truth) -> u128 {
        spent.in_states * 3 + u128::from(spent.moving) * u128::from(self.moving) * truth.thirds()
    }
}

impl std::ops::AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        self.in_states += other.in_states;
        self.moving += other.moving;
    }
}
