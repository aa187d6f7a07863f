//! What a drive counts for: the checkers' own reading of the rule, from the article's figures.
//!
//! The larger of nameplate with the chassis's overhead and what was measured at the wall; the measured figure alone
//! where it is trusted and the switch was not its limit; the largest over the kinds of work that the drive may do.

use wattline_core::profile::{Work, WorkSet};

use crate::calibration::Article;

/// A row this near to the highest that the switch passed counts as limited by it.
const NEAR_THE_CEILING: f64 = 0.95;

/// What a drive of the reference kind counts for.
#[derive(Clone, Debug)]
pub struct Figures<'a> {
    article: &'a Article,
    overhead_w: f64,
    trust_measured: bool,
}

impl<'a> Figures<'a> {
    /// By the article's figures and the user's words.
    #[must_use]
    pub const fn new(article: &'a Article, overhead_w: f64, trust_measured: bool) -> Self {
        Self { article, overhead_w, trust_measured }
    }

    /// How many power states there are.
    #[must_use]
    pub fn states(&self) -> usize {
        self.article.drive.max_power_w.len()
    }

    /// Watts that a drive in this state counts for if it may do this work.
    #[must_use]
    pub fn watts(&self, ps: usize, work: WorkSet) -> f64 {
        work.kinds().map(|kind| self.watts_of_kind(ps, kind)).fold(0.0, f64::max)
    }

    /// Throughput that the article measured for one drive, in GB/s.
    #[must_use]
    pub fn gb_s(&self, ps: usize, kind: Work) -> Option<f64> {
        self.article.row(kind, ps).map(|row| row.gb_s / self.drives())
    }

    fn watts_of_kind(&self, ps: usize, kind: Work) -> f64 {
        let nameplate_w = self.article.drive.max_power_w[ps] + self.overhead_w;
        let Some(row) = self.article.row(kind, ps) else { return nameplate_w };
        let measured_w = (row.total_w - self.article.server.idle_no_drives_w) / self.drives();
        let highest_gb_s = self.article.row.iter().map(|row| row.gb_s).fold(0.0, f64::max);
        let limited_by_switch = row.gb_s >= NEAR_THE_CEILING * highest_gb_s;
        if self.trust_measured && !limited_by_switch { measured_w } else { nameplate_w.max(measured_w) }
    }

    fn drives(&self) -> f64 {
        f64::from(self.article.server.drives)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_follow_the_rule() {
        let article = Article::embedded();
        let trusting = Figures::new(&article, 1.125, true);
        let cautious = Figures::new(&article, 1.125, false);
        let (write, read) = (WorkSet::of(Work::SequentialWrite), WorkSet::of(Work::SequentialRead));
        assert_eq!([0, 1, 2].map(|ps| trusting.watts(ps, write)), [26.125, 15.125, 11.0]);
        assert_eq!([0, 1, 2].map(|ps| cautious.watts(ps, write)), [26.125, 16.125, 11.125]);
        assert_eq!([0, 1, 2].map(|ps| trusting.watts(ps, read)), [26.125, 16.5, 12.375]);
    }
}
