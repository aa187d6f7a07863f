//! The flight recorder: every event and command, so that what happened in the field can be run again at a desk.
//!
//! A journal is a sequence of frames. A frame is a [`Record`] in postcard's encoding, followed by its CRC-32
//! (little-endian), all of it COBS-encoded and ended by a zero byte. A reader that meets a damaged frame goes on behind
//! the next zero byte.
//!
//! The first record is a [`Record::Start`]; a [`Record::Config`] and a [`Record::Profile`] for each kind of drive
//! follow; then events and commands in the order in which they happened. Variants are only ever added at the end of
//! their enum. The encoding does not describe itself: a field that comes, goes or changes its type is a new
//! [`FORMAT_VERSION`].

mod replay;

use crc::{CRC_32_ISO_HDLC, Crc};
use postcard::ser_flavors::crc::CrcModifier;
use postcard::ser_flavors::{Cobs, Slice};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use self::replay::{Divergence, Replay};
use crate::governor::{Command, Config, DECISION_VERSION, Event};
use crate::profile::Profile;
use crate::units::Instant;

/// The version of the frames and records described here.
pub const FORMAT_VERSION: u16 = 2;

/// Bytes that are enough for any frame: the largest is a profile of 32 states with all figures measured.
pub const MAX_FRAME: usize = 4096;

static CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// One entry of a journal. A writer that is short of memory lends its profiles: `Record<&Profile>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Record<P = Profile> {
    /// A governor is started.
    Start {
        /// [`FORMAT_VERSION`] of the writer.
        format: u16,
        /// [`DECISION_VERSION`] of the writer: only an equal one must come to the same commands.
        decisions: u16,
        /// How many slots the writer's governor has: it ignores events of any other.
        slots: u16,
        /// How many of them it has room for the sleep of.
        sleepers: u16,
    },
    /// With this configuration.
    Config(Config),
    /// A kind of drive; their order is their index.
    Profile(P),
    /// Something happened.
    Event {
        /// When, on the adapter's clock.
        at: Instant,
        /// What.
        event: Event,
    },
    /// Something was decided.
    Command {
        /// When, on the adapter's clock.
        at: Instant,
        /// What.
        command: Command,
    },
}

impl<P> Record<P> {
    /// The record that the journal of a governor begins with that has this many slots, and room for the sleep of so
    /// many of them.
    #[must_use]
    pub const fn start(slots: u16, sleepers: u16) -> Self {
        Self::Start { format: FORMAT_VERSION, decisions: DECISION_VERSION, slots, sleepers }
    }
}

/// Why a frame could not be written or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum FrameError {
    /// Writing: the buffer is too small. Reading: the frame is longer than any can be.
    TooLong,
    /// The last frame has no end.
    Truncated,
    /// The frame is not COBS.
    Framing,
    /// The checksum does not fit.
    Checksum,
    /// The frame is whole, but not a record of this version.
    Record,
}

impl core::fmt::Display for FrameError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::TooLong => "frame too long",
            Self::Truncated => "frame without an end",
            Self::Framing => "damaged frame",
            Self::Checksum => "wrong checksum",
            Self::Record => "unknown record",
        })
    }
}

impl core::error::Error for FrameError {}

/// Writes a record, or any other value, as a frame into `buffer`, and returns the frame. [`MAX_FRAME`] bytes are always
/// enough for a record.
///
/// # Errors
/// [`FrameError::TooLong`] where the buffer is too small.
pub fn encode<'a>(value: &impl Serialize, buffer: &'a mut [u8]) -> Result<&'a [u8], FrameError> {
    let framed = Cobs::try_new(Slice::new(buffer)).map_err(|_| FrameError::TooLong)?;
    let checked = CrcModifier::new(framed, CRC.digest());
    match postcard::serialize_with_flavor(value, checked) {
        Ok(frame) => Ok(frame),
        Err(_) => Err(FrameError::TooLong),
    }
}

/// Reads the value in a frame, without the zero byte that ends it. `scratch` must be as long as the frame.
///
/// # Errors
/// Where the frame is damaged, or longer than `scratch`, or holds anything else.
pub fn decode<T: DeserializeOwned>(frame: &[u8], scratch: &mut [u8]) -> Result<T, FrameError> {
    if frame.len() > scratch.len() {
        return Err(FrameError::TooLong);
    }
    let length = cobs::decode(frame, scratch).map_err(|_| FrameError::Framing)?;
    let plain = scratch.get(..length).ok_or(FrameError::Framing)?;
    let (body, sum) = plain.split_last_chunk::<4>().ok_or(FrameError::Checksum)?;
    if CRC.checksum(body) != u32::from_le_bytes(*sum) {
        return Err(FrameError::Checksum);
    }
    match postcard::take_from_bytes(body) {
        Ok((value, [])) => Ok(value),
        _ => Err(FrameError::Record),
    }
}

/// Reads the frames of a journal, damaged ones included.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    journal: &'a [u8],
    at: usize,
    scratch: [u8; MAX_FRAME],
}

/// One frame of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Where it begins, in bytes from the start of the journal.
    pub offset: usize,
    /// What it holds.
    pub content: Result<Record, FrameError>,
}

impl<'a> Reader<'a> {
    /// A reader at the start of a journal.
    #[must_use]
    pub const fn new(journal: &'a [u8]) -> Self {
        Self { journal, at: 0, scratch: [0; MAX_FRAME] }
    }
}

impl Iterator for Reader<'_> {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        let offset = self.at;
        let rest = self.journal.get(offset..).filter(|rest| !rest.is_empty())?;
        let content = match rest.iter().position(|byte| *byte == 0) {
            Some(length) => {
                self.at = offset + length + 1;
                decode(&rest[..length], &mut self.scratch)
            }
            None => {
                self.at = self.journal.len();
                Err(FrameError::Truncated)
            }
        };
        Some(Frame { offset, content })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use heapless::String;
    use proptest::prelude::*;

    use super::*;
    use crate::governor::{Alarm, CommandId, DriveConfig, Outcome, ProfileIndex, Reason, Request, Share};
    use crate::nvme::{PowerState, Status};
    use crate::profile::{Measured, PerWork, StateProfile, d5_p5336};
    use crate::thermal::{Cooling, Fans, ThermalLimits, ThrottleCounters};
    use crate::units::{BytesPerSecond, Microseconds, Milliwatts};

    fn frame(record: &Record) -> Vec<u8> {
        encode(record, &mut [0; MAX_FRAME]).unwrap().to_vec()
    }

    fn read(journal: &[u8]) -> Vec<Result<Record, FrameError>> {
        Reader::new(journal).map(|frame| frame.content).collect()
    }

    fn event(event: Event) -> Record {
        Record::Event { at: Instant::from_micros(1_500_000), event }
    }

    fn samples() -> Vec<Record> {
        let drive = DriveConfig {
            thermal: Some(ThermalLimits::from_thresholds(None, None)),
            share: Share { guarantee: BytesPerSecond::new(200_000_000), shelf: Some(1), ..Share::default() },
            ..DriveConfig::new(ProfileIndex(0), Milliwatts::from_watts(25))
        };
        let id = CommandId(70_000);
        std::vec![
            Record::start(24, 0),
            Record::Config(Config::new(Milliwatts::from_watts(1050), Milliwatts::from_watts(462))),
            Record::Profile(d5_p5336()),
            event(Event::Tick),
            event(Event::Attached { slot: 3, drive }),
            event(Event::Completed { slot: 3, id, outcome: Outcome::Rejected(Status::INVALID_FIELD) }),
            event(Event::Meter(None)),
            event(Event::Throttling { slot: 3, counters: ThrottleCounters::default() }),
            event(Event::Cooling(Cooling { inlet: None, fans: Fans::Failed, coolant_lost: true })),
            Record::Command {
                at: Instant::START,
                command: Command::Drive { slot: 3, id, request: Request::ReadPowerState, reason: Reason::Discovery },
            },
            Record::Command { at: Instant::START, command: Command::Alarm { alarm: Alarm::MeterLost, raised: true } },
        ]
    }

    #[test]
    fn what_is_written_is_read_back() {
        let journal: Vec<u8> = samples().iter().flat_map(frame).collect();
        assert_eq!(read(&journal), samples().into_iter().map(Ok).collect::<Vec<_>>());
    }

    /// Bytes of format version 2, a line for each sample. Once released they are never edited: a change here is a new
    /// version.
    const GOLDEN: &str = include_str!("golden-2.txt");

    #[test]
    fn golden_bytes() {
        let hex = |frame: Vec<u8>| frame.iter().map(|byte| std::format!("{byte:02x}")).collect::<std::string::String>();
        let written: Vec<_> = samples().iter().map(|record| hex(frame(record))).collect();
        assert_eq!(written.join("\n"), GOLDEN.trim_end());
        let bytes = |line: &str| {
            (0..line.len()).step_by(2).map(|at| u8::from_str_radix(&line[at..at + 2], 16).unwrap()).collect()
        };
        let golden: Vec<Vec<u8>> = GOLDEN.lines().map(bytes).collect();
        assert_eq!(read(&golden.concat()), samples().into_iter().map(Ok).collect::<Vec<_>>());
    }

    #[test]
    fn the_largest_profile_fits_a_frame() {
        let measured = Measured { power: Milliwatts::MAX, throughput: BytesPerSecond::MAX, limited_by_fabric: true };
        let full = StateProfile {
            non_operational: true,
            max_power: Some(Milliwatts::MAX),
            entry_latency: Some(Microseconds::MAX),
            exit_latency: Some(Microseconds::MAX),
            measured: PerWork {
                sequential_read: Some(measured),
                sequential_write: Some(measured),
                random_read: Some(measured),
                random_write: Some(measured),
            },
        };
        let profile = Profile {
            name: String::try_from("0123456789012345678901234567890123456789").unwrap(),
            capacity_gb: Some(u32::MAX),
            reference_base: Some(Milliwatts::MAX),
            idle: Some(Milliwatts::MAX),
            settling: Some(Microseconds::MAX),
            states: core::iter::repeat_n(full, PowerState::COUNT).collect(),
        };
        let record = Record::Profile(profile);
        assert_eq!(read(&frame(&record)), [Ok(record)]);
    }

    #[test]
    fn a_frame_that_does_not_fit_is_refused() {
        assert_eq!(encode(&Record::<Profile>::start(24, 0), &mut [0; 4]), Err(FrameError::TooLong));
        assert_eq!(encode(&Record::<Profile>::start(24, 0), &mut []), Err(FrameError::TooLong));
    }

    #[test]
    fn what_is_damaged_is_named_and_the_rest_is_kept() {
        let frames: Vec<_> = samples().iter().map(frame).collect();
        let mut journal = frames.concat();
        let end_of_second = frames[0].len() + frames[1].len();
        journal[end_of_second - 3] ^= 0x10;
        let truncated = journal.len() - 2;
        let all: Vec<_> = Reader::new(&journal[..truncated]).collect();
        assert_eq!(all.len(), samples().len());
        assert_eq!((all[1].offset, all[1].content.is_err()), (frames[0].len(), true));
        assert_eq!(all.last().unwrap().content, Err(FrameError::Truncated));
        assert!(all[2..all.len() - 1].iter().all(|frame| frame.content.is_ok()));
    }

    proptest! {
        /// One flipped bit never passes for a record, and costs no more than the frame it is in and the next.
        #[test]
        fn a_flipped_bit_is_noticed(position in any::<prop::sample::Index>(), bit in 0u8..8) {
            let journal: Vec<u8> = samples().iter().flat_map(frame).collect();
            let mut damaged = journal.clone();
            damaged[position.index(journal.len())] ^= 1 << bit;
            let kept = read(&damaged).into_iter().flatten().collect::<Vec<_>>();
            prop_assert!(kept.len() >= samples().len() - 2 && kept.len() < samples().len());
            prop_assert!(kept.iter().all(|record| samples().contains(record)));
        }

        #[test]
        fn whatever_is_read_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..6000)) {
            let _ = read(&bytes);
        }
    }
}
