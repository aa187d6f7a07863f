//! Every policy on every family of gaps and every power table, and what follows from it.

use wattline_core::apst::energy::{self, PerMille};
use wattline_core::apst::gaps::Gaps;
use wattline_core::apst::quirk::Effects;
use wattline_core::apst::{Tolerance, linux, windows};
use wattline_core::nvme::PowerState;
use wattline_core::nvme::feature::autonomous_transitions::Table;
use wattline_core::units::Microseconds;

use super::catalogue::PowerTable;
use super::drive::{Sleeper, SleeperState, Spent, Truth};
use super::families::Family;
use super::walk::{Walk, clairvoyant, walk};
use crate::time::{Micros, SECOND, micros, seconds};

/// The bound on latency that every policy is given: Linux' default.
pub const TOLERANCE: Microseconds = Microseconds::from_millis(100);

/// What builds a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// No transitions.
    None,
    /// As the kernel, with its defaults.
    Linux,
    /// As Windows, balanced, on the mains.
    Windows,
    /// Break-even times.
    Energy,
    /// Break-even times from a histogram of the recorded gaps.
    EnergyWithHistogram,
    /// Not a table: knows each gap in advance.
    Clairvoyant,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::None, Self::Linux, Self::Windows, Self::Energy, Self::EnergyWithHistogram, Self::Clairvoyant];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Linux => "linux",
            Self::Windows => "windows",
            Self::Energy => "energy",
            Self::EnergyWithHistogram => "energy, histogram",
            Self::Clairvoyant => "clairvoyant",
        }
    }

    /// Its table. The clairvoyant has none.
    #[must_use]
    pub fn table(self, drive: &PowerTable, gaps: &Gaps) -> Table {
        let drive = drive.drive();
        let tolerance = Tolerance::AtMost(TOLERANCE);
        let energy = |gaps| energy::build(&drive, tolerance, Effects::NONE, &energy::Parameters::default(), gaps).table;
        match self {
            Self::None | Self::Clairvoyant => Table::EMPTY,
            Self::Linux => linux::build(&drive, tolerance, Effects::NONE, &linux::Parameters::default()).table,
            Self::Windows => {
                let (scheme, source) = (windows::Scheme::Balanced, windows::Source::Ac);
                windows::build(&drive, Effects::NONE, &windows::Parameters { scheme, source, wear: None }).table
            }
            Self::Energy => energy(None),
            Self::EnergyWithHistogram => energy(Some(gaps)),
        }
    }
}

/// Which gaps a result is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Those that the histogram was made of.
    Recorded,
    /// Others of the same family.
    HeldOut,
}

/// One policy's result on one family's gaps with one drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Result {
    /// Which drive, by its place in [`Study::drives`].
    pub drive: usize,
    /// Which family.
    pub family: Family,
    /// Which policy.
    pub policy: Policy,
    /// Which gaps.
    pub part: Part,
    /// Which energy of transitions is true.
    pub truth: Truth,
    /// Mean power over the gaps, with what the exits after them take.
    pub milliwatts: f64,
    /// Energy relative to the clairvoyant's.
    pub of_clairvoyant: f64,
    /// Mean wait of a command, in milliseconds.
    pub mean_wait_ms: f64,
    /// Longest wait of a command, in milliseconds.
    pub longest_wait_ms: f64,
    /// How often the drive was woken in an hour of gaps.
    pub wakes_per_hour: f64,
}

/// What the energy policy without a histogram promises for a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promise {
    /// How many states are the best one for some gap, for somebody who knows it. With one, nothing lies on the way.
    pub useful: usize,
    /// How many of these are on the way down.
    pub targets: usize,
    /// The most that it costs on any gaps, relative to the clairvoyant.
    pub worst: PerMille,
}

/// Everything.
#[derive(Clone, Debug)]
pub struct Study {
    /// The drives that report enough.
    pub drives: Vec<PowerTable>,
    /// The others.
    pub left_out: Vec<PowerTable>,
    /// The promise for each drive.
    pub promises: Vec<Promise>,
    /// All results.
    pub results: Vec<Result>,
    /// For each drive and family: energy on what the histogram holds, in tenths of a nanojoule, of the table made from
    /// it and of Linux'.
    pub held: Vec<(usize, Family, u128, u128)>,
    /// How many gaps each family has in each part.
    pub gaps: usize,
    /// The seed of the recorded gaps; the next one is that of the others.
    pub seed: u64,
}

/// Gaps of one family.
struct Sequences {
    family: Family,
    recorded: Vec<Micros>,
    held_out: Vec<Micros>,
    histogram: Gaps,
}

impl Sequences {
    fn new(family: Family, seed: u64, count: usize) -> Self {
        let (recorded, held_out) = (family.gaps(seed, count), family.gaps(seed.wrapping_add(1), count));
        let mut histogram = Gaps::new();
        recorded.iter().for_each(|gap| histogram.record(Microseconds::new(*gap)));
        Self { family, recorded, held_out, histogram }
    }
}

/// Every policy, on so many gaps of every family, for every drive.
#[must_use]
pub fn run(tables: Vec<PowerTable>, seed: u64, gaps: usize) -> Study {
    let is_known = |table: &PowerTable| match Sleeper::new(&table.drive()) {
        Some(sleeper) => sleeper.targets(Microseconds::MAX).count() == count_sleeping(table),
        None => false,
    };
    let (drives, left_out): (Vec<_>, Vec<_>) = tables.into_iter().partition(is_known);
    let families = Family::ALL.map(|family| Sequences::new(family, seed, gaps));
    let promises = drives.iter().map(promise).collect();
    let mut study = Study { drives, left_out, promises, results: Vec::new(), held: Vec::new(), gaps, seed };
    for at in 0..study.drives.len() {
        if let Some(sleeper) = Sleeper::new(&study.drives[at].drive()) {
            families.iter().for_each(|sequences| study.add(at, &sleeper, sequences));
        }
    }
    study
}

fn count_sleeping(table: &PowerTable) -> usize {
    table.states.iter().filter(|state| state.non_operational).count()
}

fn promise(drive: &PowerTable) -> Promise {
    let table = Policy::Energy.table(drive, &Gaps::new());
    let mut targets: Vec<_> = table.transitions().map(|(_, to)| to.target()).collect();
    targets.sort_unstable();
    targets.dedup();
    let (drive, tolerance) = (drive.drive(), Tolerance::AtMost(TOLERANCE));
    let worst = energy::worst_ratio(&drive, &table, PowerState::PS0, tolerance, Effects::NONE);
    let useful = Sleeper::new(&drive).map_or(0, |sleeper| useful(&sleeper));
    Promise { useful, targets: targets.len(), worst: worst.unwrap_or(PerMille(0)) }
}

/// Tries gaps from a microsecond to half a year, 2 % apart.
fn useful(sleeper: &Sleeper) -> usize {
    let gaps = std::iter::successors(Some(1.0_f64), |gap| Some(gap * 1.02)).take_while(|gap| *gap < 1.6e13);
    let mut best: Vec<SleeperState> = Vec::new();
    for gap in gaps {
        let gap = micros(gap / SECOND as f64);
        let cost = |state: &SleeperState| {
            let in_states = u128::from(gap.saturating_sub(state.entry)) * u128::from(state.power);
            sleeper.thirds(Spent { in_states, moving: state.entry + state.exit }, Truth::Assumed)
        };
        let staying = Spent { in_states: u128::from(gap) * u128::from(sleeper.resting().power), moving: 0 };
        let cheapest = sleeper.targets(TOLERANCE).min_by_key(cost);
        best.extend(cheapest.filter(|state| cost(state) < sleeper.thirds(staying, Truth::Assumed)));
        best.dedup();
    }
    best.len()
}

impl Study {
    fn add(&mut self, at: usize, sleeper: &Sleeper, sequences: &Sequences) {
        let drive = &self.drives[at];
        let tables = Policy::ALL.map(|policy| policy.table(drive, &sequences.histogram));
        let held = |table| energy::expected(&drive.drive(), table, PowerState::PS0, &sequences.histogram);
        if let (Some(ours), Some(linux)) = (held(&tables[4]), held(&tables[1])) {
            self.held.push((at, sequences.family, ours.tenths_of_nanojoule(), linux.tenths_of_nanojoule()));
        }
        for (part, gaps) in [(Part::Recorded, &sequences.recorded), (Part::HeldOut, &sequences.held_out)] {
            let walks = tables.map(|table| walk(sleeper, &table, gaps, None));
            for truth in Truth::ALL {
                let known = clairvoyant(sleeper, gaps, TOLERANCE, truth);
                for (policy, walk) in Policy::ALL.into_iter().zip(&walks) {
                    let walk = if policy == Policy::Clairvoyant { &known } else { walk };
                    let family = sequences.family;
                    self.results.push(result(sleeper, (at, family, policy, part, truth), walk, &known));
                }
            }
        }
    }

    /// The results of some kind.
    pub fn of(
        &self,
        family: Family,
        policy: Policy,
        part: Part,
        truth: Truth,
    ) -> impl Iterator<Item = &Result> + Clone {
        self.results.iter().filter(move |result| {
            (result.family, result.policy, result.part, result.truth) == (family, policy, part, truth)
        })
    }
}

fn result(
    sleeper: &Sleeper,
    (drive, family, policy, part, truth): (usize, Family, Policy, Part, Truth),
    walk: &Walk,
    known: &Walk,
) -> Result {
    let joules = sleeper.joules(walk.spent, truth);
    Result {
        drive,
        family,
        policy,
        part,
        truth,
        milliwatts: joules * 1000.0 / seconds(walk.idle),
        of_clairvoyant: joules / sleeper.joules(known.spent, truth),
        mean_wait_ms: seconds(walk.waited) * 1000.0 / walk.commands as f64,
        longest_wait_ms: seconds(walk.longest_wait) * 1000.0,
        wakes_per_hour: walk.wakes.len() as f64 / seconds(walk.idle) * 3600.0,
    }
}
