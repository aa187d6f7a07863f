//! Watts for gigabytes per second.
//!
//! One drive that moves *g* GB/s of one kind of work adds to the wall meter
//!
//! ```text
//! P(g) = idle + awake·[g > 0] + energy·g + crowding·g²        [W]
//! ```
//!
//! *idle*: what a drive with nothing to do takes. *awake*: controller and memory out of idle. *energy*: joules for
//! a gigabyte. *crowding*: the convex part, since flash, fabric and host are contended for. The form was decided
//! before any fit. Of the energy, `chassis_j_per_gb` is spent outside the drive (host processor, memory, switch):
//! it does not heat the drive, and a power state does not limit it.
//!
//! Left out: the mix of several kinds of work on one drive at a time, and the wear and filling of the flash.

/// What one kind of work costs on one kind of drive.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorkModel {
    /// Watts of the drive out of idle.
    pub awake_w: f64,
    /// Joules for a gigabyte at the wall, the chassis's part included.
    pub energy_j_per_gb: f64,
    /// Watts for each (GB/s)².
    pub crowding_w: f64,
    /// The part of the energy that is spent outside the drive, in joules for a gigabyte.
    pub chassis_j_per_gb: f64,
    /// What interface and flash can give at most, in GB/s.
    pub max_gb_s: f64,
    /// Time of one command in seconds, for Little's law.
    pub latency_s: f64,
}

impl WorkModel {
    /// The drive's own watts at this rate, of a drive that idles at `idle_w`.
    #[must_use]
    pub fn own_w(&self, idle_w: f64, gb_s: f64) -> f64 {
        if gb_s <= 0.0 {
            return idle_w;
        }
        idle_w + self.awake_w + (self.own_j_per_gb() + self.crowding_w * gb_s) * gb_s
    }

    /// Watts at the wall at this rate.
    #[must_use]
    pub fn wall_w(&self, idle_w: f64, gb_s: f64) -> f64 {
        self.own_w(idle_w, gb_s) + self.chassis_j_per_gb * gb_s
    }

    /// The rate at which the drive's own watts are `own_w`: the inverse of [`Self::own_w`], 0 where there is none.
    #[must_use]
    pub fn gb_s_at(&self, idle_w: f64, own_w: f64) -> f64 {
        let spare = own_w - idle_w - self.awake_w;
        if spare <= 0.0 {
            return 0.0;
        }
        // crowding·g² + own·g − spare = 0, in the form that also holds for crowding = 0.
        let own = self.own_j_per_gb();
        2.0 * spare / (own + libm::sqrt(own * own + 4.0 * self.crowding_w * spare))
    }

    fn own_j_per_gb(&self) -> f64 {
        self.energy_j_per_gb - self.chassis_j_per_gb
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn throughput_and_watts_are_inverse(
            awake_w in 0.0..5.0, energy in 1.0..10.0, crowding_w in 0.0..2.0, gb_s in 0.01..10.0,
        ) {
            let work = WorkModel {
                awake_w, energy_j_per_gb: energy, crowding_w, chassis_j_per_gb: 0.3, ..WorkModel::default()
            };
            let back = work.gb_s_at(5.5, work.own_w(5.5, gb_s));
            prop_assert!((back - gb_s).abs() < 1e-9 * gb_s.max(1.0), "{back} {gb_s}");
        }
    }

    #[test]
    fn too_few_watts_give_nothing() {
        let work = WorkModel { awake_w: 1.0, energy_j_per_gb: 5.0, ..WorkModel::default() };
        assert_eq!(work.gb_s_at(5.5, 6.5), 0.0);
        assert_eq!(work.own_w(5.5, 0.0), 5.5);
    }
}
