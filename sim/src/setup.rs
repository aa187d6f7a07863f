//! From a scenario's sections to the things that they describe.

use std::rc::Rc;

use crate::calibration::Calibration;
use crate::model::chassis::{Chassis, ChassisModel};
use crate::model::job::Demand;
use crate::model::meter::MeterModel;
use crate::model::ssd::{Spread, Ssd};
use crate::random::{Purpose, Random};
use crate::scenario::Scenario;
use crate::scenario::schema::JobSection;
use crate::scenario::value::watts;

/// The server of this scenario, with the drives that this seed gives.
#[must_use]
pub fn chassis(scenario: &Scenario, calibration: &Calibration, seed: u64) -> Chassis {
    let model = chassis_model(scenario, &calibration.chassis);
    let section = &scenario.drives;
    let kind = Rc::new(calibration.ssd.clone());
    let drives = (0u64..).take(section.count).map(|slot| {
        let spread = spread(seed, slot, section.spread_percent / 100.0);
        Ssd::new(Rc::clone(&kind), spread, section.initial_ps, section.fallback_ps, model.inlet_c)
    });
    let drives = drives.collect();
    Chassis::new(model, drives)
}

fn spread(seed: u64, slot: u64, share: f64) -> Spread {
    let mut random = Random::stream(seed, Purpose::Spread, slot);
    Spread { watts: 1.0 + share * random.around_zero(), rate: 1.0 + share * random.around_zero() }
}

fn chassis_model(scenario: &Scenario, reference: &ChassisModel) -> ChassisModel {
    let section = &scenario.chassis;
    ChassisModel {
        base_w: section.base_w.map_or(reference.base_w, |base| base.watts()),
        cooling: section.cooling.unwrap_or(reference.cooling),
        inlet_c: section.inlet_c.unwrap_or(reference.inlet_c),
        read_ceiling_gb_s: section.read_ceiling_gb_s.unwrap_or(reference.read_ceiling_gb_s),
        write_ceiling_gb_s: section.write_ceiling_gb_s.unwrap_or(reference.write_ceiling_gb_s),
        ..reference.clone()
    }
}

/// The server's meter.
#[must_use]
pub fn meter(scenario: &Scenario, calibration: &Calibration) -> MeterModel {
    /// Guess: the article's meter hides its noise behind its step.
    const NOISE_W: f64 = 1.0;
    let section = &scenario.chassis;
    MeterModel {
        quantum_w: section.meter_quantum_w.map_or(calibration.article.server.meter_quantum_w, |step| watts(step.0)),
        noise_w: section.meter_noise_w.map_or(NOISE_W, |noise| noise.watts()),
    }
}

/// What a job asks of each of its drives.
#[must_use]
pub fn demand(job: &JobSection) -> Demand {
    Demand {
        work: job.work,
        block_bytes: job.block_kib * 1024,
        queue_depth: job.queue_depth,
        rate_limit_gb_s: job.rate_limit_gb_s,
    }
}
