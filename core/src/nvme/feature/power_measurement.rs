//! Power Measurement (FID 25h, revision 2.3): starts and stops what the drive's power measurement log counts.
//!
//! **Unverified:** the layout is from nvme-cli alone. To be read and shown; never to be sent.

use core::num::NonZeroU16;

use crate::nvme::field::code;
use crate::units::{Microseconds, Minutes};

/// Command dword 11 of Set Features, dword 0 of Get Features' completion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PowerMeasurement {
    /// Action (ACT, bits 3:0).
    pub action: Action,
    /// Power Measurement Type Select (PMTS, bits 7:4).
    pub measures: MeasurementType,
    /// Stop Measurement Time (SMT, bits 31:16). `None`: measured until it is stopped.
    pub stops_after: Option<StopTime>,
}

impl PowerMeasurement {
    /// Reads the dword. Bits 15:8 are reserved and ignored.
    #[must_use]
    pub const fn decode(dword: u32) -> Self {
        let [low, _, time_low, time_high] = dword.to_le_bytes();
        Self {
            action: Action::new(low),
            measures: MeasurementType::new(low >> 4),
            stops_after: StopTime::new(u16::from_le_bytes([time_low, time_high])),
        }
    }

    /// Writes the dword. **Unverified**, never to be sent.
    #[must_use]
    pub fn encode(self) -> u32 {
        u32::from(self.action.0) | u32::from(self.measures.0) << 4 | u32::from(StopTime::field(self.stops_after)) << 16
    }
}

code! {
    /// What to do: code 0 stop, 1 start, others reserved.
    Action(0xF) {
        /// Stop.
        STOP = 0,
        /// Start anew.
        START = 1,
    }
}

code! {
    /// Whose power is measured: code 0 that of the whole NVM subsystem, Ch to Fh something of the vendor's, others
    /// reserved.
    MeasurementType(0xF) {
        /// The whole NVM subsystem.
        SUBSYSTEM = 0,
    }
}

/// A time after which a measurement stops, in minutes. Never 0. (**Unverified:** the unit is from memory for the
/// command and the limit in Identify; that of the log is from nvme-cli.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct StopTime(NonZeroU16);

impl StopTime {
    /// This many minutes; `None` for 0, which means that there is no such time.
    #[must_use]
    pub const fn new(minutes: u16) -> Option<Self> {
        match NonZeroU16::new(minutes) {
            Some(minutes) => Some(Self(minutes)),
            None => None,
        }
    }

    /// The time in minutes.
    #[must_use]
    pub const fn minutes(self) -> Minutes {
        Minutes::new(self.0.get() as u32)
    }

    /// The same time in microseconds.
    #[must_use]
    pub const fn time(self) -> Microseconds {
        Microseconds::from_secs(self.0.get() as u64 * 60)
    }

    /// The field for such a time.
    pub(in crate::nvme) fn field(time: Option<Self>) -> u16 {
        time.map_or(0, |time| time.0.get())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fields_are_where_they_belong() {
        let feature = PowerMeasurement {
            action: Action::START,
            measures: MeasurementType::new(0xC),
            stops_after: StopTime::new(90),
        };
        assert_eq!(feature.encode(), 0x005A_00C1);
        assert_eq!(PowerMeasurement::decode(0x005A_FFC1), feature);
        assert_eq!(StopTime::new(90).map(StopTime::time), Some(Microseconds::from_secs(5400)));
        assert_eq!(PowerMeasurement::decode(0).stops_after, None);
    }

    proptest! {
        #[test]
        fn every_defined_bit_survives_both_ways(dword: u32) {
            let feature = PowerMeasurement::decode(dword);
            prop_assert_eq!(feature.encode(), dword & 0xFFFF_00FF);
            prop_assert_eq!(PowerMeasurement::decode(feature.encode()), feature);
        }
    }
}
