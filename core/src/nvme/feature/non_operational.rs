//! Non-Operational Power State Config (FID 11h): whether background work may take more power than a non-operational
//! state's own maximum. Without it, a drive that has something to tidy up does so in an operational state, or not.

/// Command dword 11 of Set Features, dword 0 of Get Features' completion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct NonOperational {
    /// Non-Operational Power State Permissive Mode Enable (NOPPME, bit 0).
    pub permissive: bool,
}

impl NonOperational {
    /// Reads the dword. Bits 31:1 are reserved and ignored.
    #[must_use]
    pub const fn decode(dword: u32) -> Self {
        Self { permissive: dword & 1 != 0 }
    }

    /// Writes the dword.
    #[must_use]
    pub const fn encode(self) -> u32 {
        self.permissive as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bit_survives_both_ways() {
        for permissive in [false, true] {
            let feature = NonOperational { permissive };
            assert_eq!(NonOperational::decode(feature.encode()), feature);
            assert_eq!(NonOperational::decode(feature.encode() | 0xFFFF_FFFE), feature);
        }
        assert_eq!(NonOperational { permissive: true }.encode(), 1);
    }
}
