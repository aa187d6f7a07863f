//! DSSD Power State (FID C7h, Datacenter NVMe SSD Specification of the Open Compute Project): a limit in whole watts.
//!
//! Except for drives of the specification's first version, the command has to name the UUID of the Open Compute Project
//! by its index ([`uuid_index_dword_14`](super::uuid_index_dword_14)).
//!
//! That the value is in watts, nvme-cli and a paper say. **Unverified:** that it has seven bits is from memory; no
//! larger value can be built here. It is sent only to a drive for which the user allows it.

use serde::{Deserialize, Serialize};

use crate::units::Milliwatts;

/// Command dword 11 of Set Features, dword 0 of Get Features' completion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(try_from = "u8", into = "u8")]
pub struct OcpPowerState {
    watts: u8,
}

impl OcpPowerState {
    /// The state that takes at most this many watts, of which the field holds seven bits; `None` above 127.
    #[must_use]
    pub const fn new(watts: u8) -> Option<Self> {
        if watts < 0x80 { Some(Self { watts }) } else { None }
    }

    /// The limit.
    #[must_use]
    pub const fn power(self) -> Milliwatts {
        Milliwatts::from_watts(self.watts as u32)
    }

    /// Reads the dword. Bits 31:7 are ignored.
    #[must_use]
    pub const fn decode(dword: u32) -> Self {
        let [low, ..] = dword.to_le_bytes();
        Self { watts: low & 0x7F }
    }

    /// Writes the dword.
    #[must_use]
    pub const fn encode(self) -> u32 {
        self.watts as u32
    }
}

/// A value above 127.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfRange;

impl core::fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("a DSSD power state above 127 W")
    }
}

impl TryFrom<u8> for OcpPowerState {
    type Error = OutOfRange;

    fn try_from(watts: u8) -> Result<Self, OutOfRange> {
        Self::new(watts).ok_or(OutOfRange)
    }
}

impl From<OcpPowerState> for u8 {
    fn from(state: OcpPowerState) -> Self {
        state.watts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_defined_bit_survives_both_ways() {
        for dword in 0..=0x7F {
            let state = OcpPowerState::decode(dword | 0xFFFF_FF80);
            assert_eq!(state.encode(), dword);
            assert_eq!(OcpPowerState::decode(dword), state);
            assert_eq!(state.power(), Milliwatts::new(dword * 1000));
        }
        assert_eq!(OcpPowerState::new(20).map(OcpPowerState::encode), Some(0x14));
        assert_eq!(OcpPowerState::new(128), None);
    }
}
