//! Powers as the structures hold them: a count and its scale.

use crate::units::Milliwatts;

/// What one count of a power field is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum PowerScale {
    /// 0.0001 W.
    TenthMilliwatt,
    /// 0.01 W.
    TenMilliwatts,
}

/// A power as a descriptor holds it: a count and its scale. Never 0 counts: that means "not reported".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Power {
    count: u16,
    scale: PowerScale,
}

impl Power {
    /// A power of `count` steps of `scale`; `None` where the count is 0, which means "not reported".
    #[must_use]
    pub const fn new(count: u16, scale: PowerScale) -> Option<Self> {
        if count == 0 { None } else { Some(Self { count, scale }) }
    }

    /// The raw count.
    #[must_use]
    pub const fn count(self) -> u16 {
        self.count
    }

    /// The scale of the count.
    #[must_use]
    pub const fn scale(self) -> PowerScale {
        self.scale
    }

    /// Exactly, in tenths of a milliwatt (states of 1.8 mW exist).
    #[must_use]
    pub const fn tenths_of_milliwatt(self) -> u32 {
        match self.scale {
            PowerScale::TenthMilliwatt => self.count as u32,
            PowerScale::TenMilliwatts => self.count as u32 * 100,
        }
    }

    /// In milliwatts, rounded up, so that a budget never counts less than the drive takes; never 0.
    #[must_use]
    pub const fn milliwatts(self) -> Milliwatts {
        Milliwatts::new(self.tenths_of_milliwatt().div_ceil(10))
    }
}

/// A power with its scale code beside it, as the low 18 bits of a dword hold it: value in bits 15:0, scale in
/// bits 17:16, both kept as they are. The scale is coded as that of idle and active power is: 0 not reported,
/// 1 is 0.0001 W, 2 is 0.01 W, 3 reserved. (The scale of a descriptor's maximum power is coded the other way round.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ScaledPower(u32);

/// Scale codes.
const TENTH_MILLIWATT: u8 = 1;
const TEN_MILLIWATTS: u8 = 2;

impl ScaledPower {
    /// No power: value and scale are 0.
    pub const NOT_REPORTED: Self = Self(0);

    /// The power in the low 18 bits; the others are dropped.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits & 0x3_FFFF)
    }

    /// The power of this value and scale code, of which the field holds two bits.
    #[must_use]
    pub const fn new(value: u16, scale_code: u8) -> Self {
        Self((scale_code as u32 & 0b11) << 16 | value as u32)
    }

    /// This power with its scale; [`Self::NOT_REPORTED`] for `None`.
    #[must_use]
    pub const fn of(power: Option<Power>) -> Self {
        match power {
            Some(power) => Self::new(
                power.count,
                match power.scale {
                    PowerScale::TenthMilliwatt => TENTH_MILLIWATT,
                    PowerScale::TenMilliwatts => TEN_MILLIWATTS,
                },
            ),
            None => Self::NOT_REPORTED,
        }
    }

    /// The 18 bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The value, in steps of whatever the scale is.
    #[must_use]
    pub const fn value(self) -> u16 {
        let [low, high, ..] = self.0.to_le_bytes();
        u16::from_le_bytes([low, high])
    }

    /// The scale's code.
    #[must_use]
    pub const fn scale_code(self) -> u8 {
        let [_, _, scale, _] = self.0.to_le_bytes();
        scale
    }

    /// The power. `None` where the value is 0, or the scale says "not reported" or is reserved.
    #[must_use]
    pub const fn power(self) -> Option<Power> {
        match self.scale_code() {
            TENTH_MILLIWATT => Power::new(self.value(), PowerScale::TenthMilliwatt),
            TEN_MILLIWATTS => Power::new(self.value(), PowerScale::TenMilliwatts),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversion_rounds_up_and_never_gives_zero() {
        for count in 1..=u16::MAX {
            let power = Power::new(count, PowerScale::TenthMilliwatt).unwrap();
            let milliwatts = power.milliwatts().get();
            assert!(milliwatts > 0 && milliwatts * 10 >= power.tenths_of_milliwatt());
            assert!(milliwatts * 10 < power.tenths_of_milliwatt() + 10);
        }
        assert_eq!(Power::new(0, PowerScale::TenMilliwatts), None);
    }

    /// Every value at every scale, by a second way to compute it.
    #[test]
    fn a_scaled_power_keeps_every_bit_and_means_what_its_scale_says() {
        for bits in 0..=0x3_FFFF_u32 {
            let scaled = ScaledPower::from_bits(bits | 0xFFFC_0000);
            assert_eq!(scaled.bits(), bits);
            assert_eq!(ScaledPower::new(scaled.value(), scaled.scale_code()), scaled);
            let tenths = match (bits % 0x1_0000, bits / 0x1_0000) {
                (0, _) | (_, 0 | 3) => None,
                (value, 1) => Some(value),
                (value, _) => Some(value * 100),
            };
            assert_eq!(scaled.power().map(Power::tenths_of_milliwatt), tenths);
            if tenths.is_some() {
                assert_eq!(ScaledPower::of(scaled.power()), scaled);
            }
        }
        assert_eq!(ScaledPower::of(None), ScaledPower::NOT_REPORTED);
    }
}
