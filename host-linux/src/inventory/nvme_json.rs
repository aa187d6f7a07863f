//! The JSON of `nvme id-ctrl --output-format=json`: the page's fields by their mnemonics, as raw numbers.
//!
//! Two layouts of a power state are in use. nvme-cli 2.3 gives its `flags` byte; later versions give
//! `max_power_scale` and `non-operational_state` instead. A reader that took absent flags for 0 would turn a sleep
//! state of 5 mW into an operational one of 0.5 W, so either the one or the others have to be there.
//!
//! The numbers go back into a descriptor's bytes, so that the core gives them their meaning.

use serde::Deserialize;
use serde_json::Value;
use wattline_core::nvme::PowerStateDescriptor;
use wattline_core::units::Kelvin;

use super::json_value::{AtMost, typed};
use super::{Inventory, InventoryError, identity, latency, reported, vendor};

/// Reads a document that has the key `psds`.
pub(super) fn read(document: Value) -> Result<Inventory, InventoryError> {
    let controller: IdentifyController = typed(document)?;
    let listed = controller.psds.len();
    if let Some(npss) = controller.npss.map(AtMost::get)
        && usize::from(npss) + 1 != listed
    {
        let problem = format!("it is {npss}, so `psds` should have {} power states, but has {listed}", npss + 1);
        return Err(InventoryError::JsonValue { key: "npss".to_owned(), problem });
    }
    let temperature = |kelvin: Option<u16>| reported(kelvin.map(Kelvin::new));
    Inventory {
        vendor: controller.vid.and_then(vendor),
        subsystem_vendor: controller.ssvid.and_then(vendor),
        model: controller.mn.as_deref().and_then(identity),
        firmware: controller.fr.as_deref().and_then(identity),
        apst_supported: controller.apsta.map(|attributes| attributes & 1 != 0),
        warning_temperature: temperature(controller.wctemp),
        critical_temperature: temperature(controller.cctemp),
        hctm_supported: controller.hctma.map(|attributes| attributes & 1 != 0),
        min_thermal_management_temperature: temperature(controller.mntmt),
        max_thermal_management_temperature: temperature(controller.mxtmt),
        rtd3_resume_latency: controller.rtd3r.and_then(latency),
        rtd3_entry_latency: controller.rtd3e.and_then(latency),
        power_states: controller.psds.iter().enumerate().map(descriptor).collect::<Result<_, _>>()?,
    }
    .checked()?
    .not_blank()
}

#[derive(Deserialize)]
struct IdentifyController {
    vid: Option<u16>,
    ssvid: Option<u16>,
    mn: Option<String>,
    fr: Option<String>,
    rtd3r: Option<u32>,
    rtd3e: Option<u32>,
    npss: Option<AtMost<31>>,
    apsta: Option<u8>,
    wctemp: Option<u16>,
    cctemp: Option<u16>,
    hctma: Option<u16>,
    mntmt: Option<u16>,
    mxtmt: Option<u16>,
    psds: Vec<Descriptor>,
}

/// A power state. Fields whose 0 means "not reported" may be absent; a rank of 0 is the best one, so ranks may not.
#[derive(Deserialize)]
struct Descriptor {
    #[serde(default)]
    max_power: u16,
    flags: Option<u8>,
    max_power_scale: Option<AtMost<1>>,
    #[serde(rename = "non-operational_state")]
    non_operational_state: Option<AtMost<1>>,
    #[serde(default)]
    entry_lat: u32,
    #[serde(default)]
    exit_lat: u32,
    read_tput: u8,
    read_lat: u8,
    write_tput: u8,
    write_lat: u8,
    #[serde(default)]
    idle_power: u16,
    #[serde(default)]
    idle_scale: AtMost<3>,
    #[serde(default)]
    active_power: u16,
    #[serde(default)]
    active_power_work: AtMost<7>,
    #[serde(default)]
    active_scale: AtMost<3>,
}

fn descriptor((number, state): (usize, &Descriptor)) -> Result<PowerStateDescriptor, InventoryError> {
    let flags = match (state.flags, state.max_power_scale, state.non_operational_state) {
        (Some(flags), ..) => flags,
        (None, Some(scale), Some(non_operational)) => scale.get() | non_operational.get() << 1,
        (None, ..) => {
            let problem = "neither `flags` nor `max_power_scale` and `non-operational_state` are in it".to_owned();
            return Err(InventoryError::JsonValue { key: format!("psds[{number}]"), problem });
        }
    };
    let mut bytes = [0; PowerStateDescriptor::LENGTH];
    bytes[0..2].copy_from_slice(&state.max_power.to_le_bytes());
    bytes[3] = flags;
    bytes[4..8].copy_from_slice(&state.entry_lat.to_le_bytes());
    bytes[8..12].copy_from_slice(&state.exit_lat.to_le_bytes());
    bytes[12..16].copy_from_slice(&[state.read_tput, state.read_lat, state.write_tput, state.write_lat]);
    bytes[16..18].copy_from_slice(&state.idle_power.to_le_bytes());
    bytes[18] = state.idle_scale.get() << 6;
    bytes[20..22].copy_from_slice(&state.active_power.to_le_bytes());
    bytes[22] = state.active_scale.get() << 6 | state.active_power_work.get();
    Ok(PowerStateDescriptor::decode(&bytes))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A document of one power state, with one key of the drive or of the state changed; `null` takes it away.
    fn changed(key: &str, value: Value) -> Value {
        let mut document = json!({
            "mn": "A drive   ", "npss": 0, "apsta": 1, "wctemp": 343, "rtd3r": 5, "a_key_of_next_year": {},
            "psds": [{
                "max_power": 50, "flags": 3, "entry_lat": 1, "exit_lat": 2,
                "read_tput": 0, "read_lat": 1, "write_tput": 2, "write_lat": 3,
                "idle_power": 18, "idle_scale": 1, "active_power": 7, "active_power_work": 2, "active_scale": 2,
            }],
        });
        let object = match document.get(key) {
            Some(_) => document.as_object_mut(),
            None => document["psds"][0].as_object_mut(),
        };
        if let Some(object) = object {
            object.insert(key.to_owned(), value);
        }
        document
    }

    #[test]
    fn both_layouts_of_the_flags_say_the_same() {
        let with_flags = read(changed("flags", 3.into())).unwrap();
        assert!(with_flags.power_states[0].non_operational);
        assert_eq!(with_flags.power_states[0].max_power.unwrap().tenths_of_milliwatt(), 50);

        let mut document = changed("flags", Value::Null);
        document["psds"][0]["max_power_scale"] = 1.into();
        document["psds"][0]["non-operational_state"] = 1.into();
        assert_eq!(read(document).unwrap(), with_flags);
    }

    #[test]
    fn a_state_without_flags_is_refused() {
        let error = read(changed("flags", Value::Null)).unwrap_err().to_string();
        assert!(error.starts_with("JSON key `psds[0]`: neither `flags`"), "{error}");
    }

    #[test]
    fn what_the_input_does_not_say_is_none() {
        let inventory = read(changed("entry_lat", Value::from(0))).unwrap();
        assert_eq!(inventory.power_states[0].entry_latency, None);
        assert_eq!((inventory.hctm_supported, inventory.critical_temperature), (None, None));
        assert_eq!(inventory.model.as_deref(), Some("A drive"));
    }

    #[test]
    fn a_wrong_value_is_named_with_its_key() {
        for (key, value, path) in [
            ("entry_lat", json!(-5), "psds[0].entry_lat"),
            ("max_power", json!(65536), "psds[0].max_power"),
            ("exit_lat", json!(4_294_967_296_u64), "psds[0].exit_lat"),
            ("exit_lat", json!(1e30), "psds[0].exit_lat"),
            ("exit_lat", json!("long"), "psds[0].exit_lat"),
            ("idle_scale", json!(4), "psds[0].idle_scale"),
            ("active_power_work", json!(8), "psds[0].active_power_work"),
            ("read_tput", json!(256), "psds[0].read_tput"),
            ("wctemp", json!(65536), "wctemp"),
            ("rtd3r", json!(-1), "rtd3r"),
            ("npss", json!(32), "npss"),
            ("npss", json!(1), "npss"),
            ("psds", json!({}), "psds"),
        ] {
            let error = read(changed(key, value)).unwrap_err().to_string();
            assert!(error.starts_with(&format!("JSON key `{path}`: ")), "{error}");
        }
        let error = read(json!({ "psds": [] })).unwrap_err().to_string();
        assert_eq!(error, "it lists 0 power states, but a controller has 1 to 32");
    }
}
