//! A drive port over a serial line: a bench at the other end plays the drives and gives the time.
//!
//! ```text
//! board                          bench
//!   ├── Ready ───────────────────▶│
//!   │◀── Step { now }, event ─────┤     one event at a time, or none
//!   ├── Send … ──────────────────▶│     as many as were decided
//!   ├── Idle { until } ──────────▶│     the bench's turn again
//! ```
//!
//! Messages are frames as in `wattline_core::journal`. Only one side speaks at a time, so the line needs no buffer
//! beyond the UART's own. What is damaged is dropped and logged: there is no repetition; the line is a bench's, not a
//! product's.

use embedded_io::{Read, ReadReady, Write};
use heapless::Vec;
use serde::{Deserialize, Serialize};
use wattline_core::governor::{CommandId, Event, Request, Slot};
use wattline_core::journal::{FrameError, decode, encode};
use wattline_core::units::Instant;

use crate::drive_port::DrivePort;

/// Bytes that are enough for any message's frame: the longest event is a drive that is attached, in less than 200
/// bytes.
pub const MAX_MESSAGE: usize = 224;

/// From the bench.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToBoard {
    /// What happened.
    pub event: Option<Event>,
    /// What to do.
    pub order: Order,
}

/// What the bench wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// It is `now`.
    Step {
        /// Microseconds since the bench's start.
        now: Instant,
    },
    /// The run is over.
    End,
    /// Panic, to see what becomes of it.
    Panic,
    /// Stand still, to see what becomes of it.
    StandStill,
}

/// To the bench.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromBoard {
    /// The board has started and listens.
    Ready,
    /// A request to a drive.
    Send {
        /// To which.
        slot: Slot,
        /// The command's name.
        id: CommandId,
        /// The request.
        request: Request,
    },
    /// Everything is done until then, or until something happens.
    Idle {
        /// When to step at the latest.
        until: Option<Instant>,
    },
}

/// Why nothing was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum LinkError<E> {
    /// The line failed.
    Line(E),
    /// A frame was damaged.
    Frame(FrameError),
}

/// The board's end of the line.
#[derive(Debug)]
pub struct Link<L> {
    line: L,
    frame: Vec<u8, MAX_MESSAGE>,
    overflown: bool,
    event: Option<Event>,
}

impl<L: Read + ReadReady + Write> Link<L> {
    /// On this line.
    pub const fn new(line: L) -> Self {
        Self { line, frame: Vec::new(), overflown: false, event: None }
    }

    /// Takes what has arrived, and returns the order once a message is whole. What happened waits to be asked for.
    ///
    /// # Errors
    /// Where the line fails or the message is damaged.
    pub fn receive(&mut self) -> Result<Option<Order>, LinkError<L::Error>> {
        while self.line.read_ready().map_err(LinkError::Line)? {
            let mut byte = [0];
            self.line.read(&mut byte).map_err(LinkError::Line)?;
            match byte {
                [0] => return self.message().map(Some).map_err(LinkError::Frame),
                [byte] => self.overflown |= self.frame.push(byte).is_err(),
            }
        }
        Ok(None)
    }

    /// Tells the bench something.
    ///
    /// # Errors
    /// Where the line fails.
    pub fn tell(&mut self, message: FromBoard) -> Result<(), L::Error> {
        let mut buffer = [0; MAX_MESSAGE];
        match encode(&message, &mut buffer) {
            Ok(frame) => self.line.write_all(frame),
            Err(_) => unreachable!("MAX_MESSAGE is enough for every message"),
        }
    }

    fn message(&mut self) -> Result<Order, FrameError> {
        let overflown = core::mem::take(&mut self.overflown);
        let frame = core::mem::take(&mut self.frame);
        if overflown {
            return Err(FrameError::TooLong);
        }
        let ToBoard { event, order } = decode(&frame, &mut [0; MAX_MESSAGE])?;
        self.event = event;
        Ok(order)
    }
}

impl<L: Read + ReadReady + Write> DrivePort for Link<L> {
    type Error = L::Error;

    fn send(&mut self, slot: Slot, id: CommandId, request: Request) -> Result<(), L::Error> {
        self.tell(FromBoard::Send { slot, id, request })
    }

    fn next_event(&mut self) -> Option<Event> {
        self.event.take()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use wattline_core::governor::{BackstopConfig, DriveConfig, Levers, Outcome, ProfileIndex, Share};
    use wattline_core::nvme::PowerState;
    use wattline_core::nvme::feature::thermal_management::ThermalManagement;
    use wattline_core::thermal::{ThermalLimits, Threshold};
    use wattline_core::units::{BytesPerSecond, Kelvin, Microseconds, Milliwatts};

    use super::*;

    /// Bytes in, bytes out.
    #[derive(Default)]
    struct Line(VecDeque<u8>, std::vec::Vec<u8>);

    impl embedded_io::ErrorType for Line {
        type Error = core::convert::Infallible;
    }

    impl ReadReady for Line {
        fn read_ready(&mut self) -> Result<bool, Self::Error> {
            Ok(!self.0.is_empty())
        }
    }

    impl Read for Line {
        fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Self::Error> {
            let length = buffer.len().min(self.0.len());
            buffer.iter_mut().zip(self.0.drain(..length)).for_each(|(place, byte)| *place = byte);
            Ok(length)
        }
    }

    impl Write for Line {
        fn write(&mut self, bytes: &[u8]) -> Result<usize, Self::Error> {
            self.1.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> Result<(), Self::Error> {
            Ok(())
        }
    }

    fn link() -> Link<Line> {
        Link::new(Line::default())
    }

    fn step(event: Option<Event>) -> ToBoard {
        ToBoard { event, order: Order::Step { now: Instant::from_micros(u64::MAX) } }
    }

    fn frame(message: &ToBoard) -> std::vec::Vec<u8> {
        encode(message, &mut [0; MAX_MESSAGE]).unwrap().to_vec()
    }

    #[test]
    fn a_message_that_comes_byte_by_byte_is_received_once() {
        let event = Event::Completed { slot: 3, id: CommandId(7), outcome: Outcome::Is(PowerState::PS0) };
        let message = step(Some(event.clone()));
        let mut link = link();
        let bytes = frame(&message);
        for byte in &bytes[..bytes.len() - 1] {
            link.line.0.push_back(*byte);
            assert_eq!(link.receive(), Ok(None));
        }
        link.line.0.push_back(0);
        assert_eq!(link.receive(), Ok(Some(message.order)));
        assert_eq!((link.next_event(), link.next_event()), (Some(event), None));
        assert_eq!(link.receive(), Ok(None));
    }

    #[test]
    fn the_longest_message_fits() {
        let threshold = Threshold { enter: Kelvin::MAX, leave: Kelvin::MAX, dwell: Microseconds::MAX };
        let longest = ThermalLimits {
            warm: threshold,
            hot: threshold,
            critical: threshold,
            limit: Kelvin::MAX,
            look_ahead: Microseconds::MAX,
            worst_slew_mk_per_s: u32::MAX,
            timeout: Microseconds::MAX,
            frozen_after: Some(Microseconds::MAX),
        };
        let drive = DriveConfig {
            fallback: PowerState::new(31).unwrap(),
            thermal: Some(longest),
            share: Share {
                weight: u8::MAX,
                priority: u8::MAX,
                guarantee: BytesPerSecond::MAX,
                group: Some(u8::MAX),
                shelf: Some(u8::MAX),
            },
            levers: Levers { ocp_power_state: true },
            backstop: Some(BackstopConfig {
                thresholds: ThermalManagement { light: Some(Kelvin::MAX), heavy: Some(Kelvin::MAX) },
                last_resort: Some(ThermalManagement { light: Some(Kelvin::MAX), heavy: Some(Kelvin::MAX) }),
            }),
            ..DriveConfig::new(ProfileIndex(u8::MAX), Milliwatts::MAX)
        };
        let message = step(Some(Event::Attached { slot: u8::MAX, drive }));
        let mut link = link();
        link.line.0.extend(frame(&message));
        assert_eq!(link.receive(), Ok(Some(message.order)));
        assert_eq!(link.next_event(), message.event);
    }

    #[test]
    fn what_is_damaged_is_dropped_and_the_next_is_received() {
        let message = step(None);
        let mut damaged = frame(&message);
        damaged[3] ^= 0x10;
        let mut link = link();
        link.line.0.extend(damaged);
        link.line.0.extend([1; 2 * MAX_MESSAGE]);
        link.line.0.push_back(0);
        link.line.0.extend(frame(&message));
        assert!(matches!(link.receive(), Err(LinkError::Frame(FrameError::Checksum | FrameError::Framing))));
        assert_eq!(link.receive(), Err(LinkError::Frame(FrameError::TooLong)));
        assert_eq!(link.receive(), Ok(Some(message.order)));
    }

    #[test]
    fn a_request_goes_out_as_a_frame() {
        let mut link = link();
        link.send(2, CommandId(9), Request::ReadPowerState).unwrap();
        let (zero, frame) = link.line.1.split_last().unwrap();
        let sent = FromBoard::Send { slot: 2, id: CommandId(9), request: Request::ReadPowerState };
        assert_eq!((*zero, decode(frame, &mut [0; MAX_MESSAGE])), (0, Ok(sent)));
    }
}
