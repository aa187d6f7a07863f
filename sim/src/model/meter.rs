//! What the server's own meter makes of the true watts.

use crate::random::Random;

/// A meter: once a second the mean of the last second, with noise, rounded to its step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeterModel {
    /// Step of its readings in watts; 0 for one that does not round.
    pub quantum_w: f64,
    /// Standard deviation of its noise in watts, before rounding.
    pub noise_w: f64,
}

impl MeterModel {
    /// One reading of a second in which the true mean was `mean_w`.
    #[must_use]
    pub fn read(&self, mean_w: f64, random: &mut Random) -> f64 {
        let noisy = (mean_w + self.noise_w * random.gaussian()).max(0.0);
        if self.quantum_w > 0.0 { libm::round(noisy / self.quantum_w) * self.quantum_w } else { noisy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    #[test]
    fn readings_are_whole_steps_near_the_truth() {
        let meter = MeterModel { quantum_w: 33.0, noise_w: 1.0 };
        let mut random = Random::stream(1, Purpose::Meter, 0);
        for _ in 0..1000 {
            let reading = meter.read(1085.0, &mut random);
            assert_eq!(reading, 1089.0);
        }
        let fine = MeterModel { quantum_w: 0.0, noise_w: 0.0 };
        assert_eq!(fine.read(1085.25, &mut random), 1085.25);
    }
}
