//! From the reference experiment's eight rows to the model's constants.
//!
//! The form is that of [`crate::model::power`]. Writing has *awake* and *energy* (crowding is 0: the switch was not
//! near its limit); reading has *energy* and *crowding* (awake is held at 0, since a fit of it comes out negative).
//! Both are least squares over the three rows of their direction, in watts for one drive over idle. Then each
//! state's regulation point is put where the fitted curve meets the row's GB/s, so that GB/s are exact and the
//! remaining error is in the watts, where the meter's step of 33 W is.
//!
//! What the article does not give is a guess, and each is labelled so below.

use serde::Deserialize;
use wattline_core::profile::{PerWork, Work};

use crate::model::air::AirModel;
use crate::model::chassis::{ChassisModel, Cooling};
use crate::model::power::WorkModel;
use crate::model::ssd::{SsdModel, StateModel};
use crate::model::thermal::ThermalModel;

const DATA: &str = include_str!("../data/d5-p5336.toml");

/// The reference experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Article {
    /// The drive's nameplate.
    pub drive: ArticleDrive,
    /// The server.
    pub server: ArticleServer,
    /// The rows with work.
    pub row: Vec<ArticleRow>,
}

/// Nameplate of the reference drive.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "each field is named after what the article calls it, with its unit")]
pub struct ArticleDrive {
    pub model: String,
    pub capacity_tb: f64,
    pub max_power_w: Vec<f64>,
    pub idle_w: f64,
    pub touch_temperature_limit_c: f64,
}

/// The reference server.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "each field is named after what the article calls it, with its unit")]
pub struct ArticleServer {
    pub drives: u32,
    pub idle_no_drives_w: f64,
    pub idle_drives_installed_w: f64,
    pub liquid_cooling_saves_w: f64,
    pub meter_quantum_w: f64,
}

/// One row: all drives at full load in one state.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArticleRow {
    /// Kind of work.
    pub work: Work,
    /// Power state.
    pub ps: usize,
    /// Watts at the wall, all in all.
    pub total_w: f64,
    /// Throughput of all drives in GB/s.
    pub gb_s: f64,
}

impl Article {
    /// The figures that the program carries.
    ///
    /// # Panics
    ///
    /// Not in a program whose tests passed: the file is part of it.
    #[must_use]
    pub fn embedded() -> Self {
        toml::from_str(DATA).expect("the embedded figures are read by every test")
    }

    /// The row of this work and state.
    #[must_use]
    pub fn row(&self, work: Work, ps: usize) -> Option<&ArticleRow> {
        self.row.iter().find(|row| row.work == work && row.ps == ps)
    }

    /// (GB/s, watts over idle) of one drive, for each row of this work.
    fn points(&self, work: Work) -> Vec<Point> {
        let drives = f64::from(self.server.drives);
        let rows = self.row.iter().filter(|row| row.work == work);
        rows.map(|row| Point {
            ps: row.ps,
            gb_s: row.gb_s / drives,
            over_idle_w: (row.total_w - self.server.idle_drives_installed_w) / drives,
        })
        .collect()
    }
}

/// One row, for one drive.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    ps: usize,
    gb_s: f64,
    over_idle_w: f64,
}

/// What the calibration found.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// The figures that it rests on.
    pub article: Article,
    /// The drive.
    pub ssd: SsdModel,
    /// The server.
    pub chassis: ChassisModel,
    /// How well the form predicts a row that it has not seen.
    pub prediction: Prediction,
}

/// PS1 writing, predicted by the form from the PS0 and PS2 rows alone. For all drives together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Throughput that the row's watts should buy, in GB/s.
    pub gb_s: f64,
    /// The row's throughput in GB/s.
    pub article_gb_s: f64,
    /// Watts at the wall that the row's throughput should cost.
    pub total_w: f64,
    /// The row's watts at the wall.
    pub article_w: f64,
    /// Throughput that a power law through the same two rows predicts, in GB/s: the form that was not taken.
    pub power_law_gb_s: f64,
}

impl Calibration {
    /// Calibrates on the embedded figures.
    #[must_use]
    pub fn embedded() -> Self {
        let article = Article::embedded();
        let prediction = predict(&article);
        let ssd = ssd(&article);
        let chassis = ChassisModel {
            base_w: article.server.idle_no_drives_w,
            // Guess: the article does not say which cooling its 462 W mean.
            cooling: Cooling::Liquid,
            // Guess.
            inlet_c: 25.0,
            // The highest figure seen in that direction; writing stayed below it.
            read_ceiling_gb_s: article.row.iter().map(|row| row.gb_s).fold(0.0, f64::max),
            write_ceiling_gb_s: article.row.iter().map(|row| row.gb_s).fold(0.0, f64::max),
            // Guess: above what the rows reach, so that they are unaffected.
            fan_from_c: 70.0,
            // Guess.
            fan_w_per_k: 10.0,
            air: AirModel::GUESS,
        };
        Self { article, ssd, chassis, prediction }
    }
}

fn ssd(article: &Article) -> SsdModel {
    let idle_w = article.drive.idle_w;
    let work = work_models(article);
    let states = article
        .drive
        .max_power_w
        .iter()
        .enumerate()
        .map(|(ps, &nameplate_w)| StateModel {
            limit_w: limits(article, &work, ps, nameplate_w),
            // Guess: the article gives no latencies.
            entry_s: 0.001,
        })
        .collect();
    SsdModel {
        idle_w,
        work,
        states,
        // The reference drive names no non-operational state.
        sleep: None,
        // Guess.
        admin_s: 0.000_5,
        // Guess.
        settling_s: 0.3,
        // Guess.
        reset_s: 0.5,
        thermal: ThermalModel::GUESS,
    }
}

fn work_models(article: &Article) -> PerWork<WorkModel> {
    let writing = article.points(Work::SequentialWrite);
    let reading = article.points(Work::SequentialRead);
    let (awake_w, write_j_per_gb) = least_squares(&writing, |_| 1.0, |gb_s| gb_s);
    let (read_j_per_gb, crowding_w) = least_squares(&reading, |gb_s| gb_s, |gb_s| gb_s * gb_s);
    let chassis_j_per_gb = chassis_j_per_gb(article, &writing);
    let sequential_write = WorkModel {
        awake_w,
        energy_j_per_gb: write_j_per_gb,
        crowding_w: 0.0,
        chassis_j_per_gb,
        // Guess: a little above what the PS0 row shows.
        max_gb_s: 3.6,
        // Guess.
        latency_s: 30e-6,
    };
    let sequential_read = WorkModel {
        awake_w: 0.0,
        energy_j_per_gb: read_j_per_gb,
        crowding_w,
        chassis_j_per_gb,
        // Four lanes of PCIe 4.0.
        max_gb_s: 7.0,
        // Guess.
        latency_s: 100e-6,
    };
    PerWork {
        sequential_read,
        sequential_write,
        // Guess: as sequential reading, up to a million commands of 4 KiB a second.
        random_read: WorkModel { max_gb_s: 4.1, latency_s: 120e-6, ..sequential_read },
        // Guess: dense flash rewrites large units for each 4 KiB.
        random_write: WorkModel { energy_j_per_gb: 90.0, max_gb_s: 0.2, ..sequential_write },
    }
}

/// Guess: a drive that writes in PS0 takes just its nameplate, and what the wall shows above it is the chassis's
/// (26.1 W against 25 W). The same for a gigabyte of any work.
fn chassis_j_per_gb(article: &Article, writing: &[Point]) -> f64 {
    let full = writing.iter().find(|point| point.ps == 0);
    let above_nameplate_w = |point: &Point| article.drive.idle_w + point.over_idle_w - article.drive.max_power_w[0];
    full.map_or(0.0, |point| above_nameplate_w(point) / point.gb_s)
}

/// Regulation points of one state: where the fitted curve meets the row. Random work has its direction's.
/// Where the switch was the limit (reading in PS0), the row says nothing about the drive, and the nameplate
/// stands in (guess).
fn limits(article: &Article, work: &PerWork<WorkModel>, ps: usize, nameplate_w: f64) -> PerWork<f64> {
    let drives = f64::from(article.server.drives);
    let at_row = |kind: Work| {
        let row = article.row(kind, ps).filter(|_| !(kind == Work::SequentialRead && ps == 0));
        row.map_or(nameplate_w, |row| work[kind].own_w(article.drive.idle_w, row.gb_s / drives))
    };
    let (read_w, write_w) = (at_row(Work::SequentialRead), at_row(Work::SequentialWrite));
    PerWork { sequential_read: read_w, sequential_write: write_w, random_read: read_w, random_write: write_w }
}

/// The `(a, b)` for which `a·f + b·h` is nearest to the watts over idle.
fn least_squares(points: &[Point], f: fn(f64) -> f64, h: fn(f64) -> f64) -> (f64, f64) {
    let sum = |term: &dyn Fn(&Point) -> f64| points.iter().map(term).sum::<f64>();
    let ff = sum(&|p| f(p.gb_s) * f(p.gb_s));
    let fh = sum(&|p| f(p.gb_s) * h(p.gb_s));
    let hh = sum(&|p| h(p.gb_s) * h(p.gb_s));
    let fy = sum(&|p| f(p.gb_s) * p.over_idle_w);
    let hy = sum(&|p| h(p.gb_s) * p.over_idle_w);
    let determinant = ff * hh - fh * fh;
    ((fy * hh - hy * fh) / determinant, (hy * ff - fy * fh) / determinant)
}

fn predict(article: &Article) -> Prediction {
    let drives = f64::from(article.server.drives);
    let points = article.points(Work::SequentialWrite);
    let seen: Vec<_> = points.iter().copied().filter(|point| point.ps != 1).collect();
    let (awake_w, energy) = least_squares(&seen, |_| 1.0, |gb_s| gb_s);
    let idle_w = article.server.idle_drives_installed_w;
    let hidden = article.row(Work::SequentialWrite, 1);
    let (article_w, article_gb_s) = hidden.map_or((0.0, 0.0), |row| (row.total_w, row.gb_s));
    let hidden_w = (article_w - idle_w) / drives;
    Prediction {
        gb_s: (hidden_w - awake_w) / energy * drives,
        article_gb_s,
        total_w: idle_w + (awake_w + energy * article_gb_s / drives) * drives,
        article_w,
        power_law_gb_s: power_law(&seen, hidden_w) * drives,
    }
}

/// GB/s of one drive by a power law through the first and the last point.
fn power_law(points: &[Point], over_idle_w: f64) -> f64 {
    let (Some(a), Some(b)) = (points.first(), points.last()) else { return 0.0 };
    let exponent = libm::log(a.gb_s / b.gb_s) / libm::log(a.over_idle_w / b.over_idle_w);
    b.gb_s * libm::pow(over_idle_w / b.over_idle_w, exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn off(is: f64, should: f64) -> f64 {
        (is / should - 1.0).abs()
    }

    #[test]
    fn the_form_predicts_the_row_that_it_has_not_seen() {
        let prediction = Calibration::embedded().prediction;
        assert!(off(prediction.gb_s, prediction.article_gb_s) < 0.021, "{prediction:?}");
        assert!((prediction.total_w - prediction.article_w).abs() < 4.0, "{prediction:?}");
        assert!(off(prediction.power_law_gb_s, prediction.article_gb_s) < 0.03, "{prediction:?}");
    }

    #[test]
    fn the_fit_passes_every_row_within_what_the_meter_can_tell() {
        let Calibration { article, ssd, .. } = Calibration::embedded();
        let drives = f64::from(article.server.drives);
        for row in &article.row {
            let wall_w = ssd.work[row.work].wall_w(ssd.idle_w, row.gb_s / drives) * drives;
            let total_w = wall_w + article.server.idle_no_drives_w;
            assert!((total_w - row.total_w).abs() < article.server.meter_quantum_w / 2.0, "{row:?} {total_w}");
        }
    }

    #[test]
    fn awake_of_reading_would_be_negative() {
        let points = Article::embedded().points(Work::SequentialRead);
        let (awake_w, _) = least_squares(&points, |_| 1.0, |gb_s| gb_s * gb_s);
        let (linear_awake_w, _) = least_squares(&points, |_| 1.0, |gb_s| gb_s);
        assert!(linear_awake_w < 0.0, "{linear_awake_w} {awake_w}");
    }

    #[test]
    fn no_guess_of_the_chassis_takes_more_than_the_whole() {
        let ssd = Calibration::embedded().ssd;
        for kind in Work::ALL {
            let work = ssd.work[kind];
            assert!(work.chassis_j_per_gb > 0.0 && work.chassis_j_per_gb < work.energy_j_per_gb, "{kind} {work:?}");
        }
    }
}
