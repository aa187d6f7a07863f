//! Power Measurement (LID 25h, revision 2.3): what a drive measured of its own power between a start and a stop.
//!
//! A header of 64 bytes, then a histogram: one descriptor for each bin, in steps of 250 mW.
//!
//! **Unverified:** the layout is from nvme-cli alone; no drive's page was at hand.

use crate::nvme::feature::power_measurement::{MeasurementType, StopTime};
use crate::nvme::field::{flags, le16, le32, le64, put};
use crate::nvme::power::ScaledPower;
use crate::units::Milliwatts;

/// The header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Header {
    /// Version (byte 0), of which only 0 is known.
    pub version: u8,
    /// Power Measurement Generation Number (PMGN, byte 1): one more for each start, 0 after 255.
    pub generation: u8,
    /// Power Measurement Attributes (PMA, bytes 2–3).
    pub attributes: MeasurementAttributes,
    /// Size (SZE, bytes 4–7) of the whole log page in bytes.
    pub size_bytes: u32,
    /// Power Measurement Count (PMC, bytes 8–11). It stays at its maximum.
    pub measurements: u32,
    /// Number of Power Histogram Descriptors (NPHD, bytes 12–13) in this page.
    pub bins: u16,
    /// Stop Measurement Time Remaining (SMTR, bytes 14–15). `None`: no such time was given.
    pub stops_in: Option<StopTime>,
    /// Stop Measurement Timestamp (SMTS, bytes 16–23).
    pub stopped_at: Timestamp,
    /// Power Histogram Descriptor Size (PHDS, bytes 24–25) in bytes.
    pub bin_bytes: u16,
    /// Power Histogram Bin Size (PHBS, bytes 26–27), in milliwatts: 250.
    pub bin_milliwatts: u16,
    /// Number of Power Histogram Descriptors Supported (NPHDS, bytes 28–29). 0: there is no histogram.
    pub bins_supported: u16,
    /// Vendor Specific Size (VSS, bytes 30–31) in bytes.
    pub vendor_bytes: u16,
    /// Power Histogram Descriptor Overflow Count (PHDOC, bytes 32–35): measurements above the last bin. It stays at its
    /// maximum.
    pub overflows: u32,
    /// Average Interval Power (AIPWR, bytes 40–43).
    pub average: ScaledPower,
    /// Maximum Interval Power (MIPWR, bytes 44–47).
    pub maximum: ScaledPower,
    /// Maximum Interval Power Timestamp (MIPWRT, bytes 48–55).
    pub maximum_at: Timestamp,
    /// Interval Power Percent Error (IPWRPE, byte 56).
    pub error: PercentError,
}

impl Header {
    /// Bytes of the header.
    pub const LENGTH: usize = 64;

    /// Reads the header. Every header is one; which version it has, is a field.
    #[must_use]
    pub fn decode(bytes: &[u8; Self::LENGTH]) -> Self {
        Self {
            version: bytes[0],
            generation: bytes[1],
            attributes: MeasurementAttributes::from_bits(le16(bytes, 2)),
            size_bytes: le32(bytes, 4),
            measurements: le32(bytes, 8),
            bins: le16(bytes, 12),
            stops_in: StopTime::new(le16(bytes, 14)),
            stopped_at: Timestamp::from_bits(le64(bytes, 16)),
            bin_bytes: le16(bytes, 24),
            bin_milliwatts: le16(bytes, 26),
            bins_supported: le16(bytes, 28),
            vendor_bytes: le16(bytes, 30),
            overflows: le32(bytes, 32),
            average: ScaledPower::from_bits(le32(bytes, 40)),
            maximum: ScaledPower::from_bits(le32(bytes, 44)),
            maximum_at: Timestamp::from_bits(le64(bytes, 48)),
            error: PercentError(bytes[56]),
        }
    }

    /// Writes the header.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        bytes[0] = self.version;
        bytes[1] = self.generation;
        put(&mut bytes, 2, self.attributes.bits().to_le_bytes());
        put(&mut bytes, 4, self.size_bytes.to_le_bytes());
        put(&mut bytes, 8, self.measurements.to_le_bytes());
        put(&mut bytes, 12, self.bins.to_le_bytes());
        put(&mut bytes, 14, StopTime::field(self.stops_in).to_le_bytes());
        put(&mut bytes, 16, self.stopped_at.bits().to_le_bytes());
        put(&mut bytes, 24, self.bin_bytes.to_le_bytes());
        put(&mut bytes, 26, self.bin_milliwatts.to_le_bytes());
        put(&mut bytes, 28, self.bins_supported.to_le_bytes());
        put(&mut bytes, 30, self.vendor_bytes.to_le_bytes());
        put(&mut bytes, 32, self.overflows.to_le_bytes());
        put(&mut bytes, 40, self.average.bits().to_le_bytes());
        put(&mut bytes, 44, self.maximum.bits().to_le_bytes());
        put(&mut bytes, 48, self.maximum_at.bits().to_le_bytes());
        bytes[56] = self.error.0;
        bytes
    }

    /// The width of a bin.
    #[must_use]
    pub fn bin_width(&self) -> Milliwatts {
        Milliwatts::new(u32::from(self.bin_milliwatts))
    }

    /// The histogram in `page`, whose first bytes are this header: as many bins as the header says and the page holds.
    /// None where the descriptors are said to be shorter than they are.
    pub fn histogram<'a>(&self, page: &'a [u8]) -> impl Iterator<Item = Bin> + use<'a> {
        let step = usize::from(self.bin_bytes);
        let bins = if step < Bin::LENGTH { 0 } else { usize::from(self.bins) };
        let bytes = page.get(Self::LENGTH..).unwrap_or_default();
        bytes.chunks(step.max(1)).take(bins).map_while(|bytes| Some(Bin::decode(bytes.first_chunk()?)))
    }
}

flags! {
    /// Power Measurement Attributes.
    MeasurementAttributes(u16) {
        /// Bit 0 (PME): the drive is measuring.
        enabled = 0,
        /// Bit 1 (NCPDF): the measurements have gaps.
        with_gaps = 1,
        /// Bit 2 (EPF): powers are estimated.
        estimated = 2,
        /// Bit 3 (MIPWRTS): the maximum has a time.
        maximum_has_a_time = 3,
        /// Bit 4 (PHDO): measurements were above the last bin.
        overflowed = 4,
    }
}

impl MeasurementAttributes {
    /// Bits 15:12 (PMT): whose power is measured.
    #[must_use]
    pub const fn measures(self) -> MeasurementType {
        let [_, high] = self.bits().to_le_bytes();
        MeasurementType::new(high >> 4)
    }
}

/// A time by the drive's clock, which begins anew at a reset unless the host has set it. Bits 47:0 are milliseconds, 48
/// and 51:49 say what the clock does and where it began; the others are reserved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Timestamp(u64);

impl Timestamp {
    /// The time in these 64 bits; those that are reserved are dropped.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits & 0x000F_FFFF_FFFF_FFFF)
    }

    /// The 64 bits.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Milliseconds since the clock began.
    #[must_use]
    pub const fn milliseconds(self) -> u64 {
        self.0 & 0xFFFF_FFFF_FFFF
    }

    /// Whether the clock may have stood still at times.
    #[must_use]
    pub const fn may_have_stopped(self) -> bool {
        self.0 >> 48 & 1 != 0
    }

    /// Where the clock began, as a code of three bits: 0 at a reset, 1 at a time that the host has set; others
    /// reserved.
    #[must_use]
    pub const fn origin(self) -> u8 {
        let [.., attributes, _] = self.0.to_le_bytes();
        attributes >> 1
    }
}

/// How far a measurement may be off, in percent of it: 0 to 100, 255 not reported, others reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PercentError(u8);

impl PercentError {
    /// Not reported.
    pub const NOT_REPORTED: Self = Self(255);

    /// The error with this code.
    #[must_use]
    pub const fn new(code: u8) -> Self {
        Self(code)
    }

    /// Its code.
    #[must_use]
    pub const fn code(self) -> u8 {
        self.0
    }

    /// The percentage. `None`: not reported, or reserved.
    #[must_use]
    pub const fn percent(self) -> Option<u8> {
        if self.0 <= 100 { Some(self.0) } else { None }
    }
}

impl Default for PercentError {
    fn default() -> Self {
        Self::NOT_REPORTED
    }
}

/// A bin of the histogram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Bin {
    /// How many measurements fell into it (bytes 0–3).
    pub measurements: u32,
    /// From which power on (bytes 4–7). Here a value of 0 is 0 W.
    pub from: ScaledPower,
}

impl Bin {
    /// Bytes that are known of a descriptor.
    pub const LENGTH: usize = 8;

    /// Reads a descriptor.
    #[must_use]
    pub fn decode(bytes: &[u8; Self::LENGTH]) -> Self {
        Self { measurements: le32(bytes, 0), from: ScaledPower::from_bits(le32(bytes, 4)) }
    }

    /// Writes the descriptor.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        put(&mut bytes, 0, self.measurements.to_le_bytes());
        put(&mut bytes, 4, self.from.bits().to_le_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::nvme::{Power, PowerScale};

    /// A page with two bins of 12 bytes, of which the last four are not known.
    fn page() -> Vec<u8> {
        let header = Header {
            generation: 3,
            attributes: MeasurementAttributes::from_bits(0xC005),
            size_bytes: 88,
            measurements: 7,
            bins: 2,
            stops_in: StopTime::new(5),
            bin_bytes: 12,
            bin_milliwatts: 250,
            bins_supported: 2,
            average: ScaledPower::of(Power::new(1050, PowerScale::TenMilliwatts)),
            error: PercentError::new(10),
            ..Header::default()
        };
        let mut page = header.encode().to_vec();
        for (measurements, from) in [(4, 0), (3, 25)] {
            page.extend(Bin { measurements, from: ScaledPower::new(from, 2) }.encode());
            page.extend([0xEE; 4]);
        }
        page
    }

    #[test]
    fn a_page_reads_as_it_was_written() {
        let page = page();
        assert_eq!(page[..16], [0, 3, 0x05, 0xC0, 88, 0, 0, 0, 7, 0, 0, 0, 2, 0, 5, 0]);
        assert_eq!(page[24..32], [12, 0, 250, 0, 2, 0, 0, 0]);
        assert_eq!(page[40..44], [0x1A, 0x04, 0x02, 0]);
        let header = Header::decode(page.first_chunk().unwrap());
        assert!(header.attributes.enabled() && header.attributes.estimated() && !header.attributes.with_gaps());
        assert_eq!(header.attributes.measures(), MeasurementType::new(0xC));
        assert_eq!((header.error.percent(), header.bin_width()), (Some(10), Milliwatts::new(250)));
        let bins: Vec<_> = header.histogram(&page).map(|bin| (bin.measurements, bin.from.value())).collect();
        assert_eq!(bins, [(4, 0), (3, 25)]);
    }

    /// However few bytes there are and whatever the header says, what is there is read, and nothing else.
    #[test]
    fn a_page_that_ends_early_has_fewer_bins() {
        let page = page();
        let mut header = Header::decode(page.first_chunk().unwrap());
        let mut counts = [0; 89];
        for (length, count) in counts.iter_mut().enumerate() {
            *count = header.histogram(&page[..length.min(page.len())]).count();
        }
        assert!(counts[..72].iter().all(|&count| count == 0) && counts[72..84].iter().all(|&count| count == 1));
        assert_eq!(counts[88], 2);
        header.bin_bytes = 7;
        assert_eq!(header.histogram(&page).count(), 0);
        header.bin_bytes = 0;
        assert_eq!(header.histogram(&page).count(), 0);
    }

    #[test]
    fn percentages_above_a_hundred_are_none() {
        for code in 0..=u8::MAX {
            assert_eq!(PercentError::new(code).code(), code);
            assert_eq!(PercentError::new(code).percent(), (code <= 100).then_some(code));
        }
    }

    #[test]
    fn a_time_says_where_its_clock_began() {
        let time = Timestamp::from_bits(0xFFF3_0000_0000_2710);
        assert_eq!((time.milliseconds(), time.origin(), time.may_have_stopped()), (10_000, 1, true));
        assert_eq!(time.bits(), 0x0003_0000_0000_2710);
    }

    /// Bits of the header that this module gives a meaning to.
    fn defined(at: usize) -> u8 {
        match at {
            36..=39 | 43 | 47 | 57.. => 0,
            22 | 54 => 0x0F,
            23 | 55 => 0,
            42 | 46 => 0x03,
            _ => 0xFF,
        }
    }

    proptest! {
        #[test]
        fn every_defined_bit_survives_both_ways(low: [u8; 32], high: [u8; 32], bin: [u8; 8]) {
            let mut bytes = [0; Header::LENGTH];
            bytes[..32].copy_from_slice(&low);
            bytes[32..].copy_from_slice(&high);
            let header = Header::decode(&bytes);
            let written = header.encode();
            for at in 0..Header::LENGTH {
                prop_assert_eq!(written[at], bytes[at] & defined(at), "byte {}", at);
            }
            prop_assert_eq!(Header::decode(&written), header);
            let read = Bin::decode(&bin);
            prop_assert_eq!(u64::from_le_bytes(read.encode()), u64::from_le_bytes(bin) & 0x0003_FFFF_FFFF_FFFF);
            prop_assert_eq!(Bin::decode(&read.encode()), read);
        }
    }
}
