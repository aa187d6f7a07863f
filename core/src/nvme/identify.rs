//! The power and thermal fields of the Identify Controller data structure
//! (Base Specification, Identify command with CNS 01h; 4,096 bytes).

use heapless::Vec;

use super::field::{latency, latency_field, le16, le32};
use super::power_state::{PowerState, PowerStateDescriptor};
use crate::units::{Kelvin, Microseconds};

/// Admin opcode of Identify.
pub const IDENTIFY: u8 = 0x06;
/// Command dword 10 of Identify that asks for this data structure (CNS 01h).
pub const CONTROLLER_DWORD_10: u32 = 0x01;

/// What a controller says about itself, as far as power and heat are concerned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct IdentifyController {
    /// PCI Vendor ID (VID, bytes 0–1).
    pub vendor: u16,
    /// PCI Subsystem Vendor ID (SSVID, bytes 2–3).
    pub subsystem_vendor: u16,
    /// Model Number (MN, bytes 24–63), as the drive wrote it.
    pub model: Text<40>,
    /// Firmware Revision (FR, bytes 64–71), as the drive wrote it.
    pub firmware: Text<8>,
    /// Version (VER, bytes 80–83): major in the high half, minor in bits 15:8, tertiary in bits 7:0.
    pub version: u32,
    /// Runtime D3 Resume Latency (RTD3R, bytes 84–87). `None`: not reported.
    pub rtd3_resume_latency: Option<Microseconds>,
    /// Runtime D3 Entry Latency (RTD3E, bytes 88–91). `None`: not reported.
    pub rtd3_entry_latency: Option<Microseconds>,
    /// Controller Attributes (CTRATT, bytes 96–99), raw.
    pub attributes: u32,
    /// Autonomous Power State Transition Attributes (APSTA, byte 265), bit 0: transitions are supported.
    pub apst_supported: bool,
    /// Warning Composite Temperature Threshold (WCTEMP, bytes 266–267). `None`: not reported.
    pub warning_temperature: Option<Kelvin>,
    /// Critical Composite Temperature Threshold (CCTEMP, bytes 268–269). `None`: not reported.
    pub critical_temperature: Option<Kelvin>,
    /// Host Controlled Thermal Management Attributes (HCTMA, bytes 322–323), bit 0: supported.
    pub hctm_supported: bool,
    /// Minimum Thermal Management Temperature (MNTMT, bytes 324–325). `None`: not reported.
    pub min_thermal_management_temperature: Option<Kelvin>,
    /// Maximum Thermal Management Temperature (MXTMT, bytes 326–327). `None`: not reported.
    pub max_thermal_management_temperature: Option<Kelvin>,
    /// The power states 0 to NPSS (bytes 2048–3071). NPSS (byte 263) is the highest number, not a count.
    pub power_states: Vec<PowerStateDescriptor, { PowerState::COUNT }>,
}

/// Why a page is not a usable Identify Controller data structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum IdentifyError {
    /// NPSS names a power state above 31.
    TooManyPowerStates {
        /// The value of NPSS.
        npss: u8,
    },
}

impl core::fmt::Display for IdentifyError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::TooManyPowerStates { npss } => {
                write!(f, "NPSS is {npss}, but power states only go up to 31: not an Identify Controller page")
            }
        }
    }
}

impl core::error::Error for IdentifyError {}

impl IdentifyController {
    /// Bytes of the data structure.
    pub const LENGTH: usize = 4096;

    /// Reads the data structure.
    ///
    /// # Errors
    /// Where NPSS is out of range: the page is something else.
    pub fn decode(page: &[u8; Self::LENGTH]) -> Result<Self, IdentifyError> {
        let npss = page[offset::NPSS];
        let highest = PowerState::new(npss).ok_or(IdentifyError::TooManyPowerStates { npss })?;
        Ok(Self {
            vendor: le16(page, offset::VID),
            subsystem_vendor: le16(page, offset::SSVID),
            model: Text::from_field(page, offset::MN),
            firmware: Text::from_field(page, offset::FR),
            version: le32(page, offset::VER),
            rtd3_resume_latency: latency(le32(page, offset::RTD3R)),
            rtd3_entry_latency: latency(le32(page, offset::RTD3E)),
            attributes: le32(page, offset::CTRATT),
            apst_supported: page[offset::APSTA] & 1 != 0,
            warning_temperature: temperature(le16(page, offset::WCTEMP)),
            critical_temperature: temperature(le16(page, offset::CCTEMP)),
            hctm_supported: le16(page, offset::HCTMA) & 1 != 0,
            min_thermal_management_temperature: temperature(le16(page, offset::MNTMT)),
            max_thermal_management_temperature: temperature(le16(page, offset::MXTMT)),
            power_states: PowerState::up_to(highest).map(|state| descriptor(page, state)).collect(),
        })
    }

    /// Writes the fields that this type has into an otherwise zero page.
    /// The serial number and everything that is not about power stay 0.
    pub fn encode(&self, page: &mut [u8; Self::LENGTH]) {
        page.fill(0);
        put(page, offset::VID, &self.vendor.to_le_bytes());
        put(page, offset::SSVID, &self.subsystem_vendor.to_le_bytes());
        put(page, offset::MN, &self.model.0);
        put(page, offset::FR, &self.firmware.0);
        put(page, offset::VER, &self.version.to_le_bytes());
        put(page, offset::RTD3R, &latency_field(self.rtd3_resume_latency).to_le_bytes());
        put(page, offset::RTD3E, &latency_field(self.rtd3_entry_latency).to_le_bytes());
        put(page, offset::CTRATT, &self.attributes.to_le_bytes());
        page[offset::NPSS] = u8::try_from(self.power_states.len().saturating_sub(1)).unwrap_or(u8::MAX);
        page[offset::APSTA] = u8::from(self.apst_supported);
        put(page, offset::HCTMA, &u16::from(self.hctm_supported).to_le_bytes());
        for (at, kelvin) in [
            (offset::WCTEMP, self.warning_temperature),
            (offset::CCTEMP, self.critical_temperature),
            (offset::MNTMT, self.min_thermal_management_temperature),
            (offset::MXTMT, self.max_thermal_management_temperature),
        ] {
            put(page, at, &kelvin.map_or(0, Kelvin::get).to_le_bytes());
        }
        for (number, state) in self.power_states.iter().enumerate() {
            put(page, offset::PSD0 + number * PowerStateDescriptor::LENGTH, &state.encode());
        }
    }
}

/// Byte offsets in the data structure, by the specification's mnemonics.
mod offset {
    pub(super) const VID: usize = 0;
    pub(super) const SSVID: usize = 2;
    pub(super) const MN: usize = 24;
    pub(super) const FR: usize = 64;
    pub(super) const VER: usize = 80;
    pub(super) const RTD3R: usize = 84;
    pub(super) const RTD3E: usize = 88;
    pub(super) const CTRATT: usize = 96;
    pub(super) const NPSS: usize = 263;
    pub(super) const APSTA: usize = 265;
    pub(super) const WCTEMP: usize = 266;
    pub(super) const CCTEMP: usize = 268;
    pub(super) const HCTMA: usize = 322;
    pub(super) const MNTMT: usize = 324;
    pub(super) const MXTMT: usize = 326;
    pub(super) const PSD0: usize = 2048;
}

/// A text field of a fixed width, space-padded by the drive.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Text<const WIDTH: usize>([u8; WIDTH]);

impl<const WIDTH: usize> Text<WIDTH> {
    /// A field that holds as much of `text` as fits, padded with spaces.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut field = [b' '; WIDTH];
        for (byte, value) in field.iter_mut().zip(text.bytes()) {
            *byte = value;
        }
        Self(field)
    }

    /// The text without its padding; empty where it is not ASCII text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let text = core::str::from_utf8(&self.0).unwrap_or_default();
        let text = text.trim_matches(|c| c == ' ' || c == '\0');
        if text.bytes().all(|byte| (0x20..0x7F).contains(&byte)) { text } else { "" }
    }

    fn from_field(page: &[u8; IdentifyController::LENGTH], at: usize) -> Self {
        let mut field = [0; WIDTH];
        field.copy_from_slice(&page[at..at + WIDTH]);
        Self(field)
    }
}

impl<const WIDTH: usize> Default for Text<WIDTH> {
    fn default() -> Self {
        Self([b' '; WIDTH])
    }
}

impl<const WIDTH: usize> core::fmt::Debug for Text<WIDTH> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Debug::fmt(self.as_str(), f)
    }
}

impl<const WIDTH: usize> core::fmt::Display for Text<WIDTH> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(feature = "defmt")]
impl<const WIDTH: usize> defmt::Format for Text<WIDTH> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{=str}", self.as_str());
    }
}

fn descriptor(page: &[u8; IdentifyController::LENGTH], state: PowerState) -> PowerStateDescriptor {
    let at = offset::PSD0 + state.index() * PowerStateDescriptor::LENGTH;
    let mut bytes = [0; PowerStateDescriptor::LENGTH];
    bytes.copy_from_slice(&page[at..at + PowerStateDescriptor::LENGTH]);
    PowerStateDescriptor::decode(&bytes)
}

fn put(page: &mut [u8; IdentifyController::LENGTH], at: usize, bytes: &[u8]) {
    page[at..at + bytes.len()].copy_from_slice(bytes);
}

fn temperature(field: u16) -> Option<Kelvin> {
    (field != 0).then(|| Kelvin::new(field))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::boxed::Box;

    use proptest::prelude::*;

    use super::*;

    fn page() -> Box<[u8; IdentifyController::LENGTH]> {
        Box::new([0; IdentifyController::LENGTH])
    }

    #[test]
    fn npss_is_the_highest_number_not_a_count() {
        let mut page = page();
        assert_eq!(IdentifyController::decode(&page).unwrap().power_states.len(), 1);
        page[offset::NPSS] = 31;
        assert_eq!(IdentifyController::decode(&page).unwrap().power_states.len(), 32);
        page[offset::NPSS] = 32;
        assert_eq!(IdentifyController::decode(&page), Err(IdentifyError::TooManyPowerStates { npss: 32 }));
    }

    #[test]
    fn what_is_zero_is_not_reported() {
        let controller = IdentifyController::decode(&page()).unwrap();
        assert_eq!(controller.warning_temperature, None);
        assert_eq!(controller.rtd3_entry_latency, None);
        assert_eq!(controller.power_states[0].max_power, None);
    }

    #[test]
    fn text_that_is_not_ascii_is_not_shown() {
        let mut page = page();
        page[offset::MN..offset::MN + 40].fill(b' ');
        page[offset::MN..offset::MN + 6].copy_from_slice(b"Model ");
        page[offset::FR] = 0xFF;
        let controller = IdentifyController::decode(&page).unwrap();
        assert_eq!((controller.model.as_str(), controller.firmware.as_str()), ("Model", ""));
    }

    proptest! {
        /// Whatever a drive sends is refused by name or survives both ways.
        #[test]
        fn what_is_read_is_written_back(fields in prop::collection::vec((0usize..4096, any::<u8>()), 0..200), npss in 0u8..34) {
            let mut original = page();
            for (at, byte) in fields {
                original[at] = byte;
            }
            original[offset::NPSS] = npss;
            let Ok(controller) = IdentifyController::decode(&original) else {
                prop_assert!(npss > 31);
                return Ok(());
            };
            let mut written = page();
            controller.encode(&mut written);
            prop_assert_eq!(IdentifyController::decode(&written), Ok(controller));
        }
    }
}
