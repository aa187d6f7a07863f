//! What the server's own meter makes of the true watts.

use serde::Deserialize;

use crate::random::Random;

/// A kind of meter: once a second the mean of the last second, with noise, rounded to its step.
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

/// What is wrong with a meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeterFault {
    /// It cannot be read.
    Absent,
    /// It shows for ever what it showed last.
    Frozen,
}

/// One meter, and what is wrong with it.
#[derive(Debug)]
pub struct Meter {
    model: MeterModel,
    random: Random,
    fault: Option<MeterFault>,
    scale: f64,
    /// What it showed last.
    shown: Option<f64>,
}

impl Meter {
    /// A meter with which nothing is wrong.
    #[must_use]
    pub fn new(model: MeterModel, random: Random) -> Self {
        Self { model, random, fault: None, scale: 1.0, shown: None }
    }

    /// From now on this is wrong with it, and nothing else: it shows the truth times `scale`, or not even that.
    pub fn turn(&mut self, fault: Option<MeterFault>, scale: f64) {
        (self.fault, self.scale) = (fault, scale);
    }

    /// What it shows of a second in which the true mean was `mean_w`; `None`: it cannot be read.
    pub fn read(&mut self, mean_w: f64) -> Option<f64> {
        let reading_w = self.model.read(mean_w * self.scale, &mut self.random);
        match self.fault {
            Some(MeterFault::Absent) => return None,
            Some(MeterFault::Frozen) if self.shown.is_some() => {}
            _ => self.shown = Some(reading_w),
        }
        self.shown
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

    #[test]
    fn a_meter_is_wrong_until_it_is_repaired() {
        let exact = MeterModel { quantum_w: 0.0, noise_w: 0.0 };
        let mut meter = Meter::new(exact, Random::stream(1, Purpose::Meter, 0));
        assert_eq!(meter.read(100.0), Some(100.0));
        for (fault, scale, shown_w) in [
            (Some(MeterFault::Frozen), 1.0, Some(100.0)),
            (None, 1.25, Some(250.0)),
            (Some(MeterFault::Absent), 1.0, None),
            (None, 1.0, Some(200.0)),
        ] {
            meter.turn(fault, scale);
            assert_eq!(meter.read(200.0), shown_w, "{fault:?} {scale}");
        }
    }
}
