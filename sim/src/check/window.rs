//! The mean of the true watts over any second, exactly.
//!
//! With E(t) the energy up to t, the mean of the window that ends at t is E(t) − E(t − 1 s). E is piecewise linear, so
//! the mean is too, with corners where the power changes and a second after; its maximum is at one of those or at an
//! end of the span.

use crate::time::{Micros, SECOND, seconds};
use crate::trace::Step;

/// The energy up to every corner of a power trace.
#[derive(Clone, Debug)]
pub struct Energy<'a> {
    power_w: &'a [Step<f64>],
    before_j: Vec<f64>,
}

impl<'a> Energy<'a> {
    /// Of this power.
    #[must_use]
    pub fn of(power_w: &'a [Step<f64>]) -> Self {
        let mut before_j = Vec::with_capacity(power_w.len());
        let (mut sum_j, mut last) = (0.0, (0, 0.0));
        for &(at, watts) in power_w {
            sum_j += last.1 * seconds(at - last.0);
            before_j.push(sum_j);
            last = (at, watts);
        }
        Self { power_w, before_j }
    }

    /// Energy from the start to `at`, in joules.
    #[must_use]
    pub fn up_to(&self, at: Micros) -> f64 {
        match self.power_w.partition_point(|step| step.0 <= at) {
            0 => 0.0,
            after => {
                let (start, power_w) = self.power_w[after - 1];
                self.before_j[after - 1] + power_w * seconds(at - start)
            }
        }
    }

    /// The highest mean over a second that lies within `[from, to]`, in watts; `None` where none fits.
    #[must_use]
    pub fn highest_mean_w(&self, from: Micros, to: Micros) -> Option<f64> {
        let first_end = from + SECOND;
        if first_end > to {
            return None;
        }
        let mean_w = |end: Micros| self.up_to(end) - self.up_to(end - SECOND);
        let corners = self.power_w.iter().flat_map(|&(at, _)| [at, at + SECOND]);
        let ends = corners.filter(|end| (first_end..=to).contains(end)).chain([first_end, to]);
        ends.map(mean_w).reduce(f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_burst_is_found_to_the_microsecond() {
        // 300 W above for 400 ms in the middle: no window can hold more of it than all.
        let burst = [(0, 100.0), (4_300_000, 400.0), (4_700_000, 100.0)];
        let energy = Energy::of(&burst);
        let highest_w = energy.highest_mean_w(0, 10 * SECOND).unwrap();
        assert!((highest_w - 220.0).abs() < 1e-9, "{highest_w}");
        assert_eq!(energy.highest_mean_w(5 * SECOND, 10 * SECOND).map(f64::round), Some(100.0));
    }

    #[test]
    fn the_exact_maximum_is_not_below_that_of_a_fine_comb() {
        let ragged: Vec<_> = (0..200).map(|n| (n * 47_001, 100.0 + (n * n % 37) as f64)).collect();
        let energy = Energy::of(&ragged);
        let exact_w = energy.highest_mean_w(0, 9 * SECOND).unwrap();
        let comb = (SECOND..=9 * SECOND).step_by(1_000).map(|end| energy.up_to(end) - energy.up_to(end - SECOND));
        let comb_w = comb.fold(0.0, f64::max);
        assert!(exact_w >= comb_w - 1e-9 && exact_w < comb_w + 0.5, "{exact_w} {comb_w}");
    }

    #[test]
    fn a_span_shorter_than_a_second_holds_no_window() {
        let flat = [(0, 100.0)];
        assert_eq!(Energy::of(&flat).highest_mean_w(0, SECOND - 1), None);
    }
}
