//! What goes out on the second serial line: the journal, and telemetry between its frames.
//!
//! The frames of the journal are those of `wattline_core::journal`, so what is left of a capture without telemetry is a
//! journal like any other. A frame of telemetry begins with a number that no frame of the journal begins with.

use embedded_hal::i2c::{ErrorKind, NoAcknowledgeSource};
use embedded_io::Write;
use heapless::String;
use serde::{Deserialize, Serialize};
use wattline_core::journal::{FrameError, MAX_FRAME, Record, decode, encode};
use wattline_core::profile::Profile;
use wattline_core::units::{Instant, Kelvin, Milliwatts};

/// What a frame of telemetry begins with. A frame of the journal has the number of its record's kind there, of which
/// there will never be so many.
const MARK: u32 = 0x7E1E_3E72;

/// One frame.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "for readers, who have a heap and look at one at a time")]
pub enum Report {
    /// A record of the journal.
    Journal(Record),
    /// How the board itself is.
    Telemetry(Telemetry),
}

impl Report {
    /// Reads a frame, without the zero byte that ends it.
    ///
    /// # Errors
    /// Where the frame is damaged or neither of the two.
    pub fn decode(frame: &[u8]) -> Result<Self, FrameError> {
        let mut scratch = [0; MAX_FRAME];
        match decode(frame, &mut scratch) {
            Ok((MARK, telemetry)) => Ok(Self::Telemetry(telemetry)),
            _ => decode(frame, &mut scratch).map(Self::Journal),
        }
    }
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
    /// The stack, as it was used in one stage.
    Stack {
        /// In which.
        stage: Stage,
        /// Bytes that there are.
        size: u32,
        /// Bytes that were never touched.
        untouched: u32,
    },
}

/// A part of the board's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Stage {
    /// Until the board listens.
    Start,
    /// From then on.
    Loop,
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
pub struct Reporter<'a, W> {
    line: W,
    buffer: &'a mut [u8; MAX_FRAME],
}

impl<'a, W: Write> Reporter<'a, W> {
    /// A reporter on this line. Frames are built in `buffer`.
    pub const fn new(line: W, buffer: &'a mut [u8; MAX_FRAME]) -> Self {
        Self { line, buffer }
    }

    /// Writes a record of the journal.
    pub fn record(&mut self, record: &Record<&Profile>) {
        self.write(record);
    }

    /// Writes telemetry.
    pub fn telemetry(&mut self, telemetry: &Telemetry) {
        self.write(&(MARK, telemetry));
    }

    /// A line that fails is no reason to stop governing: the frame is left out, which a reader of the journal notices.
    fn write(&mut self, value: &impl Serialize) {
        match encode(value, self.buffer) {
            Ok(frame) => {
                if self.line.write_all(frame).is_err() {
                    log!(error, "the journal's line failed");
                }
            }
            Err(error) => log!(error, "a report was not written: {}", error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Reporter<'_, &mut [u8]>)) -> Vec<u8> {
        let mut line = [0xFF; 256];
        let mut buffer = [0; MAX_FRAME];
        let mut reporter = Reporter::new(line.as_mut_slice(), &mut buffer);
        write(&mut reporter);
        let left = reporter.line.len();
        line[..line.len() - left].to_vec()
    }

    #[test]
    fn a_record_is_a_frame_of_the_journal() {
        let bytes = written(|reporter| reporter.record(&Record::start(4, 0)));
        let mut reader = wattline_core::journal::Reader::new(&bytes);
        assert_eq!(reader.next().map(|frame| frame.content), Some(Ok(Record::start(4, 0))));
        assert_eq!(Report::decode(&bytes[..bytes.len() - 1]), Ok(Report::Journal(Record::start(4, 0))));
    }

    #[test]
    fn telemetry_is_read_back_and_never_taken_for_a_record() {
        let samples = [
            Telemetry::Started { reset_cause: 8, panic: Some("where and why".try_into().unwrap()) },
            Telemetry::Started { reset_cause: 0, panic: None },
            Telemetry::Sampled {
                at: Instant::from_micros(7),
                power: Ok(Milliwatts::from_watts(20)),
                board: Err(BusError::DataNotAcknowledged),
            },
            Telemetry::Stack { stage: Stage::Loop, size: 50_000, untouched: 20_000 },
        ];
        for telemetry in samples {
            let bytes = written(|reporter| reporter.telemetry(&telemetry));
            assert_eq!(Report::decode(&bytes[..bytes.len() - 1]), Ok(Report::Telemetry(telemetry)));
            let mut reader = wattline_core::journal::Reader::new(&bytes);
            assert_eq!(reader.next().map(|frame| frame.content), Some(Err(FrameError::Record)));
        }
    }

    #[test]
    fn what_is_neither_is_said_to_be_unknown() {
        let mut buffer = [0; 64];
        let frame = encode(&(MARK + 1, 0u8), &mut buffer).unwrap();
        assert_eq!(Report::decode(&frame[..frame.len() - 1]), Err(FrameError::Record));
    }
}
