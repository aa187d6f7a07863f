//! The appliance as the simulator's physics: four drives of the board's kind in a small box.
//!
//! What the drive's own table does not say is a guess, chosen so that a writing drive wants a little more than PS0
//! gives.

use std::sync::Arc;

use wattline_core::profile::{PerWork, Work};
use wattline_edge::appliance::{self, DRIVES};
use wattline_sim::model::air::AirModel;
use wattline_sim::model::chassis::{Chassis, ChassisModel, Cooling};
use wattline_sim::model::job::Demand;
use wattline_sim::model::power::WorkModel;
use wattline_sim::model::ssd::{Spread, Ssd, SsdModel, StateModel};
use wattline_sim::model::thermal::ThermalModel;
use wattline_sim::time::{Micros, SECOND, seconds};

const INLET_C: f64 = 30.0;

/// Four drives that differ from their nameplate by up to 2 %, in PS0.
pub(crate) fn appliance() -> Chassis {
    let kind = Arc::new(drive());
    let spread = [1.02, 0.99, 1.01, 0.98].map(|watts| Spread { watts, rate: 1.0 });
    let drives: [Ssd; DRIVES] = spread.map(|spread| Ssd::new(Arc::clone(&kind), spread, 0, 0, INLET_C));
    let model = ChassisModel {
        // The board counts on 4 W at worst.
        base_w: 3.5,
        cooling: Cooling::Liquid,
        inlet_c: INLET_C,
        read_ceiling_gb_s: f64::INFINITY,
        write_ceiling_gb_s: f64::INFINITY,
        fan_from_c: f64::INFINITY,
        fan_w_per_k: 0.0,
        air: AirModel::GUESS,
    };
    Chassis::new(model, drives.into())
}

fn drive() -> SsdModel {
    let mut work = PerWork::default();
    for kind in Work::ALL {
        work[kind] = WorkModel {
            awake_w: 0.7,
            energy_j_per_gb: 2.2,
            crowding_w: 0.0,
            chassis_j_per_gb: 0.0,
            max_gb_s: 3.2,
            latency_s: 30e-6,
        };
    }
    let to_seconds =
        |latency: Option<wattline_core::units::Microseconds>| latency.map_or(0.0, |span| seconds(span.get()));
    // The board sends its drives into operational states only, and these come first.
    let operational = appliance::profile().states.into_iter().take_while(|state| !state.non_operational);
    let states = operational.map(|state| {
        let max_w = f64::from(state.max_power.expect("the table has all of them").get()) / 1_000.0;
        let mut limit_w = PerWork::default();
        for kind in Work::ALL {
            limit_w[kind] = max_w;
        }
        StateModel { limit_w, entry_s: to_seconds(state.entry_latency) }
    });
    SsdModel {
        idle_w: 0.8,
        work,
        states: states.collect(),
        sleep: None,
        admin_s: 0.002,
        settling_s: 0.1,
        reset_s: 0.5,
        // A bare M.2 board of about 10 g, with a pad to the case.
        thermal: ThermalModel { inner_j_per_k: 5.0, outer_j_per_k: 20.0, inner_k_per_w: 1.0, outer_k_per_w: 4.0 },
    }
}

/// A burst of writing.
pub(crate) const BURST: Demand =
    Demand { work: Work::SequentialWrite, block_bytes: 131_072, queue_depth: 32, rate_limit_gb_s: None };

/// When the drive in a slot begins to write, and when it ends, again and again: all at once at first, then ever more
/// out of step.
pub(crate) fn burst(slot: usize, turn: u64) -> (Micros, Micros) {
    let slot = slot as u64;
    let period = (14 + 3 * slot) * SECOND;
    let length = (9 + slot) * SECOND;
    (turn * period, turn * period + length)
}

/// Temperature of the board: halfway between the air and the mean of the drives' cases. A guess.
pub(crate) fn board_c(chassis: &Chassis) -> f64 {
    let cases_c: f64 = chassis.drives().iter().map(|drive| drive.heat().case_c).sum();
    INLET_C.midpoint(cases_c / chassis.drives().len() as f64)
}
