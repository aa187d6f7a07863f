//! Set and Get Features of a drive: which values there are, which may be set, and which survive a reset.
//!
//! Power and thermal features belong to the drive: every controller of it sees the same. Each has a current, a default
//! and a saved value; a reset brings back the saved one, or the default where none was saved. Queues, Keep Alive and
//! the events that a host wants belong to one controller and last as long as it does (`association`).
//!
//! The rules of refusal are those of the Base Specification; where this rests on memory alone, [`wattline_core`]'s
//! module of the feature says so.

use std::collections::BTreeMap;

use wattline_core::nvme::feature::autonomous_transitions::{AutonomousTransitions, Table};
use wattline_core::nvme::feature::temperature_threshold::{Sensor, Side, TemperatureThreshold, Threshold};
use wattline_core::nvme::feature::thermal_management::ThermalManagement;
use wattline_core::nvme::feature::{PowerManagement, identifier};
use wattline_core::nvme::identify::IdentifyController;
use wattline_core::nvme::{PowerState, Status};
use wattline_core::units::Kelvin;

use super::command::for_good;

/// One feature of a drive, or one of several values of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    PowerManagement,
    Over(u8),
    Under(u8),
    AutonomousTransitions,
    ThermalManagement,
}

/// A value: the dword, and the data buffer where the feature has one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Value {
    dword: u32,
    data: Option<Box<[u8; Table::LENGTH]>>,
}

#[derive(Clone, Debug)]
struct Values {
    current: Value,
    default: Value,
    saved: Option<Value>,
}

/// What Get Features asks for (SEL).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Selected {
    Current,
    Default,
    Saved,
    Capabilities,
}

impl Selected {
    /// Command dword 10 bits 10:8.
    pub(super) const fn of(dword_10: u32) -> Option<Self> {
        match dword_10 >> 8 & 0b111 {
            0 => Some(Self::Current),
            1 => Some(Self::Default),
            2 => Some(Self::Saved),
            3 => Some(Self::Capabilities),
            _ => None,
        }
    }
}

/// Dword 0 for [`Selected::Capabilities`]: saveable (bit 0) and changeable (bit 2).
const CAPABILITIES: u32 = 0b101;

/// The features of one drive.
#[derive(Clone, Debug)]
pub(super) struct Features {
    values: BTreeMap<Key, Values>,
    states: Vec<bool>,
    thermal_range: (Option<Kelvin>, Option<Kelvin>),
}

/// What a Set Features command changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Changed {
    /// The drive is to enter this state; also after a reset, where it was saved.
    Power { state: usize, save: bool },
    /// When the drive sleeps.
    Idle,
    /// At which temperatures something happens.
    Temperatures,
}

impl Features {
    /// Those of a drive that says this about itself, is in state `initial` and falls back to `fallback`.
    pub(super) fn new(identity: &IdentifyController, initial: u32, fallback: u32) -> Self {
        let mut values = BTreeMap::new();
        let mut add = |key, current: u32, default: u32, table: bool| {
            let value = |dword| Value { dword, data: table.then(|| Box::new(Table::EMPTY.encode())) };
            values.insert(key, Values { current: value(current), default: value(default), saved: None });
        };
        add(Key::PowerManagement, initial, fallback, false);
        let over = identity.warning_temperature.map_or(Threshold::UNSET_OVER, Threshold::at);
        for sensor in 0..=SENSORS {
            let over = if sensor == 0 { over } else { Threshold::UNSET_OVER };
            add(Key::Over(sensor), over.bits().into(), over.bits().into(), false);
            add(Key::Under(sensor), 0, 0, false);
        }
        if identity.apst_supported {
            add(Key::AutonomousTransitions, 0, 0, true);
        }
        if identity.hctm_supported {
            add(Key::ThermalManagement, 0, 0, false);
        }
        let range = (identity.min_thermal_management_temperature, identity.max_thermal_management_temperature);
        let states = identity.power_states.iter().map(|state| state.non_operational).collect();
        Self { values, states, thermal_range: range }
    }

    /// After a reset: saved values, else defaults.
    pub(super) fn reset(&mut self) {
        for values in self.values.values_mut() {
            values.current = values.saved.as_ref().unwrap_or(&values.default).clone();
        }
    }

    /// The state that Power Management names, and the one that it would name after a reset.
    pub(super) fn power_states(&self) -> (usize, usize) {
        let Some(values) = self.values.get(&Key::PowerManagement) else { return (0, 0) };
        let state = |value: &Value| PowerManagement::decode(value.dword).power_state.index();
        (state(&values.current), state(values.saved.as_ref().unwrap_or(&values.default)))
    }

    /// The transitions that the drive makes by itself; `None` where that is off.
    pub(super) fn transitions(&self) -> Option<Table> {
        let value = &self.values.get(&Key::AutonomousTransitions)?.current;
        let table = Table::decode(value.data.as_deref()?);
        AutonomousTransitions::decode(value.dword).enabled.then_some(table)
    }

    /// At which temperatures it is to slow down.
    pub(super) fn thermal_management(&self) -> ThermalManagement {
        let value = self.values.get(&Key::ThermalManagement);
        value.map_or_else(ThermalManagement::default, |values| ThermalManagement::decode(values.current.dword))
    }

    /// Whether a temperature is at or beyond a threshold of the composite temperature, or of a sensor. Both show the
    /// same here.
    pub(super) fn beyond_threshold(&self, temperature: Kelvin) -> bool {
        let beyond = |(key, values): (&Key, &Values)| {
            let threshold = Threshold::from_bits(low16(values.current.dword)).temperature();
            threshold.is_some_and(|threshold| match key {
                Key::Over(_) => temperature >= threshold,
                Key::Under(_) => temperature <= threshold,
                _ => false,
            })
        };
        self.values.iter().any(beyond)
    }

    /// Get Features: dword 0 of the completion, and the data.
    ///
    /// # Errors
    ///
    /// The status of the refusal.
    pub(super) fn get(&self, feature: u8, selected: Selected, dword_11: u32) -> Result<(u32, Vec<u8>), Status> {
        let values = self.values.get(&key(feature, dword_11)?).ok_or(INVALID)?;
        let value = match selected {
            Selected::Current => &values.current,
            Selected::Default => &values.default,
            Selected::Saved => values.saved.as_ref().unwrap_or(&values.default),
            Selected::Capabilities => return Ok((CAPABILITIES, Vec::new())),
        };
        Ok((value.dword, value.data.as_ref().map_or_else(Vec::new, |data| data.to_vec())))
    }

    /// Set Features; `save` is the bit of that name.
    ///
    /// # Errors
    ///
    /// The status of the refusal; nothing has changed then.
    pub(super) fn set(&mut self, feature: u8, save: bool, dword_11: u32, data: &[u8]) -> Result<Changed, Status> {
        let (keys, value, changed) = match feature {
            identifier::POWER_MANAGEMENT => {
                let wanted = PowerManagement::decode(dword_11);
                let state = wanted.power_state.index();
                if state >= self.states.len() {
                    return Err(INVALID);
                }
                let value = Value { dword: wanted.encode(), data: None };
                (vec![Key::PowerManagement], value, Changed::Power { state, save })
            }
            identifier::TEMPERATURE_THRESHOLD => {
                let wanted = TemperatureThreshold::decode(dword_11);
                let keys = if wanted.sensor == Sensor::ALL {
                    (0..=SENSORS).filter_map(|sensor| threshold_key(sensor, wanted.side)).collect()
                } else {
                    vec![key(feature, dword_11)?]
                };
                if keys.is_empty() {
                    return Err(INVALID);
                }
                let value = Value { dword: wanted.threshold.bits().into(), data: None };
                (keys, value, Changed::Temperatures)
            }
            identifier::AUTONOMOUS_TRANSITIONS => {
                let table: &[u8; Table::LENGTH] = data.try_into().map_err(|_| INVALID)?;
                if !Table::decode(table).transitions().all(|(_, to)| self.sleeps(to.target())) {
                    return Err(INVALID);
                }
                let dword = AutonomousTransitions::decode(dword_11).encode();
                (vec![Key::AutonomousTransitions], Value { dword, data: Some(Box::new(*table)) }, Changed::Idle)
            }
            identifier::THERMAL_MANAGEMENT => {
                self.check_thermal(ThermalManagement::decode(dword_11))?;
                (vec![Key::ThermalManagement], Value { dword: dword_11, data: None }, Changed::Temperatures)
            }
            _ => return Err(INVALID),
        };
        for key in keys {
            let values = self.values.get_mut(&key).ok_or(INVALID)?;
            values.current = value.clone();
            if save {
                values.saved = Some(value.clone());
            }
        }
        Ok(changed)
    }

    fn sleeps(&self, state: PowerState) -> bool {
        self.states.get(state.index()).copied().unwrap_or(false)
    }

    /// Each threshold that is set is in the drive's range, and the first is below the second.
    fn check_thermal(&self, wanted: ThermalManagement) -> Result<(), Status> {
        let (least, most) = self.thermal_range;
        let inside = |at: Kelvin| least.is_none_or(|least| at >= least) && most.is_none_or(|most| at <= most);
        let ordered = !matches!((wanted.light, wanted.heavy), (Some(light), Some(heavy)) if light >= heavy);
        let all_inside = [wanted.light, wanted.heavy].into_iter().flatten().all(inside);
        if all_inside && ordered { Ok(()) } else { Err(INVALID) }
    }
}

/// Invalid Field in Command, for good.
const INVALID: Status = for_good(Status::INVALID_FIELD);

/// Temperature sensors besides the composite temperature.
pub(super) const SENSORS: u8 = 1;

fn low16(dword: u32) -> u16 {
    let [low, high, ..] = dword.to_le_bytes();
    u16::from_le_bytes([low, high])
}

fn threshold_key(sensor: u8, side: Side) -> Option<Key> {
    match side {
        Side::OVER => Some(Key::Over(sensor)),
        Side::UNDER => Some(Key::Under(sensor)),
        _ => None,
    }
}

fn key(feature: u8, dword_11: u32) -> Result<Key, Status> {
    match feature {
        identifier::POWER_MANAGEMENT => Ok(Key::PowerManagement),
        identifier::AUTONOMOUS_TRANSITIONS => Ok(Key::AutonomousTransitions),
        identifier::THERMAL_MANAGEMENT => Ok(Key::ThermalManagement),
        identifier::TEMPERATURE_THRESHOLD => {
            let which = TemperatureThreshold::decode(dword_11);
            let sensor = which.sensor.code();
            (sensor <= SENSORS).then(|| threshold_key(sensor, which.side)).flatten().ok_or(INVALID)
        }
        _ => Err(INVALID),
    }
}

#[cfg(test)]
mod tests;
