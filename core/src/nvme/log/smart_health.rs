//! SMART / Health Information (LID 02h, 512 bytes): what it says about power and heat.
//!
//! Temperatures are whole kelvins, which this library turns into degrees Celsius by subtracting 273; tools that
//! subtract 273.15 differ by that. The counters of thermal management count what the host asked for (feature 10h), not
//! what a drive does on its own.

use crate::nvme::field::{flags, le16, le32, le64, le128, put, temperature, temperature_field};
use crate::nvme::power::ScaledPower;
use crate::units::{Kelvin, Minutes, Seconds, WattHours};

/// The log page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SmartHealth {
    /// Critical Warning (byte 0).
    pub critical_warning: CriticalWarning,
    /// Composite Temperature (bytes 1–2). `None`: 0 K.
    pub composite_temperature: Option<Kelvin>,
    /// Power Cycles (bytes 112–127).
    pub power_cycles: u128,
    /// Power On Hours (bytes 128–143). Time in non-operational states may be left out.
    pub power_on_hours: u128,
    /// Unsafe Shutdowns (bytes 144–159).
    pub unsafe_shutdowns: u128,
    /// Warning Composite Temperature Time (bytes 192–195): from WCTEMP on, below CCTEMP. 0 also where the drive does
    /// not report both.
    pub warning_time: Minutes,
    /// Critical Composite Temperature Time (bytes 196–199): from CCTEMP on. 0 also where the drive does not report
    /// that.
    pub critical_time: Minutes,
    /// Temperature Sensor 1 to 8 (bytes 200–215). `None`: there is no such sensor.
    pub sensors: [Option<Kelvin>; 8],
    /// Thermal Management Temperature 1 (bytes 216–219 and 224–227): slowed down a little.
    pub light_management: ThermalManagementCounters,
    /// Thermal Management Temperature 2 (bytes 220–223 and 228–231): slowed down as much as it took.
    pub heavy_management: ThermalManagementCounters,
    /// Operational Lifetime Energy Consumed (OLEC, bytes 232–239; revision 2.3), rounded up. `None`: not reported.
    pub lifetime_energy: Option<WattHours>,
    /// Interval Power Measurement (IPM, bytes 240–243; revision 2.3).
    pub interval_power: IntervalPower,
}

impl SmartHealth {
    /// Bytes of the log page.
    pub const LENGTH: usize = 512;

    /// Reads the page. Every page is one.
    #[must_use]
    pub fn decode(page: &[u8; Self::LENGTH]) -> Self {
        let counters = |number: usize| ThermalManagementCounters {
            transitions: le32(page, offset::TRANSITIONS + 4 * number),
            time: Seconds::new(le32(page, offset::MANAGEMENT_TIME + 4 * number)),
        };
        let energy = le64(page, offset::OLEC);
        Self {
            critical_warning: CriticalWarning::from_bits(page[offset::CRITICAL_WARNING]),
            composite_temperature: temperature(le16(page, offset::COMPOSITE_TEMPERATURE)),
            power_cycles: le128(page, offset::POWER_CYCLES),
            power_on_hours: le128(page, offset::POWER_ON_HOURS),
            unsafe_shutdowns: le128(page, offset::UNSAFE_SHUTDOWNS),
            warning_time: Minutes::new(le32(page, offset::WARNING_TIME)),
            critical_time: Minutes::new(le32(page, offset::CRITICAL_TIME)),
            sensors: core::array::from_fn(|number| temperature(le16(page, offset::SENSORS + 2 * number))),
            light_management: counters(0),
            heavy_management: counters(1),
            lifetime_energy: (energy != 0).then(|| WattHours::new(energy)),
            interval_power: IntervalPower::from_bits(le32(page, offset::IPM)),
        }
    }

    /// Writes the fields that this type has into an otherwise zero page.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::LENGTH] {
        let mut page = [0; Self::LENGTH];
        page[offset::CRITICAL_WARNING] = self.critical_warning.bits();
        put(&mut page, offset::COMPOSITE_TEMPERATURE, temperature_field(self.composite_temperature).to_le_bytes());
        put(&mut page, offset::POWER_CYCLES, self.power_cycles.to_le_bytes());
        put(&mut page, offset::POWER_ON_HOURS, self.power_on_hours.to_le_bytes());
        put(&mut page, offset::UNSAFE_SHUTDOWNS, self.unsafe_shutdowns.to_le_bytes());
        put(&mut page, offset::WARNING_TIME, self.warning_time.get().to_le_bytes());
        put(&mut page, offset::CRITICAL_TIME, self.critical_time.get().to_le_bytes());
        for (number, &sensor) in self.sensors.iter().enumerate() {
            put(&mut page, offset::SENSORS + 2 * number, temperature_field(sensor).to_le_bytes());
        }
        for (number, counters) in [self.light_management, self.heavy_management].into_iter().enumerate() {
            put(&mut page, offset::TRANSITIONS + 4 * number, counters.transitions.to_le_bytes());
            put(&mut page, offset::MANAGEMENT_TIME + 4 * number, counters.time.get().to_le_bytes());
        }
        put(&mut page, offset::OLEC, self.lifetime_energy.map_or(0, WattHours::get).to_le_bytes());
        put(&mut page, offset::IPM, self.interval_power.bits().to_le_bytes());
        page
    }
}

/// Byte offsets in the page.
mod offset {
    pub(super) const CRITICAL_WARNING: usize = 0;
    pub(super) const COMPOSITE_TEMPERATURE: usize = 1;
    pub(super) const POWER_CYCLES: usize = 112;
    pub(super) const POWER_ON_HOURS: usize = 128;
    pub(super) const UNSAFE_SHUTDOWNS: usize = 144;
    pub(super) const WARNING_TIME: usize = 192;
    pub(super) const CRITICAL_TIME: usize = 196;
    pub(super) const SENSORS: usize = 200;
    pub(super) const TRANSITIONS: usize = 216;
    pub(super) const MANAGEMENT_TIME: usize = 224;
    pub(super) const OLEC: usize = 232;
    pub(super) const IPM: usize = 240;
}

flags! {
    /// Critical Warning.
    CriticalWarning(u8) {
        /// Bit 0: the spare capacity is below its threshold.
        spare_below_threshold = 0,
        /// Bit 1: a temperature is at or beyond one of its thresholds (feature 04h).
        temperature = 1,
        /// Bit 2: media errors or internal errors have degraded the reliability.
        reliability_degraded = 2,
        /// Bit 3: the media can only be read.
        read_only = 3,
        /// Bit 4: the backup of volatile memory has failed.
        volatile_memory_backup_failed = 4,
        /// Bit 5: the persistent memory region cannot be relied on.
        persistent_memory_unreliable = 5,
    }
}

/// How often and how long the drive was at work against its heat because the host wanted it so. Both stay at their
/// maximum; 0 is "never" as well as "not implemented".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ThermalManagementCounters {
    /// How often it began.
    pub transitions: u32,
    /// How long it took in all.
    pub time: Seconds,
}

/// The drive's own measurement of its power: the average of the last second. All bits are kept that have a meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct IntervalPower(u32);

impl IntervalPower {
    /// The measurement in these 32 bits; those that are reserved (19:18 and 31:26) are dropped.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits & 0x03F3_FFFF)
    }

    /// The 32 bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The power (bits 17:0).
    #[must_use]
    pub const fn scaled_power(self) -> ScaledPower {
        ScaledPower::from_bits(self.0)
    }

    /// What was measured (bits 25:20), 0 being the whole NVM subsystem. **Unverified:** the bits are those that
    /// nvme-cli prints; where the type has a field elsewhere, it has four bits.
    #[must_use]
    pub const fn measurement_type(self) -> u8 {
        let [_, _, low, high] = self.0.to_le_bytes();
        low >> 4 | high << 4
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::nvme::{Power, PowerScale};

    #[test]
    fn fields_are_where_they_belong() {
        let mut page = [0; SmartHealth::LENGTH];
        page[0] = 0b10;
        page[1..3].copy_from_slice(&[0x65, 0x01]); // 357 K, at an odd address
        page[192] = 9;
        page[196] = 8;
        page[202..204].copy_from_slice(&[0x66, 0x01]);
        page[216..232].copy_from_slice(&[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]);
        page[232] = 77;
        page[240..244].copy_from_slice(&[0x26, 0x02, 0xC2, 0x00]);
        let log = SmartHealth::decode(&page);
        assert!(log.critical_warning.temperature() && !log.critical_warning.read_only());
        assert_eq!(log.composite_temperature.map(Kelvin::celsius), Some(84));
        assert_eq!((log.warning_time, log.critical_time), (Minutes::new(9), Minutes::new(8)));
        assert_eq!(log.sensors[..3], [None, Some(Kelvin::new(358)), None]);
        assert_eq!(log.light_management, ThermalManagementCounters { transitions: 1, time: Seconds::new(3) });
        assert_eq!(log.heavy_management, ThermalManagementCounters { transitions: 2, time: Seconds::MAX });
        assert_eq!(log.lifetime_energy, Some(WattHours::new(77)));
        assert_eq!(log.interval_power.scaled_power().power(), Power::new(550, PowerScale::TenMilliwatts));
        assert_eq!(log.interval_power.measurement_type(), 0xC);
        assert_eq!(log.encode(), page);
    }

    #[test]
    fn what_is_zero_is_not_reported() {
        let log = SmartHealth::decode(&[0; SmartHealth::LENGTH]);
        assert_eq!((log.composite_temperature, log.lifetime_energy, log.sensors), (None, None, [None; 8]));
        assert_eq!(log.interval_power.scaled_power().power(), None);
        assert_eq!(log.encode(), [0; SmartHealth::LENGTH]);
    }

    /// Bits that this module gives a meaning to.
    fn defined(at: usize) -> u8 {
        match at {
            0..=2 | 112..=159 | 192..=241 => 0xFF,
            242 => 0xF3,
            243 => 0x03,
            _ => 0,
        }
    }

    proptest! {
        #[test]
        fn every_defined_bit_survives_both_ways(bytes in prop::collection::vec(any::<u8>(), SmartHealth::LENGTH)) {
            let page: [u8; SmartHealth::LENGTH] = bytes.try_into().unwrap();
            let log = SmartHealth::decode(&page);
            let written = log.encode();
            for at in 0..SmartHealth::LENGTH {
                prop_assert_eq!(written[at], page[at] & defined(at), "byte {}", at);
            }
            prop_assert_eq!(SmartHealth::decode(&written), log);
        }
    }
}
