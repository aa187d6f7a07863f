//! What goes out on the second serial line: journal and telemetry, in the journal's frames.

use embedded_hal::i2c::{ErrorKind, NoAcknowledgeSource};
use embedded_io::Write;
use heapless::String;
use serde::{Deserialize, Serialize};
use wattline_core::journal::{MAX_FRAME, Record, encode};
use wattline_core::profile::Profile;
use wattline_core::units::{Instant, Kelvin, Milliwatts};

/// One frame. Variants are only ever added at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Report<P = Profile> {
    /// A record of the journal.
    Journal(Record<P>),
    /// How the board itself is.
    Telemetry(Telemetry),
}

/// Bytes of a panic's message that are kept.
pub const PANIC_LENGTH: usize = 256;

/// How the board itself is. Variants are only ever added at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::large_enum_variant,
    reason = "the large one is sent once, at the start, and there is no heap to put it on"
)]
pub enum Telemetry {
    /// The board was reset and starts.
    Started {
        /// The chip's own word for the cause: its register.
        reset_cause: u32,
        /// What a panic said that led to this start, cut to [`PANIC_LENGTH`] bytes.
        panic: Option<String<PANIC_LENGTH>>,
    },
    /// The sensors were read.
    Sampled {
        /// When.
        at: Instant,
        /// Input power of the whole appliance.
        power: Result<Milliwatts, BusError>,
        /// Temperature of the board.
        board: Result<Kelvin, BusError>,
    },
    /// The stack since the start.
    Stack {
        /// Bytes that there are.
        size: u32,
        /// Bytes that were never touched.
        untouched: u32,
    },
}

/// What an I²C bus came back with, as `embedded-hal` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[allow(missing_docs, reason = "documented in embedded-hal's ErrorKind")]
pub enum BusError {
    Bus,
    ArbitrationLoss,
    AddressNotAcknowledged,
    DataNotAcknowledged,
    NotAcknowledged,
    Overrun,
    Other,
}

impl From<ErrorKind> for BusError {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Bus => Self::Bus,
            ErrorKind::ArbitrationLoss => Self::ArbitrationLoss,
            ErrorKind::NoAcknowledge(NoAcknowledgeSource::Address) => Self::AddressNotAcknowledged,
            ErrorKind::NoAcknowledge(NoAcknowledgeSource::Data) => Self::DataNotAcknowledged,
            ErrorKind::NoAcknowledge(NoAcknowledgeSource::Unknown) => Self::NotAcknowledged,
            ErrorKind::Overrun => Self::Overrun,
            _ => Self::Other,
        }
    }
}

/// Writes reports to a serial line.
#[derive(Debug)]
pub struct Reporter<W> {
    line: W,
    buffer: [u8; MAX_FRAME],
}

impl<W: Write> Reporter<W> {
    /// A reporter on this line.
    pub const fn new(line: W) -> Self {
        Self { line, buffer: [0; MAX_FRAME] }
    }

    /// Writes a record of the journal.
    pub fn record(&mut self, record: Record<&Profile>) {
        self.write(&Report::Journal(record));
    }

    /// Writes telemetry.
    pub fn telemetry(&mut self, telemetry: Telemetry) {
        self.write(&Report::Telemetry(telemetry));
    }

    /// A line that fails is no reason to stop governing: the frame is left out, which a reader of the journal notices.
    fn write(&mut self, report: &Report<&Profile>) {
        match encode(report, &mut self.buffer) {
            Ok(frame) => {
                if self.line.write_all(frame).is_err() {
                    log!(error, "the journal's line failed");
                }
            }
            Err(error) => log!(error, "a report was not written: {}", error),
        }
    }
}
