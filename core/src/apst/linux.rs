//! The table that the Linux kernel builds (`nvme_configure_apst`, as read in 6.1), entry for entry.
//!
//! Walking from the state of the highest number to PS0, every state gets the target found so far. A state becomes the
//! new target where
//!
//! 1. it is non-operational, and no quirk forbids it as the one of the highest number;
//! 2. its **exit** latency is at most the tolerance (the kernel's comment says total, its code says exit);
//! 3. in *two-tier* mode, entry plus exit latency fit a tier that is not taken by a deeper state: the primary one (by
//!    default 15 ms, entered after 100 ms) or the secondary one (100 ms, after 2 s). The deepest state of each tier
//!    wins, and above the secondary tier's limit a state is never entered, whatever the tolerance is. In *2 %* mode (a
//!    primary timeout or tolerance of 0) it is entered after (entry + exit latency) / 20, rounded up: then at most 2 %
//!    of the time is spent in transitions, if the drive idles 50 times as long as a transition takes.
//!
//! A latency that the drive does not report counts as **0** here, since the kernel reads the field as it is. The other
//! policies do not do that.
//!
//! There is no floor for wear here, as the kernel has none: with one, this would no longer be the kernel's table.
//!
//! The defaults are the kernel's own, which it derives from those in [`super::windows`].

use heapless::Vec;

use super::quirk::{Effect, Effects};
use super::{Drive, Fate, Limit, Plan, Tolerance, Verdict, refusal};
use crate::nvme::feature::autonomous_transitions::{Table, Transition};
use crate::nvme::{PowerState, PowerStateDescriptor};
use crate::units::Microseconds;

/// The tolerance without a word from the user (module parameter `nvme_core.default_ps_max_latency_us`).
pub const DEFAULT_TOLERANCE: Tolerance = Tolerance::AtMost(Microseconds::new(100_000));

/// The four parameters of the kernel's module `nvme_core` that shape a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Parameters {
    /// Milliseconds before the transition to the primary target (`apst_primary_timeout_ms`). 0: 2 % mode.
    pub primary_timeout: u32,
    /// Milliseconds before the transition to the secondary target (`apst_secondary_timeout_ms`). 0: there is none.
    pub secondary_timeout: u32,
    /// Most entry and exit latency of the primary target (`apst_primary_latency_tol_us`). 0: 2 % mode.
    pub primary_tolerance: Microseconds,
    /// Most entry and exit latency of the secondary target (`apst_secondary_latency_tol_us`).
    pub secondary_tolerance: Microseconds,
}

impl Parameters {
    /// The kernel's defaults: two tiers.
    pub const TWO_TIER: Self = Self {
        primary_timeout: 100,
        secondary_timeout: 2_000,
        primary_tolerance: Microseconds::new(15_000),
        secondary_tolerance: Microseconds::new(100_000),
    };
    /// The rule of older kernels, which a primary timeout of 0 brings back.
    pub const TWO_PERCENT: Self = Self { primary_timeout: 0, ..Self::TWO_TIER };

    /// Whether there are tiers.
    #[must_use]
    pub fn is_two_tier(&self) -> bool {
        self.primary_timeout != 0 && self.primary_tolerance != Microseconds::ZERO
    }

    /// The longest entry and exit latency with which a state is ever entered.
    fn slowest(&self) -> Microseconds {
        if self.secondary_timeout == 0 {
            self.primary_tolerance
        } else {
            self.primary_tolerance.max(self.secondary_tolerance)
        }
    }
}

impl Default for Parameters {
    fn default() -> Self {
        Self::TWO_TIER
    }
}

/// The plan that the kernel would carry out.
#[must_use]
pub fn build(drive: &Drive<'_>, tolerance: Tolerance, quirks: Effects, parameters: &Parameters) -> Plan {
    let rule = Rule { drive, quirks, parameters };
    if let Some(plan) = refusal(drive, tolerance, quirks, |state| rule.admitted_from(state)) {
        return plan;
    }
    let mut table = Table::EMPTY;
    let mut judgements = [Err(Fate::Operational); PowerState::COUNT];
    rule.walk(tolerance, |state, entry, judgement| {
        table.set(state, Transition::decode(entry));
        judgements[state.index()] = judgement;
    });
    let verdict = |(state, _): (PowerState, _)| Verdict {
        state,
        fate: rule.explained(state, judgements[state.index()], &table),
        admitted_from: rule.admitted_from(state),
    };
    Plan::with_table(table, drive.numbered().map(verdict).collect())
}

/// The 64-bit entries that the kernel would write, with what has no effect: in 2 % mode a state without latencies gets
/// an entry that names it after 0 ms, which is no transition, and which [`Plan::table`] therefore does not have. A
/// timeout above 24 bits sets reserved bits, as in the kernel, which does not check it. All zero where APSTE is 0.
#[must_use]
pub fn entries(
    drive: &Drive<'_>,
    tolerance: Tolerance,
    quirks: Effects,
    parameters: &Parameters,
) -> [u64; PowerState::COUNT] {
    let mut entries = [0; PowerState::COUNT];
    if refusal(drive, tolerance, quirks, |_| None).is_none() {
        Rule { drive, quirks, parameters }.walk(tolerance, |state, entry, _| entries[state.index()] = entry);
    }
    entries
}

/// A way to make the kernel enter a state that it would not enter at any tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// The parameters of `nvme_core`.
    pub parameters: Parameters,
    /// The smallest tolerance that it takes beside them.
    pub tolerance: Microseconds,
}

/// What would make the kernel enter `state`, which it enters at no tolerance: a secondary tier that is wide enough, and
/// 2 % mode. Each is left out where it does not help, such as against a quirk.
#[must_use]
pub fn remedies(drive: &Drive<'_>, state: PowerState, quirks: Effects, parameters: &Parameters) -> Vec<Remedy, 2> {
    let Some(descriptor) = drive.states.get(state.index()) else { return Vec::new() };
    let wider = Parameters { secondary_tolerance: Latencies::of(descriptor).total, ..*parameters };
    let candidates = [wider, Parameters { primary_timeout: 0, ..*parameters }];
    let helps = |parameters: Parameters| {
        let admitted_from =
            build(drive, Tolerance::Unlimited, quirks, &parameters).states.get(state.index())?.admitted_from;
        Some(Remedy { parameters, tolerance: admitted_from? })
    };
    candidates.into_iter().filter(|candidate| candidate != parameters).filter_map(helps).collect()
}

/// The function's arguments that do not change while a tolerance is looked for.
struct Rule<'a> {
    drive: &'a Drive<'a>,
    quirks: Effects,
    parameters: &'a Parameters,
}

/// `Ok`: a target, after this many milliseconds.
type Judgement = Result<u64, Fate>;

impl Rule<'_> {
    /// The kernel's loop: for each state, from the last to the first, its entry and what the kernel finds about it.
    fn walk(&self, tolerance: Tolerance, mut visit: impl FnMut(PowerState, u64, Judgement)) {
        let mut tiers = Tiers { taken: Taken::None, by: PowerState::PS0 };
        let mut target = 0;
        for (state, descriptor) in self.drive.numbered().rev() {
            let entry = target;
            let judgement = self.judge(state, descriptor, tolerance, &mut tiers);
            if let Ok(milliseconds) = judgement {
                target = u64::from(state.number()) << 3 | milliseconds << 8;
            }
            visit(state, entry, judgement);
        }
    }

    fn judge(
        &self,
        state: PowerState,
        descriptor: &PowerStateDescriptor,
        tolerance: Tolerance,
        tiers: &mut Tiers,
    ) -> Judgement {
        if !descriptor.non_operational {
            return Err(Fate::Operational);
        }
        if self.quirks.contains(Effect::NoDeepestState) && self.drive.deepest() == Some(state) {
            return Err(Fate::Quirk(Effect::NoDeepestState));
        }
        let Latencies { exit, total } = Latencies::of(descriptor);
        if let Tolerance::AtMost(at_most) = tolerance
            && exit > at_most
        {
            return Err(Fate::TooSlow { limit: Limit::ExitWithTolerance, latency: exit, at_most });
        }
        if self.parameters.is_two_tier() {
            tiers.enter(state, total, self.parameters)
        } else {
            Ok(total.get().div_ceil(20).min(u64::from(Transition::LONGEST_IDLE_TIME)))
        }
    }

    /// What came of a state, once the table says whether anything goes there.
    fn explained(&self, state: PowerState, judgement: Judgement, table: &Table) -> Fate {
        let from = Plan::sources(table, state);
        match judgement {
            Err(fate) => fate,
            Ok(_) if !from.is_empty() => Fate::Chosen { from },
            Ok(_) if state == PowerState::PS0 => Fate::NoSource,
            Ok(_) => Fate::NoTime,
        }
    }

    /// A state is eligible from its exit latency on. Whatever more a larger tolerance admits is deeper or does not
    /// matter, and deeper states only take tiers away: so a state that is not chosen there is chosen at no tolerance.
    fn admitted_from(&self, state: PowerState) -> Option<Microseconds> {
        let descriptor = self.drive.states.get(state.index())?;
        let least = Latencies::of(descriptor).exit.max(Microseconds::new(1));
        let mut is_chosen = false;
        self.walk(Tolerance::AtMost(least), |_, entry, _| {
            is_chosen |= Transition::decode(entry).is_some_and(|transition| transition.target() == state);
        });
        is_chosen.then_some(least)
    }
}

/// As the kernel reads them: a latency that is not reported is 0.
struct Latencies {
    exit: Microseconds,
    total: Microseconds,
}

impl Latencies {
    fn of(descriptor: &PowerStateDescriptor) -> Self {
        let exit = descriptor.exit_latency.unwrap_or_default();
        Self { exit, total: exit.saturating_add(descriptor.entry_latency.unwrap_or_default()) }
    }
}

/// Which tiers have their target. With the primary one, the secondary one is closed too: its target would be shallower.
struct Tiers {
    taken: Taken,
    by: PowerState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    None,
    Secondary,
    Primary,
}

impl Tiers {
    fn enter(&mut self, state: PowerState, total: Microseconds, parameters: &Parameters) -> Judgement {
        let (tier, timeout, is_open) = if total <= parameters.primary_tolerance {
            (Taken::Primary, parameters.primary_timeout, self.taken != Taken::Primary)
        } else if parameters.secondary_timeout != 0 && total <= parameters.secondary_tolerance {
            (Taken::Secondary, parameters.secondary_timeout, self.taken == Taken::None)
        } else {
            let at_most = parameters.slowest();
            return Err(Fate::TooSlow { limit: Limit::TotalWithTiers, latency: total, at_most });
        };
        if !is_open {
            return Err(Fate::Shadowed { by: self.by });
        }
        (self.taken, self.by) = (tier, state);
        Ok(u64::from(timeout))
    }
}
