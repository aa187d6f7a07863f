//! What the host asks of a drive: one stream of commands, as a program like fio would issue it.

use wattline_core::profile::Work;

use super::power::WorkModel;

/// A steady demand on one drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Kind of work.
    pub work: Work,
    /// Bytes in one command.
    pub block_bytes: u32,
    /// Commands in flight.
    pub queue_depth: u32,
    /// What the host asks for at most, in GB/s.
    pub rate_limit_gb_s: Option<f64>,
}

impl Demand {
    /// The rate that the host's side allows, in GB/s. Little's law: commands in flight over the time of one.
    #[must_use]
    pub fn limit_gb_s(&self, work: &WorkModel) -> f64 {
        let in_flight_gb = f64::from(self.queue_depth) * f64::from(self.block_bytes) / 1e9;
        let by_latency = if work.latency_s > 0.0 { in_flight_gb / work.latency_s } else { f64::INFINITY };
        by_latency.min(self.rate_limit_gb_s.unwrap_or(f64::INFINITY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shallow_queue_limits_the_rate_as_little_says() {
        let work = WorkModel { latency_s: 100e-6, ..WorkModel::default() };
        let demand = |queue_depth, rate_limit_gb_s| Demand {
            work: Work::RandomRead,
            block_bytes: 4096,
            queue_depth,
            rate_limit_gb_s,
        };
        assert!((demand(1, None).limit_gb_s(&work) - 0.04096).abs() < 1e-12);
        assert!((demand(64, None).limit_gb_s(&work) - 2.62144).abs() < 1e-9);
        assert_eq!(demand(64, Some(1.0)).limit_gb_s(&work), 1.0);
    }
}
