//! Set Features and Get Features (Base Specification, opcodes 09h and 0Ah), as the dwords that go to the drive.

pub mod autonomous_transitions;

use super::power_state::{PowerState, Workload};

/// Admin opcode of Set Features.
pub const SET_FEATURES: u8 = 0x09;
/// Admin opcode of Get Features.
pub const GET_FEATURES: u8 = 0x0A;

/// Feature identifiers (FID).
pub mod identifier {
    /// Power Management.
    pub const POWER_MANAGEMENT: u8 = 0x02;
    /// Autonomous Power State Transition.
    pub const AUTONOMOUS_TRANSITIONS: u8 = 0x0C;
}

/// Which of a feature's values Get Features returns (SEL, command dword 10 bits 10:8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Select {
    /// The value in force.
    #[default]
    Current,
    /// The value that the drive came with.
    Default,
    /// The value that survives a reset and a loss of power.
    Saved,
    /// Not a value, but what the drive can do with the feature.
    SupportedCapabilities,
}

/// Command dword 10 of Get Features.
#[must_use]
pub const fn get_features_dword_10(identifier: u8, select: Select) -> u32 {
    let select = match select {
        Select::Current => 0,
        Select::Default => 1,
        Select::Saved => 2,
        Select::SupportedCapabilities => 3,
    };
    identifier as u32 | select << 8
}

/// Command dword 10 of Set Features; `save` (SV, bit 31) makes the value survive a reset where the drive can.
#[must_use]
pub const fn set_features_dword_10(identifier: u8, save: bool) -> u32 {
    identifier as u32 | (save as u32) << 31
}

/// Power Management (FID 02h): command dword 11 of Set Features, dword 0 of Get Features' completion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PowerManagement {
    /// Power State (PS, bits 4:0).
    pub power_state: PowerState,
    /// Workload Hint (WH, bits 7:5): the work to come, in the codes of Active Power Workload.
    pub workload_hint: Workload,
}

impl PowerManagement {
    /// Reads the dword. Bits 31:8 are reserved and ignored.
    #[must_use]
    pub const fn decode(dword: u32) -> Self {
        let bytes = dword.to_le_bytes();
        let power_state = match PowerState::new(bytes[0] & 0x1F) {
            Some(state) => state,
            None => PowerState::PS0, // five bits name only states that exist
        };
        Self { power_state, workload_hint: Workload::new(bytes[0] >> 5) }
    }

    /// Writes the dword.
    #[must_use]
    pub const fn encode(self) -> u32 {
        self.power_state.number() as u32 | (self.workload_hint.code() as u32) << 5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_management_survives_both_ways() {
        for dword in 0..=0xFF {
            assert_eq!(PowerManagement::decode(dword).encode(), dword);
            assert_eq!(PowerManagement::decode(dword | 0xFFFF_FF00).encode(), dword);
        }
    }

    /// The dwords of `nvme set-feature -f 2 --value=1` and `nvme get-feature -f 2 --sel=2`.
    #[test]
    fn dwords_are_those_that_real_tools_send() {
        assert_eq!(set_features_dword_10(identifier::POWER_MANAGEMENT, false), 0x0000_0002);
        assert_eq!(set_features_dword_10(identifier::POWER_MANAGEMENT, true), 0x8000_0002);
        assert_eq!(get_features_dword_10(identifier::POWER_MANAGEMENT, Select::Saved), 0x0000_0202);
        let ps1 = PowerManagement { power_state: PowerState::new(1).unwrap(), ..PowerManagement::default() };
        assert_eq!(ps1.encode(), 1);
    }
}
