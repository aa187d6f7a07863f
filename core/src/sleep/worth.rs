//! Whether taking a drive's power away is worth it, and whether it is allowed.
//!
//! **Goal.** The least energy, where nobody waits longer than he tolerates and no drive is worn out.
//!
//! **What a gap costs.** A drive that nobody needs for a time g takes, awake and without power,
//!
//! ```text
//! idle · g
//! moving · (RTD3E + RTD3R)  +  off · (g − RTD3E − RTD3R)  +  cycle
//! ```
//!
//! The **break-even time** is the shortest g, not below RTD3E + RTD3R, from which on the second is no more than the
//! first:
//!
//! ```text
//! g ≥ ((moving − off) · (RTD3E + RTD3R) + cycle) / (idle − off)
//! ```
//!
//! **When.** Nobody knows how long a gap will be. A drive is put to sleep once it has been idle for its break-even
//! time: then it spends at most twice what somebody spends who knows the gap, whatever the gaps are, if it takes no
//! less on its way than idle.
//!
//! **What it leaves out.** Past gaps; what others on the same supply save by it; that RTD3E and RTD3R are *typical*
//! times to NVMe, not maxima (Identify Controller, bytes 84–91).

use serde::{Deserialize, Serialize};

use crate::apst::Tolerance;
use crate::units::{Instant, Microseconds, Millijoules, Milliwatts};

/// What the place of a drive can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Slot {
    /// The adapter can switch this slot's power, and nothing but this drive hangs on it.
    pub power_can_be_switched: bool,
    /// The adapter can shut the drive down cleanly and see that it is done: CC.SHN and CSTS.SHST (base specification,
    /// "Memory-based Controller Shutdown"), or the Shutdown command of NVMe-MI.
    pub can_shut_down: bool,
}

/// What a drive takes, in the watts of the cap's own meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Costs {
    /// Idle, in the state in which it rests otherwise, the link's limits included (see [`super::link`]). Rounded down
    /// where in doubt.
    pub idle: Milliwatts,
    /// While it shuts down and resumes: not reported by NVMe; what its lowest operational state may take is a fair
    /// assumption.
    pub moving: Milliwatts,
    /// Without power: what the slot still takes (auxiliary 3.3 V, losses).
    pub off: Milliwatts,
    /// What a power cycle takes beside that: charging capacitors, reading tables again.
    pub cycle: Millijoules,
}

/// All that decides whether a drive may sleep without power.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Conditions {
    /// The user wants it. Nothing is switched off unasked.
    pub wanted: bool,
    /// The place of the drive.
    pub slot: Slot,
    /// RTD3E: typical time to shut down. `None`: not reported.
    pub entry: Option<Microseconds>,
    /// RTD3R: typical time from power to readiness. `None`: not reported.
    pub resume: Option<Microseconds>,
    /// What it takes.
    pub costs: Costs,
    /// How long the first who needs the drive may wait. The worst case is counted: he comes when the shutdown has just
    /// begun.
    pub tolerance: Tolerance,
}

/// Why a drive is not put to sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum WhyNot {
    /// Nobody asked for it.
    NotWanted,
    /// The power of its slot cannot be switched.
    PowerCannotBeSwitched,
    /// There is no way to shut it down cleanly, and power is never cut without that.
    NoCleanShutdown,
    /// It does not report how long it takes to shut down (RTD3E).
    EntryNotReported,
    /// It does not report how long it takes to resume (RTD3R).
    ResumeNotReported,
    /// It takes no more idle than without power.
    SavesNothing,
    /// Whoever needs it would wait so long, which is not tolerated.
    TooSlow(Microseconds),
    /// So many shutdowns in a row have failed.
    ShutdownsFailed(u8),
    /// It is working, on its way, without power already, or not there.
    NotIdle,
    /// It has not been idle for long enough: it will have been at this moment.
    GapTooShort(Instant),
    /// It has made all its power cycles: it may make another one at this moment.
    CyclesUsedUp(Instant),
}

/// What sleeping without power means for a drive that may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Terms {
    /// The shortest gap that is worth it, and how long a drive is idle before it is put to sleep.
    pub break_even: Microseconds,
    /// The longest that somebody who needs it waits, typically: RTD3E + RTD3R.
    pub latency: Microseconds,
}

/// A millijoule in nanojoules, the product of milliwatts and microseconds.
const MILLIJOULE: u128 = 1_000_000;

impl Conditions {
    /// Whether power may be cut at all, whatever it is worth: also what a cap may order.
    ///
    /// # Errors
    ///
    /// The slot cannot do it.
    pub const fn possible(&self) -> Result<(), WhyNot> {
        if !self.slot.power_can_be_switched {
            return Err(WhyNot::PowerCannotBeSwitched);
        }
        if !self.slot.can_shut_down {
            return Err(WhyNot::NoCleanShutdown);
        }
        Ok(())
    }

    /// The terms on which the drive may sleep.
    ///
    /// # Errors
    ///
    /// The first reason why it may not, of those that last.
    pub fn terms(&self) -> Result<Terms, WhyNot> {
        if !self.wanted {
            return Err(WhyNot::NotWanted);
        }
        self.possible()?;
        let entry = self.entry.ok_or(WhyNot::EntryNotReported)?;
        let resume = self.resume.ok_or(WhyNot::ResumeNotReported)?;
        let latency = entry.saturating_add(resume);
        if !self.tolerance.admits(latency) {
            return Err(WhyNot::TooSlow(latency));
        }
        let break_even = self.costs.break_even(latency).ok_or(WhyNot::SavesNothing)?;
        Ok(Terms { break_even, latency })
    }
}

impl Costs {
    /// The shortest gap from which on sleeping costs no more than idling, where going and coming take `moving_time`
    /// together. `None`: no gap is long enough.
    #[must_use]
    pub fn break_even(&self, moving_time: Microseconds) -> Option<Microseconds> {
        let saved = self.idle.checked_sub(self.off).filter(|saved| *saved > Milliwatts::ZERO)?;
        // Energies below 2⁹⁶ and 2⁵²: their sum fits.
        let energy = |power: Milliwatts| u128::from(power.get()) * u128::from(moving_time.get());
        let spent = energy(self.moving) + u128::from(self.cycle.get()) * MILLIJOULE;
        let more = spent.saturating_sub(energy(self.off));
        let gap = u64::try_from(more.div_ceil(u128::from(saved.get()))).ok()?;
        Some(Microseconds::new(gap).max(moving_time))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn costs(idle: u32, moving: u32, off: u32, cycle: u32) -> Costs {
        let power = Milliwatts::new;
        Costs { idle: power(idle), moving: power(moving), off: power(off), cycle: Millijoules::new(cycle) }
    }

    /// The reference drive with RTD3E = 10 s and RTD3R = 15 s, as one data-centre drive reports them.
    fn conditions() -> Conditions {
        Conditions {
            wanted: true,
            slot: Slot { power_can_be_switched: true, can_shut_down: true },
            entry: Some(Microseconds::from_secs(10)),
            resume: Some(Microseconds::from_secs(15)),
            costs: costs(5_500, 10_000, 500, 50_000),
            tolerance: Tolerance::Unlimited,
        }
    }

    #[test]
    fn a_break_even_time_by_hand() {
        // (10 W − 0.5 W) · 25 s + 50 J = 287.5 J; at 5 W saved that is 57.5 s.
        assert_eq!(
            conditions().terms(),
            Ok(Terms { break_even: Microseconds::from_millis(57_500), latency: Microseconds::from_secs(25) })
        );
    }

    #[test]
    fn every_reason_that_lasts_is_named() {
        let with = |change: fn(&mut Conditions)| {
            let mut conditions = conditions();
            change(&mut conditions);
            conditions.terms()
        };
        assert_eq!(with(|of| of.wanted = false), Err(WhyNot::NotWanted));
        assert_eq!(with(|of| of.slot.power_can_be_switched = false), Err(WhyNot::PowerCannotBeSwitched));
        assert_eq!(with(|of| of.slot.can_shut_down = false), Err(WhyNot::NoCleanShutdown));
        assert_eq!(with(|of| of.entry = None), Err(WhyNot::EntryNotReported));
        assert_eq!(with(|of| of.resume = None), Err(WhyNot::ResumeNotReported));
        assert_eq!(with(|of| of.costs.off = of.costs.idle), Err(WhyNot::SavesNothing));
        let latency = Microseconds::from_secs(25);
        assert_eq!(
            with(|of| of.tolerance = Tolerance::AtMost(Microseconds::from_millis(24_999))),
            Err(WhyNot::TooSlow(latency))
        );
        assert!(with(|of| of.tolerance = Tolerance::AtMost(Microseconds::from_secs(25))).is_ok());
    }

    /// What a gap of whole microseconds costs awake and without power, in nanojoules.
    fn spent(costs: &Costs, moving_time: u64, gap: u64) -> (u64, u64) {
        let awake = u64::from(costs.idle.get()) * gap;
        let moving = u64::from(costs.moving.get()) * moving_time;
        let off = u64::from(costs.off.get()) * (gap - moving_time);
        (awake, moving + off + u64::from(costs.cycle.get()) * 1_000_000)
    }

    #[test]
    fn break_even_by_brute_force() {
        // Powers so large against the cycle's energy that every break-even time is short enough to walk to.
        let walk = 600_u64;
        for idle in [0, 1, 40, 5_000, 90_000] {
            for moving in [0, 1, 40, 20_000, 100_000] {
                for off in [0, 1, 39, 4_000, 89_999] {
                    for cycle in [0, 1, 2, 3] {
                        for moving_time in [0, 1, 2, 7, 50] {
                            let costs = costs(idle, moving, off, cycle);
                            let walked = (moving_time..walk).find(|gap| {
                                let (awake, asleep) = spent(&costs, moving_time, *gap);
                                asleep <= awake && idle > off
                            });
                            let computed = costs.break_even(Microseconds::new(moving_time)).map(Microseconds::get);
                            assert_eq!(computed.filter(|gap| *gap < walk), walked, "{costs:?}, {moving_time} µs");
                        }
                    }
                }
            }
        }
    }

    proptest! {
        /// Where the way down and up alone takes longer than what is left of the gap, it is walked to its end.
        #[test]
        fn never_more_than_twice_what_a_prophet_spends(
            idle in 1..30_000_u32, moving in 0..40_000_u32, off in 0..30_000_u32, cycle in 0..100_u32,
            moving_time in 1..1_000_000_u64, gap in 0..100_000_000_u64,
        ) {
            // A drive takes no less on its way than idle.
            let costs = costs(idle, moving.max(idle), off.min(idle), cycle);
            let Some(wait) = costs.break_even(Microseconds::new(moving_time)) else { return Ok(()) };
            let wait = wait.get();
            let (awake, _) = spent(&costs, 0, gap);
            let asleep = |gap: u64| spent(&costs, moving_time, gap.max(moving_time)).1;
            let ours = if gap <= wait { awake } else { u64::from(idle) * wait + asleep(gap - wait) };
            let prophet = awake.min(asleep(gap));
            // The break-even time is rounded up to a whole microsecond.
            prop_assert!(ours <= 2 * prophet + u64::from(idle), "{ours} {prophet}");
        }

        #[test]
        fn nothing_overflows(idle: u32, moving: u32, off: u32, cycle: u32, time: u64) {
            let gap = costs(idle, moving, off, cycle).break_even(Microseconds::new(time));
            prop_assert!(gap.is_none_or(|gap| gap.get() >= time));
        }
    }
}
