//! How long each disturbance took to shed, and what it went over the cap by.
//!
//! A disturbance is whatever may take the power over the cap although nobody was wrong: the start, a cap that drops,
//! work that was not declared, a drive that resets. It is shed at the first moment from which the true watts
//! stay at or below the cap for a whole second, or to the end. Where the next disturbance comes before that, the two
//! are one.

use serde::Serialize;

use super::window::Energy;
use crate::time::{Micros, SECOND, seconds};
use crate::trace::{Step, Trace, Wire};

/// One disturbance and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shed {
    /// What happened.
    pub cause: String,
    /// When, in seconds from the start.
    pub at_s: f64,
    /// Time until it was shed, in milliseconds; `None`: it never was.
    pub shed_ms: Option<f64>,
    /// The most by which the true watts were over the cap meanwhile.
    pub over_w: f64,
    /// For how long they were, in milliseconds.
    pub over_ms: f64,
    /// The most by which the true watts were above cap − margin in the first three seconds.
    pub into_margin_w: f64,
    /// For how long they were, in milliseconds.
    pub into_margin_ms: f64,
    /// How long commands that were in flight at that moment stayed unanswered, at most, in milliseconds: until then
    /// their drives could be told nothing.
    pub busy_ms: f64,
    /// The highest mean over a second between shedding and the next disturbance, less the cap, in watts; `None` where
    /// there was no such second.
    pub highest_mean_above_cap_w: Option<f64>,
}

/// Judges every disturbance of a run that kept `margin_w` free.
#[must_use]
pub fn judge(trace: &Trace, margin_w: f64) -> Vec<Shed> {
    const AFTERMATH: Micros = 3 * SECOND;
    let excess_w = excess_w(trace);
    let energy = Energy::of(&excess_w);
    let mut sheds = Vec::new();
    // What happens at the very end has no time to be judged.
    let mut disturbances = trace.disturbances.iter().filter(|(at, _)| *at < trace.duration).peekable();
    while let Some((from, cause)) = disturbances.next() {
        let (mut causes, quiet, end) = (vec![cause.as_str()], quiet_from(&excess_w, *from), trace.duration);
        while let Some((_, cause)) = disturbances.next_if(|(at, _)| quiet.is_none_or(|quiet| *at <= quiet)) {
            causes.push(cause);
        }
        let end = disturbances.peek().map_or(end, |(at, _)| *at);
        let quiet = quiet.filter(|quiet| *quiet < trace.duration);
        let (over_w, over_us) = above(&excess_w, *from, quiet.unwrap_or(end), 0.0);
        let (into_margin_w, into_margin_us) = above(&excess_w, *from, end.min(from + AFTERMATH), -margin_w);
        sheds.push(Shed {
            cause: in_words(&causes),
            at_s: seconds(*from),
            shed_ms: quiet.map(|quiet| milliseconds(quiet - from)),
            over_w,
            over_ms: milliseconds(over_us),
            into_margin_w,
            into_margin_ms: milliseconds(into_margin_us),
            busy_ms: milliseconds(busy_until(trace, *from) - from),
            highest_mean_above_cap_w: quiet.and_then(|quiet| energy.highest_mean_w(quiet, end)),
        });
    }
    sheds
}

/// By how much at most and for how long the excess was above `threshold_w` within a span.
fn above(excess_w: &[Step<f64>], from: Micros, to: Micros, threshold_w: f64) -> (f64, Micros) {
    let over = pieces(excess_w, from, to).filter(|piece| piece.excess_w > threshold_w);
    over.fold((0.0f64, 0), |(most, time), piece| {
        (most.max(piece.excess_w - threshold_w), time + piece.end - piece.start)
    })
}

/// When the last command that was in flight at `at` was answered or given up; `at` where there was none.
fn busy_until(trace: &Trace, at: Micros) -> Micros {
    let mut last = at;
    for slot in 0..trace.states.len() {
        let commands = trace.wire.iter().filter(|record| record.slot == slot && !matches!(record.what, Wire::Seen(_)));
        let (before, after): (Vec<_>, Vec<_>) = commands.partition(|record| record.at < at);
        if before.last().is_some_and(|record| matches!(record.what, Wire::Sent { .. })) {
            last = last.max(after.first().map_or(trace.duration, |record| record.at));
        }
    }
    last
}

fn in_words(causes: &[&str]) -> String {
    match causes {
        [first, .., _, _] => format!("{first}, and {} more", causes.len() - 1),
        _ => causes.join(", "),
    }
}

/// True watts less the cap.
fn excess_w(trace: &Trace) -> Vec<Step<f64>> {
    let mut moments: Vec<Micros> =
        trace.power_w.iter().map(|step| step.0).chain(trace.cap_w.iter().map(|step| step.0)).collect();
    moments.sort_unstable();
    moments.dedup();
    let power_w = |at| step_at(&trace.power_w, at).copied().unwrap_or(0.0);
    let mut excess: Vec<_> = moments.into_iter().map(|at| (at, power_w(at) - cap_at(trace, at))).collect();
    excess.push((trace.duration, excess.last().map_or(0.0, |last| last.1)));
    excess
}

/// The first moment from which there is no excess for a second, or to the end.
fn quiet_from(excess_w: &[Step<f64>], from: Micros) -> Option<Micros> {
    let mut candidate = from;
    for piece in pieces(excess_w, from, Micros::MAX).filter(|piece| piece.excess_w > 0.0) {
        if piece.start >= candidate + SECOND {
            break;
        }
        candidate = piece.end;
    }
    (candidate < Micros::MAX).then_some(candidate)
}

/// The cap in force at `at`, in watts.
#[must_use]
pub fn cap_at(trace: &Trace, at: Micros) -> f64 {
    step_at(&trace.cap_w, at).copied().unwrap_or(f64::INFINITY)
}

/// The value that a record has at `at`.
#[must_use]
pub fn step_at<T>(steps: &[Step<T>], at: Micros) -> Option<&T> {
    steps[..steps.partition_point(|step| step.0 <= at)].last().map(|step| &step.1)
}

struct Piece {
    start: Micros,
    end: Micros,
    excess_w: f64,
}

/// The pieces of constant excess within a span; the last step only marks the end.
fn pieces(excess_w: &[Step<f64>], from: Micros, to: Micros) -> impl Iterator<Item = Piece> {
    let all = excess_w.windows(2).map(|pair| (pair[0].0, pair[1].0, pair[0].1));
    let clipped = all.map(move |(start, end, excess_w)| Piece { start: start.max(from), end: end.min(to), excess_w });
    clipped.filter(|piece| piece.start < piece.end)
}

fn milliseconds(span: Micros) -> f64 {
    seconds(span) * 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::WireRecord;

    fn trace(power_w: Vec<Step<f64>>) -> Trace {
        Trace {
            duration: 20 * SECOND,
            power_w,
            cap_w: vec![(0, 1000.0), (10 * SECOND, 800.0)],
            disturbances: vec![(0, "start".into()), (10 * SECOND, "cap".into())],
            ..Trace::default()
        }
    }

    #[test]
    fn each_disturbance_has_its_own_shedding() {
        let sheds = judge(&trace(vec![(0, 1100.0), (500_000, 990.0), (11_200_000, 790.0)]), 20.0);
        assert_eq!(sheds[0].shed_ms, Some(500.0));
        assert_eq!((sheds[0].over_w, sheds[0].over_ms), (100.0, 500.0));
        assert_eq!((sheds[0].into_margin_w, sheds[0].into_margin_ms), (120.0, 3000.0));
        assert_eq!(sheds[1].shed_ms, Some(1200.0));
        assert_eq!((sheds[1].over_w, sheds[1].over_ms), (190.0, 1200.0));
        assert_eq!(sheds[1].highest_mean_above_cap_w.map(f64::round), Some(-10.0));
    }

    #[test]
    fn a_command_in_flight_explains_the_time_until_its_answer() {
        let mut busy = trace(vec![(0, 900.0), (14 * SECOND, 790.0)]);
        busy.states = vec![Vec::new(); 2];
        busy.wire = vec![
            WireRecord { at: 9 * SECOND, slot: 1, what: Wire::Sent { id: 1, set: Some(0) } },
            WireRecord { at: 9 * SECOND, slot: 0, what: Wire::Sent { id: 2, set: None } },
            WireRecord { at: 9 * SECOND + 1, slot: 0, what: Wire::Read { id: 2, state: 0 } },
            WireRecord { at: 13 * SECOND, slot: 1, what: Wire::GivenUp { id: 1 } },
        ];
        let sheds = judge(&busy, 0.0);
        assert_eq!((sheds[1].shed_ms, sheds[1].busy_ms), (Some(4000.0), 3000.0));
        assert_eq!(sheds[0].busy_ms, 0.0);
    }

    #[test]
    fn a_planted_relapse_is_seen_by_the_window_and_not_forgiven_as_shedding() {
        let sheds =
            judge(&trace(vec![(0, 990.0), (5 * SECOND, 1200.0), (6 * SECOND, 990.0), (10 * SECOND, 700.0)]), 20.0);
        assert_eq!(sheds[0].shed_ms, Some(0.0));
        assert_eq!(sheds[0].highest_mean_above_cap_w.map(f64::round), Some(200.0));
    }

    #[test]
    fn flapping_is_never_quiet() {
        let flapping = (0..40).map(|n| (n * 500_000, if n % 2 == 0 { 1100.0 } else { 700.0 })).collect();
        let sheds = judge(&trace(flapping), 0.0);
        assert_eq!(sheds.len(), 1, "the cap drops before the start is shed");
        assert_eq!(sheds[0].shed_ms, Some(19_500.0), "only the last half second");
    }

    #[test]
    fn what_is_never_shed_is_said() {
        let sheds = judge(&trace(vec![(0, 900.0)]), 20.0);
        assert_eq!((sheds[0].shed_ms, sheds[1].shed_ms), (Some(0.0), None));
        assert_eq!(sheds[1].over_ms, 10_000.0);
    }
}
