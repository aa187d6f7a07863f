//! Reading and writing the fields that every structure shares.

use crate::units::{Kelvin, Microseconds};

pub(super) fn le16<const LENGTH: usize>(bytes: &[u8; LENGTH], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// A temperature, where 0 K means "not reported".
pub(super) fn temperature(field: u16) -> Option<Kelvin> {
    (field != 0).then(|| Kelvin::new(field))
}

/// The field for a temperature.
pub(super) fn temperature_field(temperature: Option<Kelvin>) -> u16 {
    temperature.map_or(0, Kelvin::get)
}

pub(super) fn le32<const LENGTH: usize>(bytes: &[u8; LENGTH], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// A latency in microseconds, where 0 means "not reported".
pub(super) fn latency(field: u32) -> Option<Microseconds> {
    (field != 0).then(|| Microseconds::new(u64::from(field)))
}

/// The field for a latency; the largest that fits where it is longer.
pub(super) fn latency_field(latency: Option<Microseconds>) -> u32 {
    latency.map_or(0, |value| u32::try_from(value.get()).unwrap_or(u32::MAX))
}
