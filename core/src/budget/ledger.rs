//! The one place where watts are promised.
//!
//! Each drive's *draw* is the most power that it can take now, in the watts of the cap's own meter; the ledger
//! holds the draws and what they may add up to:
//!
//! ```text
//! allowance = cap − base load − margin − correction, and at most what the chassis can remove as heat
//! ```
//!
//! The base load is the system without its drives; the margin covers what the figures and the meter are not
//! good to; the correction is what the meter has taken away because it read more than was promised.
//!
//! Four rules hold, each in its own function:
//!
//! 1. *Lower before raise.* [`Ledger::raise`] grants a higher draw only out of watts that nobody else has been
//!    promised. A drive on its way down keeps its old draw until its lowering is confirmed
//!    ([`Ledger::set_draw`]), so no raise can be paid with watts that are not back yet.
//! 2. *Shed at once.* [`Ledger::excess`] names the watts by which promises exceed the allowance, at any moment.
//! 3. *Say when it cannot be.* The same number, for the lowest draws that can be had, is the governor's alarm.
//! 4. *The meter takes away at once and gives back slowly.* [`Ledger::meter_reads`].

use crate::units::{Microseconds, Milliwatts};

/// Who has been promised how much.
#[derive(Clone, Debug)]
pub struct Ledger<const DRIVES: usize> {
    cap: Milliwatts,
    base_load: Milliwatts,
    margin: Milliwatts,
    correction: Milliwatts,
    /// What the chassis can remove as heat.
    cooling: Milliwatts,
    draws: [Milliwatts; DRIVES],
    /// The sum of the draws; wider than a power, so that no sum of absurd draws passes for a small one.
    total: u64,
    /// The highest sum of draws since the last meter reading: what that reading averages over.
    peak: u64,
}

/// A raise would have promised watts that are not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Refused {
    /// The watts that are missing.
    pub missing: Milliwatts,
}

/// How fast a correction is given back: one watt in ten seconds. A drive change takes about a second to show in
/// a meter that samples once a second, so the slope stays far below what the meter can follow. A guess.
const GIVE_BACK_MICROSECONDS_PER_MILLIWATT: u64 = 10_000;

impl<const DRIVES: usize> Ledger<DRIVES> {
    /// A ledger without drives.
    #[must_use]
    pub const fn new(cap: Milliwatts, base_load: Milliwatts, margin: Milliwatts) -> Self {
        Self {
            cap,
            base_load,
            margin,
            correction: Milliwatts::ZERO,
            cooling: Milliwatts::MAX,
            draws: [Milliwatts::ZERO; DRIVES],
            total: 0,
            peak: 0,
        }
    }

    /// The cap in force.
    #[must_use]
    pub const fn cap(&self) -> Milliwatts {
        self.cap
    }

    /// Sets the cap.
    pub const fn set_cap(&mut self, cap: Milliwatts) {
        self.cap = cap;
    }

    /// Sets the most that all draws together may turn into heat; [`Milliwatts::MAX`]: no limit.
    pub const fn set_cooling(&mut self, ceiling: Milliwatts) {
        self.cooling = ceiling;
    }

    /// What all draws together may come to: what the cap leaves them, and no more than can be removed as heat.
    #[must_use]
    pub fn allowance(&self) -> Milliwatts {
        self.power_allowance().min(self.cooling)
    }

    /// Whether heat and not the cap is what limits the draws.
    #[must_use]
    pub fn is_limited_by_cooling(&self) -> bool {
        self.cooling < self.power_allowance()
    }

    const fn power_allowance(&self) -> Milliwatts {
        self.cap.saturating_sub(self.base_load).saturating_sub(self.margin).saturating_sub(self.correction)
    }

    /// What has been promised: the sum of all draws.
    #[must_use]
    pub fn promised(&self) -> Milliwatts {
        milliwatts(self.total)
    }

    /// What the meter should have read at most since its last reading: base load and promises.
    #[must_use]
    pub fn prediction(&self) -> Milliwatts {
        self.base_load.saturating_add(milliwatts(self.peak))
    }

    /// The watts by which promises exceed the allowance; zero where they do not.
    #[must_use]
    pub fn excess(&self) -> Milliwatts {
        milliwatts(self.total.saturating_sub(u64::from(self.allowance().get())))
    }

    /// A drive's draw; zero for a slot that does not exist.
    #[must_use]
    pub fn draw(&self, slot: usize) -> Milliwatts {
        self.draws.get(slot).copied().unwrap_or_default()
    }

    /// Records what a drive can take now, higher or lower, as a matter of fact: it came, went, reset, or its lowering
    /// was confirmed. A higher draw may leave an [`excess`](Self::excess).
    pub fn set_draw(&mut self, slot: usize, draw: Milliwatts) {
        if let Some(entry) = self.draws.get_mut(slot) {
            self.total = self.total - u64::from(entry.get()) + u64::from(draw.get());
            self.peak = self.peak.max(self.total);
            *entry = draw;
        }
    }

    /// Promises a drive a higher draw.
    ///
    /// # Errors
    /// Where that would take the promises over the allowance; then nothing changes.
    pub fn raise(&mut self, slot: usize, draw: Milliwatts) -> Result<(), Refused> {
        let others = self.total - u64::from(self.draw(slot).get());
        let missing = (others + u64::from(draw.get())).saturating_sub(u64::from(self.allowance().get()));
        if missing > 0 {
            return Err(Refused { missing: milliwatts(missing) });
        }
        self.set_draw(slot, draw);
        Ok(())
    }

    /// The meter's correction in force.
    #[must_use]
    pub const fn correction(&self) -> Milliwatts {
        self.correction
    }

    /// A drive came that may have taken this much for some time: what the meter took away may have been its watts. If
    /// they were not, the next reading takes them away again.
    pub const fn explain(&mut self, draw: Milliwatts) {
        self.correction = self.correction.saturating_sub(draw);
    }

    /// Takes a meter reading into account: `reading` is what the meter showed, `uncertainty` what it is not good to,
    /// `since_last` the time since the reading before. A reading above what was promised lowers the allowance at
    /// once by the difference; otherwise the correction is given back by a bounded slope, never below zero.
    pub fn meter_reads(&mut self, reading: Milliwatts, uncertainty: Milliwatts, since_last: Microseconds) {
        let certain = reading.saturating_sub(uncertainty);
        let surplus = certain.saturating_sub(self.prediction());
        if surplus > Milliwatts::ZERO {
            self.correction = self.correction.max(surplus);
        } else {
            let given_back = since_last.get() / GIVE_BACK_MICROSECONDS_PER_MILLIWATT;
            let given_back = Milliwatts::new(u32::try_from(given_back).unwrap_or(u32::MAX));
            self.correction = self.correction.saturating_sub(given_back);
        }
        self.peak = self.total;
    }
}

fn milliwatts(sum: u64) -> Milliwatts {
    Milliwatts::new(u32::try_from(sum).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn watts(watts: u32) -> Milliwatts {
        Milliwatts::from_watts(watts)
    }

    #[test]
    fn a_raise_is_paid_only_with_watts_that_are_back() {
        let mut ledger = Ledger::<2>::new(watts(140), watts(100), watts(4));
        assert_eq!(ledger.raise(0, watts(25)), Ok(()));
        assert_eq!(ledger.raise(1, watts(25)), Err(Refused { missing: watts(14) }));
        assert_eq!(ledger.draw(1), Milliwatts::ZERO);
        ledger.set_draw(0, watts(10));
        assert_eq!(ledger.raise(1, watts(25)), Ok(()));
        assert_eq!((ledger.promised(), ledger.excess()), (watts(35), Milliwatts::ZERO));
        ledger.set_cap(watts(120));
        assert_eq!(ledger.excess(), watts(19));
    }

    #[test]
    fn the_meter_takes_at_once_and_gives_back_slowly() {
        let mut ledger = Ledger::<1>::new(watts(200), watts(100), watts(10));
        ledger.set_draw(0, watts(50));
        ledger.set_draw(0, watts(40));
        ledger.set_draw(0, watts(50));
        ledger.meter_reads(watts(170), watts(5), Microseconds::from_secs(1));
        assert_eq!((ledger.correction(), ledger.allowance()), (watts(15), watts(75)));
        ledger.meter_reads(watts(150), watts(5), Microseconds::from_secs(10));
        assert_eq!(ledger.correction(), watts(14));
        ledger.meter_reads(watts(150), watts(5), Microseconds::new(u64::MAX));
        assert_eq!(ledger.allowance(), watts(90));
    }

    #[test]
    fn a_drive_that_comes_late_explains_what_the_meter_took_away() {
        let mut ledger = Ledger::<1>::new(watts(200), watts(100), watts(10));
        ledger.meter_reads(watts(140), watts(5), Microseconds::from_secs(1));
        assert_eq!(ledger.correction(), watts(35));
        ledger.explain(watts(25));
        ledger.set_draw(0, watts(25));
        assert_eq!(ledger.allowance(), watts(80));
        ledger.meter_reads(watts(140), watts(5), Microseconds::from_secs(1));
        assert_eq!(ledger.correction(), watts(10));
    }

    #[derive(Clone, Debug)]
    enum Step {
        Raise(usize, u32),
        Fact(usize, u32),
        Cap(u32),
        Meter(u32, u32, u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0usize..5, any::<u32>()).prop_map(|(slot, draw)| Step::Raise(slot, draw)),
            (0usize..5, 0u32..60_000).prop_map(|(slot, draw)| Step::Raise(slot, draw)),
            (0usize..5, 0u32..60_000).prop_map(|(slot, draw)| Step::Fact(slot, draw)),
            any::<u32>().prop_map(Step::Cap),
            (0u32..400_000, 0u32..30_000, any::<u64>()).prop_map(|(reads, off, gap)| Step::Meter(reads, off, gap)),
        ]
    }

    proptest! {
        /// Whatever happens, a granted raise never takes the promises over the allowance, a refused one changes
        /// nothing, and a reading never gives more than the configuration allows.
        #[test]
        fn promises_exceed_the_allowance_only_by_fact(
            cap in 0u32..400_000, base in 0u32..150_000, margin in 0u32..40_000, steps in prop::collection::vec(step(), 1..200),
        ) {
            let mut ledger = Ledger::<4>::new(Milliwatts::new(cap), Milliwatts::new(base), Milliwatts::new(margin));
            for step in steps {
                let (before, correction, prediction) = (ledger.draws, ledger.correction(), ledger.prediction());
                match step {
                    Step::Raise(slot, draw) if slot < 4 => {
                        let verdict = ledger.raise(slot, Milliwatts::new(draw));
                        match verdict {
                            Ok(()) => prop_assert_eq!(ledger.excess(), Milliwatts::ZERO),
                            Err(refused) => {
                                prop_assert!(refused.missing > Milliwatts::ZERO);
                                prop_assert_eq!(ledger.draws, before);
                            }
                        }
                    }
                    Step::Raise(slot, draw) | Step::Fact(slot, draw) => ledger.set_draw(slot, Milliwatts::new(draw)),
                    Step::Cap(cap) => ledger.set_cap(Milliwatts::new(cap)),
                    Step::Meter(reading, uncertainty, gap) => {
                        ledger.meter_reads(Milliwatts::new(reading), Milliwatts::new(uncertainty), Microseconds::new(gap));
                        let certain = u64::from(reading.saturating_sub(uncertainty));
                        if certain > u64::from(prediction.get()) {
                            prop_assert!(ledger.correction() >= correction);
                        }
                    }
                }
                let most = u64::from(ledger.cap().get()).saturating_sub(u64::from(base) + u64::from(margin));
                prop_assert!(u64::from(ledger.allowance().get()) <= most);
                prop_assert_eq!(ledger.total, ledger.draws.iter().map(|draw| u64::from(draw.get())).sum::<u64>());
            }
        }
    }
}
