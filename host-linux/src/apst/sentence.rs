//! What the core decided, in words: one sentence for each state.

use wattline_core::apst::energy::{self, Basis, Figure};
use wattline_core::apst::quirk::Effect;
use wattline_core::apst::{Answer, Fate, Limit, StateSet, Tolerance, Verdict};
use wattline_core::nvme::PowerState;
use wattline_core::units::Microseconds;

use super::policy::Policy;
use super::question::{Built, Way};
use crate::decimal::Decimal;
use crate::quantity::time;

/// What became of a state.
pub(super) fn reason(built: &Built, verdict: &Verdict) -> String {
    let sentence = fate(built, verdict);
    match verdict.fate {
        Fate::Operational | Fate::Unsupported | Fate::SwitchedOff | Fate::LeftAlone => sentence,
        _ => format!(
            "{sentence}{}{}{}",
            admission(built, verdict),
            unreported(built, verdict.state),
            estimated(built, verdict.state)
        ),
    }
}

fn fate(built: &Built, verdict: &Verdict) -> String {
    match verdict.fate {
        Fate::Chosen { from } => format!("entered {}", entered(built, from)),
        Fate::Operational => "operational, so not a state to idle in".to_owned(),
        Fate::Quirk(Effect::NoDeepestState) => "dropped: a quirk forbids the state with the highest number".to_owned(),
        Fate::Quirk(_) => "dropped: a quirk forbids all autonomous transitions".to_owned(),
        Fate::TooSlow { limit, latency, at_most } => too_slow(built, limit, latency, at_most),
        Fate::Shadowed { by } => format!("dropped: the deeper {by} takes its place"),
        Fate::NotWorthIt => "dropped: it saves less than going there costs".to_owned(),
        Fate::PowerNotReported => "dropped: the drive reports neither idle nor maximum power to reckon with".to_owned(),
        Fate::LatencyNotReported => {
            "dropped: the drive does not report how long entering and leaving it takes".to_owned()
        }
        Fate::NoTime => "dropped: the policy gives it 0 ms of idle time, which means no transition".to_owned(),
        Fate::NoSource => "dropped: there is no state above it to come from".to_owned(),
        Fate::TooOften => "dropped: no idle time that the table can hold keeps transitions that rare".to_owned(),
        Fate::ZeroTolerance => "dropped: a tolerance of 0 switches the feature off".to_owned(),
        Fate::SwitchedOff => "dropped: the feature is to be off".to_owned(),
        Fate::Unsupported => "dropped: the drive has no autonomous transitions".to_owned(),
        Fate::LeftAlone => "as the drive's own table has it".to_owned(),
    }
}

fn too_slow(built: &Built, limit: Limit, latency: Microseconds, at_most: Microseconds) -> String {
    let (latency, at_most) = (time(Some(latency)), time(Some(at_most)));
    match limit {
        Limit::ExitWithTolerance => {
            format!("dropped: leaving it takes {latency} (EXLAT), more than the tolerance of {at_most}")
        }
        Limit::TotalWithTolerance => {
            let whose = if built.tolerance.is_some() { "the tolerance of" } else { "the scheme tolerates," };
            format!("dropped: entering and leaving it takes {latency} (ENLAT + EXLAT), more than {whose} {at_most}")
        }
        Limit::TotalWithTiers => {
            format!(
                "dropped: entering and leaving it takes {latency} (ENLAT + EXLAT), more than the kernel's {at_most}"
            )
        }
    }
}

/// `after 100 ms in PS0, PS1; after 50 ms in PS2`.
fn entered(built: &Built, from: StateSet) -> String {
    let mut groups: Vec<(u32, Vec<PowerState>)> = Vec::new();
    for source in from.iter() {
        let Some(transition) = built.plan.table.transition(source) else { continue };
        let after = transition.idle_milliseconds();
        match groups.iter_mut().find(|(known, _)| *known == after) {
            Some((_, sources)) => sources.push(source),
            None => groups.push((after, vec![source])),
        }
    }
    let groups: Vec<String> =
        groups.iter().map(|(after, sources)| format!("after {after} ms in {}", list(sources))).collect();
    groups.join(", ")
}

/// From which tolerance on the policy chooses the state. A tolerance means something else to Windows' schemes, but
/// there, too, it is a time that can be raised.
fn admission(built: &Built, verdict: &Verdict) -> String {
    let whose = match built.policy {
        Policy::Linux | Policy::LinuxTwoPercent => "the kernel",
        Policy::Energy => "this policy",
        Policy::Windows(..) => "Windows",
    };
    match (verdict.fate, verdict.admitted_from) {
        (Fate::Chosen { .. }, Some(least)) => format!("; a tolerance of {} is enough", time(Some(least))),
        (_, Some(least)) => format!("; with a tolerance of {} it would be entered", time(Some(least))),
        (_, None) => format!("; {whose} enters it at no tolerance"),
    }
}

/// What the policy energy reckons with, where the drive does not report it.
fn estimated(built: &Built, state: PowerState) -> String {
    if built.policy != Policy::Energy {
        return String::new();
    }
    match energy::idle(&built.drive(), state) {
        Some(Figure { basis: Basis::Maximum, tenths_of_milliwatt }) => {
            format!(
                " (its idle power is not reported; estimated by MP: {} mW)",
                Decimal::<1>(tenths_of_milliwatt.into())
            )
        }
        _ => String::new(),
    }
}

/// What the policy energy takes waiting for work, and the way to another state, to cost. `None` also where the drive
/// has no state to wait in.
pub(super) fn reckoning(built: &Built) -> Option<String> {
    let text = |figure: Option<Figure>, why: fn(Basis) -> &'static str| match figure {
        Some(Figure { tenths_of_milliwatt, basis }) => {
            format!("{} mW ({})", Decimal::<1>(tenths_of_milliwatt.into()), why(basis))
        }
        None => "not known".to_owned(),
    };
    let drive = built.drive();
    let rest = energy::Parameters::default().rest(&drive).filter(|_| built.policy == Policy::Energy)?;
    Some(format!(
        "reckoned with: waiting in {rest}, {}; on the way, {}",
        text(energy::idle(&drive, rest), waiting),
        text(energy::in_transition(&drive), moving),
    ))
}

const fn waiting(basis: Basis) -> &'static str {
    match basis {
        Basis::Reported => "IDLP, as reported",
        Basis::OtherState => "estimated: IDLP of another operational state",
        Basis::Maximum => "estimated: MP",
        Basis::ShareOfMaximum => "a guess: a quarter of the least operational MP",
        Basis::Active => "estimated: ACTP",
    }
}

const fn moving(basis: Basis) -> &'static str {
    match basis {
        Basis::Active => "assumed: the least operational ACTP",
        _ => "assumed: the least operational MP",
    }
}

/// That the kernel takes a latency which is not reported for none.
fn unreported(built: &Built, state: PowerState) -> String {
    let Some(descriptor) = built.descriptor(state).filter(|_| built.policy.linux().is_some()) else {
        return String::new();
    };
    let fields = match (descriptor.entry_latency, descriptor.exit_latency) {
        (None, None) => "ENLAT and EXLAT are",
        (None, Some(_)) => "ENLAT is",
        (Some(_), None) => "EXLAT is",
        (Some(_), Some(_)) => return String::new(),
    };
    format!(" ({fields} not reported, which the kernel counts as 0)")
}

/// What the table comes to.
pub(super) fn answer(built: &Built) -> String {
    let scheme = built.tolerance.is_none();
    match built.plan.answer {
        Answer::Built => match built.plan.table.transitions().count() {
            1 => "on, with 1 transition".to_owned(),
            count => format!("on, with {count} transitions"),
        },
        Answer::Empty => "on, but without a transition, and no tolerance would give it one".to_owned(),
        Answer::Filtered if scheme => "on, but without a transition: the scheme's tolerances admit no state".to_owned(),
        Answer::Filtered => "on, but without a transition: the tolerance admits no state".to_owned(),
        Answer::Disabled if built.tolerance.is_some_and(Tolerance::is_zero) => "off: the tolerance is 0".to_owned(),
        Answer::Disabled => "off, because of a quirk".to_owned(),
        Answer::Unsupported => "not supported by the drive (APSTA is 0): nothing is to be written".to_owned(),
        Answer::LeftAlone => "left as the drive has it".to_owned(),
    }
}

/// What would make the kernel enter a state.
pub(super) fn way(built: &Built, way: &Way) -> String {
    let parameters = way.remedy.parameters;
    let parameter = match built.policy.linux() {
        Some(now) if now.primary_timeout != parameters.primary_timeout => {
            format!("apst_primary_timeout_ms={} (policy linux-two-percent)", parameters.primary_timeout)
        }
        _ => format!("apst_secondary_latency_tol_us={}", parameters.secondary_tolerance.get()),
    };
    let instead_of = match &way.instead_of[..] {
        [] => String::new(),
        states => format!("; instead of {}", list(states)),
    };
    format!(
        "to have {}: kernel parameter nvme_core.{parameter} and a tolerance of at least {} µs{instead_of}",
        way.state,
        way.remedy.tolerance.get(),
    )
}

pub(super) fn list(states: &[PowerState]) -> String {
    let names: Vec<String> = states.iter().map(PowerState::to_string).collect();
    names.join(", ")
}
