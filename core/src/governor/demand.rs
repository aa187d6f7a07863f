//! How much a drive is asked for.
//!
//! A demand is what would be asked of the drive if nothing held it back, not what it moves: a drive in a slow state
//! moves what the state allows, and wants more. The governor takes the adapter's word for it.
//!
//! What is *noted* has room for an eighth more, and stays while what is wanted lies between three quarters of it and
//! all of it: a demand that wavers by a few percent makes no new plans. It is forgotten after [`COUNTS_FOR`] without
//! another one. A drive of which no demand is noted may be asked for anything.

use crate::units::{BytesPerSecond, Instant, Microseconds};

/// How long a demand counts. Silence says nothing, and a burst must not wait for it to end. A guess.
const COUNTS_FOR: Microseconds = Microseconds::from_secs(10);

/// What is noted of one drive's demand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Demand {
    /// In kilobytes per second, and until when it counts.
    noted: Option<(u32, Instant)>,
}

impl Demand {
    /// The most that the drive is asked for, in kilobytes per second; `None`: anything.
    pub(super) fn most(self) -> Option<u32> {
        self.noted.map(|(most, _)| most)
    }

    /// When it is forgotten.
    pub(super) fn until(self) -> Option<Instant> {
        self.noted.map(|(_, until)| until)
    }

    /// So much is wanted now.
    pub(super) fn wants(&mut self, wanted: Option<BytesPerSecond>, now: Instant) {
        self.noted = wanted.map(|wanted| {
            let wanted = u32::try_from(wanted.get().div_ceil(1000)).unwrap_or(u32::MAX);
            let kept = self.most().filter(|most| wanted <= *most && wanted >= most - most / 4);
            (kept.unwrap_or(wanted.saturating_add(wanted.div_ceil(8))), now.after(COUNTS_FOR))
        });
    }

    /// Time passes.
    pub(super) fn advance(&mut self, now: Instant) {
        self.noted.take_if(|(_, until)| *until <= now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wants(demand: &mut Demand, kilobytes: u64, now: u64) -> Option<u32> {
        demand.wants(Some(BytesPerSecond::new(kilobytes * 1000)), Instant::from_micros(now));
        demand.most()
    }

    #[test]
    fn a_demand_that_wavers_stays_what_it_was() {
        let mut demand = Demand::default();
        assert_eq!(demand.most(), None);
        assert_eq!(wants(&mut demand, 800, 0), Some(900));
        assert_eq!([900, 675, 800].map(|wanted| wants(&mut demand, wanted, 0)), [Some(900); 3]);
        assert_eq!(wants(&mut demand, 674, 0), Some(759));
        assert_eq!(wants(&mut demand, 760, 0), Some(855));
        assert_eq!(wants(&mut demand, 0, 0), Some(0));
        assert_eq!(wants(&mut demand, 1, 0), Some(2));
        demand.wants(None, Instant::START);
        assert_eq!(demand.most(), None);
    }

    #[test]
    fn a_demand_is_forgotten_when_it_is_not_renewed() {
        let mut demand = Demand::default();
        wants(&mut demand, 800, 0);
        wants(&mut demand, 800, 5_000_000);
        let until = demand.until().unwrap();
        assert_eq!(until, Instant::from_micros(15_000_000));
        demand.advance(Instant::from_micros(14_999_999));
        assert_eq!(demand.most(), Some(900));
        demand.advance(until);
        assert_eq!(demand.most(), None);
    }
}
