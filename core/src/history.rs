//! What is worth keeping of a drive's past when the governor stops: counters and idle gaps.
//!
//! Decisions start from what the drives say; nothing here is believed about a drive's state. A history is one frame of
//! the journal's kind (postcard, CRC-32, COBS), for one drive; the adapter keeps it under whatever names the drive (its
//! serial number), and hands the counters back with [`Event::Restored`](crate::governor::Event::Restored). A damaged
//! history, or one of another version, is refused, and the drive starts a new one.

use serde::{Deserialize, Serialize};

use crate::apst::gaps::Gaps;
use crate::journal::{self, FrameError};

/// The version of the format described here.
pub const HISTORY_VERSION: u16 = 1;

/// Bytes that are enough for any encoded history.
pub const MAX_HISTORY: usize = 1536;

/// What happened to one drive since it was first seen. Counters stop at their highest value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Counters {
    /// Changes of the power state that it accepted.
    pub transitions: u32,
    /// Commands that it refused.
    pub refused: u32,
    /// Commands that were declared lost.
    pub lost: u32,
    /// Resets.
    pub resets: u32,
    /// Times that its record in memory was found damaged.
    pub damaged: u32,
}

impl Counters {
    /// Takes up a history: what was counted before the restart is added.
    pub const fn restore(&mut self, before: Self) {
        self.transitions = self.transitions.saturating_add(before.transitions);
        self.refused = self.refused.saturating_add(before.refused);
        self.lost = self.lost.saturating_add(before.lost);
        self.resets = self.resets.saturating_add(before.resets);
        self.damaged = self.damaged.saturating_add(before.damaged);
    }
}

/// One drive's past.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// What happened to it.
    pub counters: Counters,
    /// How long it was left alone.
    pub gaps: Gaps,
}

/// Why a history cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum HistoryError {
    /// It is damaged.
    Frame(FrameError),
    /// It is of another version.
    Version(u16),
}

impl core::fmt::Display for HistoryError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Frame(error) => write!(f, "the drive's history cannot be read: {error}"),
            Self::Version(version) => {
                write!(f, "the drive's history is of version {version}, and this program reads {HISTORY_VERSION}")
            }
        }
    }
}

impl core::error::Error for HistoryError {}

impl History {
    /// Writes it as one frame, the zero byte at its end included. [`MAX_HISTORY`] bytes are always enough.
    ///
    /// # Errors
    /// [`FrameError::TooLong`] where the buffer is too small.
    pub fn encode<'a>(&self, buffer: &'a mut [u8]) -> Result<&'a [u8], FrameError> {
        journal::encode(&(HISTORY_VERSION, self.counters, &self.gaps), buffer)
    }

    /// Reads a frame, with or without the zero byte at its end.
    ///
    /// # Errors
    /// Where it is damaged, or of another version.
    pub fn decode(frame: &[u8]) -> Result<Self, HistoryError> {
        let frame = frame.strip_suffix(&[0]).unwrap_or(frame);
        let mut scratch = [0; MAX_HISTORY];
        match journal::decode(frame, &mut scratch) {
            Ok((HISTORY_VERSION, counters, gaps)) => Ok(Self { counters, gaps }),
            Ok((version, ..)) => Err(HistoryError::Version(version)),
            Err(error) => Err(HistoryError::Frame(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::units::Microseconds;

    fn history(gaps: &[u64]) -> History {
        let counters = Counters { transitions: 7, refused: u32::MAX, lost: 1, resets: 2, damaged: 3 };
        let mut history = History { counters, gaps: Gaps::new() };
        for gap in gaps {
            history.gaps.record(Microseconds::new(*gap));
        }
        history
    }

    proptest! {
        #[test]
        fn what_is_kept_comes_back(gaps in prop::collection::vec(0u64..20_000_000_000, 0..400)) {
            let history = history(&gaps);
            let mut buffer = [0; MAX_HISTORY];
            prop_assert_eq!(History::decode(history.encode(&mut buffer).unwrap()), Ok(history));
        }

        #[test]
        fn a_flipped_bit_is_noticed(at in any::<prop::sample::Index>(), bit in 0u8..8) {
            let mut buffer = [0; MAX_HISTORY];
            let mut frame = std::vec::Vec::from(history(&[5_000, 70_000]).encode(&mut buffer).unwrap());
            let at = at.index(frame.len() - 1);
            frame[at] ^= 1 << bit;
            prop_assert!(History::decode(&frame).is_err());
        }

        #[test]
        fn whatever_is_read_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
            let _ = History::decode(&bytes);
        }
    }

    extern crate std;

    /// Every bin in use, and every count as long as a count can be.
    #[test]
    fn the_largest_history_fits() {
        let mut history = history(&[]);
        for gap in history.gaps.clone().edges() {
            history.gaps.record(gap);
        }
        let mut buffer = [0; MAX_HISTORY];
        let length = history.encode(&mut buffer).unwrap().len();
        // A count grows from one byte to three at most: 2²⁰ of them are held.
        assert!(length + 2 * crate::apst::gaps::BINS < MAX_HISTORY, "{length}");
    }

    #[test]
    fn another_version_is_refused() {
        let mut buffer = [0; MAX_HISTORY];
        let later = journal::encode(&(HISTORY_VERSION + 1, Counters::default(), Gaps::new()), &mut buffer).unwrap();
        assert_eq!(History::decode(later), Err(HistoryError::Version(HISTORY_VERSION + 1)));
    }
}
