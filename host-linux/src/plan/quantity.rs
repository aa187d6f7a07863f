//! Quantities times a count of drives, and how they are written.

use wattline_core::units::{BytesPerSecond, Milliwatts};

use crate::decimal::Decimal;

/// Capacity in gigabytes (10⁹ bytes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gigabytes(u64);

impl Gigabytes {
    /// Wraps a count of gigabytes.
    #[must_use]
    pub const fn new(gigabytes: u64) -> Self {
        Self(gigabytes)
    }

    /// The count of gigabytes.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// What so many drives hold.
    #[must_use]
    pub const fn times(self, drives: u32) -> Self {
        Self(self.0.saturating_mul(drives as u64))
    }
}

/// What so many drives draw.
pub(super) fn power(of_one: Milliwatts, drives: u32) -> Milliwatts {
    Milliwatts::new(of_one.get().saturating_mul(drives))
}

/// What so many drives give.
pub(super) fn throughput(of_one: BytesPerSecond, drives: u32) -> BytesPerSecond {
    BytesPerSecond::new(of_one.get().saturating_mul(drives.into()))
}

/// Watts to the milliwatt.
pub(super) fn watts(power: Milliwatts) -> Decimal<3> {
    Decimal(power.get().into())
}

/// GB/s to the kB/s: finer than any measurement, and coarse enough to hide that a share of a total is rounded down.
pub(super) fn gb_s(throughput: BytesPerSecond) -> Decimal<6> {
    Decimal(rounded(throughput.get(), 1_000))
}

/// GB/s to the MB/s, for people.
pub(super) fn gb_s_for_people(throughput: BytesPerSecond) -> Decimal<3> {
    Decimal(rounded(throughput.get(), 1_000_000))
}

/// Terabytes to the gigabyte.
pub(super) fn terabytes(capacity: Gigabytes) -> Decimal<3> {
    Decimal(capacity.get())
}

/// The nearest whole number of units.
pub(super) fn rounded(count: u64, unit: u64) -> u64 {
    count.saturating_add(unit / 2) / unit
}
