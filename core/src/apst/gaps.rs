//! How long a drive was left alone: a histogram of past idle gaps, of fixed size, kept by the core.
//!
//! A *gap* is the time from the end of a command to the next one. A gap is held as whole milliseconds, rounded up to
//! the upper edge of its bin: exactly up to 16 ms, above that by 8 bins an octave, so by at most one eighth too long,
//! and nothing above 2²⁴ ms (4 h 40 min), which is more than a table can wait. *The recorded gaps* are what the
//! histogram holds, no longer what was told to it: what is optimal for the one is optimal for the other up to this
//! rounding. An edge as the length has a reason: a threshold at an edge lies above every gap that it is meant to leave
//! out.
//!
//! Recording costs the same whatever is held. When 2²⁰ gaps are held, all counts are halved, so that what was long ago
//! fades; a count of one stays, since one long gap can outweigh a thousand short ones.
//!
//! 704 bytes for a drive.

use heapless::Vec;
use serde::{Deserialize, Serialize};

use crate::units::Microseconds;

/// How many bins there are: 8 exact ones, then 8 for each of the 21 octaves up to 2²⁴ ms.
pub const BINS: usize = 8 + 21 * 8;

/// More gaps than this are not held. A guess: at ten gaps a second it is a bit more than a day.
const MOST: u32 = 1 << 20;

/// The longest gap that is told from a longer one, in milliseconds.
const LONGEST_MS: u32 = 1 << 24;

/// Past idle gaps of one drive. Serialised as pairs of bin and count, without empty bins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(try_from = "Pairs", into = "Pairs")]
pub struct Gaps {
    counts: [u32; BINS],
    total: u32,
}

/// Gaps that are held as one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Held {
    /// The length of each, in whole milliseconds: 1 to 2²⁴.
    pub milliseconds: u32,
    /// How many there are, never 0.
    pub count: u32,
}

impl Default for Gaps {
    fn default() -> Self {
        Self::new()
    }
}

impl Gaps {
    /// No gap yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { counts: [0; BINS], total: 0 }
    }

    /// Records a gap. One of no length is none.
    pub fn record(&mut self, gap: Microseconds) {
        if gap == Microseconds::ZERO {
            return;
        }
        if self.total >= MOST {
            self.halve();
        }
        self.counts[bin(gap)] += 1;
        self.total += 1;
    }

    /// How many gaps are held.
    #[must_use]
    pub const fn total(&self) -> u32 {
        self.total
    }

    /// What is held, from short to long.
    pub fn held(&self) -> impl DoubleEndedIterator<Item = Held> {
        let bins = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        bins.map(|(bin, count)| Held { milliseconds: edge(bin), count: *count })
    }

    /// One gap of every length that is told from others.
    #[cfg(test)]
    pub(crate) fn edges(&self) -> impl Iterator<Item = Microseconds> {
        (0..BINS).map(|bin| Microseconds::new(u64::from(edge(bin)) * 1000))
    }

    /// Halves every count, rounded up.
    fn halve(&mut self) {
        self.total = 0;
        for count in &mut self.counts {
            *count = count.div_ceil(2);
            self.total += *count;
        }
    }
}

/// A histogram as it is serialised.
type Pairs = Vec<(u8, u32), BINS>;

impl From<Gaps> for Pairs {
    fn from(gaps: Gaps) -> Self {
        (0..=u8::MAX).zip(gaps.counts).filter(|(_, count)| *count > 0).collect()
    }
}

/// A histogram with bins or counts that none can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoHistogram;

impl core::fmt::Display for NoHistogram {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("no histogram of idle gaps: a bin or a count is out of range")
    }
}

impl TryFrom<Pairs> for Gaps {
    type Error = NoHistogram;

    fn try_from(pairs: Pairs) -> Result<Self, NoHistogram> {
        let mut gaps = Self::new();
        for (bin, count) in pairs {
            let held = gaps.counts.get_mut(usize::from(bin)).filter(|held| **held == 0).ok_or(NoHistogram)?;
            *held = count;
            gaps.total = gaps.total.checked_add(count).filter(|total| *total <= MOST).ok_or(NoHistogram)?;
        }
        Ok(gaps)
    }
}

/// The bin of a gap.
fn bin(gap: Microseconds) -> usize {
    let milliseconds = u32::try_from(gap.get().div_ceil(1000)).unwrap_or(u32::MAX).clamp(1, LONGEST_MS);
    // An edge belongs to the bin below it. So count from one less.
    let below = milliseconds - 1;
    if below < 8 {
        return below as usize;
    }
    let shift = below.ilog2() - 3;
    shift as usize * 8 + (below >> shift) as usize
}

/// The upper edge of a bin, in milliseconds.
#[expect(clippy::cast_possible_truncation, reason = "a bin is less than BINS")]
const fn edge(bin: usize) -> u32 {
    if bin < 8 {
        return bin as u32 + 1;
    }
    (9 + bin as u32 % 8) << (bin / 8 - 1)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bins_touch_and_hold_their_upper_edge() {
        for bin in 0..BINS {
            let last = Microseconds::from_millis(u64::from(edge(bin)));
            assert_eq!(super::bin(last), bin);
            let next = Microseconds::new(last.get() + 1);
            assert_eq!(super::bin(next), (bin + 1).min(BINS - 1));
        }
        assert_eq!((edge(15), edge(16), edge(BINS - 1)), (16, 18, 1 << 24));
        assert_eq!(super::bin(Microseconds::MAX), BINS - 1);
    }

    #[test]
    fn a_full_histogram_forgets_slowly_and_keeps_what_is_rare() {
        let mut gaps = Gaps::new();
        gaps.record(Microseconds::from_secs(3600));
        for _ in 0..MOST + 10 {
            gaps.record(Microseconds::ZERO);
            gaps.record(Microseconds::from_millis(5));
        }
        let held: Vec<_> = gaps.held().collect();
        assert_eq!(held.len(), 2);
        assert_eq!((held[0].milliseconds, held[1].count), (5, 1));
        assert!(held[0].count > MOST / 2 && held[0].count < MOST / 2 + 20);
        assert_eq!(gaps.total(), held.iter().map(|held| held.count).sum());
    }

    proptest! {
        /// Never shorter, and never by more than an eighth and a millisecond longer.
        #[test]
        fn a_gap_is_held_a_bit_too_long(micros in 1..u64::from(LONGEST_MS) * 1000) {
            let mut gaps = Gaps::new();
            gaps.record(Microseconds::new(micros));
            let held: Vec<_> = gaps.held().collect();
            prop_assert_eq!(held.len(), 1);
            let length = u64::from(held[0].milliseconds) * 1000;
            prop_assert!(length >= micros && length <= micros + micros / 8 + 1000);
        }
    }
}
