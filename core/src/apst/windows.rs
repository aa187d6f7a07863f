//! What Windows' own driver, `StorNVMe`, does with an idle drive, as a table.
//!
//! Source: Microsoft, "Power management for storage hardware devices: NVMe", its table of default idle timeouts and
//! latency tolerances. When the drive has been idle for the primary timeout, it is put into the deepest state whose
//! entry and exit latency together are at most the primary tolerance; and so again with the secondary timeout and
//! tolerance. Both timeouts count from the last I/O, whereas a table counts from the last transition: so the primary
//! target's own entry has the difference of the two.
//!
//! Windows does not build a table: it sets states itself. This one makes the drive do the same. A state with a latency
//! that the drive does not report is left out: the documentation does not say what Windows does with it.

use super::quirk::{Effect, Effects};
use super::wear::{TransitionsPerDay, floored};
use super::{Drive, Fate, Limit, Plan, Tolerance, Verdict, refusal};
use crate::nvme::feature::autonomous_transitions::{Table, Transition};
use crate::nvme::{PowerState, PowerStateDescriptor};
use crate::units::Microseconds;

/// A power scheme, or the state of the whole system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Scheme {
    /// S0, High performance.
    HighPerformance,
    /// S0, Balanced.
    Balanced,
    /// S0, Power saver.
    PowerSaver,
    /// S0 low-power idle.
    ModernStandby,
}

/// Where the machine's power comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Source {
    /// The mains.
    Ac,
    /// A battery.
    Dc,
}

/// What shapes the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// The power scheme.
    pub scheme: Scheme,
    /// Mains or battery.
    pub source: Source,
    /// The most transitions in a day; Windows itself has no such limit.
    pub wear: Option<TransitionsPerDay>,
}

/// When, and how slow a state may be then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tier {
    /// Milliseconds since the last I/O.
    pub timeout: u32,
    /// Most entry and exit latency.
    pub tolerance: Microseconds,
}

/// The primary and, where there is one, the secondary tier of a scheme.
#[must_use]
pub const fn tiers(scheme: Scheme, source: Source) -> (Tier, Option<Tier>) {
    match (scheme, source) {
        (Scheme::HighPerformance, Source::Ac) => (Tier::of(200, 0), Some(Tier::of(2_000, 0))),
        (Scheme::HighPerformance, Source::Dc) => (Tier::of(200, 10), Some(Tier::of(2_000, 0))),
        (Scheme::Balanced, Source::Ac) => (Tier::of(200, 15), Some(Tier::of(2_000, 100))),
        (Scheme::Balanced, Source::Dc) => (Tier::of(100, 50), Some(Tier::of(1_000, 100))),
        (Scheme::PowerSaver, Source::Ac) => (Tier::of(100, 100), Some(Tier::of(1_000, 200))),
        (Scheme::PowerSaver, Source::Dc) => (Tier::of(100, 200), Some(Tier::of(1_000, 200))),
        (Scheme::ModernStandby, _) => (Tier::of(50, 500), None),
    }
}

impl Tier {
    const fn of(timeout: u32, milliseconds: u64) -> Self {
        Self { timeout, tolerance: Microseconds::from_millis(milliseconds) }
    }
}

/// The plan that has the drive do what Windows would do.
#[must_use]
pub fn build(drive: &Drive<'_>, quirks: Effects, parameters: &Parameters) -> Plan {
    if let Some(plan) = refusal(drive, Tolerance::Unlimited, quirks, |_| None) {
        return plan;
    }
    let rule = Rule { drive, quirks, keeps_wear: floored(0, parameters.wear).is_some() };
    let (primary, secondary) = tiers(parameters.scheme, parameters.source);
    let first = rule.deepest_within(primary.tolerance);
    let second = secondary.and_then(|tier| rule.deepest_within(tier.tolerance)).filter(|state| Some(*state) > first);

    let mut table = Table::EMPTY;
    for (source, _) in drive.numbered() {
        let transition = match (first, second, secondary) {
            (Some(target), ..) if source < target => Some((target, primary.timeout)),
            (first, Some(target), Some(tier)) if source < target => {
                let elapsed = if Some(source) == first { primary.timeout } else { 0 };
                Some((target, tier.timeout.saturating_sub(elapsed).max(1)))
            }
            _ => None,
        };
        let transition =
            transition.and_then(|(target, timeout)| Transition::new(target, floored(timeout, parameters.wear)?));
        table.set(source, transition);
    }

    let longest = secondary.map_or(primary.tolerance, |tier| tier.tolerance.max(primary.tolerance));
    let verdict = |(state, descriptor)| Verdict {
        state,
        fate: rule.fate(state, descriptor, longest, &table),
        admitted_from: rule.admitted_from(state, descriptor),
    };
    Plan::with_table(table, drive.numbered().map(verdict).collect())
}

struct Rule<'a> {
    drive: &'a Drive<'a>,
    quirks: Effects,
    keeps_wear: bool,
}

impl Rule<'_> {
    fn deepest_within(&self, tolerance: Microseconds) -> Option<PowerState> {
        let fits = |descriptor: &PowerStateDescriptor| {
            descriptor.round_trip_latency().is_some_and(|latency| latency <= tolerance)
        };
        let mut eligible =
            self.drive.numbered().filter(|(state, descriptor)| self.forbids(*state, descriptor).is_none());
        eligible.rfind(|(_, descriptor)| fits(descriptor)).map(|(state, _)| state)
    }

    /// Why a state cannot be a target, however fast it is.
    fn forbids(&self, state: PowerState, descriptor: &PowerStateDescriptor) -> Option<Fate> {
        if !descriptor.non_operational {
            Some(Fate::Operational)
        } else if self.quirks.contains(Effect::NoDeepestState) && self.drive.deepest() == Some(state) {
            Some(Fate::Quirk(Effect::NoDeepestState))
        } else if descriptor.round_trip_latency().is_none() {
            Some(Fate::LatencyNotReported)
        } else if state == PowerState::PS0 {
            Some(Fate::NoSource)
        } else if !self.keeps_wear {
            Some(Fate::TooOften)
        } else {
            None
        }
    }

    fn fate(&self, state: PowerState, descriptor: &PowerStateDescriptor, longest: Microseconds, table: &Table) -> Fate {
        let from = Plan::sources(table, state);
        if !from.is_empty() {
            return Fate::Chosen { from };
        }
        if let Some(fate) = self.forbids(state, descriptor) {
            return fate;
        }
        match descriptor.round_trip_latency() {
            Some(latency) if latency > longest => {
                Fate::TooSlow { limit: Limit::TotalWithTolerance, latency, at_most: longest }
            }
            // It fits a tier, so a deeper one that fits the same tier took its place.
            _ => {
                let targets = table.transitions().map(|(_, transition)| transition.target());
                targets.filter(|by| *by > state).min().map_or(Fate::NoSource, |by| Fate::Shadowed { by })
            }
        }
    }

    /// With a tolerance of exactly its own latency a state is chosen, unless a deeper one is no slower.
    fn admitted_from(&self, state: PowerState, descriptor: &PowerStateDescriptor) -> Option<Microseconds> {
        let latency = descriptor.round_trip_latency()?;
        (self.deepest_within(latency) == Some(state)).then_some(latency)
    }
}
