//! Commands and completions as NVMe over Fabrics carries them (Base Specification, "Submission Queue Entry",
//! "Completion Queue Entry", "Fabrics Command Set"): bytes to values and back.

use wattline_core::nvme::Status;
use wattline_core::nvme::status::status_code_type::{COMMAND_SPECIFIC, GENERIC};

/// Bytes of a submission queue entry.
pub const SUBMISSION_LENGTH: usize = 64;
/// Bytes of a completion queue entry.
pub const COMPLETION_LENGTH: usize = 16;

/// Admin opcodes that are told apart here; those of Identify, Get Log Page and the features are the core's.
pub mod admin {
    /// Abort.
    pub const ABORT: u8 = 0x08;
    /// Asynchronous Event Request.
    pub const ASYNCHRONOUS_EVENT_REQUEST: u8 = 0x0C;
    /// Keep Alive.
    pub const KEEP_ALIVE: u8 = 0x18;
    /// Fabrics commands, on every queue.
    pub const FABRICS: u8 = 0x7F;
}

/// Opcodes of the NVM command set.
pub mod nvm {
    /// Flush.
    pub const FLUSH: u8 = 0x00;
    /// Write.
    pub const WRITE: u8 = 0x01;
    /// Read.
    pub const READ: u8 = 0x02;
    /// Write Zeroes.
    pub const WRITE_ZEROES: u8 = 0x08;
}

/// Fabrics command types (FCTYPE, byte 4).
pub mod fabrics {
    /// Property Set.
    pub const PROPERTY_SET: u8 = 0x00;
    /// Connect.
    pub const CONNECT: u8 = 0x01;
    /// Property Get.
    pub const PROPERTY_GET: u8 = 0x04;
    /// Disconnect.
    pub const DISCONNECT: u8 = 0x08;
}

/// Statuses that only this side of the wire returns.
pub mod status {
    use super::{COMMAND_SPECIFIC, GENERIC, Status};

    /// Invalid Command Opcode.
    pub const INVALID_OPCODE: Status = Status::of(GENERIC, 0x01);
    /// Internal Error.
    pub const INTERNAL: Status = Status::of(GENERIC, 0x06);
    /// Invalid Namespace or Format.
    pub const INVALID_NAMESPACE: Status = Status::of(GENERIC, 0x0B);
    /// Command Sequence Error.
    pub const SEQUENCE: Status = Status::of(GENERIC, 0x0C);
    /// Data SGL Length Invalid.
    pub const SGL_LENGTH: Status = Status::of(GENERIC, 0x0F);
    /// SGL Descriptor Type Invalid.
    pub const SGL_TYPE: Status = Status::of(GENERIC, 0x11);
    /// SGL Offset Invalid.
    pub const SGL_OFFSET: Status = Status::of(GENERIC, 0x16);
    /// LBA Out of Range.
    pub const LBA_OUT_OF_RANGE: Status = Status::of(GENERIC, 0x80);
    /// Asynchronous Event Request Limit Exceeded.
    pub const EVENT_LIMIT: Status = Status::of(COMMAND_SPECIFIC, 0x05);
    /// Invalid Log Page.
    pub const INVALID_LOG_PAGE: Status = Status::of(COMMAND_SPECIFIC, 0x09);
    /// Connect: Incompatible Format.
    pub const CONNECT_FORMAT: Status = Status::of(COMMAND_SPECIFIC, 0x80);
    /// Connect: Controller Busy.
    pub const CONNECT_BUSY: Status = Status::of(COMMAND_SPECIFIC, 0x81);
    /// Connect: Invalid Parameters.
    pub const CONNECT_PARAMETERS: Status = Status::of(COMMAND_SPECIFIC, 0x82);
}

/// A status with Do Not Retry (bit 14): the same command would fail again.
#[must_use]
pub const fn for_good(status: Status) -> Status {
    Status::from_bits(status.bits() | 1 << 14)
}

/// A submission queue entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submission {
    bytes: [u8; SUBMISSION_LENGTH],
}

impl Submission {
    /// The entry in these bytes.
    #[must_use]
    pub const fn new(bytes: [u8; SUBMISSION_LENGTH]) -> Self {
        Self { bytes }
    }

    /// Opcode (byte 0).
    #[must_use]
    pub const fn opcode(&self) -> u8 {
        self.bytes[0]
    }

    /// Command Identifier (bytes 3:2).
    #[must_use]
    pub const fn id(&self) -> u16 {
        u16::from_le_bytes([self.bytes[2], self.bytes[3]])
    }

    /// Namespace Identifier (bytes 7:4).
    #[must_use]
    pub const fn namespace(&self) -> u32 {
        self.dword(1)
    }

    /// Fabrics Command Type (byte 4) of a Fabrics command.
    #[must_use]
    pub const fn fabrics_type(&self) -> u8 {
        self.bytes[4]
    }

    /// Command dword `number`, 0 to 15; those of other numbers are 0.
    #[must_use]
    pub const fn dword(&self, number: usize) -> u32 {
        if number >= SUBMISSION_LENGTH / 4 {
            return 0;
        }
        let at = number * 4;
        u32::from_le_bytes([self.bytes[at], self.bytes[at + 1], self.bytes[at + 2], self.bytes[at + 3]])
    }

    /// Command dwords `number` (low) and the next one (high).
    #[must_use]
    pub const fn dwords(&self, number: usize) -> u64 {
        self.dword(number) as u64 | (self.dword(number + 1) as u64) << 32
    }

    /// Where the data are, by the SGL descriptor (bytes 39:24).
    ///
    /// # Errors
    ///
    /// The status that answers a descriptor which this transport does not have.
    pub fn data(&self) -> Result<DataPlace, Status> {
        let length = self.dword(8);
        match self.bytes[39] {
            // SGL data block, addressed by an offset into the capsule, which must be 0.
            0x01 if length > 0 && self.dwords(6) != 0 => Err(for_good(status::SGL_OFFSET)),
            // No data, which Linux says by a descriptor of that length.
            0x00 | 0x01 | 0x5A if length == 0 => Ok(DataPlace::InCapsule(0)),
            0x01 => Ok(DataPlace::InCapsule(length)),
            // Transport SGL data block, transport specific.
            0x5A => Ok(DataPlace::OnTheWire(length)),
            _ => Err(for_good(status::SGL_TYPE)),
        }
    }
}

/// Where a command's data are, and how many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataPlace {
    /// They came with the command.
    InCapsule(u32),
    /// They are transferred by PDUs of their own.
    OnTheWire(u32),
}

impl DataPlace {
    /// How many bytes.
    #[must_use]
    pub const fn length(self) -> u32 {
        match self {
            Self::InCapsule(length) | Self::OnTheWire(length) => length,
        }
    }
}

/// A completion, without what only the queue knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Command Identifier.
    pub id: u16,
    /// Dwords 0 and 1.
    pub result: u64,
    /// What became of it.
    pub status: Status,
}

impl Completion {
    /// Of a command that has no more to say than its status.
    #[must_use]
    pub const fn of(id: u16, status: Status) -> Self {
        Self { id, result: 0, status }
    }

    /// The entry; `head` is the submission queue's head pointer (SQHD). There is no phase tag on a fabric.
    #[must_use]
    pub fn encode(self, head: u16) -> [u8; COMPLETION_LENGTH] {
        let mut bytes = [0; COMPLETION_LENGTH];
        bytes[..8].copy_from_slice(&self.result.to_le_bytes());
        bytes[8..10].copy_from_slice(&head.to_le_bytes());
        bytes[12..14].copy_from_slice(&self.id.to_le_bytes());
        bytes[14..].copy_from_slice(&(self.status.bits() << 1).to_le_bytes());
        bytes
    }
}
