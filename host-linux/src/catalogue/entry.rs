//! One drive of the list, and what it says in the words of an inventory.

use serde::Deserialize;
use wattline_core::nvme::{Power, PowerScale, PowerStateDescriptor, ScaledPower};
use wattline_core::units::Kelvin;

use super::CatalogueError;
use crate::inventory::{Inventory, latency, reported, vendor};

/// A drive as posted. `None`: not in the post. What the program has no use for is not read.
#[derive(Clone, Debug, Deserialize)]
pub struct Entry {
    /// Its name in the list.
    pub id: String,
    /// Model Number.
    pub model: String,
    /// Firmware Revision.
    pub firmware: Option<String>,
    /// Where the post is.
    pub source: String,
    vid: Option<Hexadecimal>,
    ssvid: Option<Hexadecimal>,
    apsta: Option<u8>,
    wctemp: Option<u16>,
    cctemp: Option<u16>,
    hctma: Option<u16>,
    mntmt: Option<u16>,
    mxtmt: Option<u16>,
    rtd3r: Option<u32>,
    rtd3e: Option<u32>,
    states: Vec<State>,
}

/// A power state as posted.
#[derive(Clone, Debug, Deserialize)]
struct State {
    mp_w: f64,
    mxps: u8,
    nops: u8,
    enlat_us: u32,
    exlat_us: u32,
    rrt: u8,
    rrl: u8,
    rwt: u8,
    rwl: u8,
    idle_w: Option<f64>,
    active_w: Option<f64>,
    raw: Option<String>,
}

impl Entry {
    /// What it says, as if it had been read from the drive.
    ///
    /// # Errors
    /// Where the post had no power states.
    pub fn inventory(&'static self) -> Result<Inventory, CatalogueError> {
        if self.states.is_empty() {
            return Err(CatalogueError::NoStates(&self.id));
        }
        let temperature = |kelvin: Option<u16>| reported(kelvin.map(Kelvin::new));
        Ok(Inventory {
            vendor: self.vid.and_then(|Hexadecimal(number)| vendor(number)),
            subsystem_vendor: self.ssvid.and_then(|Hexadecimal(number)| vendor(number)),
            model: Some(self.model.clone()),
            firmware: self.firmware.clone(),
            apst_supported: self.apsta.map(|attributes| attributes & 1 != 0),
            warning_temperature: temperature(self.wctemp),
            critical_temperature: temperature(self.cctemp),
            hctm_supported: self.hctma.map(|attributes| attributes & 1 != 0),
            min_thermal_management_temperature: temperature(self.mntmt),
            max_thermal_management_temperature: temperature(self.mxtmt),
            rtd3_resume_latency: self.rtd3r.and_then(latency),
            rtd3_entry_latency: self.rtd3e.and_then(latency),
            power_states: self.states().collect(),
        })
    }

    /// Its power states.
    pub fn states(&self) -> impl Iterator<Item = PowerStateDescriptor> {
        self.states.iter().map(State::descriptor)
    }
}

impl State {
    fn descriptor(&self) -> PowerStateDescriptor {
        if let Some(raw) = self.raw.as_deref().and_then(bytes) {
            return PowerStateDescriptor::decode(&raw);
        }
        let scale = if self.mxps == 1 { PowerScale::TenthMilliwatt } else { PowerScale::TenMilliwatts };
        PowerStateDescriptor {
            max_power: power(self.mp_w, scale),
            non_operational: self.nops == 1,
            entry_latency: latency(self.enlat_us),
            exit_latency: latency(self.exlat_us),
            relative_read_throughput: self.rrt,
            relative_read_latency: self.rrl,
            relative_write_throughput: self.rwt,
            relative_write_latency: self.rwl,
            // The list does not keep these scales; the finer one where the count fits is as exact.
            idle_power: ScaledPower::of(self.idle_w.and_then(finest_power)),
            active_power: ScaledPower::of(self.active_w.and_then(finest_power)),
            ..PowerStateDescriptor::default()
        }
    }
}

fn power(watts: f64, scale: PowerScale) -> Option<Power> {
    let tenths = tenths_of_milliwatt(watts);
    let count = if scale == PowerScale::TenthMilliwatt { tenths } else { tenths / 100 };
    u16::try_from(count).ok().and_then(|count| Power::new(count, scale))
}

fn finest_power(watts: f64) -> Option<Power> {
    power(watts, PowerScale::TenthMilliwatt).or_else(|| power(watts, PowerScale::TenMilliwatts))
}

/// Watts in the finest unit of a descriptor. The list has no finer figures; a test compares them all.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a conversion from floats saturates")]
fn tenths_of_milliwatt(watts: f64) -> u32 {
    (watts * 10_000.0).round() as u32
}

/// A descriptor's bytes, two digits each.
fn bytes(text: &str) -> Option<[u8; PowerStateDescriptor::LENGTH]> {
    let mut bytes = [0; PowerStateDescriptor::LENGTH];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

/// A number written `0x15b7`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
struct Hexadecimal(u16);

impl TryFrom<String> for Hexadecimal {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let digits = text.strip_prefix("0x").and_then(|digits| u16::from_str_radix(digits, 16).ok());
        digits.map(Self).ok_or_else(|| format!("{text} is not a number such as 0x15b7"))
    }
}
