//! Random numbers: one named generator at a pinned version, one stream for each purpose and drive.
//!
//! PCG XSL RR 128/64 from `rand_pcg`; of `rand` nothing else, because its distributions may change between
//! versions. Every purpose and every drive draws from a stream of its own, so that one more draw here does not
//! shift what is drawn there.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// What a stream of random numbers is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// How a drive differs from its profile.
    Spread,
    /// The noise of the meter.
    Meter,
    /// What becomes of a drive's commands.
    Wire,
    /// How long drives are left alone; the second part of a stream's name is the family.
    Gaps,
    /// Which bits of which records flip.
    Flips,
}

/// One stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random(Pcg64);

impl Random {
    /// The stream of this run's `seed` for this purpose and drive (0 where there is only one).
    #[must_use]
    pub fn stream(seed: u64, purpose: Purpose, drive: u64) -> Self {
        let place = (purpose as u64) << 32 | drive;
        Self(Pcg64::seed_from_u64(scramble(seed ^ scramble(place))))
    }

    /// Uniform in [0, 1), in steps of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1u64 << 53) as f64;
        (self.0.next_u64() >> 11) as f64 * STEP
    }

    /// Uniform in [−1, 1).
    pub fn around_zero(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    /// True once in `1 / probability` draws.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Standard normal (Box and Muller). Draws two numbers each time, whatever they are.
    pub fn gaussian(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.unit()));
        radius * libm::cos(core::f64::consts::TAU * self.unit())
    }
}

/// The finaliser of SplitMix64: neighbouring seeds give unrelated streams.
const fn scramble(seed: u64) -> u64 {
    let seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let seed = (seed ^ seed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let seed = (seed ^ seed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    seed ^ seed >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_the_one_that_every_recorded_seed_means() {
        let mut random = Random::stream(1, Purpose::Spread, 0);
        let first: Vec<u64> = (0..3).map(|_| random.0.next_u64()).collect();
        assert_eq!(first, GOLDEN);
    }

    const GOLDEN: [u64; 3] = [4_326_240_854_629_059_074, 4_481_724_404_625_498_078, 266_643_630_475_445_454];

    #[test]
    fn streams_are_independent_and_repeatable() {
        let draw = |seed, purpose, drive| Random::stream(seed, purpose, drive).unit();
        assert_eq!(draw(1, Purpose::Wire, 3), draw(1, Purpose::Wire, 3));
        assert_ne!(draw(1, Purpose::Wire, 3), draw(1, Purpose::Wire, 4));
        assert_ne!(draw(1, Purpose::Wire, 3), draw(2, Purpose::Wire, 3));
        assert_ne!(draw(1, Purpose::Wire, 3), draw(1, Purpose::Meter, 3));
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let mut random = Random::stream(7, Purpose::Meter, 0);
        let n = 100_000;
        let normal: Vec<f64> = (0..n).map(|_| random.gaussian()).collect();
        let mean = normal.iter().sum::<f64>() / f64::from(n);
        let variance = normal.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / f64::from(n);
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
        let uniform = (0..n).map(|_| random.around_zero()).sum::<f64>() / f64::from(n);
        assert!(uniform.abs() < 0.01, "{uniform}");
    }
}
