//! Reading and writing the fields that every structure shares.

use crate::units::{Kelvin, Microseconds};

pub(super) fn le16<const LENGTH: usize>(bytes: &[u8; LENGTH], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

pub(super) fn le64<const LENGTH: usize>(bytes: &[u8; LENGTH], at: usize) -> u64 {
    u64::from(le32(bytes, at)) | u64::from(le32(bytes, at + 4)) << 32
}

pub(super) fn le128<const LENGTH: usize>(bytes: &[u8; LENGTH], at: usize) -> u128 {
    u128::from(le64(bytes, at)) | u128::from(le64(bytes, at + 8)) << 64
}

/// Writes a field's bytes where it begins.
pub(super) fn put<const LENGTH: usize, const FIELD: usize>(bytes: &mut [u8; LENGTH], at: usize, field: [u8; FIELD]) {
    bytes[at..at + FIELD].copy_from_slice(&field);
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

/// Defines a field of flags: all its bits are kept, those with a name here can be asked for.
macro_rules! flags {
    ($(#[$doc:meta])* $name:ident($int:ty) { $($(#[$bit_doc:meta])* $method:ident = $bit:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        pub struct $name($int);

        impl $name {
            /// The flags in these bits.
            #[must_use]
            pub const fn from_bits(bits: $int) -> Self {
                Self(bits)
            }

            /// All bits.
            #[must_use]
            pub const fn bits(self) -> $int {
                self.0
            }

            $(
                $(#[$bit_doc])*
                #[must_use]
                pub const fn $method(self) -> bool {
                    self.0 & 1 << $bit != 0
                }
            )*
        }
    };
}
pub(super) use flags;

/// Defines a field that holds a code of so many bits (the mask): every code is kept, those with a name here are known.
macro_rules! code {
    ($(#[$doc:meta])* $name:ident($mask:literal) { $($(#[$code_doc:meta])* $known:ident = $code:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        pub struct $name(u8);

        impl $name {
            $(
                $(#[$code_doc])*
                pub const $known: Self = Self($code);
            )*

            /// This code, of which the field holds the lowest bits.
            #[must_use]
            pub const fn new(code: u8) -> Self {
                Self(code & $mask)
            }

            /// Its code.
            #[must_use]
            pub const fn code(self) -> u8 {
                self.0
            }
        }
    };
}
pub(super) use code;

/// A latency in microseconds, where 0 means "not reported".
pub(super) fn latency(field: u32) -> Option<Microseconds> {
    (field != 0).then(|| Microseconds::new(u64::from(field)))
}

/// The field for a latency; the largest that fits where it is longer.
pub(super) fn latency_field(latency: Option<Microseconds>) -> u32 {
    latency.map_or(0, |value| u32::try_from(value.get()).unwrap_or(u32::MAX))
}
