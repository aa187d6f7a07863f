//! Set Features and Get Features (Base Specification, opcodes 09h and 0Ah), as the dwords that go to the drive.
//!
//! One module for each feature. Unless its module says otherwise, the value is command dword 11 of Set Features and
//! dword 0 of Get Features' completion. Reserved bits are ignored when read and 0 when written; reserved codes keep
//! their value.
//!
//! Where a module begins with **Unverified**, its layout rests on one source or on memory: such a feature can be read
//! and shown, and nothing that its `encode` returns may be sent to a drive. Where a single field says so, that field is
//! to be sent only as the drive returned it.
//!
//! Bits of the dwords are from nvme-cli's, SPDK's and Linux's definitions, which agree where nothing is said.

pub mod autonomous_transitions;
pub mod non_operational;
pub mod ocp_power_state;
pub mod power_limit;
pub mod power_management;
pub mod power_measurement;
pub mod temperature_threshold;
pub mod thermal_management;

pub use power_management::PowerManagement;

/// Admin opcode of Set Features.
pub const SET_FEATURES: u8 = 0x09;
/// Admin opcode of Get Features.
pub const GET_FEATURES: u8 = 0x0A;

/// Feature identifiers (FID).
pub mod identifier {
    /// Power Management.
    pub const POWER_MANAGEMENT: u8 = 0x02;
    /// Temperature Threshold.
    pub const TEMPERATURE_THRESHOLD: u8 = 0x04;
    /// Autonomous Power State Transition.
    pub const AUTONOMOUS_TRANSITIONS: u8 = 0x0C;
    /// Host Controlled Thermal Management.
    pub const THERMAL_MANAGEMENT: u8 = 0x10;
    /// Non-Operational Power State Config.
    pub const NON_OPERATIONAL: u8 = 0x11;
    /// Power Limit.
    pub const POWER_LIMIT: u8 = 0x23;
    /// Power Measurement.
    pub const POWER_MEASUREMENT: u8 = 0x25;
    /// DSSD Power State, of the Open Compute Project.
    pub const OCP_POWER_STATE: u8 = 0xC7;
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

/// Command dword 14 of both commands: which UUID a feature of a third party is meant by, as an index into the drive's
/// list (bits 6:0); 0 names none.
#[must_use]
pub const fn uuid_index_dword_14(index: u8) -> u32 {
    index as u32 & 0x7F
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nvme::PowerState;

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
