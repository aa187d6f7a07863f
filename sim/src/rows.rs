//! The reference experiment's rows, repeated.

use serde::Serialize;
use wattline_core::profile::Work;

use crate::calibration::{Article, Calibration};
use crate::scenario::Scenario;
use crate::scenario::schema::{JobSection, RowSection, RowWork};
use crate::scenario::value::{Drives, Seconds};
use crate::world::World;

/// One row: the article's figures beside the simulated ones.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Kind of work, or how idle.
    pub work: &'static str,
    /// Power state of all drives; none in idle rows.
    pub ps: Option<usize>,
    /// The article's watts at the wall.
    pub article_w: f64,
    /// Mean of the true simulated watts at the wall.
    pub simulated_w: f64,
    /// Mean of what the simulated meter showed, in watts.
    pub metered_w: f64,
    /// The article's throughput in GB/s.
    pub article_gb_s: Option<f64>,
    /// The simulated throughput in GB/s.
    pub simulated_gb_s: Option<f64>,
}

impl Row {
    /// How far the watts may be off: 1 %, or half the meter's step where that is more.
    #[must_use]
    pub fn tolerance_w(&self, meter_quantum_w: f64) -> f64 {
        (0.01 * self.article_w).max(meter_quantum_w / 2.0)
    }

    /// Whether watts and throughput are near enough to the article's.
    #[must_use]
    pub fn holds(&self, meter_quantum_w: f64) -> bool {
        let watts = (self.simulated_w - self.article_w).abs() <= self.tolerance_w(meter_quantum_w);
        let rate = match (self.simulated_gb_s, self.article_gb_s) {
            (Some(simulated), Some(article)) => (simulated / article - 1.0).abs() <= 0.01,
            _ => true,
        };
        watts && rate
    }

    /// `sequential-write PS1`.
    #[must_use]
    pub fn title(&self) -> String {
        self.ps.map_or_else(|| self.work.to_owned(), |ps| format!("{} PS{ps}", self.work))
    }
}

/// Runs every row of the scenario.
#[must_use]
pub fn run(scenario: &Scenario, calibration: &Calibration, seed: u64) -> Vec<Row> {
    scenario.row.iter().map(|row| run_row(scenario, *row, calibration, seed)).collect()
}

fn run_row(scenario: &Scenario, row: RowSection, calibration: &Calibration, seed: u64) -> Row {
    let (name, work) = match row.work {
        RowWork::IdleNoDrives => ("idle-no-drives", None),
        RowWork::Idle => ("idle", None),
        RowWork::SequentialRead => (Work::SequentialRead.name(), Some(Work::SequentialRead)),
        RowWork::SequentialWrite => (Work::SequentialWrite.name(), Some(Work::SequentialWrite)),
    };
    let mut alone = scenario.clone();
    alone.drives.initial_ps = row.ps.unwrap_or(0);
    if row.work == RowWork::IdleNoDrives {
        alone.drives.count = 0;
    }
    alone.job = work.map(full_load).into_iter().collect();
    let trace = World::new(&alone, calibration, seed).run(|_| {});
    let (article_w, article_gb_s) = article_figures(&calibration.article, row, work);
    Row {
        work: name,
        ps: row.ps,
        article_w,
        simulated_w: trace.mean_w(),
        metered_w: trace.mean_meter_w(),
        article_gb_s,
        simulated_gb_s: work.map(|_| trace.drive_gb_s().iter().sum()),
    }
}

fn article_figures(article: &Article, row: RowSection, work: Option<Work>) -> (f64, Option<f64>) {
    let figures = work.zip(row.ps).and_then(|(work, ps)| article.row(work, ps));
    match (figures, row.work) {
        (Some(figures), _) => (figures.total_w, Some(figures.gb_s)),
        (None, RowWork::IdleNoDrives) => (article.server.idle_no_drives_w, None),
        (None, _) => (article.server.idle_drives_installed_w, None),
    }
}

fn full_load(work: Work) -> JobSection {
    JobSection {
        drives: Drives::All,
        work,
        block_kib: 128,
        queue_depth: 64,
        start_s: Seconds(0.0),
        stop_s: None,
        rate_limit_gb_s: None,
    }
}
