//! The result of a run: what was measured, what was expected, and whether it held. JSON and tables come from this.

use serde::Serialize;
use wattline_core::profile::WorkSet;

use crate::calibration::Calibration;
use crate::check::figures::Figures;
use crate::check::ledger::{self, Terms};
use crate::check::shed::{self, Shed};
use crate::check::window::Energy;
use crate::check::{Check, endurance, verdicts};
use crate::host;
use crate::optimum::{self, Group};
use crate::policy::Wrong;
use crate::rows::{self, Row};
use crate::scenario::Scenario;
use crate::scenario::schema::GovernorSection;
use crate::setup;
use crate::time::{Micros, micros, seconds};
use crate::trace::Trace;
use crate::world::World;

/// Where a profile says nothing of settling: 0.1 s for an entry latency that is not reported, and the cap's window.
const UNREPORTED_SETTLING: Micros = 1_100_000;

/// The result of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Which scenario.
    pub scenario: String,
    /// With which seed.
    pub seed: u64,
    /// The one thing that whoever governed did wrong; `None`: it was the real governor.
    pub wrong: Option<&'static str>,
    /// What had to hold.
    pub checks: Vec<Check>,
    /// The reference experiment's rows, where the scenario repeats them.
    pub rows: Vec<Row>,
    /// What a governed run came to.
    pub governed: Option<Governed>,
    /// What a run without rows and governor came to.
    pub ungoverned: Option<Ungoverned>,
    /// The best that one state for all drives could give within cap − margin, by what the drives count for in this run.
    pub uniform: Option<Uniform>,
    /// The same by measured figures.
    pub uniform_measured: Option<Uniform>,
    /// The best that any assignment could give.
    pub optimum: Option<Optimum>,
}

/// What a governed run came to. Means cover the last four fifths.
#[derive(Clone, Debug, Serialize)]
pub struct Governed {
    /// The cap at the start, in watts.
    pub cap_w: f64,
    /// What was kept free below it, in watts.
    pub margin_w: f64,
    /// Mean of the true watts.
    pub mean_w: f64,
    /// The highest mean of true watts over a second after `shed_ms`.
    pub max_1s_w: Option<f64>,
    /// The highest mean of true watts over a second of the whole run.
    pub max_1s_w_all: Option<f64>,
    /// Mean throughput in GB/s.
    pub gb_s: f64,
    /// Time until the first shedding was over, in milliseconds; `None`: it never was.
    pub shed_ms: Option<f64>,
    /// Mean throughput of each drive in GB/s.
    pub drive_gb_s: Vec<f64>,
    /// Changes of power state for each drive and hour.
    pub transitions_per_drive_hour: f64,
    /// Every disturbance and what became of it.
    pub sheds: Vec<Shed>,
    /// Alarms that were raised and cleared.
    pub alarms: Vec<AlarmRecord>,
}

/// An alarm that was raised or cleared.
#[derive(Clone, Debug, Serialize)]
pub struct AlarmRecord {
    /// When, in seconds from the start.
    pub at_s: f64,
    /// It began or got worse; `false`: it is over.
    pub raised: bool,
    /// In words.
    pub alarm: String,
}

/// What a run without a governor came to. Means cover the last four fifths.
#[derive(Clone, Debug, Serialize)]
pub struct Ungoverned {
    /// Mean of the true watts.
    pub mean_w: f64,
    /// Mean throughput in GB/s.
    pub gb_s: f64,
    /// Mean throughput of each drive in GB/s.
    pub drive_gb_s: Vec<f64>,
}

/// One state for all drives.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Uniform {
    /// The state.
    pub ps: usize,
    /// Throughput in GB/s.
    pub gb_s: f64,
}

/// The exact optimum over all assignments of states, by the reference's figures.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Optimum {
    /// Within cap − margin, by what the drives count for in this run, in GB/s.
    pub gb_s: Option<f64>,
    /// Within cap − margin by measured figures, which the governor may use only where it trusts them, in GB/s.
    pub gb_s_measured: Option<f64>,
    /// Within the cap itself, by measured figures, in GB/s.
    pub gb_s_at_cap: Option<f64>,
}

impl Outcome {
    /// Whether everything held that had to.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.checks.iter().all(|check| check.ok)
    }
}

/// Runs a scenario; `progress` hears of each simulated second. The trace is that of the run, where there is just one.
#[must_use]
pub fn run(
    scenario: &Scenario,
    calibration: &Calibration,
    seed: u64,
    progress: impl FnMut(Micros),
) -> (Outcome, Option<Trace>) {
    run_under(scenario, calibration, seed, None, progress)
}

/// The same, under a governor that is wrong in this way.
#[must_use]
pub fn run_under(
    scenario: &Scenario,
    calibration: &Calibration,
    seed: u64,
    wrong: Option<Wrong>,
    progress: impl FnMut(Micros),
) -> (Outcome, Option<Trace>) {
    let mut outcome = Outcome {
        scenario: scenario.name.clone(),
        seed,
        wrong: wrong.map(Wrong::name),
        checks: Vec::new(),
        rows: Vec::new(),
        governed: None,
        ungoverned: None,
        uniform: None,
        uniform_measured: None,
        optimum: None,
    };
    if !scenario.row.is_empty() {
        outcome.rows = rows::run(scenario, calibration, seed);
        outcome.checks = verdicts::of_rows(&outcome.rows, calibration.article.server.meter_quantum_w);
        return (outcome, None);
    }
    let trace = World::under(scenario, calibration, seed, wrong).run(progress);
    match &scenario.governor {
        Some(section) => judge(&mut outcome, scenario, section, calibration, &trace),
        None => {
            let drive_gb_s = trace.drive_gb_s();
            outcome.ungoverned = Some(Ungoverned { mean_w: trace.mean_w(), gb_s: drive_gb_s.iter().sum(), drive_gb_s });
        }
    }
    (outcome, Some(trace))
}

fn judge(
    outcome: &mut Outcome,
    scenario: &Scenario,
    section: &GovernorSection,
    calibration: &Calibration,
    trace: &Trace,
) {
    let figures = Figures::new(&calibration.article, section.overhead_w.watts(), section.trust_measured);
    let measured = Figures::new(&calibration.article, section.overhead_w.watts(), true);
    let base_w = setup::chassis_model(scenario, &calibration.chassis).base_w();
    let declared = host::declared(section);
    let governed = governed(section, trace);
    let allowance_w = governed.cap_w - governed.margin_w - base_w;
    let groups = groups(scenario, declared);
    if let Some(groups) = &groups {
        let uniform = |figures| {
            let best = optimum::best_uniform(figures, groups, allowance_w);
            best.map(|best| Uniform { ps: best.ps, gb_s: best.gb_s })
        };
        (outcome.uniform, outcome.uniform_measured) = (uniform(&figures), uniform(&measured));
        outcome.optimum = Some(Optimum {
            gb_s: optimum::best_gb_s(&figures, groups, allowance_w),
            gb_s_measured: optimum::best_gb_s(&measured, groups, allowance_w),
            gb_s_at_cap: optimum::best_gb_s(&measured, groups, governed.cap_w - base_w),
        });
    }
    let terms = Terms {
        figures,
        base_w,
        margin_w: governed.margin_w,
        declared,
        fallback: scenario.drives.fallback_ps,
        settling: section.settling_s.map_or(UNREPORTED_SETTLING, |settling| settling.micros()),
    };
    let ledger = ledger::judge(trace, &terms);
    let lowest_cap_w = trace.cap_w.iter().map(|(_, cap_w)| *cap_w).fold(f64::INFINITY, f64::min);
    let floor_w = base_w + verdicts::floor_w(&terms.figures, declared, scenario.drives.count);
    outcome.checks = vec![
        verdicts::floor(floor_w, lowest_cap_w, governed.margin_w),
        verdicts::shed(&governed.sheds, scenario.expect.shed_s.map(|limit| limit.0)),
        verdicts::window(&governed.sheds),
        verdicts::ledger(&ledger),
    ];
    let expected = [
        scenario.expect.optimum_share.map(|share| {
            let best = outcome.optimum.and_then(|optimum| optimum.gb_s);
            let by = if section.trust_measured { "measured" } else { "nameplate" };
            verdicts::optimum(governed.gb_s, best, share.0, by)
        }),
        scenario.expect.optimum_share.map(|_| {
            let uniform_gb_s = outcome.uniform.map(|uniform| uniform.gb_s);
            verdicts::uniform(governed.gb_s, uniform_gb_s, scenario)
        }),
        scenario
            .expect
            .fair_within
            .map(|within| verdicts::fair(&governed.drive_gb_s, within.0, governed.transitions_per_drive_hour)),
        scenario
            .expect
            .margin_at_most_w
            .map(|most| verdicts::margin(governed.margin_w, most.watts(), calibration, scenario)),
        Some(&scenario.expect.alarms).filter(|names| !names.is_empty()).map(|names| endurance::alarms(trace, names)),
        scenario.expect.all_managed.then(|| endurance::all_managed(trace)),
        scenario.flips.map(|_| endurance::counted(trace)),
        scenario.expect.composite_below_c.map(|limit_c| verdicts::composite(trace, limit_c)),
    ];
    outcome.checks.extend(expected.into_iter().flatten());
    outcome.checks.extend(scenario.expect.rate.iter().map(|section| endurance::rate(trace, section)));
    outcome.governed = Some(governed);
}

fn governed(section: &GovernorSection, trace: &Trace) -> Governed {
    let sheds = shed::judge(trace, section.margin_w.watts());
    let energy = Energy::of(&trace.power_w);
    let shed_ms = sheds.first().and_then(|first| first.shed_ms);
    let drive_gb_s = trace.drive_gb_s();
    let drive_hours = trace.states.len() as f64 * seconds(trace.duration) / 3600.0;
    let alarms = trace.alarms.iter().map(|&(at, alarm, raised)| AlarmRecord {
        at_s: seconds(at),
        raised,
        alarm: alarm.to_string(),
    });
    Governed {
        cap_w: section.cap_w.0.get() as f64 / 1000.0,
        margin_w: section.margin_w.watts(),
        mean_w: trace.mean_w(),
        max_1s_w: shed_ms.and_then(|shed_ms| energy.highest_mean_w(micros(shed_ms / 1000.0), trace.duration)),
        max_1s_w_all: energy.highest_mean_w(0, trace.duration),
        gb_s: drive_gb_s.iter().sum(),
        shed_ms,
        drive_gb_s,
        transitions_per_drive_hour: if drive_hours > 0.0 { trace.transitions() as f64 / drive_hours } else { 0.0 },
        alarms: alarms.collect(),
        sheds,
    }
}

/// Drives that do the same, or `None` where the run is not steady.
fn groups(scenario: &Scenario, declared: WorkSet) -> Option<Vec<Group>> {
    if scenario.unsteady().is_some() {
        return None;
    }
    let mut groups: Vec<Group> = Vec::new();
    for slot in 0..scenario.drives.count {
        let work = scenario.job.iter().rfind(|job| job.drives.contains(slot))?.work;
        let counted = declared.union(WorkSet::of(work));
        match groups.iter_mut().find(|group| group.work == work) {
            Some(group) => group.drives += 1,
            None => groups.push(Group { drives: 1, work, counted }),
        }
    }
    Some(groups)
}
