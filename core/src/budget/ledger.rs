//! The one place where watts are promised.
//!
//! Each drive's *draw* is the most power that it can take now, in the watts of the cap's own meter; the ledger
//! holds the draws and what they may add up to, in total and in each shelf:
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
//!    promised, in total and in the drive's shelf. A drive on its way down keeps its old draw until its lowering is
//!    confirmed ([`Ledger::set_draw`]), so no raise can be paid with watts that are not back yet.
//! 2. *Shed at once.* [`Ledger::excess`] names the watts by which promises exceed the allowance, at any moment;
//!    [`Ledger::is_over`] says for whom.
//! 3. *Say when it cannot be.* The same number, for the lowest draws that can be had, is the governor's alarm.
//! 4. *The meter takes away at once and gives back slowly.* [`Ledger::meter_reads`]. Where a reading stands against
//!    cap less margin says what else may happen: [`Band`].

use super::nested::{Limits, SHELVES, Shelf, Sums, milliwatts};
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
    shelves: [Option<Milliwatts>; SHELVES],
    draws: [(Option<Shelf>, Milliwatts); DRIVES],
    sums: Sums,
    /// The highest sum of draws since the last meter reading: what that reading averages over.
    peak: u64,
    /// The sum of draws that is not to be exceeded while readings stand in the band in which nothing is raised.
    held: Option<u64>,
}

/// Where a meter reading stands against the most that the meter should show, cap less margin.
///
/// ```text
///            │ shed
///   ─────────┼───────── cap − margin + uncertainty
///            │ hold
///   ─────────┼───────── cap − margin
///            │ raise
/// ```
///
/// The lines are as far apart as the meter is uncertain, so that a reading that is only just too high neither takes
/// watts away nor lets any be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Band {
    /// It is certainly too high: what exceeds the prediction is taken away at once.
    Shed,
    /// It may be too high: promises may move from drive to drive, and not grow.
    Hold,
    /// It is not too high: whatever the allowance permits.
    Raise,
}

impl Band {
    /// The band of a reading that may be off by `uncertainty`, for the most that it should be.
    #[must_use]
    pub fn of(reading: Milliwatts, uncertainty: Milliwatts, most: Milliwatts) -> Self {
        if reading.saturating_sub(uncertainty) > most {
            Self::Shed
        } else if reading > most {
            Self::Hold
        } else {
            Self::Raise
        }
    }
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
            shelves: [None; SHELVES],
            draws: [(None, Milliwatts::ZERO); DRIVES],
            sums: Sums::ZERO,
            peak: 0,
            held: None,
        }
    }

    /// The cap in force.
    #[must_use]
    pub const fn cap(&self) -> Milliwatts {
        self.cap
    }

    /// Sets the cap. What readings said of the old one is forgotten.
    pub const fn set_cap(&mut self, cap: Milliwatts) {
        self.cap = cap;
        self.held = None;
    }

    /// Sets the limit of a shelf, in the watts of draws; there is none beyond [`SHELVES`].
    pub fn set_shelf(&mut self, shelf: Shelf, limit: Milliwatts) {
        if let Some(known) = self.shelves.get_mut(usize::from(shelf)) {
            *known = Some(limit);
        }
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

    /// What draws may come to: all together the allowance, and those of a shelf the shelf's limit.
    #[must_use]
    pub fn limits(&self) -> Limits {
        Limits { total: self.allowance(), shelves: self.shelves }
    }

    /// What has been promised: the sum of all draws.
    #[must_use]
    pub fn promised(&self) -> Milliwatts {
        milliwatts(self.sums.total())
    }

    /// What has been promised to the drives of a shelf.
    #[must_use]
    pub fn promised_in(&self, shelf: Shelf) -> Milliwatts {
        milliwatts(self.sums.shelf(shelf))
    }

    /// What the meter should have read at most since its last reading: base load and promises.
    #[must_use]
    pub fn prediction(&self) -> Milliwatts {
        self.base_load.saturating_add(milliwatts(self.peak))
    }

    /// The watts by which promises exceed the allowance, or those of a shelf the shelf's limit: the worst of them; zero
    /// where none does.
    #[must_use]
    pub fn excess(&self) -> Milliwatts {
        self.limits().excess(&self.sums)
    }

    /// Whether a drive is among those whose promises exceed what they may come to.
    #[must_use]
    pub fn is_over(&self, slot: usize) -> bool {
        let limits = self.limits();
        let shelf = self.draws.get(slot).and_then(|(shelf, _)| *shelf);
        self.sums.total() > u64::from(limits.total.get())
            || shelf.is_some_and(|shelf| limits.shelf_excess(&self.sums, shelf) > Milliwatts::ZERO)
    }

    /// A drive's draw; zero for a slot that does not exist.
    #[must_use]
    pub fn draw(&self, slot: usize) -> Milliwatts {
        self.draws.get(slot).map_or(Milliwatts::ZERO, |(_, draw)| *draw)
    }

    /// Says in which shelf a slot is.
    pub fn place(&mut self, slot: usize, shelf: Option<Shelf>) {
        if let Some((place, draw)) = self.draws.get_mut(slot) {
            self.sums.remove(*place, *draw);
            self.sums.add(shelf, *draw);
            *place = shelf;
        }
    }

    /// Records what a drive can take now, higher or lower, as a matter of fact: it came, went, reset, or its lowering
    /// was confirmed. A higher draw may leave an [`excess`](Self::excess).
    pub fn set_draw(&mut self, slot: usize, draw: Milliwatts) {
        if let Some((shelf, known)) = self.draws.get_mut(slot)
            && *known != draw
        {
            self.sums.remove(*shelf, *known);
            self.sums.add(*shelf, draw);
            self.peak = self.peak.max(self.sums.total());
            *known = draw;
        }
    }

    /// Promises a drive a higher draw.
    ///
    /// # Errors
    /// Where that would take the promises over the allowance, or those of the drive's shelf over the shelf's limit, or
    /// let them grow while readings stand in [`Band::Hold`] or above; then nothing changes.
    pub fn raise(&mut self, slot: usize, draw: Milliwatts) -> Result<(), Refused> {
        let Some((shelf, before)) = self.draws.get(slot).copied() else { return Ok(()) };
        let mut limits = self.limits();
        limits.total = limits.total.min(self.held.map_or(Milliwatts::MAX, milliwatts));
        let mut sums = self.sums;
        sums.remove(shelf, before);
        sums.add(shelf, draw);
        let over = sums.total().saturating_sub(u64::from(limits.total.get()));
        let in_shelf = shelf.map_or(Milliwatts::ZERO, |shelf| limits.shelf_excess(&sums, shelf));
        let missing = milliwatts(over).max(in_shelf);
        if missing > Milliwatts::ZERO {
            return Err(Refused { missing });
        }
        self.set_draw(slot, draw);
        Ok(())
    }

    /// The sum of draws that is not to be exceeded for now, where a reading stands in the band of [`Band::Hold`].
    #[must_use]
    pub const fn held(&self) -> Option<u64> {
        self.held
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
    /// `since_last` the time since the reading before. A reading above what was promised lowers the allowance at once
    /// by the difference, so that a system that is over its cap by that sheds it; otherwise the correction is given
    /// back by a bounded slope, never below zero. From the first reading in [`Band::Hold`] or above to the next in
    /// [`Band::Raise`], promises do not grow beyond what they were then.
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
        self.held = match Band::of(reading, uncertainty, self.cap.saturating_sub(self.margin)) {
            Band::Raise => None,
            Band::Hold | Band::Shed => Some(self.held.unwrap_or(self.peak)),
        };
        self.peak = self.sums.total();
    }

    /// Whether promises may not grow, since readings stand in [`Band::Hold`] or above.
    #[must_use]
    pub const fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// The meter is lost: what it said last holds nothing any more.
    pub const fn meter_lost(&mut self) {
        self.held = None;
    }
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

    #[test]
    fn a_raise_needs_room_in_total_and_in_its_shelf() {
        let mut ledger = Ledger::<3>::new(watts(160), watts(100), watts(0));
        ledger.set_shelf(1, watts(30));
        for slot in [0, 1] {
            ledger.place(slot, Some(1));
        }
        assert_eq!(ledger.raise(0, watts(20)), Ok(()));
        assert_eq!(ledger.raise(1, watts(25)), Err(Refused { missing: watts(15) }));
        assert_eq!(ledger.raise(2, watts(45)), Err(Refused { missing: watts(5) }));
        assert_eq!(ledger.raise(2, watts(40)), Ok(()));
        ledger.set_shelf(1, watts(8));
        assert_eq!((ledger.excess(), ledger.is_over(0), ledger.is_over(2)), (watts(12), true, false));
        ledger.set_cap(watts(130));
        assert_eq!((ledger.excess(), ledger.is_over(2)), (watts(30), true));
    }

    #[test]
    fn while_a_reading_may_be_too_high_promises_move_and_do_not_grow() {
        let mut ledger = Ledger::<2>::new(watts(200), watts(100), watts(10));
        let second = Microseconds::from_secs(1);
        ledger.set_draw(0, watts(40));
        ledger.meter_reads(watts(191), watts(60), second);
        assert_eq!((ledger.correction(), ledger.excess()), (watts(0), watts(0)));
        assert_eq!(ledger.raise(1, watts(10)), Err(Refused { missing: watts(10) }));
        ledger.set_draw(0, watts(30));
        ledger.meter_reads(watts(191), watts(60), second);
        assert_eq!(ledger.raise(1, watts(10)), Ok(()));
        ledger.meter_reads(watts(190), watts(60), second);
        assert_eq!(ledger.raise(1, watts(20)), Ok(()));
        ledger.meter_reads(watts(191), watts(60), second);
        ledger.meter_lost();
        assert_eq!(ledger.raise(1, watts(30)), Ok(()));
    }

    #[test]
    fn a_reading_has_a_band() {
        let band = |reading| Band::of(watts(reading), watts(5), watts(100));
        assert_eq!([100, 101, 105, 106].map(band), [Band::Raise, Band::Hold, Band::Hold, Band::Shed]);
    }

    /// What the drives of a shelf have been promised, added up again.
    fn watts_in(draws: &[(Option<Shelf>, Milliwatts)], shelf: Shelf) -> Milliwatts {
        draws.iter().filter(|(place, _)| *place == Some(shelf)).map(|(_, draw)| *draw).sum()
    }

    #[derive(Clone, Debug)]
    enum Step {
        Raise(usize, u32),
        Fact(usize, u32),
        Cap(u32),
        Place(usize, Option<Shelf>),
        Shelf(Shelf, u32),
        Meter(u32, u32, u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0usize..5, any::<u32>()).prop_map(|(slot, draw)| Step::Raise(slot, draw)),
            (0usize..5, 0u32..60_000).prop_map(|(slot, draw)| Step::Raise(slot, draw)),
            (0usize..5, 0u32..60_000).prop_map(|(slot, draw)| Step::Fact(slot, draw)),
            any::<u32>().prop_map(Step::Cap),
            (0usize..5, prop::option::of(0u8..3)).prop_map(|(slot, shelf)| Step::Place(slot, shelf)),
            (0u8..3, 0u32..150_000).prop_map(|(shelf, limit)| Step::Shelf(shelf, limit)),
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
            let mut limits = [Milliwatts::MAX; 3];
            for step in steps {
                let (before, correction, prediction) = (ledger.draws, ledger.correction(), ledger.prediction());
                let (promised, held) = (ledger.sums.total(), ledger.held);
                match step {
                    Step::Raise(slot, draw) if slot < 4 => {
                        let verdict = ledger.raise(slot, Milliwatts::new(draw));
                        match verdict {
                            Ok(()) => {
                                prop_assert!(!ledger.is_over(slot));
                                prop_assert!(held.is_none_or(|held| ledger.sums.total() <= held));
                                for shelf in 0..3 {
                                    let grew = ledger.promised_in(shelf) > watts_in(&before, shelf);
                                    prop_assert!(!grew || ledger.promised_in(shelf) <= limits[usize::from(shelf)]);
                                }
                            }
                            Err(refused) => {
                                prop_assert!(refused.missing > Milliwatts::ZERO);
                                prop_assert_eq!(ledger.draws, before);
                            }
                        }
                    }
                    Step::Raise(slot, draw) | Step::Fact(slot, draw) => ledger.set_draw(slot, Milliwatts::new(draw)),
                    Step::Cap(cap) => ledger.set_cap(Milliwatts::new(cap)),
                    Step::Place(slot, shelf) => {
                        ledger.place(slot, shelf);
                        prop_assert_eq!(ledger.sums.total(), promised);
                    }
                    Step::Shelf(shelf, limit) => {
                        limits[usize::from(shelf)] = Milliwatts::new(limit);
                        ledger.set_shelf(shelf, Milliwatts::new(limit));
                    }
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
                prop_assert_eq!(ledger.sums.total(), ledger.draws.iter().map(|(_, draw)| u64::from(draw.get())).sum::<u64>());
                for shelf in 0..8 {
                    prop_assert_eq!(ledger.promised_in(shelf), watts_in(&ledger.draws, shelf));
                }
            }
        }
    }
}
