//! The JSON of `smartctl --json --all`, version 7.5 and later.
//!
//! smartctl has no APST, HCTM and RTD3 fields. Its `active_power` and `idle_power` are left out here: it takes their
//! scales from the wrong bits, as the module on its text explains.

use serde::Deserialize;
use serde_json::Value;
use wattline_core::nvme::{Power, PowerScale, PowerStateDescriptor};
use wattline_core::units::Kelvin;

use super::json_value::{AtMost, typed};
use super::{Inventory, InventoryError, identity, latency, reported, vendor};

/// Reads a document that has the key `nvme_power_states`.
pub(super) fn read(document: Value) -> Result<Inventory, InventoryError> {
    let drive: Drive = typed(document)?;
    let pci = drive.nvme_pci_vendor.unwrap_or_default();
    let thresholds = drive.nvme_composite_temperature_threshold.unwrap_or_default();
    Inventory {
        vendor: pci.id.and_then(vendor),
        subsystem_vendor: pci.subsystem_id.and_then(vendor),
        model: drive.model_name.as_deref().and_then(identity),
        firmware: drive.firmware_version.as_deref().and_then(identity),
        warning_temperature: reported(thresholds.warning.map(|Celsius(kelvin)| kelvin)),
        critical_temperature: reported(thresholds.critical.map(|Celsius(kelvin)| kelvin)),
        power_states: drive.nvme_power_states.iter().map(descriptor).collect(),
        ..Inventory::default()
    }
    .checked()
}

#[derive(Deserialize)]
struct Drive {
    nvme_pci_vendor: Option<PciVendor>,
    model_name: Option<String>,
    firmware_version: Option<String>,
    nvme_composite_temperature_threshold: Option<Thresholds>,
    nvme_power_states: Vec<State>,
}

#[derive(Default, Deserialize)]
struct PciVendor {
    id: Option<u16>,
    subsystem_id: Option<u16>,
}

#[derive(Default, Deserialize)]
struct Thresholds {
    warning: Option<Celsius>,
    critical: Option<Celsius>,
}

/// Whole degrees Celsius.
#[derive(Deserialize)]
#[serde(try_from = "i32")]
struct Celsius(Kelvin);

impl TryFrom<i32> for Celsius {
    type Error = String;

    fn try_from(celsius: i32) -> Result<Self, Self::Error> {
        Kelvin::from_celsius(celsius).map(Self).ok_or_else(|| format!("{celsius} °C is not a possible temperature"))
    }
}

#[derive(Deserialize)]
struct State {
    non_operational_state: bool,
    relative_read_latency: AtMost<31>,
    relative_read_throughput: AtMost<31>,
    relative_write_latency: AtMost<31>,
    relative_write_throughput: AtMost<31>,
    #[serde(default)]
    entry_latency_us: u32,
    #[serde(default)]
    exit_latency_us: u32,
    max_power: Option<MaxPower>,
}

/// Its `scale` says the same as `units_per_watt`, in the coding of IPS and APS instead of MXPS.
#[derive(Clone, Copy, Deserialize)]
struct MaxPower {
    value: u16,
    units_per_watt: UnitsPerWatt,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "u32")]
struct UnitsPerWatt(PowerScale);

impl TryFrom<u32> for UnitsPerWatt {
    type Error = String;

    fn try_from(units: u32) -> Result<Self, Self::Error> {
        match units {
            100 => Ok(Self(PowerScale::TenMilliwatts)),
            10_000 => Ok(Self(PowerScale::TenthMilliwatt)),
            _ => Err(format!("{units} is neither 100 nor 10000")),
        }
    }
}

fn descriptor(state: &State) -> PowerStateDescriptor {
    PowerStateDescriptor {
        max_power: state.max_power.and_then(|power| Power::new(power.value, power.units_per_watt.0)),
        non_operational: state.non_operational_state,
        entry_latency: latency(state.entry_latency_us),
        exit_latency: latency(state.exit_latency_us),
        relative_read_throughput: state.relative_read_throughput.get(),
        relative_read_latency: state.relative_read_latency.get(),
        relative_write_throughput: state.relative_write_throughput.get(),
        relative_write_latency: state.relative_write_latency.get(),
        ..PowerStateDescriptor::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document() -> Value {
        json!({
            "nvme_composite_temperature_threshold": { "warning": 70 },
            "nvme_power_states": [{
                "non_operational_state": true,
                "relative_read_latency": 0, "relative_read_throughput": 1,
                "relative_write_latency": 2, "relative_write_throughput": 3,
                "entry_latency_us": 0, "exit_latency_us": 7,
                "max_power": { "value": 18, "scale": 1, "units_per_watt": 10000 },
                "active_power": { "value": 850, "scale": 2, "units_per_watt": 100 },
            }],
        })
    }

    #[test]
    fn a_state_is_read_but_for_its_active_power() {
        let inventory = read(document()).unwrap();
        assert_eq!(inventory.warning_temperature, Some(Kelvin::new(343)));
        assert_eq!((inventory.critical_temperature, inventory.apst_supported), (None, None));
        let state = inventory.power_states[0];
        assert_eq!(state.max_power, Power::new(18, PowerScale::TenthMilliwatt));
        assert_eq!((state.entry_latency, state.exit_latency), (None, latency(7)));
        assert_eq!((state.relative_read_throughput, state.relative_write_latency), (1, 2));
        assert_eq!(state.active_power.power(), None);
    }

    #[test]
    fn a_wrong_value_is_named_with_its_key() {
        for (pointer, value, path) in [
            (
                "/nvme_power_states/0/max_power/units_per_watt",
                json!(1000),
                "nvme_power_states[0].max_power.units_per_watt",
            ),
            ("/nvme_power_states/0/max_power/value", json!(65536), "nvme_power_states[0].max_power.value"),
            ("/nvme_power_states/0/relative_read_latency", json!(32), "nvme_power_states[0].relative_read_latency"),
            ("/nvme_power_states/0/exit_latency_us", json!(-1), "nvme_power_states[0].exit_latency_us"),
            ("/nvme_power_states/0/non_operational_state", json!(1), "nvme_power_states[0].non_operational_state"),
            (
                "/nvme_composite_temperature_threshold/warning",
                json!(-274),
                "nvme_composite_temperature_threshold.warning",
            ),
        ] {
            let mut document = document();
            *document.pointer_mut(pointer).unwrap() = value;
            let error = read(document).unwrap_err().to_string();
            assert!(error.starts_with(&format!("JSON key `{path}`: ")), "{error}");
        }
    }

    #[test]
    fn more_than_32_states_are_refused() {
        let mut document = document();
        let state = document["nvme_power_states"][0].clone();
        document["nvme_power_states"] = Value::Array(vec![state; 33]);
        assert!(matches!(read(document), Err(InventoryError::PowerStateCount { found: 33 })));
    }
}
