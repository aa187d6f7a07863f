//! The table that saves most energy: break-even times under a bound on latency.
//!
//! **Goal.** The least energy while nobody asks for the drive, where no command waits longer for it than the tolerance.
//!
//! **What a gap costs.** A drive that waits in an operational state r takes P(r). If it leaves for a state s after a
//! wait t, a gap of length g costs, in this order
//!
//! ```text
//! P(r) · t  +  P(move) · ENLAT(s)  +  P(s) · max(0, g − t − ENLAT(s))  +  P(move) · EXLAT(s)     if g > t
//! P(r) · g                                                                                      if g ≤ t
//! ```
//!
//! and from s it can go on to a deeper state after another wait, counted from when it is in s; that costs the deeper
//! state's entry, and in the end only the deeper state's exit is paid. Powers in tenths of a milliwatt, times in
//! microseconds, so energy in tenths of a nanojoule ([`Energy`]). Entering is not broken off: a command that comes
//! meanwhile waits for the rest of it and for the exit. So the **latency bound** is the largest ENLAT + EXLAT of any
//! target.
//!
//! | figure | reported | otherwise |
//! |---|---|---|
//! | P(s), non-operational | IDLP | MP: an upper bound, and a good one for milliwatts |
//! | P(r), operational | IDLP | the least operational IDLP; else ¼ of the least operational MP, **a guess** |
//! | P(move) | never | **assumed**: the least operational MP, or else the least ACTP; not less than P(r) |
//! | ENLAT, EXLAT | ENLAT, EXLAT, which are maxima | the state is not used: not reported is neither 0 nor for ever |
//!
//! Where neither IDLP nor MP is reported, the state is not used ([`Fate::PowerNotReported`]); where this holds for all
//! operational states, no state is. [`idle`] and [`in_transition`] tell each figure and its [`Basis`].
//!
//! **Without a histogram** the thresholds are those at which the next state becomes the cheaper one (`envelope`): a
//! drive that goes down when it has spent on waiting what going costs never spends more than twice what somebody
//! spends who knows the gaps, but for the half millisecond to which a wait can be set, and with several targets on the
//! way somewhat more. [`worst_ratio`] tells how much, for any table.
//!
//! **With a histogram** ([`super::gaps::Gaps`]) the thresholds are those with the least energy on what it holds
//! (`expected`): no other table that keeps the bound, whose waits are at least the floor and whose states take less and
//! less, costs less on these gaps, for a drive that rests in [`Parameters::rests_in`]. That is so for up to three
//! targets, the most that any known drive has; of more, the three that are best alone are looked at. For gaps longer
//! than all of them the way goes on as without a histogram, so that a drive which has never been left alone for long
//! still goes to sleep when it is.
//!
//! **From other operational states** the drive goes down the same way, from where that is best for their own P(r): the
//! entries of non-operational states exist only once in a table.
//!
//! **What this leaves out**: latencies of operational states; that a drive may need less than the maxima; work in the
//! background; all active energy; and which state the drive really rests in. What transitions really cost is not
//! known: the simulator's study repeats everything with a third of it and with three times as much.
//!
//! **How to switch it off**: a tolerance of zero, or [`super::Wish::Off`].

mod descent;
mod envelope;
mod expected;
mod figures;

use heapless::Vec;

pub use envelope::PerMille;
pub use figures::{Basis, Energy, Figure, idle, in_transition};

use super::gaps::Gaps;
use super::quirk::{Effect, Effects};
use super::wear::{TransitionsPerDay, floored};
use super::{Drive, Fate, Limit, Plan, Tolerance, Verdict, refusal};
use crate::nvme::feature::autonomous_transitions::{Table, Transition};
use crate::nvme::{PowerState, PowerStateDescriptor};
use crate::units::Microseconds;
use descent::{Descent, MILLI, Rest, Step};
use expected::Recorded;
use figures::Target;

/// What shapes the table beside the drive and the tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// The operational state in which the drive waits for work. Where it is none, the first operational state.
    pub rests_in: PowerState,
    /// The most transitions in a day, kept by a floor under every wait.
    pub wear: Option<TransitionsPerDay>,
    /// With fewer gaps than this, a histogram is not believed.
    pub least_gaps: u32,
}

impl Default for Parameters {
    /// Rests in PS0, where Linux leaves a drive; no limit of wear; a hundred gaps (a guess: the rarest tenth has ten).
    fn default() -> Self {
        Self { rests_in: PowerState::PS0, wear: None, least_gaps: 100 }
    }
}

impl Parameters {
    /// The state in which a drive waits for work. `None`: it has no operational state.
    #[must_use]
    pub fn rest(&self, drive: &Drive<'_>) -> Option<PowerState> {
        operational(drive).find(|state| *state == self.rests_in).or_else(|| operational(drive).next())
    }
}

fn operational(drive: &Drive<'_>) -> impl Iterator<Item = PowerState> {
    drive.numbered().filter(|(_, state)| !state.non_operational).map(|(state, _)| state)
}

/// The plan with the least energy.
#[must_use]
pub fn build(
    drive: &Drive<'_>,
    tolerance: Tolerance,
    quirks: Effects,
    parameters: &Parameters,
    gaps: Option<&Gaps>,
) -> Plan {
    let rule = Rule::new(drive, quirks, parameters, gaps);
    if let Some(plan) = refusal(drive, tolerance, quirks, |state| rule.admitted_from(state)) {
        return plan;
    }
    let descent = rule.descend(tolerance);
    let table = rule.table(&descent);
    let verdict = |(state, descriptor): (PowerState, &PowerStateDescriptor)| {
        let settled = rule.settled(state, descriptor);
        let admitted_from = if settled.is_some() { None } else { rule.admitted_from(state) };
        let fate = settled.unwrap_or_else(|| rule.explained(state, tolerance, admitted_from, &table));
        Verdict { state, fate, admitted_from }
    };
    Plan::with_table(table, drive.numbered().map(verdict).collect())
}

/// From which length of a gap on going from `source` straight to `target` costs less than staying. `None`: from none,
/// or the drive does not report enough.
#[must_use]
pub fn break_even(drive: &Drive<'_>, source: PowerState, target: PowerState) -> Option<Microseconds> {
    envelope::break_even(&Rest::of(drive, source)?, None, &Target::of(drive, target)?)
}

/// The energy of a gap under a table, for a drive that rests in `source`. `None` where the drive does not report
/// enough.
#[must_use]
pub fn spent(drive: &Drive<'_>, table: &Table, source: PowerState, gap: Microseconds) -> Option<Energy> {
    Some(Rest::of(drive, source)?.spent(&descent::of_table(drive, table, source)?, gap.get()))
}

/// The energy of all gaps that a histogram holds, under a table.
#[must_use]
pub fn expected(drive: &Drive<'_>, table: &Table, source: PowerState, gaps: &Gaps) -> Option<Energy> {
    Some(Recorded::of(gaps).expected(&Rest::of(drive, source)?, &descent::of_table(drive, table, source)?))
}

/// The most that a table costs for a gap of any length, relative to somebody who knows the length and goes at once to
/// the best state that the tolerance and the quirks admit. `None` where the drive does not report enough.
#[must_use]
pub fn worst_ratio(
    drive: &Drive<'_>,
    table: &Table,
    source: PowerState,
    tolerance: Tolerance,
    quirks: Effects,
) -> Option<PerMille> {
    let rest = Rest::of(drive, source)?;
    let targets = admissible(drive, &rest, tolerance, quirks);
    Some(envelope::ratio(&rest, &targets, &descent::of_table(drive, table, source)?))
}

/// The states that may be gone to from where the drive rests, by number.
fn admissible(drive: &Drive<'_>, rest: &Rest, tolerance: Tolerance, quirks: Effects) -> Vec<Target, 32> {
    let targets = drive.numbered().filter_map(|(state, _)| Target::of(drive, state));
    let is_admitted = |target: &Target| {
        target.state > rest.state
            && target.power < rest.power
            && tolerance.admits(target.latency())
            && !is_forbidden(drive, quirks, target.state)
    };
    targets.filter(is_admitted).collect()
}

fn is_forbidden(drive: &Drive<'_>, quirks: Effects, state: PowerState) -> bool {
    quirks.contains(Effect::NoDeepestState) && drive.deepest() == Some(state)
}

/// What does not change while tolerances are tried.
struct Rule<'a> {
    drive: &'a Drive<'a>,
    quirks: Effects,
    /// Where the drive rests. `None`: it has no operational state, or reports too little of them.
    rest: Option<Rest>,
    first_operational: Option<PowerState>,
    /// The shortest wait in milliseconds. `None`: none is long enough.
    floor: Option<u32>,
    gaps: Option<Recorded>,
}

impl<'a> Rule<'a> {
    fn new(drive: &'a Drive<'a>, quirks: Effects, parameters: &Parameters, gaps: Option<&Gaps>) -> Self {
        Self {
            drive,
            quirks,
            rest: parameters.rest(drive).and_then(|state| Rest::of(drive, state)),
            first_operational: operational(drive).next(),
            floor: floored(1, parameters.wear),
            gaps: gaps.filter(|gaps| gaps.total() >= parameters.least_gaps.max(1)).map(Recorded::of),
        }
    }

    /// The way down from where the drive rests.
    fn descend(&self, tolerance: Tolerance) -> Descent {
        let (Some(rest), Some(floor)) = (&self.rest, self.floor) else { return Descent::new() };
        let targets = admissible(self.drive, rest, tolerance, self.quirks);
        match &self.gaps {
            Some(gaps) => gaps.descend(rest, &targets, floor),
            None => envelope::descend(rest, &targets, floor),
        }
    }

    fn table(&self, descent: &[Step]) -> Table {
        let mut table = Table::EMPTY;
        let (Some(rest), Some(floor)) = (&self.rest, self.floor) else { return table };
        let mut source = rest.state;
        for step in descent {
            table.set(source, Transition::new(step.target.state, step.wait));
            source = step.target.state;
        }
        for (state, descriptor) in self.drive.numbered() {
            if descriptor.non_operational || state == rest.state {
                continue;
            }
            if let Some(step) = Rest::of(self.drive, state).and_then(|other| self.join(&other, descent, floor)) {
                table.set(state, Transition::new(step.target.state, step.wait));
            }
        }
        table
    }

    /// The first step with which a drive that rests elsewhere joins the way down; of equally good ones the latest.
    fn join(&self, rest: &Rest, descent: &[Step], floor: u32) -> Option<Step> {
        let targets: Vec<Target, 32> = descent.iter().map(|step| step.target).collect();
        let mut best = None;
        for (at, target) in targets.iter().enumerate() {
            let Some(crossing) = envelope::break_even(rest, None, target).filter(|_| target.state > rest.state) else {
                continue;
            };
            let mut way: Descent = descent[at..].iter().copied().collect();
            for wait in self.waits(crossing, floor) {
                way[0].wait = wait;
                let cost = match &self.gaps {
                    Some(gaps) => gaps.expected(rest, &way).tenths_of_nanojoule(),
                    None => envelope::ratio(rest, &targets, &way).0.into(),
                };
                if best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, way[0]));
                }
            }
        }
        best.map(|(_, step)| step)
    }

    /// Waits in milliseconds that may be best before a step whose line crosses that of waiting after so long; from
    /// long to short.
    fn waits(&self, crossing: Microseconds, floor: u32) -> impl Iterator<Item = u32> {
        let crossing = crossing.get().div_ceil(MILLI);
        let longest = self.gaps.as_ref().map_or(0, Recorded::longest) / MILLI;
        let lengths = self.gaps.as_ref().map_or(&[][..], Recorded::lengths).iter().rev().map(|length| length / MILLI);
        let waits = [crossing.max(longest), crossing.saturating_sub(1)].into_iter().chain(lengths).chain([0]);
        let waits = waits.filter_map(move |wait| Some(u32::try_from(wait).ok()?.max(floor)));
        waits.filter(|wait| *wait <= Transition::LONGEST_IDLE_TIME)
    }

    /// What is known of a state before any costs are compared.
    fn settled(&self, state: PowerState, descriptor: &PowerStateDescriptor) -> Option<Fate> {
        if !descriptor.non_operational {
            Some(Fate::Operational)
        } else if is_forbidden(self.drive, self.quirks, state) {
            Some(Fate::Quirk(Effect::NoDeepestState))
        } else if self.first_operational.is_none_or(|first| first > state) {
            Some(Fate::NoSource)
        } else if descriptor.round_trip_latency().is_none() {
            Some(Fate::LatencyNotReported)
        } else if self.rest.is_none() || idle(self.drive, state).is_none() {
            Some(Fate::PowerNotReported)
        } else if self.floor.is_none() {
            Some(Fate::TooOften)
        } else {
            None
        }
    }

    fn explained(
        &self,
        state: PowerState,
        tolerance: Tolerance,
        admitted_from: Option<Microseconds>,
        table: &Table,
    ) -> Fate {
        let from = Plan::sources(table, state);
        let (Some(rest), Some(target)) = (&self.rest, Target::of(self.drive, state)) else {
            return Fate::PowerNotReported;
        };
        let latency = target.latency();
        match tolerance {
            _ if !from.is_empty() => Fate::Chosen { from },
            Tolerance::AtMost(at_most) if latency > at_most && admitted_from.is_some() => {
                Fate::TooSlow { limit: Limit::TotalWithTolerance, latency, at_most }
            }
            _ => {
                let is_better = |other: &Target| other.power <= target.power && other.latency() <= latency;
                let chosen = admissible(self.drive, rest, tolerance, self.quirks).into_iter().filter(|other| {
                    other.state > state && !Plan::sources(table, other.state).is_empty() && is_better(other)
                });
                chosen.map(|other| other.state).next().map_or(Fate::NotWorthIt, |by| Fate::Shadowed { by })
            }
        }
    }

    /// The smallest tolerance is the latency of some state: of this one, or of one that makes this one worth passing.
    fn admitted_from(&self, state: PowerState) -> Option<Microseconds> {
        let mut tolerance = self.drive.states.get(state.index())?.round_trip_latency()?;
        loop {
            let descent = self.descend(Tolerance::AtMost(tolerance));
            if descent.iter().any(|step| step.target.state == state) {
                return Some(tolerance);
            }
            let latencies = self.drive.states.iter().filter(|state| state.non_operational);
            let larger = latencies.filter_map(PowerStateDescriptor::round_trip_latency);
            tolerance = larger.filter(|latency| *latency > tolerance).min()?;
        }
    }
}
