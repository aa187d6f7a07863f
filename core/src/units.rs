//! Physical quantities as private integers.
//!
//! One type for each quantity, so that watts are never added to seconds. Arithmetic either says that it
//! saturates or returns an `Option`; nothing wraps and nothing panics. Text is parsed without floating point.

use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};

/// Defines an integer quantity with saturating arithmetic.
macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident($int:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[serde(transparent)]
        pub struct $name($int);

        impl $name {
            /// The smallest value.
            pub const ZERO: Self = Self(0);
            /// The largest value; sums stop here.
            pub const MAX: Self = Self(<$int>::MAX);

            /// Wraps a raw count of this quantity's unit.
            pub const fn new(raw: $int) -> Self {
                Self(raw)
            }

            /// The raw count of this quantity's unit.
            pub const fn get(self) -> $int {
                self.0
            }

            /// The sum, or [`Self::MAX`] where it would not fit.
            #[must_use]
            pub const fn saturating_add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }

            /// The difference, or zero where it would be negative.
            #[must_use]
            pub const fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }

            /// The difference, or `None` where it would be negative.
            #[must_use]
            pub const fn checked_sub(self, other: Self) -> Option<Self> {
                match self.0.checked_sub(other.0) {
                    Some(raw) => Some(Self(raw)),
                    None => None,
                }
            }
        }
    };
}

quantity! {
    /// Power in milliwatts (up to 4.29 MW).
    Milliwatts(u32)
}

quantity! {
    /// A span of time in microseconds.
    Microseconds(u64)
}

quantity! {
    /// A span of time in whole seconds, as a drive counts it.
    Seconds(u32)
}

quantity! {
    /// A span of time in whole minutes, as a drive counts it.
    Minutes(u32)
}

quantity! {
    /// Energy in whole watt-hours, as a drive counts it.
    WattHours(u64)
}

quantity! {
    /// Energy in millijoules: a milliwatt for a second each (up to 4.29 MJ).
    Millijoules(u32)
}

quantity! {
    /// A rate of data in bytes per second.
    BytesPerSecond(u64)
}

quantity! {
    /// Absolute temperature in whole kelvins, as NVMe reports it.
    Kelvin(u16)
}

impl Milliwatts {
    /// Whole watts as milliwatts; [`Self::MAX`] above 4.29 MW.
    #[must_use]
    pub const fn from_watts(watts: u32) -> Self {
        Self(watts.saturating_mul(1000))
    }
}

impl core::iter::Sum for Milliwatts {
    fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
        values.fold(Self::ZERO, Self::saturating_add)
    }
}

impl Microseconds {
    /// Whole milliseconds as microseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1000))
    }

    /// Whole seconds as microseconds.
    #[must_use]
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1_000_000))
    }
}

impl Kelvin {
    /// Whole degrees Celsius plus 273: the NVMe specification counts whole kelvins, so 0.15 K is left out.
    /// `None` below absolute zero or above what 16 bits hold.
    #[must_use]
    pub const fn from_celsius(celsius: i32) -> Option<Self> {
        match celsius.checked_add(273) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the guard holds the range")]
            Some(kelvin) if kelvin >= 0 && kelvin <= u16::MAX as i32 => Some(Self(kelvin as u16)),
            _ => None,
        }
    }

    /// Whole degrees Celsius: kelvins less 273.
    #[must_use]
    pub const fn celsius(self) -> i32 {
        self.0 as i32 - 273
    }
}

/// A moment on the adapter's monotonic clock: microseconds since a start of the adapter's choosing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(transparent)]
pub struct Instant(u64);

impl Instant {
    /// The start of the adapter's clock.
    pub const START: Self = Self(0);

    /// The end of time.
    pub const END: Self = Self(u64::MAX);

    /// A moment this many microseconds after the start.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Microseconds since the start.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to `self`; `None` where the clock would have run backwards.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Option<Microseconds> {
        match self.0.checked_sub(earlier.0) {
            Some(micros) => Some(Microseconds(micros)),
            None => None,
        }
    }

    /// The moment `span` later; the end of time where that would not fit.
    #[must_use]
    pub const fn after(self, span: Microseconds) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

/// Why a text is not a power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParsePowerError {
    /// Not of the form `1050`, `1050.5` or `1050W`.
    NotANumber,
    /// Finer than a milliwatt.
    TooFine,
    /// More than [`Milliwatts`] holds.
    TooLarge,
}

impl fmt::Display for ParsePowerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotANumber => "not a number of watts (write 1050, 1050.5 or 1050W)",
            Self::TooFine => "finer than a milliwatt (at most three decimals)",
            Self::TooLarge => "too many watts",
        })
    }
}

impl core::error::Error for ParsePowerError {}

/// Parses watts: `1050`, `1050.5` or `1050W`.
impl FromStr for Milliwatts {
    type Err = ParsePowerError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.strip_suffix(['W', 'w']).unwrap_or(text).trim();
        let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
        if !is_digits(whole) || !is_digits(fraction) {
            return Err(ParsePowerError::NotANumber);
        }
        let fraction = fraction.trim_end_matches('0');
        if fraction.len() > 3 {
            return Err(ParsePowerError::TooFine);
        }
        let mut milliwatts: u32 = 0;
        let padding = core::iter::repeat_n(b'0', 3 - fraction.len());
        for digit in whole.bytes().chain(fraction.bytes()).chain(padding) {
            milliwatts = milliwatts
                .checked_mul(10)
                .and_then(|tens| tens.checked_add(u32::from(digit - b'0')))
                .ok_or(ParsePowerError::TooLarge)?;
        }
        Ok(Self(milliwatts))
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Watts with as many of three decimals as are needed: `26.125 W`.
impl fmt::Display for Milliwatts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_thousandths(f, u64::from(self.0))?;
        f.write_str(" W")
    }
}

fn write_thousandths(f: &mut fmt::Formatter<'_>, value: u64) -> fmt::Result {
    let (whole, mut fraction) = (value / 1000, value % 1000);
    if fraction == 0 {
        return write!(f, "{whole}");
    }
    let mut width = 3;
    while fraction.is_multiple_of(10) {
        fraction /= 10;
        width -= 1;
    }
    write!(f, "{whole}.{fraction:0width$}")
}

/// Degrees Celsius: `70 °C`.
impl fmt::Display for Kelvin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} °C", self.celsius())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    #[test]
    fn watts_are_read_in_the_three_documented_forms() {
        for (text, milliwatts) in [
            ("1050", 1_050_000),
            ("1050.5", 1_050_500),
            ("1050W", 1_050_000),
            ("1050.5 W", 1_050_500),
            ("0.001", 1),
            ("25.1230000", 25_123),
            ("0", 0),
            ("4294967.295", u32::MAX),
        ] {
            assert_eq!(text.parse(), Ok(Milliwatts::new(milliwatts)), "{text}");
        }
    }

    #[test]
    fn what_is_no_power_is_refused_by_name() {
        use ParsePowerError::{NotANumber, TooFine, TooLarge};
        for (text, error) in [
            ("", NotANumber),
            ("W", NotANumber),
            ("abc", NotANumber),
            ("-5", NotANumber),
            ("1e3", NotANumber),
            (".5", NotANumber),
            ("5.", NotANumber),
            ("1.2.3", NotANumber),
            ("٣", NotANumber),
            ("0.0001", TooFine),
            ("4294967.296", TooLarge),
            ("99999999999999999999", TooLarge),
        ] {
            assert_eq!(text.parse::<Milliwatts>(), Err(error), "{text}");
        }
    }

    #[test]
    fn watts_are_shown_without_needless_decimals() {
        for (milliwatts, text) in
            [(26_125, "26.125 W"), (5_500, "5.5 W"), (10_000, "10 W"), (1_050, "1.05 W"), (1, "0.001 W")]
        {
            assert_eq!(Milliwatts::new(milliwatts).to_string(), text);
        }
    }

    #[test]
    fn a_clock_that_runs_backwards_is_seen() {
        let (early, late) = (Instant::from_micros(5), Instant::from_micros(7));
        assert_eq!(late.since(early), Some(Microseconds::new(2)));
        assert_eq!(early.since(late), None);
    }

    #[test]
    fn celsius_and_kelvin_differ_by_273() {
        assert_eq!(Kelvin::from_celsius(80), Some(Kelvin::new(353)));
        assert_eq!(Kelvin::new(353).celsius(), 80);
        assert_eq!(Kelvin::from_celsius(-274), None);
        assert_eq!(Kelvin::from_celsius(i32::MAX), None);
    }
}
