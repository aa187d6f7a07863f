//! How fast a temperature rises that is only read in whole kelvins.
//!
//! A value in whole kelvins is exact at one moment only: when it changes. So the slope is taken from one change upwards
//! to the next, and not from reading to reading, where it would be zero most of the time and wild now and then. While
//! no further change comes, the slope is at most what would bring one about only now.
//!
//! ```text
//!  70            ┌──      at ④ the rise is 1 K in ④ − ③; at ⑤ it is at most 1 K in ⑤ − ④
//!  69       ┌────┘        at ② nothing is known yet: when 68 began, nobody saw
//!  68  ─────┘
//!      ①    ②    ④  ⑤    (③ = ②)
//! ```
//!
//! A value that falls does not rise: its slope is zero. Slow polls make the moments of change uncertain by one interval
//! and the slope by as much; it errs to both sides, and never by more than the kelvins that were really seen.

use crate::units::{Instant, Kelvin, Microseconds};

/// One kelvin, in microseconds times millikelvins per second: what time and slew multiply to.
pub(super) const KELVIN: u64 = 1_000_000 * 1_000;

/// Follows one temperature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Slope {
    /// The value now, and since when; none before the first reading.
    value: Option<(Kelvin, Instant)>,
    /// The value began by rising, so that the moment at which it began is worth something.
    rose: bool,
    /// Millikelvins per second between the last two changes upwards.
    rate: u64,
}

impl Slope {
    /// A reading came; true if it is another value than before.
    pub(super) fn reads(&mut self, reading: Kelvin, now: Instant) -> bool {
        let Some((before, since)) = self.value else {
            self.value = Some((reading, now));
            return true;
        };
        if reading == before {
            return false;
        }
        let rise = u64::from(reading.saturating_sub(before).get());
        // Where nobody saw the value begin, it may have been next to the change all along.
        let certain = if self.rose { rise } else { rise.saturating_sub(1) };
        let span = now.since(since).unwrap_or_default().get().max(1);
        self.rate = certain.saturating_mul(KELVIN) / span;
        self.rose = rise > 0;
        self.value = Some((reading, now));
        true
    }

    /// Millikelvins per second at which it rises; zero where it does not, or nothing is known.
    pub(super) fn rate(&self, now: Instant) -> u64 {
        let age = self.value.and_then(|(_, since)| now.since(since)).unwrap_or_default().get();
        self.rate.min(KELVIN.checked_div(age).unwrap_or(u64::MAX))
    }

    /// What the temperature comes to `ahead` from now if it goes on as it does, in whole kelvins, cut off.
    pub(super) fn foreseen(&self, now: Instant, ahead: Microseconds) -> Kelvin {
        let Some((value, since)) = self.value else { return Kelvin::ZERO };
        let rate = self.rate(now);
        // The next kelvin has not been reached yet, or it would have been read.
        let so_far = rate.saturating_mul(now.since(since).unwrap_or_default().get()).min(KELVIN - 1);
        let rise = so_far.saturating_add(rate.saturating_mul(ahead.get())) / KELVIN;
        value.saturating_add(Kelvin::new(u16::try_from(rise).unwrap_or(u16::MAX)))
    }

    /// How long until a temperature is reached if it goes on as it does; `None`: never.
    pub(super) fn until(&self, limit: Kelvin, now: Instant) -> Option<Microseconds> {
        let (value, since) = self.value?;
        let left = u64::from(limit.saturating_sub(value).get()).saturating_mul(KELVIN);
        let span = Microseconds::new(left.checked_div(self.rate(now))?);
        Some(since.after(span).since(now).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(milliseconds: u64) -> Instant {
        Instant::from_micros(milliseconds * 1_000)
    }

    #[test]
    fn the_picture_above() {
        let mut slope = Slope::default();
        slope.reads(Kelvin::new(68), at(0));
        slope.reads(Kelvin::new(69), at(5_000));
        assert_eq!(slope.rate(at(5_000)), 0);
        slope.reads(Kelvin::new(70), at(10_000));
        assert_eq!(slope.rate(at(10_000)), 200);
        assert_eq!(slope.rate(at(20_000)), 100);
        assert_eq!(slope.until(Kelvin::new(72), at(11_000)), Some(Microseconds::from_secs(9)));
        assert_eq!(slope.foreseen(at(11_000), Microseconds::from_secs(9)), Kelvin::new(72));
        slope.reads(Kelvin::new(69), at(21_000));
        assert_eq!((slope.rate(at(21_000)), slope.until(Kelvin::new(72), at(21_000))), (0, None));
    }

    #[test]
    fn a_value_that_flickers_does_not_rise() {
        let mut slope = Slope::default();
        for second in 0..100 {
            slope.reads(Kelvin::new(340 + second % 2), at(u64::from(second) * 1_000));
            assert_eq!(slope.rate(at(u64::from(second) * 1_000)), 0);
        }
    }

    proptest! {
        /// A steady rise, read in whole kelvins at steady intervals: from the second change on, the slope is right to
        /// what one interval more or less makes of it.
        #[test]
        fn a_steady_rise_is_found(rate in 20u64..2_000, interval in 100u64..10_000, offset in 0u64..1_000) {
            let mut slope = Slope::default();
            let mut changes = 0;
            for step in 0..2_000 {
                let now = step * interval;
                let kelvin = u16::try_from((offset + rate * now / 1_000) / 1_000).unwrap();
                changes += u64::from(slope.reads(Kelvin::new(kelvin), at(now)));
                if changes < 3 || kelvin > 5_000 {
                    continue;
                }
                // Between two changes there is a span of whole kelvins over the rate, give or take one interval.
                let found = slope.rate(at(now));
                prop_assert!(found <= 2 * rate + 1_000_000 / interval, "{} of {}", found, rate);
                if 4 * rate * interval < 1_000_000 {
                    prop_assert!(found * 2 >= rate && found <= rate * 2, "{} of {}", found, rate);
                }
            }
        }

        /// Any readings at any times: no panic, and nothing is foreseen below the value itself.
        #[test]
        fn anything_may_be_read(readings in prop::collection::vec((any::<u16>(), any::<u64>()), 0..20), ahead: u64) {
            let mut slope = Slope::default();
            for (kelvin, micros) in readings {
                let now = Instant::from_micros(micros);
                slope.reads(Kelvin::new(kelvin), now);
                prop_assert!(slope.foreseen(now, Microseconds::new(ahead)) >= Kelvin::new(kelvin));
                prop_assert_eq!(slope.foreseen(now, Microseconds::ZERO), Kelvin::new(kelvin));
                let _ = slope.until(Kelvin::MAX, now);
            }
        }
    }
}
