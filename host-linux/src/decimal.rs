//! Decimals that are exact: an integer count of 10^-DIGITS, for people and in JSON.

use std::fmt;

use serde::{Serialize, Serializer};

/// A count of 10^-`DIGITS`, written without needless zeros: `25`, `1.8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Decimal<const DIGITS: u32>(pub(crate) u64);

impl<const DIGITS: u32> Decimal<DIGITS> {
    const ONE: u64 = 10u64.pow(DIGITS);
}

impl<const DIGITS: u32> fmt::Display for Decimal<DIGITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = (self.0 / Self::ONE, self.0 % Self::ONE);
        if fraction == 0 {
            return f.pad(&whole.to_string());
        }
        let fraction = format!("{fraction:0width$}", width = DIGITS as usize);
        f.pad(&format!("{whole}.{}", fraction.trim_end_matches('0')))
    }
}

/// A number: an integer where it is whole, else the decimal.
impl<const DIGITS: u32> Serialize for Decimal<DIGITS> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_multiple_of(Self::ONE) {
            serializer.serialize_u64(self.0 / Self::ONE)
        } else {
            // The division gives the double nearest to the decimal, which is written as that decimal.
            serializer.serialize_f64(self.0 as f64 / Self::ONE as f64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_is_the_same_for_people_and_in_json() {
        for (count, text) in [(0, "0"), (1, "0.001"), (1_050, "1.05"), (1_050_000, "1050"), (34_400_001, "34400.001")] {
            assert_eq!(Decimal::<3>(count).to_string(), text);
            assert_eq!(serde_json::to_string(&Decimal::<3>(count)).unwrap(), text);
        }
    }
}
