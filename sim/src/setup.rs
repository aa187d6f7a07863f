//! From a scenario's sections to the things that they describe.

use std::sync::Arc;

use wattline_core::apst::Drive;
use wattline_core::nvme::feature::autonomous_transitions::{Table, Transition};
use wattline_core::nvme::{Power, PowerScale, PowerStateDescriptor, ScaledPower};
use wattline_core::units::Microseconds;

use crate::calibration::{Article, Calibration};
use crate::idle::drive::Sleeper;
use crate::model::chassis::{Chassis, ChassisModel};
use crate::model::job::Demand;
use crate::model::management::Thresholds;
use crate::model::meter::MeterModel;
use crate::model::ssd::{Sleep, Spread, Ssd, SsdModel};
use crate::random::{Purpose, Random};
use crate::scenario::Scenario;
use crate::scenario::schema::{JobSection, SleepSection};
use crate::scenario::value::{Seconds, watts};
use crate::time::Micros;

/// The server of this scenario, with the drives that this seed gives.
#[must_use]
pub fn chassis(scenario: &Scenario, calibration: &Calibration, seed: u64) -> Chassis {
    let sleep = scenario.drives.sleep.as_ref().and_then(|sleep| asleep(sleep, &calibration.article));
    let kind = Arc::new(SsdModel { sleep, ..calibration.ssd.clone() });
    chassis_of(scenario, calibration, seed, std::iter::repeat_n(kind, scenario.drives.count))
}

/// The same with drives of these kinds.
#[must_use]
pub fn chassis_of(
    scenario: &Scenario,
    calibration: &Calibration,
    seed: u64,
    kinds: impl Iterator<Item = Arc<SsdModel>>,
) -> Chassis {
    let model = chassis_model(scenario, &calibration.chassis);
    let section = &scenario.drives;
    let drives = (0u64..).zip(kinds).map(|(slot, kind)| {
        let spread = spread(seed, slot, section.spread_percent / 100.0);
        let mut drive = Ssd::new(kind, spread, section.initial_ps, section.fallback_ps, model.inlet_c);
        drive.manage(section.management_c.map(|[light_c, heavy_c]| Thresholds { light_c, heavy_c }));
        drive
    });
    let drives = drives.collect();
    Chassis::new(model, drives)
}

/// How drives sleep: as the reference drive would if its descriptors had this non-operational state after the
/// operational ones. What it takes on the way there and back is the core's estimate from the same descriptors.
fn asleep(section: &SleepSection, article: &Article) -> Option<Sleep> {
    let latency = |span: Seconds| Some(Microseconds::new(span.micros()));
    let awake = article.drive.max_power_w.iter().map(|max_w| PowerStateDescriptor {
        max_power: reported(*max_w, PowerScale::TenMilliwatts),
        idle_power: ScaledPower::of(reported(article.drive.idle_w, PowerScale::TenthMilliwatt)),
        ..PowerStateDescriptor::default()
    });
    let asleep = PowerStateDescriptor {
        idle_power: ScaledPower::of(reported(section.power_w, PowerScale::TenthMilliwatt)),
        non_operational: true,
        entry_latency: latency(section.entry_s),
        exit_latency: latency(section.exit_s),
        ..PowerStateDescriptor::default()
    };
    let states: Vec<_> = awake.chain([asleep]).collect();
    let drive = Drive { states: &states, supported: Some(true) };
    let target = drive.deepest()?;
    let mut table = Table::EMPTY;
    for (source, _) in drive.numbered().filter(|(source, _)| *source != target) {
        let milliseconds = u32::try_from(section.after_s.micros().div_ceil(1000)).ok()?;
        table.set(source, Transition::new(target, milliseconds));
    }
    Some(Sleep { sleeper: Sleeper::new(&drive)?, table })
}

/// A power as a descriptor reports it.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates, which is what is meant")]
fn reported(watts: f64, scale: PowerScale) -> Option<Power> {
    let steps_per_w = if scale == PowerScale::TenthMilliwatt { 10_000.0 } else { 100.0 };
    Power::new(libm::round(watts * steps_per_w) as u16, scale)
}

fn spread(seed: u64, slot: u64, share: f64) -> Spread {
    let mut random = Random::stream(seed, Purpose::Spread, slot);
    Spread { watts: 1.0 + share * random.around_zero(), rate: 1.0 + share * random.around_zero() }
}

/// The server without its drives.
#[must_use]
pub fn chassis_model(scenario: &Scenario, reference: &ChassisModel) -> ChassisModel {
    let section = &scenario.chassis;
    ChassisModel {
        base_w: section.base_w.map_or(reference.base_w, |base| base.watts()),
        cooling: section.cooling.unwrap_or(reference.cooling),
        inlet_c: section.inlet_c.unwrap_or(reference.inlet_c),
        fan_from_c: section.fan_from_c.unwrap_or(reference.fan_from_c),
        read_ceiling_gb_s: section.read_ceiling_gb_s.unwrap_or(reference.read_ceiling_gb_s),
        write_ceiling_gb_s: section.write_ceiling_gb_s.unwrap_or(reference.write_ceiling_gb_s),
        ..reference.clone()
    }
}

/// How far the host's clock is ahead of the virtual time at the start: as far as it will be set back.
#[must_use]
pub fn ahead(scenario: &Scenario) -> Micros {
    scenario.clock.iter().map(|clock| clock.back_s.micros()).sum()
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
