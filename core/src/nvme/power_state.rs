//! Power state numbers and the 32-byte Power State Descriptor
//! (Base Specification, Identify Controller data structure, bytes 2048 to 3071: 32 descriptors).
//!
//! Descriptors are not sorted by anything here: that power never rises with the number is the habit of drives, not a
//! rule, and ranks often differ from the number. Bytes 28 to 31 are taken as reserved. Definitions newer than
//! revision 2.3 (nvme-cli) have a bandwidth and a least idle exit latency there; a second source is missing.

use serde::{Deserialize, Serialize};

use super::field::{code, latency, latency_field, le16, le32};
use super::power::ScaledPower;
pub use super::power::{Power, PowerScale};
use super::scaled_time::ScaledTime;
use crate::units::Microseconds;

/// The number of a power state: 0 to 31, 0 the least restricted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(try_from = "u8", into = "u8")]
pub struct PowerState(u8);

impl PowerState {
    /// How many power states a controller can have.
    pub const COUNT: usize = 32;
    /// Power state 0.
    pub const PS0: Self = Self(0);
    /// Power state 31, the highest number that there is.
    pub const PS31: Self = Self(31);

    /// The power state of this number; `None` above 31.
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        if number < 32 { Some(Self(number)) } else { None }
    }

    /// Its number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Its number, as an index into a table of power states.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The power state of the number in the low five bits, which hold no other.
    pub(super) const fn of_low_bits(byte: u8) -> Self {
        Self(byte & 0x1F)
    }

    /// All power states up to and including `highest`, which is what NPSS names.
    pub fn up_to(highest: Self) -> impl DoubleEndedIterator<Item = Self> {
        (0..=highest.0).map(Self)
    }
}

impl TryFrom<u8> for PowerState {
    type Error = PowerStateOutOfRange;

    fn try_from(number: u8) -> Result<Self, Self::Error> {
        Self::new(number).ok_or(PowerStateOutOfRange(number))
    }
}

impl From<PowerState> for u8 {
    fn from(state: PowerState) -> Self {
        state.0
    }
}

impl core::fmt::Display for PowerState {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "PS{}", self.0)
    }
}

/// A number that names no power state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerStateOutOfRange(pub u8);

impl core::fmt::Display for PowerStateOutOfRange {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} is not a power state (0 to 31)", self.0)
    }
}

impl core::error::Error for PowerStateOutOfRange {}

code! {
    /// A workload: what a drive did while its active power was measured (Active Power Workload, APW), or is told that
    /// it is going to do (Workload Hint, WH). Code 0 names none. Code 1 is five minutes idle, 32 random writes of 1
    /// MiB, 30 s idle; code 2 is 80,000 sequential writes of 128 KiB. The others are reserved and kept.
    Workload(0b111) {}
}

/// One power state, as the drive describes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PowerStateDescriptor {
    /// Maximum Power (MP, bytes 0–1; MXPS, byte 3 bit 0): sustained, over a window that the base specification
    /// does not name. `None`: not reported.
    pub max_power: Option<Power>,
    /// Non-Operational State (NOPS, byte 3 bit 1): no I/O is processed in it.
    pub non_operational: bool,
    /// Entry Latency (ENLAT, bytes 4–7), at most. `None`: not reported, which is neither 0 nor infinite.
    pub entry_latency: Option<Microseconds>,
    /// Exit Latency (EXLAT, bytes 8–11), at most. `None`: not reported.
    pub exit_latency: Option<Microseconds>,
    /// Relative Read Throughput (RRT, byte 12 bits 4:0); a lower rank is better.
    pub relative_read_throughput: u8,
    /// Relative Read Latency (RRL, byte 13 bits 4:0).
    pub relative_read_latency: u8,
    /// Relative Write Throughput (RWT, byte 14 bits 4:0).
    pub relative_write_throughput: u8,
    /// Relative Write Latency (RWL, byte 15 bits 4:0).
    pub relative_write_latency: u8,
    /// Idle Power (IDLP, bytes 16–17; IPS, byte 18 bits 7:6): typical over 30 s of idle.
    pub idle_power: ScaledPower,
    /// Active Power (ACTP, bytes 20–21; APS, byte 22 bits 7:6): the largest average over 10 s of `workload`.
    pub active_power: ScaledPower,
    /// Active Power Workload (APW, byte 22 bits 2:0).
    pub workload: Workload,
    /// Emergency Power Fail Recovery Time (EPFRT, byte 23; EPFRTS, byte 26 bits 3:0).
    pub emergency_power_fail_recovery_time: ScaledTime,
    /// Forced Quiescence Vault Time (FQVT, byte 24; FQVTS, byte 26 bits 7:4).
    pub forced_quiescence_vault_time: ScaledTime,
    /// Emergency Power Fail Vault Time (EPFVT, byte 25; EPFVTS, byte 27 bits 3:0).
    pub emergency_power_fail_vault_time: ScaledTime,
}

impl PowerStateDescriptor {
    /// Bytes of a descriptor.
    pub const LENGTH: usize = 32;

    /// Reads a descriptor. Every byte pattern is one. Of what has a meaning, only the scale of a maximum power of 0,
    /// which is not reported, is dropped.
    #[must_use]
    pub fn decode(bytes: &[u8; Self::LENGTH]) -> Self {
        let flags = bytes[3];
        let scale = if flags & 0b01 == 0 { PowerScale::TenMilliwatts } else { PowerScale::TenthMilliwatt };
        Self {
            max_power: Power::new(le16(bytes, 0), scale),
            non_operational: flags & 0b10 != 0,
            entry_latency: latency(le32(bytes, 4)),
            exit_latency: latency(le32(bytes, 8)),
            relative_read_throughput: bytes[12] & 0x1F,
            relative_read_latency: bytes[13] & 0x1F,
            relative_write_throughput: bytes[14] & 0x1F,
            relative_write_latency: bytes[15] & 0x1F,
            idle_power: ScaledPower::new(le16(bytes, 16), bytes[18] >> 6),
            active_power: ScaledPower::new(le16(bytes, 20), bytes[22] >> 6),
            workload: Workload::new(bytes[22]),
            emergency_power_fail_recovery_time: ScaledTime::new(bytes[23], bytes[26]),
            forced_quiescence_vault_time: ScaledTime::new(bytes[24], bytes[26] >> 4),
            emergency_power_fail_vault_time: ScaledTime::new(bytes[25], bytes[27]),
        }
    }

    /// Writes the descriptor; fields that it does not have are 0.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        if let Some(power) = self.max_power {
            bytes[0..2].copy_from_slice(&power.count().to_le_bytes());
            bytes[3] = u8::from(power.scale() == PowerScale::TenthMilliwatt);
        }
        bytes[3] |= u8::from(self.non_operational) << 1;
        bytes[4..8].copy_from_slice(&latency_field(self.entry_latency).to_le_bytes());
        bytes[8..12].copy_from_slice(&latency_field(self.exit_latency).to_le_bytes());
        bytes[12] = self.relative_read_throughput & 0x1F;
        bytes[13] = self.relative_read_latency & 0x1F;
        bytes[14] = self.relative_write_throughput & 0x1F;
        bytes[15] = self.relative_write_latency & 0x1F;
        bytes[16..18].copy_from_slice(&self.idle_power.value().to_le_bytes());
        bytes[18] = self.idle_power.scale_code() << 6;
        bytes[20..22].copy_from_slice(&self.active_power.value().to_le_bytes());
        bytes[22] = self.active_power.scale_code() << 6 | self.workload.code();
        let recovery = self.emergency_power_fail_recovery_time;
        let [quiescence, vault] = [self.forced_quiescence_vault_time, self.emergency_power_fail_vault_time];
        bytes[23..26].copy_from_slice(&[recovery.value(), quiescence.value(), vault.value()]);
        bytes[26] = recovery.scale_code() | quiescence.scale_code() << 4;
        bytes[27] = vault.scale_code();
        bytes
    }

    /// Worst time from a request to leave a state into this one until I/O is served again: entry and exit latency.
    /// `None` where either is not reported.
    #[must_use]
    pub fn round_trip_latency(&self) -> Option<Microseconds> {
        Some(self.entry_latency?.saturating_add(self.exit_latency?))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::units::Milliwatts;

    /// Bits that this module gives a meaning to.
    const DEFINED: [u8; PowerStateDescriptor::LENGTH] = {
        let mut mask = [0; PowerStateDescriptor::LENGTH];
        let mut at = 0;
        while at < 28 {
            mask[at] = match at {
                2 | 19 => 0,
                3 => 0b11,
                12..=15 => 0x1F,
                18 => 0xC0,
                22 => 0xC7,
                27 => 0x0F,
                _ => 0xFF,
            };
            at += 1;
        }
        mask
    };

    /// WD Blue SN550 (firmware 211070WD), power states 0 and 4 as the drive returned them.
    #[test]
    fn a_real_drive_reads_as_documented() {
        let ps0 = [
            0x5e, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x9c, 0x18, 0x40, 0, 0xb4, 0, 0x82, 0, 0, 0, 0, 0, 0,
            0, 0, 0,
        ];
        let state = PowerStateDescriptor::decode(&ps0);
        assert_eq!(state.max_power.map(Power::milliwatts), Some(Milliwatts::new(3500)));
        assert_eq!(state.idle_power.power().map(Power::milliwatts), Some(Milliwatts::new(630)));
        assert_eq!(state.active_power.power().map(Power::milliwatts), Some(Milliwatts::new(1800)));
        assert_eq!(state.workload, Workload::new(2));
        assert_eq!((state.non_operational, state.entry_latency), (false, None));
        assert_eq!(state.encode(), ps0);

        let mut ps4 = [0; 32];
        ps4[..19].copy_from_slice(&[0x32, 0, 0, 3, 0x88, 0x13, 0, 0, 0x58, 0x98, 0, 0, 4, 4, 4, 4, 0x32, 0, 0x40]);
        let state = PowerStateDescriptor::decode(&ps4);
        assert!(state.non_operational);
        assert_eq!(state.max_power.map(Power::milliwatts), Some(Milliwatts::new(5)));
        assert_eq!(state.round_trip_latency(), Some(Microseconds::new(44_000)));
        assert_eq!(state.relative_write_latency, 4);
        assert_eq!(state.encode(), ps4);
    }

    /// The scale of MP is coded the other way round than that of IDLP and ACTP.
    #[test]
    fn scales_are_not_confused() {
        let mut bytes = [0; 32];
        bytes[0] = 100;
        bytes[16] = 100;
        bytes[20] = 100;
        bytes[18] = 1 << 6;
        bytes[22] = 2 << 6;
        let state = PowerStateDescriptor::decode(&bytes);
        assert_eq!(state.max_power.map(Power::milliwatts), Some(Milliwatts::new(1000)));
        assert_eq!(state.idle_power.power().map(Power::milliwatts), Some(Milliwatts::new(10)));
        assert_eq!(state.active_power.power().map(Power::milliwatts), Some(Milliwatts::new(1000)));
        bytes[3] = 1;
        assert_eq!(PowerStateDescriptor::decode(&bytes).max_power.map(Power::milliwatts), Some(Milliwatts::new(10)));
    }

    /// Three values and three scales share bytes 23 to 27; nothing else moves them.
    #[test]
    fn times_of_a_power_failure_find_their_scales() {
        let mut bytes = [0; 32];
        bytes[23..28].copy_from_slice(&[20, 99, 1, 0x63, 0xF9]);
        let state = PowerStateDescriptor::decode(&bytes);
        let time = |time: ScaledTime| time.time();
        assert_eq!(time(state.emergency_power_fail_recovery_time), Some(Microseconds::from_millis(20)));
        assert_eq!(time(state.forced_quiescence_vault_time), Some(Microseconds::from_secs(99)));
        assert_eq!(time(state.emergency_power_fail_vault_time), Some(Microseconds::from_secs(1000)));
        bytes[27] = 0x09;
        assert_eq!(state.encode(), bytes);
    }

    /// A latency that is not reported is neither 0 nor endless, and one of an hour is one of an hour.
    #[test]
    fn latencies_not_reported_are_no_number() {
        let mut bytes = [0; 32];
        bytes[4..8].copy_from_slice(&[0xFF; 4]);
        let state = PowerStateDescriptor::decode(&bytes);
        assert_eq!(state.entry_latency, Some(Microseconds::new(4_294_967_295)));
        assert_eq!((state.exit_latency, state.round_trip_latency()), (None, None));
        bytes[8..12].copy_from_slice(&[0xFF; 4]);
        let both = PowerStateDescriptor::decode(&bytes).round_trip_latency();
        assert_eq!(both, Some(Microseconds::new(8_589_934_590)));
        assert!(!state.non_operational); // operational states have latencies too
    }

    fn power() -> impl Strategy<Value = Option<Power>> {
        (any::<u16>(), any::<bool>()).prop_map(|(count, fine)| {
            Power::new(count, if fine { PowerScale::TenthMilliwatt } else { PowerScale::TenMilliwatts })
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            max_power in power(), idle: u32, active: u32,
            non_operational: bool, entry: u32, exit: u32, ranks in prop::array::uniform4(0u8..32), workload in 0u8..8,
            times: [(u8, u8); 3],
        ) {
            let state = PowerStateDescriptor {
                max_power, non_operational, entry_latency: latency(entry), exit_latency: latency(exit),
                relative_read_throughput: ranks[0], relative_read_latency: ranks[1],
                relative_write_throughput: ranks[2], relative_write_latency: ranks[3],
                idle_power: ScaledPower::from_bits(idle), active_power: ScaledPower::from_bits(active),
                workload: Workload::new(workload),
                emergency_power_fail_recovery_time: ScaledTime::new(times[0].0, times[0].1),
                forced_quiescence_vault_time: ScaledTime::new(times[1].0, times[1].1),
                emergency_power_fail_vault_time: ScaledTime::new(times[2].0, times[2].1),
            };
            prop_assert_eq!(PowerStateDescriptor::decode(&state.encode()), state);
        }

        /// Whatever a drive sends decodes, and every defined bit survives, reserved codes too, save the scale of a
        /// maximum power of 0.
        #[test]
        fn every_defined_bit_survives(mut bytes: [u8; 32]) {
            let state = PowerStateDescriptor::decode(&bytes);
            if state.max_power.is_none() { bytes[3] &= !0b01; }
            for (byte, mask) in bytes.iter_mut().zip(DEFINED) { *byte &= mask; }
            prop_assert_eq!(state.encode(), bytes);
        }
    }
}
