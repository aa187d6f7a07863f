//! Watts, ranges of drives and shares as they are written in a scenario. Each checks itself as it is read, so that
//! the error knows the line.

use std::fmt;
use std::ops::RangeInclusive;

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
    if text.strip_prefix('-').is_some_and(|positive| positive.parse::<Milliwatts>().is_ok()) {
        return Err("watts cannot be negative".into());
    }
    match text.parse::<Milliwatts>() {
        Ok(power) if power > MOST => Err("more than 100 kW".into()),
        Ok(power) => Ok(power),
        Err(error) => Err(error.to_string()),
    }
}

/// Reads a cap: a power that is not 0.
///
/// # Errors
///
/// What is wrong with it, and how to write it.
pub fn parse_cap(text: &str) -> Result<Milliwatts, String> {
    match parse_watts(text)? {
        Milliwatts::ZERO => Err("a cap of 0 W leaves nothing to govern".into()),
        cap => Ok(cap),
    }
}

impl<'de> Deserialize<'de> for Watts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_any(NumberOrText)?;
        parse_watts(&text).map(Self).map_err(|why| de::Error::custom(format!("`{text}`: {why}")))
    }
}

impl<'de> Deserialize<'de> for Cap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_any(NumberOrText)?;
        parse_cap(&text).map(Self).map_err(|why| de::Error::custom(format!("`{text}`: {why}")))
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
        if number > 1e5 {
            return Err(E::custom(format!("`{}`: more than 100 kW", brief(number))));
        }
        Ok(brief(number))
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
            let (first, last) = (slot(first)?, slot(last)?);
            (first <= last).then_some((first, last))
        };
        text.split(',').map(range).collect::<Option<_>>().map(Self::Ranges)
    }
}

/// A slot as people write it: digits alone, without zeros before them.
fn slot(text: &str) -> Option<usize> {
    let number: usize = text.trim().parse().ok()?;
    (number.to_string() == text.trim()).then_some(number)
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
            Err(de::Error::custom(format!("{} is no share (between 0 and 1)", brief(share))))
        }
    }
}

/// The longest span, and the longest run: a week. A run keeps its whole trace, about 600 bytes for each second.
pub const WEEK_S: f64 = 7.0 * 86_400.0;

/// A span or a moment in seconds: finite, not negative, at most a week.
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
        let seconds = f64::deserialize(deserializer)?;
        if (0.0..=WEEK_S).contains(&seconds) {
            Ok(Self(seconds))
        } else {
            Err(de::Error::custom(format!("{} s is out of range (0 to a week, {WEEK_S} s)", brief(seconds))))
        }
    }
}

/// A number in as few digits as it needs: powers of ten where it would have many zeros.
#[must_use]
pub fn brief(number: f64) -> String {
    let size = number.abs();
    let plain = size <= 0.0 || !size.is_finite() || (1e-6..1e15).contains(&size);
    if plain { number.to_string() } else { format!("{number:e}") }
}

/// Reads a number and refuses it outside its range, with the key, the value and the range.
fn between<'de, D: Deserializer<'de>>(
    deserializer: D,
    key: &str,
    range: RangeInclusive<f64>,
    unit: &str,
) -> Result<f64, D::Error> {
    let value = f64::deserialize(deserializer)?;
    if range.contains(&value) {
        return Ok(value);
    }
    let (least, most) = (range.start(), range.end());
    Err(de::Error::custom(format!("{key} = {}: must be between {least} and {most}{unit}", brief(value))))
}

/// Reads a number and refuses it unless it is above 0, and finite.
fn above_zero<'de, D: Deserializer<'de>>(deserializer: D, key: &str) -> Result<f64, D::Error> {
    let value = f64::deserialize(deserializer)?;
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(de::Error::custom(format!("{key} = {}: must be above 0 GB/s", brief(value))))
}

/// The range of each key that has one of its own.
pub(super) mod of_key {
    use serde::Deserialize;
    use serde::de::{Deserializer, Error};

    use super::{Seconds, WEEK_S, above_zero, between, brief};

    pub(in crate::scenario) fn inlet_c<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
        between(from, "inlet_c", -60.0..=100.0, " °C").map(Some)
    }

    pub(in crate::scenario) fn fan_from_c<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
        between(from, "fan_from_c", -60.0..=120.0, " °C").map(Some)
    }

    pub(in crate::scenario) fn design_inlet_c<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        between(from, "design_inlet_c", -60.0..=100.0, " °C")
    }

    pub(in crate::scenario) fn hottest_inlet_c<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        between(from, "hottest_inlet_c", -60.0..=120.0, " °C")
    }

    pub(in crate::scenario) fn throttle_c<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        between(from, "at_c", -60.0..=120.0, " °C")
    }

    pub(in crate::scenario) fn hysteresis_k<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        between(from, "hysteresis_k", 0.0..=50.0, " K")
    }

    pub(in crate::scenario) fn composite_below_c<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
        between(from, "composite_below_c", -60.0..=120.0, " °C").map(Some)
    }

    pub(in crate::scenario) fn management_c<'de, D: Deserializer<'de>>(from: D) -> Result<Option<[f64; 2]>, D::Error> {
        let [light_c, heavy_c] = <[f64; 2]>::deserialize(from)?;
        if -60.0 <= light_c && light_c < heavy_c && heavy_c <= 120.0 {
            return Ok(Some([light_c, heavy_c]));
        }
        let given = format!("[{}, {}]", brief(light_c), brief(heavy_c));
        Err(D::Error::custom(format!(
            "management_c = {given}: two temperatures between -60 and 120 °C, the lower first"
        )))
    }

    pub(in crate::scenario) fn critical_c<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
        between(from, "critical_c", 40.0..=95.0, " °C").map(Some)
    }

    /// What the core believes of a drive's threshold; it would take 70 °C instead of any other.
    pub(in crate::scenario) fn warning_c<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
        between(from, "warning_c", 40.0..=95.0, " °C").map(Some)
    }

    pub(in crate::scenario) fn read_ceiling<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
        above_zero(from, "read_ceiling_gb_s").map(Some)
    }

    pub(in crate::scenario) fn write_ceiling<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
        above_zero(from, "write_ceiling_gb_s").map(Some)
    }

    pub(in crate::scenario) fn rate_limit<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
        above_zero(from, "rate_limit_gb_s").map(Some)
    }

    pub(in crate::scenario) fn spread<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        between(from, "spread_percent", 0.0..=50.0, " %")
    }

    /// Since the cap's window is 1 s.
    pub(in crate::scenario) fn duration<'de, D: Deserializer<'de>>(from: D) -> Result<Seconds, D::Error> {
        between(from, "duration_s", 2.0..=WEEK_S, " s (a week)").map(Seconds)
    }

    pub(in crate::scenario) fn dwell<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Seconds>, D::Error> {
        between(from, "dwell_s", 0.1..=WEEK_S, " s").map(|span| Some(Seconds(span)))
    }

    pub(in crate::scenario) fn scale<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        between(from, "scale", 0.0..=10.0, "")
    }

    /// Commands that were in flight when the governor stopped have taken effect by then.
    pub(in crate::scenario) fn down<'de, D: Deserializer<'de>>(from: D) -> Result<Seconds, D::Error> {
        between(from, "down_s", 0.1..=WEEK_S, " s").map(Seconds)
    }

    pub(in crate::scenario) fn count<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
        let count = u32::deserialize(from)?;
        if (1..=100_000).contains(&count) {
            return Ok(count);
        }
        Err(D::Error::custom(format!("count = {count}: must be between 1 and 100000")))
    }

    pub(in crate::scenario) fn at_least<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        above_zero(from, "at_least_gb_s")
    }

    /// 0 is never.
    pub(in crate::scenario) fn rotation<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Seconds>, D::Error> {
        let span = f64::deserialize(from)?;
        if span.abs() <= 0.0 || (0.1..=WEEK_S).contains(&span) {
            return Ok(Some(Seconds(span)));
        }
        let given = brief(span);
        Err(D::Error::custom(format!("rotation_s = {given}: must be 0 (never), or between 0.1 and {WEEK_S} s")))
    }

    /// Not more than the reference drive takes awake.
    pub(in crate::scenario) fn asleep<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        between(from, "power_w", 0.001..=5.5, " W")
    }

    /// What an entry of a table of autonomous transitions can hold.
    pub(in crate::scenario) fn idle_time<'de, D: Deserializer<'de>>(from: D) -> Result<Seconds, D::Error> {
        between(from, "after_s", 0.001..=16_777.215, " s").map(Seconds)
    }

    pub(in crate::scenario) fn poll<'de, D: Deserializer<'de>>(from: D) -> Result<Seconds, D::Error> {
        between(from, "poll_s", 0.001..=WEEK_S, " s").map(Seconds)
    }

    /// The status field has 15 bits, and 0 is success.
    pub(in crate::scenario) fn failed_status<'de, D: Deserializer<'de>>(from: D) -> Result<u16, D::Error> {
        let status = u16::deserialize(from)?;
        if (1..=0x7FFF).contains(&status) {
            return Ok(status);
        }
        Err(D::Error::custom(format!("failed_status = {status:#06x}: must be between 0x0001 and 0x7fff (15 bits)")))
    }
}
