//! Five families of idle gaps, made by named generators from a seed. Their shapes are guesses at what such machines do;
//! the point is that they differ.

use crate::random::{Purpose, Random};
use crate::time::{Micros, micros};

/// A kind of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// A person at work: many short gaps, and some very long ones. Bounded Pareto of exponent 0.7, 2 ms to 30 min.
    Desktop,
    /// A server without work: a heartbeat about every 5 s, which writes 3 to 8 times, 1 to 20 ms apart.
    Heartbeat,
    /// A logger: once a minute (give or take half a second) a line, and its flush 30 ms later.
    Logger,
    /// Video ingest: bursts of 300 to 900 writes 33 ms apart (give or take 5), with pauses of 2 min on average
    /// (exponential).
    Ingest,
    /// Nearly always busy: gaps of 3 ms on average (exponential), and one in 500 of 50 to 500 ms.
    Busy,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Desktop, Self::Heartbeat, Self::Logger, Self::Ingest, Self::Busy];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Desktop => "heavy-tailed desktop",
            Self::Heartbeat => "server heartbeat",
            Self::Logger => "logger once a minute",
            Self::Ingest => "video ingest in bursts",
            Self::Busy => "nearly always busy",
        }
    }

    /// So many gaps in microseconds, none of them 0.
    #[must_use]
    pub fn gaps(self, seed: u64, count: usize) -> Vec<Micros> {
        let mut random = Random::stream(seed, Purpose::Gaps, self as u64);
        let mut gaps = Vec::with_capacity(count + 1000);
        while gaps.len() < count {
            self.add(&mut random, &mut gaps);
        }
        gaps.truncate(count);
        gaps
    }

    fn add(self, random: &mut Random, gaps: &mut Vec<Micros>) {
        let mut add = |seconds: f64| gaps.push(micros(seconds).max(1));
        match self {
            Self::Desktop => add(bounded_pareto(random, 0.7, 0.002, 1800.0)),
            Self::Heartbeat => {
                add(5.0 + 0.25 * random.around_zero());
                for _ in 0..between(random, 3, 8) {
                    add(0.001 + 0.019 * random.unit());
                }
            }
            Self::Logger => {
                add(60.0 + 0.5 * random.around_zero());
                add(0.030);
            }
            Self::Ingest => {
                for _ in 0..between(random, 300, 900) {
                    add(0.033 + 0.005 * random.around_zero());
                }
                add(exponential(random, 120.0));
            }
            Self::Busy if random.chance(0.002) => add(0.050 + 0.450 * random.unit()),
            Self::Busy => add(exponential(random, 0.003)),
        }
    }
}

/// A whole number from `low` to `high`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a small number")]
fn between(random: &mut Random, low: u32, high: u32) -> u32 {
    low + (random.unit() * f64::from(high - low + 1)) as u32
}

fn exponential(random: &mut Random, mean: f64) -> f64 {
    -mean * libm::log(1.0 - random.unit())
}

/// By inversion.
fn bounded_pareto(random: &mut Random, exponent: f64, low: f64, high: f64) -> f64 {
    let share = libm::pow(low / high, exponent);
    low * libm::pow(1.0 - random.unit() * (1.0 - share), -1.0 / exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_gaps_and_another_others() {
        for family in Family::ALL {
            let gaps = family.gaps(1, 2000);
            assert_eq!(gaps, family.gaps(1, 2000));
            assert_ne!(gaps, family.gaps(2, 2000));
            assert!(gaps.len() == 2000 && gaps.iter().all(|gap| *gap > 0));
        }
    }

    #[test]
    fn families_have_the_shapes_that_they_are_named_after() {
        let of = |family: Family| {
            let mut gaps = family.gaps(3, 20_000);
            gaps.sort_unstable();
            (gaps[gaps.len() / 2], *gaps.last().unwrap(), gaps.iter().sum::<u64>() / 20_000)
        };
        let (median, longest, mean) = of(Family::Desktop);
        assert!(median < 10_000 && longest > 60_000_000 && longest <= 1_800_000_000 && mean > 10 * median);
        let (median, longest, _) = of(Family::Heartbeat);
        assert!(median < 20_000 && (5_000_000..5_300_000).contains(&longest));
        assert_eq!(of(Family::Logger).1 / 1_000_000, 60);
        let (median, longest, _) = of(Family::Ingest);
        assert!((28_000..38_000).contains(&median) && longest > 120_000_000);
        let (median, longest, mean) = of(Family::Busy);
        assert!(median < 3_000 && mean < 5_000 && longest <= 500_000);
    }
}
