//! The inventory for programs. Keys are the specification's mnemonics, with the unit at the end of a quantity's.

use std::fmt;

use serde::{Serialize, Serializer};
use wattline_core::nvme::{Power, PowerStateDescriptor};
use wattline_core::units::{Kelvin, Microseconds};

use crate::decimal::Decimal;
use crate::inventory::Inventory;

/// The document that `show --json` writes. `None` is `null`: not reported, or not in the input.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    model: Option<&'a str>,
    firmware: Option<&'a str>,
    npss: Option<usize>,
    apsta: Option<u8>,
    wctemp_k: Option<Kelvin>,
    cctemp_k: Option<Kelvin>,
    hctma: Option<u8>,
    mntmt_k: Option<Kelvin>,
    mxtmt_k: Option<Kelvin>,
    rtd3r_us: Option<Microseconds>,
    rtd3e_us: Option<Microseconds>,
    states: Vec<State>,
}

/// One power state; `list` writes the same.
#[derive(Debug, Serialize)]
pub(crate) struct State {
    ps: usize,
    max_power_mw: Option<ExactMilliwatts>,
    operational: bool,
    entry_us: Option<Microseconds>,
    exit_us: Option<Microseconds>,
    rrt: u8,
    rrl: u8,
    rwt: u8,
    rwl: u8,
    idle_mw: Option<ExactMilliwatts>,
    active_mw: Option<ExactMilliwatts>,
}

impl<'a> From<&'a Inventory> for Document<'a> {
    fn from(inventory: &'a Inventory) -> Self {
        Self {
            model: inventory.model.as_deref(),
            firmware: inventory.firmware.as_deref(),
            npss: inventory.npss(),
            apsta: inventory.apst_supported.map(u8::from),
            wctemp_k: inventory.warning_temperature,
            cctemp_k: inventory.critical_temperature,
            hctma: inventory.hctm_supported.map(u8::from),
            mntmt_k: inventory.min_thermal_management_temperature,
            mxtmt_k: inventory.max_thermal_management_temperature,
            rtd3r_us: inventory.rtd3_resume_latency,
            rtd3e_us: inventory.rtd3_entry_latency,
            states: inventory.power_states.iter().enumerate().map(State::from).collect(),
        }
    }
}

impl From<(usize, &PowerStateDescriptor)> for State {
    fn from((ps, state): (usize, &PowerStateDescriptor)) -> Self {
        Self {
            ps,
            max_power_mw: state.max_power.map(ExactMilliwatts),
            operational: !state.non_operational,
            entry_us: state.entry_latency,
            exit_us: state.exit_latency,
            rrt: state.relative_read_throughput,
            rrl: state.relative_read_latency,
            rwt: state.relative_write_throughput,
            rwl: state.relative_write_latency,
            idle_mw: state.idle_power.power().map(ExactMilliwatts),
            active_mw: state.active_power.power().map(ExactMilliwatts),
        }
    }
}

/// Indented, and with a line end.
impl fmt::Display for Document<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string_pretty(self).map_err(|_| fmt::Error)?;
        writeln!(f, "{text}")
    }
}

/// Milliwatts as a number with one decimal where it needs one: `25000`, `1.8`.
#[derive(Debug)]
struct ExactMilliwatts(Power);

impl Serialize for ExactMilliwatts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Decimal::<1>(self.0.tenths_of_milliwatt().into()).serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use wattline_core::nvme::PowerScale;

    use super::*;

    #[test]
    fn every_power_is_written_exactly() {
        for count in 1..=u16::MAX {
            for scale in [PowerScale::TenthMilliwatt, PowerScale::TenMilliwatts] {
                let power = Power::new(count, scale).unwrap();
                let tenths = power.tenths_of_milliwatt();
                let expected = match tenths % 10 {
                    0 => (tenths / 10).to_string(),
                    decimal => format!("{}.{decimal}", tenths / 10),
                };
                assert_eq!(serde_json::to_string(&ExactMilliwatts(power)).unwrap(), expected);
            }
        }
    }
}
