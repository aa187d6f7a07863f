//! Times as a small value and a power of ten.

use crate::units::Microseconds;

/// A time that a power failure takes: a value and its scale code, both kept as they are.
///
/// Scale code 0 is 1 µs, 1 is 10 µs, and so on in powers of ten up to 12, which is 1,000,000 s; 13 to 15 are reserved.
/// (The codes are from nvme-cli's list, no second source was at hand: **Unverified** for what is read, never sent.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ScaledTime {
    value: u8,
    scale_code: u8,
}

impl ScaledTime {
    /// The largest value that is not reserved.
    pub const LARGEST_VALUE: u8 = 99;
    /// The largest scale code that is not reserved.
    pub const LARGEST_SCALE_CODE: u8 = 12;

    /// The time of this value and scale code, of which the field holds four bits.
    #[must_use]
    pub const fn new(value: u8, scale_code: u8) -> Self {
        Self { value, scale_code: scale_code & 0x0F }
    }

    /// The value: 0 not reported, 1 to 99 valid, others reserved.
    #[must_use]
    pub const fn value(self) -> u8 {
        self.value
    }

    /// The scale's code.
    #[must_use]
    pub const fn scale_code(self) -> u8 {
        self.scale_code
    }

    /// The time. `None`: not reported, or one of the two is reserved.
    #[must_use]
    pub fn time(self) -> Option<Microseconds> {
        let valid = (1..=Self::LARGEST_VALUE).contains(&self.value) && self.scale_code <= Self::LARGEST_SCALE_CODE;
        valid.then(|| Microseconds::new(u64::from(self.value) * 10_u64.pow(u32::from(self.scale_code))))
    }
}

/// The longest gap between two samples of a drive's own power measurement (IPMSR): value in bits 7:0 (SRV), scale in
/// bits 15:8 (SRS), both kept as they are. Scale code 0 is "not reported", 1 is 1 µs, and so on in powers of ten up to
/// 5, which is 10 ms; the others are reserved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SampleInterval(u16);

impl SampleInterval {
    /// The interval in these 16 bits.
    #[must_use]
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// The 16 bits.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// The interval. `None`: not reported, or the scale is reserved.
    #[must_use]
    pub fn time(self) -> Option<Microseconds> {
        let [value, scale_code] = self.0.to_le_bytes();
        let valid = value != 0 && (1..=5).contains(&scale_code);
        valid.then(|| Microseconds::new(u64::from(value) * 10_u64.pow(u32::from(scale_code) - 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_is_kept_and_only_valid_ones_are_times() {
        for value in 0..=u8::MAX {
            for scale_code in 0..16 {
                let time = ScaledTime::new(value, scale_code | 0xF0);
                assert_eq!((time.value(), time.scale_code()), (value, scale_code));
                let valid = value != 0 && value < 100 && scale_code < 13;
                assert_eq!(time.time().is_some(), valid, "{value} {scale_code}");
            }
        }
        assert_eq!(ScaledTime::new(3, 0).time(), Some(Microseconds::new(3)));
        assert_eq!(ScaledTime::new(99, 6).time(), Some(Microseconds::from_secs(99)));
        assert_eq!(ScaledTime::new(1, 12).time(), Some(Microseconds::from_secs(1_000_000)));
    }

    #[test]
    fn sample_intervals_are_read_by_their_scale() {
        for bits in 0..=u16::MAX {
            let interval = SampleInterval::from_bits(bits);
            assert_eq!(interval.bits(), bits);
            assert_eq!(interval.time().is_some(), bits % 256 != 0 && (0x0100..0x0600).contains(&bits));
        }
        assert_eq!(SampleInterval::from_bits(0x0107).time(), Some(Microseconds::new(7)));
        assert_eq!(SampleInterval::from_bits(0x0519).time(), Some(Microseconds::from_millis(250)));
    }
}
