//! Host Controlled Thermal Management (FID 10h): the composite temperatures at which the drive is to slow down.
//!
//! From the first threshold on, it does what costs little performance; from the second on, whatever it takes. Both are
//! in one dword, the *first in the high half*, so that neither can be set without the other. Which temperatures a drive
//! takes, Identify says (MNTMT, MXTMT).

use serde::{Deserialize, Serialize};

use crate::nvme::field::{temperature, temperature_field};
use crate::units::Kelvin;

/// Command dword 11 of Set Features, dword 0 of Get Features' completion.
///
/// A threshold of `None` is written as 0, which turns that level off. (**Unverified:** that 0 does so is from memory.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ThermalManagement {
    /// Thermal Management Temperature 1 (TMT1, bits 31:16): from here on, slow down a little.
    pub light: Option<Kelvin>,
    /// Thermal Management Temperature 2 (TMT2, bits 15:0): from here on, slow down as much as it takes.
    pub heavy: Option<Kelvin>,
}

impl ThermalManagement {
    /// Reads the dword.
    #[must_use]
    pub fn decode(dword: u32) -> Self {
        let [heavy_low, heavy_high, light_low, light_high] = dword.to_le_bytes();
        Self {
            light: temperature(u16::from_le_bytes([light_low, light_high])),
            heavy: temperature(u16::from_le_bytes([heavy_low, heavy_high])),
        }
    }

    /// Writes the dword. `Some` of 0 K is written as `None` is.
    #[must_use]
    pub fn encode(self) -> u32 {
        u32::from(temperature_field(self.light)) << 16 | u32::from(temperature_field(self.heavy))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 345 K and 355 K (72 °C and 82 °C), as `nvme set-feature -f 0x10 --value=0x01590163` sets them.
    #[test]
    fn the_first_threshold_is_in_the_high_half() {
        let feature = ThermalManagement { light: Some(Kelvin::new(345)), heavy: Some(Kelvin::new(355)) };
        assert_eq!(feature.encode(), 0x0159_0163);
        assert_eq!(ThermalManagement::decode(0x0159_0163), feature);
        assert_eq!(ThermalManagement::decode(0x0159_0000), ThermalManagement { heavy: None, ..feature });
        assert_eq!(ThermalManagement::decode(0), ThermalManagement::default());
    }

    proptest! {
        #[test]
        fn every_bit_survives_both_ways(dword: u32) {
            let feature = ThermalManagement::decode(dword);
            prop_assert_eq!(feature.encode(), dword);
            prop_assert_eq!(ThermalManagement::decode(feature.encode()), feature);
        }
    }
}
