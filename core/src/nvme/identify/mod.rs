//! The power and thermal fields of the Identify Controller data structure
//! (Base Specification, Identify command with CNS 01h; 4,096 bytes).
//!
//! Nothing is checked against anything else: thresholds above each other the wrong way round, of 0 °C or of 130 °C are
//! what drives really report.

mod attributes;

use core::num::NonZeroU32;

pub use attributes::{AsynchronousEvents, ControllerAttributes, IdleExitLatencyLimit, PowerLossSignaling};
use heapless::Vec;

use super::feature::power_measurement::StopTime;
use super::feature::temperature_threshold::Hysteresis;
use super::field::{latency, latency_field, le16, le32, put, temperature, temperature_field};
use super::power::ScaledPower;
use super::power_state::{PowerState, PowerStateDescriptor};
use super::scaled_time::SampleInterval;
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
    /// Optional Asynchronous Events Supported (OAES, bytes 92–95).
    pub events: AsynchronousEvents,
    /// Controller Attributes (CTRATT, bytes 96–99).
    pub attributes: ControllerAttributes,
    /// Power Loss Signaling Information (PLSI, byte 110).
    pub power_loss_signaling: PowerLossSignaling,
    /// Autonomous Power State Transition Attributes (APSTA, byte 265), bit 0: transitions are supported.
    pub apst_supported: bool,
    /// Warning Composite Temperature Threshold (WCTEMP, bytes 266–267). `None`: not reported.
    pub warning_temperature: Option<Kelvin>,
    /// Critical Composite Temperature Threshold (CCTEMP, bytes 268–269). `None`: not reported.
    pub critical_temperature: Option<Kelvin>,
    /// Host Memory Buffer Preferred Size (HMPRE, bytes 272–275). `None`: the controller uses no memory of the host.
    pub host_memory_preferred: Option<HostMemory>,
    /// Host Memory Buffer Minimum Size (HMMIN, bytes 276–279). `None`: any size will do.
    pub host_memory_minimum: Option<HostMemory>,
    /// Host Controlled Thermal Management Attributes (HCTMA, bytes 322–323), bit 0: supported.
    pub hctm_supported: bool,
    /// Minimum Thermal Management Temperature (MNTMT, bytes 324–325). `None`: not reported.
    pub min_thermal_management_temperature: Option<Kelvin>,
    /// Maximum Thermal Management Temperature (MXTMT, bytes 326–327). `None`: not reported.
    pub max_thermal_management_temperature: Option<Kelvin>,
    /// Temperature Threshold Hysteresis Attributes (TMPTHHA, byte 384), bits 2:0: the largest hysteresis.
    pub max_temperature_hysteresis: Hysteresis,
    /// Command Quiesce Time (CQT, bytes 386–387; 1 ms steps): the worst time until all commands have come to rest.
    /// `None`: not reported. Written in whole milliseconds, rounded up.
    pub command_quiesce_time: Option<Microseconds>,
    /// Maximum Unlimited Power (MUP, bytes 390–391; MUPS, byte 385 bits 1:0): what power state 0 may take when no power
    /// limit is in force. **Unverified:** nvme-cli and an independent driver agree on the bytes, the coding of the
    /// scale is from nvme-cli alone.
    pub max_unlimited_power: ScaledPower,
    /// Interval Power Measurement Sample Rate (IPMSR, bytes 392–393): the longest gap between two samples.
    pub power_sample_interval: SampleInterval,
    /// Maximum Stop Measurement Time (MSMT, bytes 394–395). `None`: not reported.
    pub max_stop_measurement_time: Option<StopTime>,
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
            events: AsynchronousEvents::from_bits(le32(page, offset::OAES)),
            attributes: ControllerAttributes::from_bits(le32(page, offset::CTRATT)),
            power_loss_signaling: PowerLossSignaling::from_bits(page[offset::PLSI]),
            apst_supported: page[offset::APSTA] & 1 != 0,
            warning_temperature: temperature(le16(page, offset::WCTEMP)),
            critical_temperature: temperature(le16(page, offset::CCTEMP)),
            host_memory_preferred: HostMemory::new(le32(page, offset::HMPRE)),
            host_memory_minimum: HostMemory::new(le32(page, offset::HMMIN)),
            hctm_supported: le16(page, offset::HCTMA) & 1 != 0,
            min_thermal_management_temperature: temperature(le16(page, offset::MNTMT)),
            max_thermal_management_temperature: temperature(le16(page, offset::MXTMT)),
            max_temperature_hysteresis: Hysteresis::new(page[offset::TMPTHHA]),
            command_quiesce_time: milliseconds(le16(page, offset::CQT)),
            max_unlimited_power: ScaledPower::new(le16(page, offset::MUP), page[offset::MUPA]),
            power_sample_interval: SampleInterval::from_bits(le16(page, offset::IPMSR)),
            max_stop_measurement_time: StopTime::new(le16(page, offset::MSMT)),
            power_states: PowerState::up_to(highest).map(|state| descriptor(page, state)).collect(),
        })
    }

    /// Writes the fields that this type has into an otherwise zero page.
    /// The serial number and everything that is not about power stay 0.
    pub fn encode(&self, page: &mut [u8; Self::LENGTH]) {
        page.fill(0);
        put(page, offset::VID, self.vendor.to_le_bytes());
        put(page, offset::SSVID, self.subsystem_vendor.to_le_bytes());
        put(page, offset::MN, self.model.0);
        put(page, offset::FR, self.firmware.0);
        put(page, offset::VER, self.version.to_le_bytes());
        put(page, offset::RTD3R, latency_field(self.rtd3_resume_latency).to_le_bytes());
        put(page, offset::RTD3E, latency_field(self.rtd3_entry_latency).to_le_bytes());
        put(page, offset::OAES, self.events.bits().to_le_bytes());
        put(page, offset::CTRATT, self.attributes.bits().to_le_bytes());
        page[offset::PLSI] = self.power_loss_signaling.bits();
        page[offset::NPSS] = u8::try_from(self.power_states.len().saturating_sub(1)).unwrap_or(u8::MAX);
        page[offset::APSTA] = u8::from(self.apst_supported);
        put(page, offset::WCTEMP, temperature_field(self.warning_temperature).to_le_bytes());
        put(page, offset::CCTEMP, temperature_field(self.critical_temperature).to_le_bytes());
        put(page, offset::HMPRE, HostMemory::field(self.host_memory_preferred).to_le_bytes());
        put(page, offset::HMMIN, HostMemory::field(self.host_memory_minimum).to_le_bytes());
        put(page, offset::HCTMA, u16::from(self.hctm_supported).to_le_bytes());
        put(page, offset::MNTMT, temperature_field(self.min_thermal_management_temperature).to_le_bytes());
        put(page, offset::MXTMT, temperature_field(self.max_thermal_management_temperature).to_le_bytes());
        page[offset::TMPTHHA] = self.max_temperature_hysteresis.code();
        page[offset::MUPA] = self.max_unlimited_power.scale_code();
        put(page, offset::CQT, milliseconds_field(self.command_quiesce_time).to_le_bytes());
        put(page, offset::MUP, self.max_unlimited_power.value().to_le_bytes());
        put(page, offset::IPMSR, self.power_sample_interval.bits().to_le_bytes());
        put(page, offset::MSMT, StopTime::field(self.max_stop_measurement_time).to_le_bytes());
        for (number, state) in self.power_states.iter().enumerate() {
            put(page, offset::PSD0 + number * PowerStateDescriptor::LENGTH, state.encode());
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
    pub(super) const OAES: usize = 92;
    pub(super) const CTRATT: usize = 96;
    pub(super) const PLSI: usize = 110;
    pub(super) const NPSS: usize = 263;
    pub(super) const APSTA: usize = 265;
    pub(super) const WCTEMP: usize = 266;
    pub(super) const CCTEMP: usize = 268;
    pub(super) const HMPRE: usize = 272;
    pub(super) const HMMIN: usize = 276;
    pub(super) const HCTMA: usize = 322;
    pub(super) const MNTMT: usize = 324;
    pub(super) const MXTMT: usize = 326;
    pub(super) const TMPTHHA: usize = 384;
    pub(super) const MUPA: usize = 385;
    pub(super) const CQT: usize = 386;
    pub(super) const MUP: usize = 390;
    pub(super) const IPMSR: usize = 392;
    pub(super) const MSMT: usize = 394;
    pub(super) const PSD0: usize = 2048;
}

/// An amount of the host's memory, in steps of 4 KiB. Never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct HostMemory(NonZeroU32);

impl HostMemory {
    /// This many times 4 KiB; `None` for 0.
    #[must_use]
    pub const fn new(steps: u32) -> Option<Self> {
        match NonZeroU32::new(steps) {
            Some(steps) => Some(Self(steps)),
            None => None,
        }
    }

    /// How many times 4 KiB.
    #[must_use]
    pub const fn steps(self) -> u32 {
        self.0.get()
    }

    /// The amount in bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.0.get() as u64 * 4096
    }

    fn field(memory: Option<Self>) -> u32 {
        memory.map_or(0, Self::steps)
    }
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

/// A time in milliseconds, where 0 means "not reported".
fn milliseconds(field: u16) -> Option<Microseconds> {
    (field != 0).then(|| Microseconds::from_millis(u64::from(field)))
}

/// The field for a time in milliseconds: rounded up, and the largest that fits where it is longer.
fn milliseconds_field(time: Option<Microseconds>) -> u16 {
    time.map_or(0, |time| u16::try_from(time.get().div_ceil(1000)).unwrap_or(u16::MAX))
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

    /// What a person would take for a mistake is what drives report: nothing is refused, sorted or put right.
    #[test]
    fn odd_tables_are_read_as_they_are() {
        let mut page = page();
        page[offset::NPSS] = 15;
        put(&mut page, offset::WCTEMP, 383_u16.to_le_bytes());
        put(&mut page, offset::CCTEMP, 358_u16.to_le_bytes());
        put(&mut page, offset::MNTMT, 273_u16.to_le_bytes());
        for state in 0..16 {
            let at = offset::PSD0 + state * PowerStateDescriptor::LENGTH;
            put(&mut page, at, 2500_u16.to_le_bytes());
            put(&mut page, at + 8, (7_000_000_u32 >> state).to_le_bytes());
            page[at + 12] = 15 - u8::try_from(state).unwrap();
        }
        let controller = IdentifyController::decode(&page).unwrap();
        assert!(controller.warning_temperature > controller.critical_temperature);
        assert_eq!(controller.min_thermal_management_temperature.map(Kelvin::celsius), Some(0));
        let states = &controller.power_states;
        assert_eq!(states.len(), 16);
        assert!(states.iter().all(|state| !state.non_operational && state.max_power == states[0].max_power));
        assert!(states.is_sorted_by(|deeper, next| deeper.exit_latency > next.exit_latency));
        assert!(states.iter().map(|state| state.relative_read_throughput).eq((0..16).rev()));
        assert_bits_survive(&page);
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

    #[test]
    fn host_memory_counts_in_4_kib_and_quiescing_in_milliseconds() {
        let mut page = page();
        page[offset::HMPRE] = 2;
        page[offset::HMMIN..][..4].fill(0xFF);
        page[offset::CQT..][..2].copy_from_slice(&[0xE8, 0x03]);
        let mut controller = IdentifyController::decode(&page).unwrap();
        assert_eq!(controller.host_memory_preferred.map(HostMemory::bytes), Some(8192));
        assert_eq!(controller.host_memory_minimum.map(HostMemory::bytes), Some(17_592_186_040_320));
        assert_eq!(controller.command_quiesce_time, Some(Microseconds::from_secs(1)));
        controller.command_quiesce_time = Some(Microseconds::new(1_000_001));
        controller.encode(&mut page);
        assert_eq!(le16(&page, offset::CQT), 1001);
    }

    /// Fields of revision 2.1 to 2.3; each of the bytes has one value in one place.
    #[test]
    fn newer_fields_are_where_they_belong() {
        let mut page = page();
        page[384..396].copy_from_slice(&[0xFF, 0x02, 0, 0, 0xAA, 0xAA, 0xC4, 0x09, 0x0A, 0x04, 0x3C, 0]);
        let controller = IdentifyController::decode(&page).unwrap();
        assert_eq!(controller.max_temperature_hysteresis, Hysteresis::new(7));
        let unlimited = controller.max_unlimited_power.power().map(|power| power.milliwatts().get());
        assert_eq!(unlimited, Some(25_000));
        assert_eq!(controller.power_sample_interval.time(), Some(Microseconds::from_millis(10)));
        assert_eq!(controller.max_stop_measurement_time, StopTime::new(60));
    }

    /// Bits outside the descriptors that this module gives a meaning to.
    fn defined(at: usize) -> u8 {
        match at {
            0..=3 | 24..=71 | 80..=99 | 110 | 263 | 266..=269 | 272..=279 | 324..=327 => 0xFF,
            265 | 322 => 0x01,
            384 => 0x07,
            385 => 0x03,
            386 | 387 | 390..=395 => 0xFF,
            _ => 0,
        }
    }

    fn assert_bits_survive(original: &[u8; IdentifyController::LENGTH]) {
        let controller = IdentifyController::decode(original).unwrap();
        let mut written = page();
        controller.encode(&mut written);
        for at in 0..offset::PSD0 {
            assert_eq!(written[at], original[at] & defined(at), "byte {at}");
        }
        // Descriptors have tests of their own; here it counts that each is in its place, and none more.
        for (state, bytes) in controller.power_states.iter().zip(written[offset::PSD0..].chunks(32)) {
            assert_eq!(state.encode(), bytes);
        }
        let end = offset::PSD0 + controller.power_states.len() * PowerStateDescriptor::LENGTH;
        assert!(written[end..].iter().all(|&byte| byte == 0));
        assert_eq!(IdentifyController::decode(&written), Ok(controller));
    }

    /// A byte of the page, mostly one that has a meaning.
    fn place() -> impl Strategy<Value = usize> {
        prop_oneof![0usize..400, 2048usize..3072, 0usize..4096]
    }

    proptest! {
        /// Whatever a drive sends is refused by name or survives both ways.
        #[test]
        fn what_is_read_is_written_back(
            fields in prop::collection::vec((place(), any::<u8>()), 0..400),
            npss in 0u8..34,
        ) {
            let mut original = page();
            for (at, byte) in fields {
                original[at] = byte;
            }
            original[offset::NPSS] = npss;
            let Ok(controller) = IdentifyController::decode(&original) else {
                prop_assert!(npss > 31);
                return Ok(());
            };
            prop_assert_eq!(controller.power_states.len(), usize::from(npss) + 1);
            assert_bits_survive(&original);
        }
    }
}
