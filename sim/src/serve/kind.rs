//! Kinds of drives: what one says about itself, and the model of what it does.
//!
//! The reference drive is the calibrated one. A drive of the catalogue has its posted power states, and takes and gives
//! what the reference drive would under those limits: **guess**, since nobody has measured these drives.

use std::sync::Arc;

use wattline_core::apst::Drive;
use wattline_core::nvme::feature::autonomous_transitions::Table;
use wattline_core::nvme::identify::{AsynchronousEvents, IdentifyController, Text};
use wattline_core::nvme::{Power, PowerScale, PowerState, PowerStateDescriptor, ScaledPower};
use wattline_core::profile::{PerWork, Work};
use wattline_core::units::{Kelvin, Microseconds};

use crate::calibration::Calibration;
use crate::idle::catalogue::PowerTable;
use crate::idle::drive::Sleeper;
use crate::model::ssd::{Sleep, SsdModel, StateModel};
use crate::time::micros;

/// Warning composite temperature. **Guess:** 70 °C.
const WARNING: Kelvin = Kelvin::new(343);
/// Critical composite temperature. **Guess:** 77 °C.
const CRITICAL: Kelvin = Kelvin::new(350);
/// Thresholds of Host Controlled Thermal Management that the drive takes. **Guess:** 0 °C, as some drives report, to
/// the warning temperature.
const MANAGED: (Kelvin, Kelvin) = (Kelvin::new(273), WARNING);

/// Bit 8 of OAES: it would say if its namespace changed, which it never does. Linux asks for no events at all of a
/// drive that has none of this field.
const NAMESPACE_EVENTS: u32 = 1 << 8;

/// A kind of drive.
#[derive(Clone, Debug)]
pub(super) struct Kind {
    /// What it says about itself, as far as power and heat are concerned.
    pub(super) identity: IdentifyController,
    /// What it does.
    pub(super) model: Arc<SsdModel>,
}

impl Kind {
    /// The reference drive.
    pub(super) fn reference(calibration: &Calibration) -> Self {
        let model = calibration.ssd.clone();
        let nameplates = calibration.article.drive.max_power_w.iter();
        let descriptor = |((number, nameplate_w), state): ((u8, &f64), &StateModel)| PowerStateDescriptor {
            max_power: power(*nameplate_w),
            entry_latency: Some(Microseconds::new(micros(state.entry_s))),
            // Guess: as long as the entry.
            exit_latency: Some(Microseconds::new(micros(state.entry_s))),
            idle_power: ScaledPower::of(power(model.idle_w)),
            relative_read_throughput: number,
            relative_read_latency: number,
            relative_write_throughput: number,
            relative_write_latency: number,
            ..PowerStateDescriptor::default()
        };
        let states = (0..).zip(nameplates).zip(&model.states).map(descriptor).collect();
        let name = format!("Virtual {}", calibration.article.drive.model);
        Self { identity: identity(&name, states), model: Arc::new(model) }
    }

    /// A drive with the power states of this table.
    pub(super) fn posted(reference: &SsdModel, table: &PowerTable) -> Self {
        let full_w = table.states.first().and_then(max_w).unwrap_or(REFERENCE_W);
        let size = full_w / REFERENCE_W;
        let mut model = SsdModel { idle_w: reference.idle_w * size, states: Vec::new(), ..reference.clone() };
        for work in Work::ALL {
            model.work[work].awake_w *= size;
        }
        let mut limit_w = full_w;
        for state in &table.states {
            if !state.non_operational {
                limit_w = max_w(state).unwrap_or(limit_w);
            }
            // Of a non-operational state this says nothing: the drive wakes before it works.
            model.states.push(StateModel { limit_w: all(limit_w), entry_s: seconds(state.entry_latency) });
        }
        let drive = Drive { states: &table.states, supported: Some(true) };
        model.sleep = Sleeper::new(&drive).map(|sleeper| Sleep { sleeper, table: Table::EMPTY });
        let states = table.states.clone();
        Self { identity: identity(&table.name, states), model: Arc::new(model) }
    }

    /// Its states' entry latency in microseconds.
    pub(super) fn entry(&self, state: usize) -> u64 {
        self.model.states.get(state).map_or(0, |state| micros(state.entry_s))
    }

    /// The operational state in which it is where it would be in this one: itself, or PS0.
    pub(super) fn operational_of(&self, state: usize) -> usize {
        if self.sleeps(state) { 0 } else { state }
    }

    /// Whether a state is one in which it does no I/O.
    pub(super) fn sleeps(&self, state: usize) -> bool {
        self.identity.power_states.get(state).is_some_and(|state| state.non_operational)
    }

    /// Numbers of its operational states, in order.
    pub(super) fn operational(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        (0..self.identity.power_states.len()).filter(|state| !self.sleeps(*state))
    }
}

/// Watts of the reference drive at full work.
const REFERENCE_W: f64 = 25.0;

fn identity(name: &str, states: Vec<PowerStateDescriptor>) -> IdentifyController {
    let power_states: heapless::Vec<_, { PowerState::COUNT }> = states.into_iter().collect();
    let apst_supported = power_states.iter().any(|state| state.non_operational);
    IdentifyController {
        model: Text::new(name),
        firmware: Text::new(env!("CARGO_PKG_VERSION")),
        version: super::VERSION,
        events: AsynchronousEvents::from_bits(NAMESPACE_EVENTS),
        apst_supported,
        warning_temperature: Some(WARNING),
        critical_temperature: Some(CRITICAL),
        hctm_supported: true,
        min_thermal_management_temperature: Some(MANAGED.0),
        max_thermal_management_temperature: Some(MANAGED.1),
        power_states,
        ..IdentifyController::default()
    }
}

fn all(limit_w: f64) -> PerWork<f64> {
    PerWork { sequential_read: limit_w, sequential_write: limit_w, random_read: limit_w, random_write: limit_w }
}

fn seconds(latency: Option<Microseconds>) -> f64 {
    latency.map_or(0.0, |latency| crate::time::seconds(latency.get()))
}

fn max_w(state: &PowerStateDescriptor) -> Option<f64> {
    state.max_power.map(watts)
}

fn watts(power: Power) -> f64 {
    f64::from(power.tenths_of_milliwatt()) / 10_000.0
}

/// In steps of 10 mW, as the reference's figures are whole.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates, which is what is meant")]
fn power(watts: f64) -> Option<Power> {
    Power::new(libm::round(watts * 100.0) as u16, PowerScale::TenMilliwatts)
}
