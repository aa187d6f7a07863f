//! Quantities for people: exact, in the unit in which they are read best, `-` where they are not reported.

use wattline_core::nvme::Power;
use wattline_core::units::{Kelvin, Microseconds};

use crate::decimal::Decimal;

/// What a person sees where nothing is reported.
pub(crate) const NOT_REPORTED: &str = "-";

/// The text, or the sign for "not reported".
pub(crate) fn shown(text: Option<String>) -> String {
    text.unwrap_or_else(|| NOT_REPORTED.to_owned())
}

/// A power: `25 W`, `630 mW`, `1.8 mW`.
pub(crate) fn power(power: Option<Power>) -> String {
    shown(power.map(|power| match power.tenths_of_milliwatt() {
        tenths @ 10_000.. => format!("{} W", Decimal::<4>(tenths.into())),
        tenths => format!("{} mW", Decimal::<1>(tenths.into())),
    }))
}

/// A span of time: `16 µs`, `3.9 ms`, `10 s`.
pub(crate) fn time(span: Option<Microseconds>) -> String {
    shown(span.map(|span| match span.get() {
        micros @ 1_000_000.. => format!("{} s", Decimal::<6>(micros)),
        micros @ 1_000.. => format!("{} ms", Decimal::<3>(micros)),
        micros => format!("{micros} µs"),
    }))
}

/// A temperature in both scales: `70 °C (343 K)`.
pub(crate) fn temperature(kelvin: Option<Kelvin>) -> String {
    shown(kelvin.map(|kelvin| format!("{kelvin} ({} K)", kelvin.get())))
}

/// An ability: `yes` or `no`.
pub(crate) fn ability(supported: Option<bool>) -> String {
    shown(supported.map(|supported| if supported { "yes" } else { "no" }.to_owned()))
}

#[cfg(test)]
mod tests {
    use wattline_core::nvme::PowerScale::{TenMilliwatts, TenthMilliwatt};

    use super::*;

    #[test]
    fn powers_are_exact() {
        for (count, scale, text) in [
            (2500, TenMilliwatts, "25 W"),
            (65535, TenMilliwatts, "655.35 W"),
            (99, TenMilliwatts, "990 mW"),
            (1, TenMilliwatts, "10 mW"),
            (18, TenthMilliwatt, "1.8 mW"),
            (1, TenthMilliwatt, "0.1 mW"),
            (10_001, TenthMilliwatt, "1.0001 W"),
        ] {
            assert_eq!(power(Power::new(count, scale)), text);
        }
        assert_eq!(power(None), "-");
    }

    #[test]
    fn times_and_temperatures_are_exact() {
        for (micros, text) in [
            (1, "1 µs"),
            (999, "999 µs"),
            (3_900, "3.9 ms"),
            (45_701, "45.701 ms"),
            (10_000_000, "10 s"),
            (1_000_001, "1.000001 s"),
        ] {
            assert_eq!(time(Some(Microseconds::new(micros))), text);
        }
        assert_eq!(temperature(Some(Kelvin::new(272))), "-1 °C (272 K)");
        assert_eq!((time(None), temperature(None), ability(None)), ("-".into(), "-".into(), "-".into()));
    }
}
