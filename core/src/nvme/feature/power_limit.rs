//! Power Limit (FID 23h, revision 2.3): a limit in watts that the drive keeps, whatever its power state.
//!
//! **Unverified:** the layout is from nvme-cli alone, which sends it in command dword *13* and not 11; how a limit is
//! taken away again is not known at all. To be read and shown; never to be sent.

use crate::nvme::power::ScaledPower;

/// Command dword 13 of Set Features, dword 0 of Get Features' completion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PowerLimit {
    /// Power Limit Value (PLV, bits 15:0, all sixteen of them) and Power Limit Scale (PLS, bits 17:16).
    pub limit: ScaledPower,
}

impl PowerLimit {
    /// Reads the dword. Bits 31:18 are reserved and ignored.
    #[must_use]
    pub const fn decode(dword: u32) -> Self {
        Self { limit: ScaledPower::from_bits(dword) }
    }

    /// Writes the dword. **Unverified**, never to be sent.
    #[must_use]
    pub const fn encode(self) -> u32 {
        self.limit.bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nvme::{Power, PowerScale};

    /// A tool has cut the value to eight bits; 25 W are 2500 steps.
    #[test]
    fn limits_have_sixteen_bits_at_both_scales() {
        for value in 1..=u16::MAX {
            for (scale, code, tenths) in [(PowerScale::TenthMilliwatt, 1, 1), (PowerScale::TenMilliwatts, 2, 100)] {
                let power = Power::new(value, scale);
                let dword = PowerLimit { limit: ScaledPower::of(power) }.encode();
                assert_eq!(dword, code << 16 | u32::from(value));
                assert_eq!(PowerLimit::decode(dword).limit.power(), power);
                assert_eq!(power.map(Power::tenths_of_milliwatt), Some(u32::from(value) * tenths));
            }
        }
        assert_eq!(PowerLimit::decode(0x0002_09C4).limit.power(), Power::new(2500, PowerScale::TenMilliwatts));
    }

    #[test]
    fn every_defined_bit_survives_both_ways() {
        for dword in 0..=0x3_FFFF {
            let feature = PowerLimit::decode(dword | 0xFFFC_0000);
            assert_eq!(feature.encode(), dword);
            assert_eq!(PowerLimit::decode(dword), feature);
        }
    }
}
