//! Watts, ranges of drives and shares as they are written in a scenario. Each checks itself as it is read, so that
//! the error knows the line.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use wattline_core::units::Milliwatts;

/// The most watts that anything here may be: 100 kW.
pub const MOST: Milliwatts = Milliwatts::from_watts(100_000);

/// A power: `1050`, `1050.5`, `"1050"` or `"1050W"`; at most 100 kW.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watts(pub Milliwatts);

impl Watts {
    /// As a number of watts.
    #[must_use]
    pub fn watts(self) -> f64 {
        watts(self.0)
    }
}

/// Milliwatts as a number of watts.
#[must_use]
pub fn watts(power: Milliwatts) -> f64 {
    f64::from(power.get()) / 1000.0
}

/// A power cap: as [`Watts`], but not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cap(pub Milliwatts);

/// Reads a power as it is written on a command line or in a file.
///
/// # Errors
///
/// What is wrong with it, and how to write it.
pub fn parse_watts(text: &str) -> Result<Milliwatts, String> {
    let power: Milliwatts = text.parse().map_err(|error| format!("`{text}`: {error}"))?;
    if power > MOST { Err(format!("`{text}`: more than 100 kW")) } else { Ok(power) }
}

/// Reads a cap: a power that is not 0.
///
/// # Errors
///
/// What is wrong with it, and how to write it.
pub fn parse_cap(text: &str) -> Result<Milliwatts, String> {
    match parse_watts(text)? {
        Milliwatts::ZERO => Err(format!("`{text}`: a cap of 0 W leaves nothing to govern")),
        cap => Ok(cap),
    }
}

impl<'de> Deserialize<'de> for Watts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_any(NumberOrText)?;
        parse_watts(&text).map(Self).map_err(de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Cap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_any(NumberOrText)?;
        parse_cap(&text).map(Self).map_err(de::Error::custom)
    }
}

/// A number or a text, as the text that a person would have written.
struct NumberOrText;

impl Visitor<'_> for NumberOrText {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("watts, such as 1050, 1050.5 or \"1050W\"")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }
}

/// Some of the drives: `"0-7"`, `"3"` or `"0-7, 16-23"`; `"all"` where nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Drives {
    /// Every drive.
    #[default]
    All,
    /// These ranges, both ends included.
    Ranges(Vec<(usize, usize)>),
}

impl Drives {
    /// Whether drive `slot` is one of them.
    #[must_use]
    pub fn contains(&self, slot: usize) -> bool {
        match self {
            Self::All => true,
            Self::Ranges(ranges) => ranges.iter().any(|&(first, last)| (first..=last).contains(&slot)),
        }
    }

    /// The highest drive that is named.
    #[must_use]
    pub fn highest(&self) -> Option<usize> {
        match self {
            Self::All => None,
            Self::Ranges(ranges) => ranges.iter().map(|&(_, last)| last).max(),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        if text.trim() == "all" {
            return Some(Self::All);
        }
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            (first <= last).then_some((first, last))
        };
        text.split(',').map(range).collect::<Option<_>>().map(Self::Ranges)
    }
}

impl<'de> Deserialize<'de> for Drives {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            de::Error::custom(format!("`{text}` names no drives (write \"all\", \"3\", \"0-7\" or \"0-7, 16-23\")"))
        })
    }
}

/// A share between 0 and 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share(pub f64);

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let share = f64::deserialize(deserializer)?;
        if (0.0..=1.0).contains(&share) {
            Ok(Self(share))
        } else {
            Err(de::Error::custom(format!("{share} is no share (between 0 and 1)")))
        }
    }
}

/// A span or a moment in seconds: finite, not negative, at most a year.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seconds(pub f64);

impl Seconds {
    /// As virtual time.
    #[must_use]
    pub fn micros(self) -> crate::time::Micros {
        crate::time::micros(self.0)
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const YEAR_S: f64 = 366.0 * 86_400.0;
        let seconds = f64::deserialize(deserializer)?;
        if (0.0..=YEAR_S).contains(&seconds) {
            Ok(Self(seconds))
        } else {
            Err(de::Error::custom(format!("{seconds} s is out of range (0 to a year)")))
        }
    }
}
