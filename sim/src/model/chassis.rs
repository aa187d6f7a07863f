//! Base load, switch, fans: the drives together, and what all of it takes at the wall.
//!
//! ```text
//! wall = base + cooling + Σ own watts of the drives + Σ chassis's joules per GB × GB/s + fans' ramp
//! ```
//!
//! Drives of one direction share the switch's lanes: above the ceiling all of them are slowed by one factor.

use wattline_core::profile::Work;

use super::air::{Air, AirModel};
use super::ssd::Ssd;
use crate::time::{Micros, SECOND, seconds};

/// How the server is cooled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cooling {
    /// Fans only: [`AIR_W`] more than direct liquid cooling.
    Air,
    /// Direct liquid cooling of the processors.
    Liquid,
}

/// What air cooling takes above direct liquid cooling, in watts: the article's figure.
pub const AIR_W: f64 = 200.0;

/// A server without its drives.
#[derive(Clone, Debug, PartialEq)]
pub struct ChassisModel {
    /// Watts without drives, cooled by liquid.
    pub base_w: f64,
    /// How it is cooled.
    pub cooling: Cooling,
    /// Temperature of the air at the drives, in °C.
    pub inlet_c: f64,
    /// What the switch passes in the direction of reading, in GB/s.
    pub read_ceiling_gb_s: f64,
    /// What the switch passes in the direction of writing, in GB/s.
    pub write_ceiling_gb_s: f64,
    /// Composite temperature of the hottest drive above which the fans speed up, in °C.
    pub fan_from_c: f64,
    /// Watts of the fans for each kelvin above that, up to their limit.
    pub fan_w_per_k: f64,
    /// Fans and room.
    pub air: AirModel,
}

impl ChassisModel {
    /// Watts without drives at the usual fan speed, with what cools them.
    #[must_use]
    pub fn base_w(&self) -> f64 {
        let cooling_w = if self.cooling == Cooling::Air { AIR_W } else { 0.0 };
        self.base_w + cooling_w
    }
}

/// A server with its drives, on its way through time.
#[derive(Clone, Debug)]
pub struct Chassis {
    model: ChassisModel,
    drives: Vec<Ssd>,
    now: Micros,
    air: Air,
    fan_w: f64,
    wall_w: f64,
    energy_j: f64,
    moved_gb: (f64, f64),
}

/// Whether this work goes in the direction of reading.
#[must_use]
pub const fn is_reading(work: Work) -> bool {
    matches!(work, Work::SequentialRead | Work::RandomRead)
}

impl Chassis {
    /// A server with these drives at the start of time.
    #[must_use]
    pub fn new(model: ChassisModel, drives: Vec<Ssd>) -> Self {
        let air = Air::new(model.air, model.inlet_c);
        let mut chassis =
            Self { model, drives, now: 0, air, fan_w: 0.0, wall_w: 0.0, energy_j: 0.0, moved_gb: (0.0, 0.0) };
        chassis.rebalance();
        chassis
    }

    /// The drives.
    #[must_use]
    pub fn drives(&self) -> &[Ssd] {
        &self.drives
    }

    /// A drive to act on; [`Self::rebalance`] must follow.
    pub fn drive_mut(&mut self, slot: usize) -> &mut Ssd {
        &mut self.drives[slot]
    }

    /// Watts without drives at the usual fan speed.
    #[must_use]
    pub fn base_w(&self) -> f64 {
        self.model.base_w()
    }

    /// True watts at the wall now.
    #[must_use]
    pub fn wall_w(&self) -> f64 {
        self.wall_w
    }

    /// True energy at the wall so far, in joules.
    #[must_use]
    pub fn energy_j(&self) -> f64 {
        self.energy_j
    }

    /// The air at the drives.
    #[must_use]
    pub fn air(&self) -> &Air {
        &self.air
    }

    /// The air at the drives, to act on.
    pub fn air_mut(&mut self) -> &mut Air {
        &mut self.air
    }

    /// Watts of the fans above their usual speed.
    #[must_use]
    pub fn fan_w(&self) -> f64 {
        self.fan_w
    }

    /// Throughput now in GB/s: reading, writing.
    #[must_use]
    pub fn gb_s(&self) -> (f64, f64) {
        let sum = |reading| {
            let flows = self.drives.iter().map(Ssd::flow);
            flows.filter(|flow| flow.work.is_some_and(|work| is_reading(work) == reading)).map(|flow| flow.gb_s).sum()
        };
        (sum(true), sum(false))
    }

    /// Data moved so far in GB: read, written.
    #[must_use]
    pub fn moved_gb(&self) -> (f64, f64) {
        self.moved_gb
    }

    /// When something changes by itself.
    #[must_use]
    pub fn next_change(&self) -> Option<Micros> {
        self.drives.iter().filter_map(Ssd::next_change).min()
    }

    /// Lets time pass up to `to`, which must not be after [`Self::next_change`], and does what is due then.
    pub fn advance(&mut self, to: Micros) {
        let span = to - self.now;
        if span > 0 {
            let span_s = seconds(span);
            let (read_gb_s, write_gb_s) = self.gb_s();
            self.energy_j += self.wall_w * span_s;
            self.moved_gb.0 += read_gb_s * span_s;
            self.moved_gb.1 += write_gb_s * span_s;
            for drive in &mut self.drives {
                drive.advance(span);
            }
            self.now = to;
        }
        let mut changed = false;
        for drive in &mut self.drives {
            changed |= drive.apply_due(to);
        }
        if changed {
            self.rebalance();
        }
    }

    /// Once a second: heat, and fans after it.
    pub fn second(&mut self) {
        let (air_c, resistance) = (self.air.drives_c(), self.air.resistance());
        let (mut hottest_c, mut changed) = (f64::NEG_INFINITY, false);
        for drive in self.drives.iter_mut().filter(|drive| drive.is_present()) {
            changed |= drive.warm(SECOND, air_c, resistance);
            hottest_c = hottest_c.max(drive.heat().composite_c);
        }
        let above_k = hottest_c - self.model.fan_from_c;
        self.air.second(self.now, self.wall_w, above_k);
        self.fan_w = self.model.fan_w_per_k * above_k.clamp(0.0, self.model.air.fan_span_k);
        if changed {
            self.rebalance();
        }
        self.sum_up();
    }

    /// Shares the switch anew after a change, and sums up the watts.
    pub fn rebalance(&mut self) {
        let offers: Vec<_> = self.drives.iter().map(Ssd::offer_gb_s).collect();
        let share = |reading: bool, ceiling_gb_s: f64| {
            let direction = offers.iter().flatten().filter(|(work, _)| is_reading(*work) == reading);
            let asked: f64 = direction.map(|(_, gb_s)| gb_s).sum();
            if asked > ceiling_gb_s { ceiling_gb_s / asked } else { 1.0 }
        };
        let read = share(true, self.model.read_ceiling_gb_s);
        let write = share(false, self.model.write_ceiling_gb_s);
        for (drive, offer) in self.drives.iter_mut().zip(offers) {
            let flow = offer.map(|(work, gb_s)| (work, gb_s * if is_reading(work) { read } else { write }));
            drive.run(self.now, flow);
        }
        self.sum_up();
    }

    fn sum_up(&mut self) {
        let drives_w: f64 = self.drives.iter().map(wall_w).sum();
        self.wall_w = self.base_w() + self.fan_w + drives_w;
    }
}

/// What a drive adds to the wall: its own watts, and the chassis's for its work.
fn wall_w(drive: &Ssd) -> f64 {
    let flow = drive.flow();
    let chassis_w = flow.work.map_or(0.0, |work| drive.model().work[work].chassis_j_per_gb * flow.gb_s);
    flow.own_w + chassis_w
}

#[cfg(test)]
mod tests;
