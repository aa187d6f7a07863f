//! The admin commands that this program sends, and no others.

use std::fmt;

use wattline_core::nvme::IdentifyController;
use wattline_core::nvme::feature::{
    self, GET_FEATURES, PowerManagement, SET_FEATURES, Select, get_features_dword_10, set_features_dword_10,
};
use wattline_core::nvme::identify::{CONTROLLER_DWORD_10, IDENTIFY};

/// An admin command, complete but for the address of its data.
///
/// How many bytes a drive transfers follows from the command, and Linux does not check that the caller's
/// buffer is as long: an Identify into 512 bytes overwrites what lies behind them. So a command is only
/// made by the functions here, each of which knows its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    name: &'static str,
    entry: [u32; 16],
    data_length: usize,
    timeout_ms: u32,
}

/// On a timeout, Linux resets the controller. How long a drive may take is the administrator's to say
/// (`nvme_core.admin_timeout`, 60 s by default); 0 leaves it there.
const KERNELS_OWN_TIMEOUT: u32 = 0;

impl Command {
    /// Identify, CNS 01h: reads the Identify Controller page.
    #[must_use]
    pub const fn identify_controller() -> Self {
        let name = "Identify Controller";
        Self::new(name, IDENTIFY, CONTROLLER_DWORD_10, 0, IdentifyController::LENGTH)
    }

    /// Get Features, FID 02h: the completion's dword 0 is the value.
    #[must_use]
    pub const fn get_power_management(select: Select) -> Self {
        let dword_10 = get_features_dword_10(feature::identifier::POWER_MANAGEMENT, select);
        Self::new("Get Features, Power Management", GET_FEATURES, dword_10, 0, 0)
    }

    /// Set Features, FID 02h, for now: the next reset of the controller undoes it.
    #[must_use]
    pub const fn set_power_management(value: PowerManagement) -> Self {
        let dword_10 = set_features_dword_10(feature::identifier::POWER_MANAGEMENT, false);
        Self::new("Set Features, Power Management", SET_FEATURES, dword_10, value.encode(), 0)
    }

    /// NSID stays 0, as in the kernel's own commands: these are about the controller.
    const fn new(name: &'static str, opcode: u8, dword_10: u32, dword_11: u32, data_length: usize) -> Self {
        let mut entry = [0; 16];
        entry[0] = opcode as u32;
        entry[10] = dword_10;
        entry[11] = dword_11;
        Self { name, entry, data_length, timeout_ms: KERNELS_OWN_TIMEOUT }
    }

    /// The specification's name for it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The opcode.
    #[must_use]
    pub const fn opcode(&self) -> u8 {
        self.entry[0].to_le_bytes()[0]
    }

    /// The submission queue entry, as 16 dwords. The command identifier (dword 0, upper half) and the data
    /// pointer (dwords 6 to 9) are 0: the kernel fills them in.
    #[must_use]
    pub const fn entry(&self) -> &[u32; 16] {
        &self.entry
    }

    /// Bytes that the drive transfers.
    #[must_use]
    pub const fn data_length(&self) -> usize {
        self.data_length
    }

    /// After how many milliseconds the kernel gives up; 0 is its own choice.
    #[must_use]
    pub const fn timeout_ms(&self) -> u32 {
        self.timeout_ms
    }
}

/// Every part: `Set Features, Power Management: opcode 09h, CDW10 00000002h, CDW11 00000001h, …`.
impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: opcode {:02X}h", self.name, self.opcode())?;
        for (number, dword) in self.entry.iter().enumerate().skip(1) {
            if *dword != 0 || number == 10 || number == 11 {
                write!(f, ", CDW{number} {dword:08X}h")?;
            }
        }
        f.write_str(", other dwords 0")?;
        match self.data_length {
            0 => f.write_str(", no data")?,
            length => write!(f, ", {length} bytes of data")?,
        }
        match self.timeout_ms {
            KERNELS_OWN_TIMEOUT => f.write_str(", the kernel's own timeout"),
            timeout => write!(f, ", timeout {timeout} ms"),
        }
    }
}

#[cfg(test)]
mod tests {
    use wattline_core::nvme::PowerState;
    use wattline_core::nvme::power_state::Workload;

    use super::*;

    #[test]
    fn a_command_is_shown_in_full() {
        let value = PowerManagement { power_state: PowerState::new(2).unwrap(), workload_hint: Workload::new(1) };
        assert_eq!(
            Command::set_power_management(value).to_string(),
            "Set Features, Power Management: opcode 09h, CDW10 00000002h, CDW11 00000022h, other dwords 0, no data, \
             the kernel's own timeout"
        );
    }
}
