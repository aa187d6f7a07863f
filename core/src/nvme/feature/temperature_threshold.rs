//! Temperature Threshold (FID 04h): at which temperature the drive raises its critical warning about temperature.
//!
//! Each sensor has two thresholds: the warning is on at or above the one, and at or below the other. Get Features needs
//! to be told which one is meant: [`TemperatureThreshold::which`] is its command dword 11.

use crate::nvme::field::code;
use crate::units::Kelvin;

/// Command dword 11 of Set Features. Of Get Features' completion, dword 0 repeats the threshold and its hysteresis;
/// whether it repeats the other fields too is up to the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TemperatureThreshold {
    /// Temperature Threshold (TMPTH, bits 15:0).
    pub threshold: Threshold,
    /// Threshold Temperature Select (TMPSEL, bits 19:16).
    pub sensor: Sensor,
    /// Threshold Type Select (THSEL, bits 21:20).
    pub side: Side,
    /// Temperature Threshold Hysteresis (TMPTHH, bits 24:22; revision 2.1 and later).
    pub hysteresis: Hysteresis,
}

impl TemperatureThreshold {
    /// Reads the dword. Bits 31:25 are reserved and ignored.
    #[must_use]
    pub const fn decode(dword: u32) -> Self {
        let [low, high, select, hysteresis] = dword.to_le_bytes();
        Self {
            threshold: Threshold(u16::from_le_bytes([low, high])),
            sensor: Sensor::new(select),
            side: Side::new(select >> 4),
            hysteresis: Hysteresis::new(select >> 6 | hysteresis << 2),
        }
    }

    /// Writes the dword.
    #[must_use]
    pub const fn encode(self) -> u32 {
        self.threshold.0 as u32 | Self::which(self.sensor, self.side) | (self.hysteresis.0 as u32) << 22
    }

    /// Command dword 11 of Get Features, which names the threshold that is meant.
    #[must_use]
    pub const fn which(sensor: Sensor, side: Side) -> u32 {
        (sensor.0 as u32) << 16 | (side.0 as u32) << 20
    }
}

/// A threshold in kelvins. FFFFh (above) and 0 (below) are what drives have where none was set: they are no
/// temperatures, and in particular not 65,262 °C and −273 °C.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Threshold(u16);

impl Threshold {
    /// No temperature is above this.
    pub const UNSET_OVER: Self = Self(u16::MAX);
    /// No temperature is below this.
    pub const UNSET_UNDER: Self = Self(0);

    /// The threshold with these 16 bits.
    #[must_use]
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// The 16 bits.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// A threshold at this temperature.
    #[must_use]
    pub const fn at(temperature: Kelvin) -> Self {
        Self(temperature.get())
    }

    /// The temperature. `None`: unset.
    #[must_use]
    pub const fn temperature(self) -> Option<Kelvin> {
        if matches!(self, Self::UNSET_OVER | Self::UNSET_UNDER) { None } else { Some(Kelvin::new(self.0)) }
    }
}

code! {
    /// Which temperature is compared: code 0 the composite one, 1 to 8 the sensors, 15 all of them (Set Features only),
    /// others reserved: a drive refuses them with Invalid Field.
    Sensor(0xF) {
        /// The composite temperature.
        COMPOSITE = 0,
        /// All that the drive has.
        ALL = 0xF,
    }
}

code! {
    /// On which side of the threshold the warning is: code 0 at or above it, 1 at or below it, 2 and 3 reserved.
    Side(0b11) {
        /// At or above the threshold.
        OVER = 0,
        /// At or below the threshold.
        UNDER = 1,
    }
}

code! {
    /// How far a temperature has to come back before the warning ends, as a code of three bits: 0 is none.
    /// (**Unverified:** that a step is one kelvin is from memory.)
    Hysteresis(0b111) {}
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fields_are_where_they_belong() {
        let feature = TemperatureThreshold {
            threshold: Threshold::at(Kelvin::new(343)),
            sensor: Sensor::new(2),
            side: Side::UNDER,
            hysteresis: Hysteresis::new(5),
        };
        assert_eq!(feature.encode(), 0x0152_0157);
        assert_eq!(TemperatureThreshold::decode(0x0152_0157), feature);
        assert_eq!(TemperatureThreshold::which(Sensor::ALL, Side::OVER), 0x000F_0000);
        assert_eq!(TemperatureThreshold::which(Sensor::COMPOSITE, Side::UNDER), 0x0010_0000);
    }

    /// Tools have shown FFFFh as 65,261 °C.
    #[test]
    fn an_unset_threshold_is_no_temperature() {
        assert_eq!(TemperatureThreshold::decode(0xFFFF).threshold, Threshold::UNSET_OVER);
        assert_eq!(Threshold::UNSET_OVER.temperature(), None);
        assert_eq!(Threshold::UNSET_UNDER.temperature(), None);
        assert_eq!(Threshold::from_bits(1).temperature(), Some(Kelvin::new(1)));
        assert_eq!(Threshold::from_bits(0xFFFE).temperature(), Some(Kelvin::new(0xFFFE)));
    }

    proptest! {
        #[test]
        fn every_defined_bit_survives_both_ways(dword: u32) {
            let feature = TemperatureThreshold::decode(dword);
            prop_assert_eq!(feature.encode(), dword & 0x01FF_FFFF);
            prop_assert_eq!(TemperatureThreshold::decode(feature.encode()), feature);
        }
    }
}
