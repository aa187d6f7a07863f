//! NVMe completion status (Base Specification, Completion Queue Entry, Status field).

use core::fmt;

use serde::{Deserialize, Serialize};

/// A completion status: what the controller thought of a command.
///
/// The 15-bit field of the completion queue entry, without the phase tag: SC in bits 7:0, SCT in 10:8,
/// CRD in 12:11, M in 13, DNR in 14. Linux hands the same 15 bits to a program that sends an admin command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(transparent)]
pub struct Status(u16);

impl Status {
    /// Successful Completion.
    pub const SUCCESS: Self = Self(0);
    /// Invalid Field in Command.
    pub const INVALID_FIELD: Self = Self::of(status_code_type::GENERIC, 0x02);
    /// Feature Identifier Not Saveable.
    pub const FEATURE_NOT_SAVEABLE: Self = Self::of(status_code_type::COMMAND_SPECIFIC, 0x0D);
    /// Feature Not Changeable.
    pub const FEATURE_NOT_CHANGEABLE: Self = Self::of(status_code_type::COMMAND_SPECIFIC, 0x0E);
    /// Feature Not Namespace Specific.
    pub const FEATURE_NOT_NAMESPACE_SPECIFIC: Self = Self::of(status_code_type::COMMAND_SPECIFIC, 0x0F);
    /// Invalid Power Limit: it would forbid every operational state.
    pub const INVALID_POWER_LIMIT: Self = Self::of(status_code_type::COMMAND_SPECIFIC, 0x3E);
    /// Access Denied: among others, a drive that is locked since its power was lost.
    pub const ACCESS_DENIED: Self = Self::of(status_code_type::MEDIA, 0x86);

    /// The status with this status code type (three bits) and status code, and no further bits.
    #[must_use]
    pub const fn of(status_code_type: u8, status_code: u8) -> Self {
        Self((status_code_type as u16 & 0b111) << 8 | status_code as u16)
    }

    /// The status in these 15 bits; the highest bit is dropped.
    #[must_use]
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits & 0x7FFF)
    }

    /// The 15 bits.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Status Code Type (SCT).
    #[must_use]
    pub const fn status_code_type(self) -> u8 {
        (self.0 >> 8 & 0b111) as u8
    }

    /// Status Code (SC).
    #[must_use]
    pub const fn status_code(self) -> u8 {
        (self.0 & 0xFF) as u8
    }

    /// Do Not Retry (DNR): the same command is expected to fail again.
    #[must_use]
    pub const fn do_not_retry(self) -> bool {
        self.0 & 1 << 14 != 0
    }

    /// More (M): the error log has an entry about it.
    #[must_use]
    pub const fn more(self) -> bool {
        self.0 & 1 << 13 != 0
    }

    /// Command Retry Delay (CRD): 0 none, 1 to 3 one of the three delays that Identify names.
    #[must_use]
    pub const fn retry_delay(self) -> u8 {
        (self.0 >> 11 & 0b11) as u8
    }

    /// Whether the command succeeded.
    #[must_use]
    pub const fn is_success(self) -> bool {
        self.status_code_type() == status_code_type::GENERIC && self.status_code() == 0
    }

    /// The specification's name, where this library knows one.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        Some(match (self.status_code_type(), self.status_code()) {
            (status_code_type::GENERIC, 0x00) => "Successful Completion",
            (status_code_type::GENERIC, 0x01) => "Invalid Command Opcode",
            (status_code_type::GENERIC, 0x02) => "Invalid Field in Command",
            (status_code_type::GENERIC, 0x04) => "Data Transfer Error",
            (status_code_type::GENERIC, 0x06) => "Internal Error",
            (status_code_type::GENERIC, 0x07) => "Command Abort Requested",
            (status_code_type::GENERIC, 0x0B) => "Invalid Namespace or Format",
            (status_code_type::GENERIC, 0x0C) => "Command Sequence Error",
            (status_code_type::GENERIC, 0x24) => "Admin Command Media Not Ready",
            (status_code_type::COMMAND_SPECIFIC, 0x05) => "Asynchronous Event Request Limit Exceeded",
            (status_code_type::COMMAND_SPECIFIC, 0x09) => "Invalid Log Page",
            (status_code_type::COMMAND_SPECIFIC, 0x0D) => "Feature Identifier Not Saveable",
            (status_code_type::COMMAND_SPECIFIC, 0x0E) => "Feature Not Changeable",
            (status_code_type::COMMAND_SPECIFIC, 0x0F) => "Feature Not Namespace Specific",
            (status_code_type::COMMAND_SPECIFIC, 0x3E) => "Invalid Power Limit",
            (status_code_type::MEDIA, 0x86) => "Access Denied",
            (status_code_type::PATH, 0x70) => "Host Pathing Error",
            (status_code_type::PATH, 0x71) => "Command Aborted By Host",
            _ => return None,
        })
    }
}

/// Status Code Types (SCT) that are told apart here.
pub mod status_code_type {
    /// Generic Command Status.
    pub const GENERIC: u8 = 0;
    /// Command Specific Status.
    pub const COMMAND_SPECIFIC: u8 = 1;
    /// Media and Data Integrity Errors.
    pub const MEDIA: u8 = 2;
    /// Path Related Status. Linux makes up those from 70h on itself, for a controller that it cannot reach.
    pub const PATH: u8 = 3;
}

/// The name where there is one, and always the two codes: `Invalid Field in Command (SCT 0h, SC 02h)`.
impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name().unwrap_or("unnamed status");
        write!(f, "{name} (SCT {:X}h, SC {:02X}h", self.status_code_type(), self.status_code())?;
        if self.do_not_retry() {
            f.write_str(", do not retry")?;
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    #[test]
    fn a_status_is_shown_by_name_and_number() {
        assert_eq!(Status::INVALID_FIELD.to_string(), "Invalid Field in Command (SCT 0h, SC 02h)");
        assert_eq!(Status::from_bits(0x410E).to_string(), "Feature Not Changeable (SCT 1h, SC 0Eh, do not retry)");
        // What Linux returns for a controller that it cannot reach (NVME_SC_HOST_ABORTED_CMD).
        assert_eq!(Status::from_bits(0x371).to_string(), "Command Aborted By Host (SCT 3h, SC 71h)");
        assert_eq!(Status::of(7, 0xFF).to_string(), "unnamed status (SCT 7h, SC FFh)");
    }

    /// Statuses that drives answer to power commands with, and that therefore have a name.
    #[test]
    fn what_power_commands_meet_has_a_name() {
        for (status, name) in [
            (Status::of(0, 0x24), "Admin Command Media Not Ready"),
            (Status::of(1, 0x05), "Asynchronous Event Request Limit Exceeded"),
            (Status::of(1, 0x09), "Invalid Log Page"),
            (Status::FEATURE_NOT_SAVEABLE, "Feature Identifier Not Saveable"),
            (Status::FEATURE_NOT_NAMESPACE_SPECIFIC, "Feature Not Namespace Specific"),
            (Status::INVALID_POWER_LIMIT, "Invalid Power Limit"),
            (Status::ACCESS_DENIED, "Access Denied"),
        ] {
            assert_eq!(status.name(), Some(name));
            assert!(!status.is_success());
        }
    }

    #[test]
    fn every_field_of_every_status_is_read() {
        for bits in 0..=u16::MAX {
            let status = Status::from_bits(bits);
            assert_eq!(status.bits(), bits & 0x7FFF);
            assert_eq!(status.is_success(), bits & 0x7FF == 0);
            let rest = u16::from(status.retry_delay()) | u16::from(status.more()) << 2;
            assert_eq!(rest | u16::from(status.do_not_retry()) << 3, bits >> 11 & 0xF);
            assert_eq!(Status::of(status.status_code_type(), status.status_code()).bits(), bits & 0x7FF);
        }
    }
}
