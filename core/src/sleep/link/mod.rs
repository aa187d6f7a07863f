//! The states of a drive's link: which it can use, and which watts stay out of reach.
//!
//! A link goes low by itself (ASPM) when nothing crosses it: L0s in one direction, L1 in both, L1.1 without a clock,
//! L1.2 without its common mode voltage as well. Each takes less than the one before and takes longer to leave. Both
//! ends must support a state and have it enabled; L1.1 and L1.2 are parts of L1, and L1.2 needs Latency Tolerance
//! Reporting.
//!
//! **Exit latency**, of which the slower end counts:
//!
//! | state | taken as |
//! |---|---|
//! | L0s, L1 | the bound of Link Capabilities |
//! | L1.1 | that of L1: what the clock needs to start is nowhere reported. **Unverified** |
//! | L1.2 | that of L1, `T_POWER_ON`, `Common_Mode_Restore_Time`, and 6 µs for an entry that has just begun |
//!
//! The sum for L1.2 is an upper bound, and **unverified**; so are its 6 µs (`T_POWER_OFF`, at most 2 µs, and `T_L1.2`,
//! at least 4 µs, from memory).
//!
//! **Watts.** A non-operational state of some milliwatts is only reached once the drive's half of the link takes less
//! than that. How much it takes is nowhere reported; [`LanePower`] has a guess for each state, to be replaced by
//! measurements. Until the link goes low the drive keeps the link's watts, whatever its descriptor says.
//!
//! **What it leaves out**: links further up, behind a switch, whose latencies add; clock request wiring, which no
//! register tells; what a drive reports as its own tolerance, against `LTR_L1.2_THRESHOLD`.

pub mod registers;

use heapless::Vec;
use registers::{LinkCapabilities, LinkControl, SubstatesCapabilities, SubstatesControl};

use crate::apst::Tolerance;
use crate::units::{Microseconds, Milliwatts};

/// How long it takes from the start of entering L1.2 until it can be left (`T_POWER_OFF` and `T_L1.2`). **Unverified.**
const ENTERING_L1_2: Microseconds = Microseconds::new(6);

/// A state of a link, from shallow to deep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum LinkState {
    /// Working.
    L0,
    /// One direction rests.
    L0s,
    /// Both directions rest.
    L1,
    /// L1 without a clock.
    L1_1,
    /// L1 without clock and common mode voltage.
    L1_2,
}

impl LinkState {
    /// The states that save something, from shallow to deep.
    pub const LOW: [Self; 4] = [Self::L0s, Self::L1, Self::L1_1, Self::L1_2];
}

/// One end of a link, as its registers say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct End {
    /// What its link can do.
    pub capabilities: LinkCapabilities,
    /// What is enabled.
    pub control: LinkControl,
    /// L1 PM Substates, where the end has that capability.
    pub substates: Option<(SubstatesCapabilities, SubstatesControl)>,
    /// Latency Tolerance Reporting is enabled.
    pub reports_latency_tolerance: bool,
}

/// The link between a drive and the port above it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Link {
    /// The drive's end.
    pub drive: End,
    /// The end of the root port or switch above it.
    pub port: End,
}

/// Which end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Side {
    /// The drive.
    Drive,
    /// The port above it.
    Port,
}

/// What becomes of a link state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Fate {
    /// The link goes there, and is back within the tolerance.
    Usable,
    /// This end cannot go there.
    NotSupported(Side),
    /// This end may not go there: firmware or operating system have not enabled it.
    NotEnabled(Side),
    /// L1.2 is enabled, but this end does not report its latency tolerance.
    NoLatencyTolerance(Side),
    /// Nobody says how long it takes to leave.
    LatencyUnbounded,
    /// The link would go there, and leaving takes longer than is tolerated.
    TooSlow,
}

/// A link state and what becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Verdict {
    /// The state.
    pub state: LinkState,
    /// What becomes of it.
    pub fate: Fate,
    /// The longest that leaving it takes: the smallest tolerance that admits it. `None`: has no bound.
    pub exit: Option<Microseconds>,
}

impl End {
    /// Whether this end supports a state.
    #[must_use]
    pub const fn supports(&self, state: LinkState) -> bool {
        match (state, &self.substates) {
            (LinkState::L0, _) => true,
            (LinkState::L0s, _) => self.capabilities.l0s,
            (LinkState::L1, _) => self.capabilities.l1,
            (LinkState::L1_1, Some((substates, _))) => self.capabilities.l1 && substates.supported.aspm_l1_1,
            (LinkState::L1_2, Some((substates, _))) => self.capabilities.l1 && substates.supported.aspm_l1_2,
            (LinkState::L1_1 | LinkState::L1_2, None) => false,
        }
    }

    /// Whether a state is enabled at this end.
    #[must_use]
    pub const fn enables(&self, state: LinkState) -> bool {
        match (state, &self.substates) {
            (LinkState::L0, _) => true,
            (LinkState::L0s, _) => self.control.l0s,
            (LinkState::L1, _) => self.control.l1,
            (LinkState::L1_1, Some((_, control))) => self.control.l1 && control.enabled.aspm_l1_1,
            (LinkState::L1_2, Some((_, control))) => self.control.l1 && control.enabled.aspm_l1_2,
            (LinkState::L1_1 | LinkState::L1_2, None) => false,
        }
    }

    fn exit(&self, state: LinkState) -> Option<Microseconds> {
        match state {
            LinkState::L0 => Some(Microseconds::ZERO),
            LinkState::L0s => self.capabilities.l0s_exit.bound(),
            LinkState::L1 | LinkState::L1_1 | LinkState::L1_2 => self.capabilities.l1_exit.bound(),
        }
    }
}

impl Link {
    /// What becomes of each state that saves something, from shallow to deep.
    #[must_use]
    pub fn verdicts(&self, tolerance: Tolerance) -> [Verdict; 4] {
        LinkState::LOW.map(|state| {
            let exit = self.exit(state);
            Verdict { state, fate: self.fate(state, exit, tolerance), exit }
        })
    }

    /// The deepest state that the link can use.
    #[must_use]
    pub fn deepest(&self, tolerance: Tolerance) -> LinkState {
        let usable = self.verdicts(tolerance).into_iter().rfind(|verdict| verdict.fate == Fate::Usable);
        usable.map_or(LinkState::L0, |verdict| verdict.state)
    }

    /// The longest that leaving a state takes.
    #[must_use]
    pub fn exit(&self, state: LinkState) -> Option<Microseconds> {
        let exit = self.drive.exit(state)?.max(self.port.exit(state)?);
        if state != LinkState::L1_2 {
            return Some(exit);
        }
        let (mut power_on, mut common_mode) = (Microseconds::ZERO, Microseconds::ZERO);
        for (capabilities, control) in [self.drive.substates?, self.port.substates?] {
            power_on = power_on.max(capabilities.power_on?).max(control.power_on?);
            common_mode = common_mode.max(capabilities.common_mode_restore).max(control.common_mode_restore);
        }
        Some(exit.saturating_add(power_on).saturating_add(common_mode).saturating_add(ENTERING_L1_2))
    }

    fn fate(&self, state: LinkState, exit: Option<Microseconds>, tolerance: Tolerance) -> Fate {
        let ends = [(Side::Drive, &self.drive), (Side::Port, &self.port)];
        let side = |holds: fn(&End, LinkState) -> bool| ends.into_iter().find(|(_, end)| !holds(end, state));
        if let Some((side, _)) = side(End::supports) {
            return Fate::NotSupported(side);
        }
        if let Some((side, _)) = side(End::enables) {
            return Fate::NotEnabled(side);
        }
        if let Some((side, _)) = side(|end, state| end.reports_latency_tolerance || state != LinkState::L1_2) {
            return Fate::NoLatencyTolerance(side);
        }
        match exit {
            None if tolerance == Tolerance::Unlimited => Fate::Usable,
            None => Fate::LatencyUnbounded,
            Some(exit) if tolerance.admits(exit) => Fate::Usable,
            Some(_) => Fate::TooSlow,
        }
    }
}

/// What the drive's half of one lane takes in each state of the link, in microwatts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LanePower {
    /// In L0.
    pub l0_uw: u32,
    /// In L0s.
    pub l0s_uw: u32,
    /// In L1.
    pub l1_uw: u32,
    /// In L1.1.
    pub l1_1_uw: u32,
    /// In L1.2.
    pub l1_2_uw: u32,
}

impl Default for LanePower {
    /// **Guesses**, right within an order of magnitude: 100 mW, 50 mW, 20 mW, 0.5 mW and 10 µW. The last two are the
    /// aims that L1 PM Substates were made for, as they are remembered.
    fn default() -> Self {
        Self { l0_uw: 100_000, l0s_uw: 50_000, l1_uw: 20_000, l1_1_uw: 500, l1_2_uw: 10 }
    }
}

impl LanePower {
    /// What the drive's half of a link takes, rounded to the nearest milliwatt.
    #[must_use]
    pub fn of(&self, state: LinkState, lanes: u8) -> Milliwatts {
        let lane = match state {
            LinkState::L0 => self.l0_uw,
            LinkState::L0s => self.l0s_uw,
            LinkState::L1 => self.l1_uw,
            LinkState::L1_1 => self.l1_1_uw,
            LinkState::L1_2 => self.l1_2_uw,
        };
        let microwatts = u64::from(lane) * u64::from(lanes);
        Milliwatts::new(u32::try_from((microwatts + 500) / 1000).unwrap_or(u32::MAX))
    }
}

/// Whether an idle state's watts can be reached over a link.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Reach {
    /// What the idle state takes by its descriptor.
    pub wanted: Milliwatts,
    /// What the drive takes at least, with the link in the deepest state that it can use.
    pub reached: Milliwatts,
    /// The deepest state that the link can use.
    pub deepest: LinkState,
    /// The shallowest state of the link that does not hold the idle state up. `None`: not even L1.2 is deep enough.
    pub needed: Option<LinkState>,
    /// Why the link does not go far enough: the verdicts on the needed state and on all deeper ones, none of them
    /// usable. Empty where the watts are reached.
    pub obstacles: Vec<Verdict, 4>,
}

impl Reach {
    /// Whether the descriptor's watts are reached.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.reached == self.wanted
    }
}

impl Link {
    /// Whether the link lets a drive reach an idle state of `wanted` watts.
    #[must_use]
    pub fn reach(&self, wanted: Milliwatts, tolerance: Tolerance, power: &LanePower) -> Reach {
        let lanes = self.drive.capabilities.lanes.min(self.port.capabilities.lanes);
        let enough = |state: &LinkState| power.of(*state, lanes) <= wanted;
        let deepest = self.deepest(tolerance);
        let reached = wanted.max(power.of(deepest, lanes));
        let needed = core::iter::once(LinkState::L0).chain(LinkState::LOW).find(enough);
        let obstacles = match needed {
            Some(needed) if reached > wanted => {
                self.verdicts(tolerance).into_iter().filter(|verdict| verdict.state >= needed).collect()
            }
            _ => Vec::new(),
        };
        Reach { wanted, reached, deepest, needed, obstacles }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::registers::Substates;
    use super::*;

    /// An end that can and may do everything: L1 left within 32 µs, `T_POWER_ON` 60 µs, common mode in 30 µs.
    fn end() -> End {
        let substates = SubstatesCapabilities::decode(0x00F0_1E1F);
        End {
            capabilities: LinkCapabilities::decode(0x0002_9C43),
            control: LinkControl { l0s: true, l1: true },
            substates: Some((substates, SubstatesControl::decode(0x40A0_000F, 0xF0))),
            reports_latency_tolerance: true,
        }
    }

    fn link() -> Link {
        Link { drive: end(), port: end() }
    }

    fn fate(link: Link, state: LinkState) -> Fate {
        link.verdicts(Tolerance::Unlimited).into_iter().find(|verdict| verdict.state == state).unwrap().fate
    }

    #[test]
    fn every_state_and_what_it_takes_to_leave_it() {
        let exits = link().verdicts(Tolerance::Unlimited).map(|verdict| (verdict.fate, verdict.exit.unwrap().get()));
        assert_eq!(exits, [1, 32, 32, 32 + 60 + 30 + 6].map(|exit| (Fate::Usable, exit)));
        for (micros, deepest) in [
            (0, LinkState::L0),
            (1, LinkState::L0s),
            (31, LinkState::L0s),
            (32, LinkState::L1_1),
            (127, LinkState::L1_1),
            (128, LinkState::L1_2),
        ] {
            assert_eq!(link().deepest(Tolerance::AtMost(Microseconds::new(micros))), deepest, "{micros} µs");
        }
    }

    #[test]
    fn every_obstacle_is_named_with_its_side() {
        use LinkState::{L0s, L1, L1_1, L1_2};
        let changed = |change: fn(&mut Link)| {
            let mut link = link();
            change(&mut link);
            link
        };
        let without_l1 = changed(|link| link.port.control.l1 = false);
        assert_eq!([L1, L1_1, L1_2].map(|state| fate(without_l1, state)), [Fate::NotEnabled(Side::Port); 3]);
        assert_eq!(fate(without_l1, L0s), Fate::Usable);
        let without = changed(|link| link.drive.substates = None);
        assert_eq!(fate(without, L1_1), Fate::NotSupported(Side::Drive));
        assert_eq!(fate(without, L1), Fate::Usable);
        let silent = changed(|link| link.port.reports_latency_tolerance = false);
        assert_eq!([L1_1, L1_2].map(|state| fate(silent, state)), [Fate::Usable, Fate::NoLatencyTolerance(Side::Port)]);
        let none = Substates::default();
        let off = |link: &mut Link| link.port.substates.as_mut().unwrap().1.enabled = Substates::default();
        let mut link = link();
        off(&mut link);
        assert_eq!([L1_1, L1_2].map(|state| fate(link, state)), [Fate::NotEnabled(Side::Port); 2]);
        link.port.substates.as_mut().unwrap().0.supported = none;
        assert_eq!([L1_1, L1_2].map(|state| fate(link, state)), [Fate::NotSupported(Side::Port); 2]);
        let unbounded = changed(|link| link.drive.capabilities = LinkCapabilities::decode(0x0003_FC43));
        let second = Tolerance::AtMost(Microseconds::from_secs(1));
        assert_eq!(unbounded.verdicts(second).map(|verdict| verdict.fate), [Fate::LatencyUnbounded; 4]);
        assert_eq!(unbounded.deepest(Tolerance::Unlimited), L1_2);
    }

    /// A drive of 5 mW in a server whose firmware leaves ASPM off: the link's four lanes keep 400 mW.
    #[test]
    fn watts_that_a_link_holds_up() {
        let (wanted, power) = (Milliwatts::new(5), LanePower::default());
        let mut link = link();
        let reach = link.reach(wanted, Tolerance::Unlimited, &power);
        assert!(reach.is_complete() && reach.obstacles.is_empty());
        assert_eq!((reach.deepest, reach.needed), (LinkState::L1_2, Some(LinkState::L1_1)));

        link.drive.control = LinkControl::default();
        let reach = link.reach(wanted, Tolerance::Unlimited, &power);
        assert_eq!((reach.reached, reach.deepest), (Milliwatts::new(400), LinkState::L0));
        let states = reach.obstacles.iter().map(|verdict| (verdict.state, verdict.fate));
        assert!(states.eq([LinkState::L1_1, LinkState::L1_2].map(|state| (state, Fate::NotEnabled(Side::Drive)))));

        let none = link.reach(Milliwatts::ZERO, Tolerance::Unlimited, &LanePower { l1_2_uw: 1_000, ..power });
        assert!(none.needed.is_none() && !none.is_complete() && none.obstacles.is_empty());
        let operational = link.reach(Milliwatts::from_watts(5), Tolerance::Unlimited, &power);
        assert!(operational.is_complete() && operational.needed == Some(LinkState::L0));
    }

    fn any_end() -> impl Strategy<Value = End> {
        (any::<[u32; 4]>(), any::<u16>(), any::<[bool; 2]>()).prop_map(|(registers, control, [substates, reports])| {
            let [link, capabilities, control_1, control_2] = registers;
            let decoded = (SubstatesCapabilities::decode(capabilities), SubstatesControl::decode(control_1, control_2));
            End {
                capabilities: LinkCapabilities::decode(link),
                control: LinkControl::decode(control),
                substates: substates.then_some(decoded),
                reports_latency_tolerance: reports,
            }
        })
    }

    proptest! {
        #[test]
        fn what_holds_for_any_link(drive in any_end(), port in any_end(), micros in 0..300_u64, wanted in 0..500_u32) {
            let (link, power) = (Link { drive, port }, LanePower::default());
            let tolerance = Tolerance::AtMost(Microseconds::new(micros));
            for verdict in link.verdicts(tolerance) {
                if verdict.fate == Fate::Usable {
                    for end in [drive, port] {
                        prop_assert!(end.supports(verdict.state) && end.enables(verdict.state));
                    }
                    prop_assert!(verdict.exit.is_some_and(|exit| exit.get() <= micros));
                }
                if verdict.fate == Fate::TooSlow {
                    let admits = Tolerance::AtMost(verdict.exit.unwrap());
                    prop_assert!(link.verdicts(admits).iter().any(|other| other.state == verdict.state
                        && other.fate == Fate::Usable));
                }
            }
            // More tolerance never takes a state away.
            let more = Tolerance::AtMost(Microseconds::new(micros + 50));
            prop_assert!(link.deepest(tolerance) <= link.deepest(more));
            // What is reached is what is wanted, or there is a reason.
            let reach = link.reach(Milliwatts::new(wanted), tolerance, &power);
            prop_assert!(reach.reached >= reach.wanted);
            prop_assert_eq!(reach.is_complete(), reach.needed.is_some_and(|needed| needed <= reach.deepest));
            prop_assert_eq!(reach.is_complete(), reach.obstacles.is_empty() && reach.needed.is_some());
            prop_assert!(reach.obstacles.iter().all(|verdict| verdict.fate != Fate::Usable));
            // Which end is which does not matter.
            let turned = Link { drive: port, port: drive };
            prop_assert_eq!(turned.deepest(tolerance), link.deepest(tolerance));
            prop_assert_eq!(turned.exit(LinkState::L1_2), link.exit(LinkState::L1_2));
        }
    }
}
