//! The protocol data units of NVMe over TCP (NVMe TCP Transport Specification, "Transport Binding"): bytes to values
//! and back, and nothing else.
//!
//! ```text
//!  0         1       2      3     4        8          HLEN       PDO            PLEN
//! ┌─────────┬───────┬──────┬─────┬────────┬──────────┬──────────┬──────────────┐
//! │ type    │ flags │ HLEN │ PDO │ PLEN   │ header … │ padding  │ data         │
//! └─────────┴───────┴──────┴─────┴────────┴──────────┴──────────┴──────────────┘
//! ```
//!
//! **No length is trusted.** Each type has one header length, and the most data that it may carry ([`Limits`]) is
//! checked before a byte of it is read, so a peer cannot make us reserve what it only claims. The first error ends the
//! connection; [`FatalError`] says how it is reported.
//!
//! Digests are not supported: [`InitializeRequest`] may ask for them, the answer says no.

use std::io::{self, Read};

use super::command::{COMPLETION_LENGTH, SUBMISSION_LENGTH};

/// Bytes of the common header.
pub const COMMON_HEADER: usize = 8;
/// Bytes of the initialization PDUs, which have no data.
pub const INITIALIZE_LENGTH: usize = 128;
/// Bytes of the header of data PDUs and of the request to send data.
pub const DATA_HEADER: usize = 24;
/// The most data of a command that comes with it: what Linux uses for admin commands, and what IOCCSZ promises for
/// I/O. 8 KiB.
pub const IN_CAPSULE_BYTES: usize = 8192;
/// The most data of one H2CData PDU (MAXH2CDATA). 128 KiB.
pub const MAX_H2C_BYTES: usize = 128 * 1024;
/// PDO is counted in bytes, one byte wide, in steps of 4: more padding than this cannot be.
const MAX_OFFSET: usize = 252;
/// A termination request brings at most this much of the header that it complains about.
const MAX_TERMINATION_BYTES: usize = 128;

/// PDU types (common header, byte 0).
pub mod kind {
    /// Initialize Connection Request, from the host.
    pub const INITIALIZE_REQUEST: u8 = 0x00;
    /// Initialize Connection Response.
    pub const INITIALIZE_RESPONSE: u8 = 0x01;
    /// The host ends the connection.
    pub const H2C_TERMINATION: u8 = 0x02;
    /// The controller ends the connection.
    pub const C2H_TERMINATION: u8 = 0x03;
    /// A command, with or without data.
    pub const COMMAND: u8 = 0x04;
    /// A completion.
    pub const RESPONSE: u8 = 0x05;
    /// Data from the host.
    pub const H2C_DATA: u8 = 0x06;
    /// Data to the host.
    pub const C2H_DATA: u8 = 0x07;
    /// Ready to Transfer: the controller wants data.
    pub const READY_TO_TRANSFER: u8 = 0x09;
}

/// Flags of the common header (byte 1).
mod flag {
    pub(super) const DIGESTS: u8 = 0b11;
    pub(super) const LAST: u8 = 1 << 2;
}

/// What a peer may send now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limits {
    /// Nothing but an initialization request.
    Fresh,
    /// Everything else.
    Initialized,
}

/// Something that came from the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromHost {
    /// It wants to begin.
    Initialize(InitializeRequest),
    /// A command with the data that came with it.
    Command([u8; SUBMISSION_LENGTH], Vec<u8>),
    /// Data of a command for which some were asked.
    Data(HostData),
    /// It ends the connection.
    Terminate,
}

/// Initialize Connection Request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitializeRequest {
    /// PDU Format Version (PFV, bytes 9:8).
    pub format: u16,
    /// Host PDU Data Alignment (HPDA, byte 10): data begin at a multiple of (value + 1) × 4; 0 to 31.
    pub alignment: u8,
    /// Digests that it wants (DGST, byte 11): bit 0 header, bit 1 data.
    pub digests: u8,
    /// Requests to send data of one command that it bears at a time, less one (MAXR2T, bytes 15:12).
    pub max_requests: u32,
}

/// H2CData: a piece of a command's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostData {
    /// Command identifier (bytes 9:8).
    pub command: u16,
    /// Tag of the request that it answers (TTAG, bytes 11:10).
    pub tag: u16,
    /// Where in the command's data it begins (DATAO, bytes 15:12).
    pub offset: u32,
    /// Whether it is the last answer to the request.
    pub last: bool,
    /// The piece.
    pub data: Vec<u8>,
}

/// Why a connection must end: fatal error status (FES) of the termination request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum FatalError {
    /// A header field is not what it may be.
    InvalidHeader = 1,
    /// Not now: the order of PDUs is wrong.
    Sequence = 2,
    /// Data outside the range that was asked for.
    OutOfRange = 4,
    /// More data than the limit.
    LimitExceeded = 5,
    /// A parameter that is not supported.
    Unsupported = 6,
}

/// Why nothing was read.
#[derive(Debug)]
pub enum ReadError {
    /// The connection has ended, or the peer has been silent for too long.
    Wire(io::Error),
    /// What came is against the protocol.
    Fatal(FatalError),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Wire(error)
    }
}

impl From<FatalError> for ReadError {
    fn from(error: FatalError) -> Self {
        Self::Fatal(error)
    }
}

/// The common header, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    kind: u8,
    last: bool,
    header: usize,
    offset: usize,
    total: usize,
}

impl Header {
    /// Reads and checks it: everything that is needed to know how much may be read.
    fn decode(bytes: [u8; COMMON_HEADER], limits: Limits) -> Result<Self, FatalError> {
        let [kind, flags, header, offset, length @ ..] = bytes;
        let allowed = match limits {
            Limits::Fresh => kind == kind::INITIALIZE_REQUEST,
            Limits::Initialized => matches!(kind, kind::COMMAND | kind::H2C_DATA | kind::H2C_TERMINATION),
        };
        if !allowed {
            let known = kind <= kind::C2H_DATA || kind == kind::READY_TO_TRANSFER;
            return Err(if known { FatalError::Sequence } else { FatalError::InvalidHeader });
        }
        let (expected, most_data) = match kind {
            kind::INITIALIZE_REQUEST => (INITIALIZE_LENGTH, 0),
            kind::COMMAND => (COMMON_HEADER + SUBMISSION_LENGTH, IN_CAPSULE_BYTES),
            kind::H2C_DATA => (DATA_HEADER, MAX_H2C_BYTES),
            _ => (DATA_HEADER, MAX_TERMINATION_BYTES),
        };
        let (header, offset) = (usize::from(header), usize::from(offset));
        let total = usize::try_from(u32::from_le_bytes(length)).map_err(|_| FatalError::InvalidHeader)?;
        if header != expected || flags & flag::DIGESTS != 0 || total < header {
            return Err(FatalError::InvalidHeader);
        }
        // A termination request has its data right after the header, and no offset.
        let offset = if offset == 0 { header } else { offset };
        if offset < header || offset % 4 != 0 || (total > header && total < offset) {
            return Err(FatalError::InvalidHeader);
        }
        if total > header && total - offset > most_data {
            return Err(FatalError::LimitExceeded);
        }
        Ok(Self { kind, last: flags & flag::LAST != 0, header, offset, total })
    }
}

/// Reads the next PDU.
///
/// # Errors
///
/// Where the connection ends, and where what comes is no PDU that may come now.
pub fn read(from: &mut impl Read, limits: Limits) -> Result<FromHost, ReadError> {
    let mut common = [0; COMMON_HEADER];
    from.read_exact(&mut common)?;
    let header = Header::decode(common, limits)?;
    let mut bytes = [0; INITIALIZE_LENGTH];
    let rest = bytes.get_mut(COMMON_HEADER..header.header).ok_or(FatalError::InvalidHeader)?;
    from.read_exact(rest)?;
    let mut data = Vec::new();
    if header.total > header.header {
        let mut padding = [0; MAX_OFFSET];
        from.read_exact(padding.get_mut(..header.offset - header.header).ok_or(FatalError::InvalidHeader)?)?;
        data = vec![0; header.total - header.offset];
        from.read_exact(&mut data)?;
    }
    Ok(value(header, &bytes, data)?)
}

fn value(header: Header, bytes: &[u8; INITIALIZE_LENGTH], data: Vec<u8>) -> Result<FromHost, FatalError> {
    let le16 = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let le32 = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    match header.kind {
        kind::INITIALIZE_REQUEST => {
            let request =
                InitializeRequest { format: le16(8), alignment: bytes[10], digests: bytes[11], max_requests: le32(12) };
            if request.format != 0 || request.alignment > 31 {
                return Err(FatalError::Unsupported);
            }
            Ok(FromHost::Initialize(request))
        }
        kind::COMMAND => {
            let mut submission = [0; SUBMISSION_LENGTH];
            submission.copy_from_slice(&bytes[COMMON_HEADER..COMMON_HEADER + SUBMISSION_LENGTH]);
            Ok(FromHost::Command(submission, data))
        }
        kind::H2C_DATA => {
            if usize::try_from(le32(16)) != Ok(data.len()) {
                return Err(FatalError::InvalidHeader);
            }
            Ok(FromHost::Data(HostData { command: le16(8), tag: le16(10), offset: le32(12), last: header.last, data }))
        }
        _ => Ok(FromHost::Terminate),
    }
}

fn common(kind: u8, flags: u8, header: u8, offset: u8, total: usize) -> [u8; COMMON_HEADER] {
    let [a, b, c, d] = u32::try_from(total).unwrap_or(u32::MAX).to_le_bytes();
    [kind, flags, header, offset, a, b, c, d]
}

/// Initialize Connection Response: this format, no digests, and [`MAX_H2C_BYTES`].
#[must_use]
pub fn initialize_response() -> Vec<u8> {
    let mut pdu = vec![0; INITIALIZE_LENGTH];
    pdu[..8].copy_from_slice(&common(kind::INITIALIZE_RESPONSE, 0, 128, 0, INITIALIZE_LENGTH));
    pdu[12..16].copy_from_slice(&u32::try_from(MAX_H2C_BYTES).unwrap_or(u32::MAX).to_le_bytes());
    pdu
}

/// A completion.
#[must_use]
pub fn response(completion: &[u8; COMPLETION_LENGTH]) -> Vec<u8> {
    let mut pdu = common(kind::RESPONSE, 0, 24, 0, DATA_HEADER).to_vec();
    pdu.extend(completion);
    pdu
}

/// All data of a command; `alignment` is the host's, as it asked for it.
#[must_use]
pub fn data_to_host(command: u16, data: &[u8], alignment: u8) -> Vec<u8> {
    let step = (usize::from(alignment) + 1) * 4;
    let offset = DATA_HEADER.next_multiple_of(step);
    let total = offset + data.len();
    let mut pdu = Vec::with_capacity(total);
    pdu.extend(common(kind::C2H_DATA, flag::LAST, 24, u8::try_from(offset).unwrap_or(24), total));
    pdu.extend(command.to_le_bytes());
    pdu.extend([0; 6]); // reserved, and the offset of the first byte: 0
    pdu.extend(u32::try_from(data.len()).unwrap_or(u32::MAX).to_le_bytes());
    pdu.resize(offset, 0);
    pdu.extend(data);
    pdu
}

/// Ready to Transfer: asks for all data of a command.
#[must_use]
pub fn ready_to_transfer(command: u16, tag: u16, length: u32) -> Vec<u8> {
    let mut pdu = common(kind::READY_TO_TRANSFER, 0, 24, 0, DATA_HEADER).to_vec();
    pdu.extend(command.to_le_bytes());
    pdu.extend(tag.to_le_bytes());
    pdu.extend(0u32.to_le_bytes());
    pdu.extend(length.to_le_bytes());
    pdu.extend([0; 4]);
    pdu
}

/// The controller ends the connection.
#[must_use]
pub fn termination(error: FatalError) -> Vec<u8> {
    let mut pdu = common(kind::C2H_TERMINATION, 0, 24, 0, DATA_HEADER).to_vec();
    pdu.extend((error as u16).to_le_bytes());
    pdu.resize(DATA_HEADER, 0);
    pdu
}

#[cfg(test)]
mod tests;
