//! From a trace to charts.

use maud::{Markup, html};

use super::chart::{Line, Span, clip, lines, strips};
use crate::check::shed::Shed;
use crate::outcome::Governed;
use crate::time::{Micros, SECOND, micros};
use crate::trace::{Sample, Step, Trace};

/// Power states from this one on share a colour.
const COLOURS: usize = 4;

/// Every chart of a run.
pub(super) fn all(trace: &Trace, governed: Option<&Governed>) -> Markup {
    let whole = Span { from: 0, to: trace.duration };
    let sample = |value: fn(&Sample) -> f64| held_before(trace.samples.iter().map(|s| (s.at, value(s))));
    html! {
        section {
            h2 { "Power" }
            (power("Watts at the wall", trace, whole))
            @for shed in governed.map(|governed| worst(&governed.sheds)).unwrap_or_default() {
                @let at = micros(shed.at_s);
                @let span = Span { from: at.saturating_sub(SECOND), to: (at + 4 * SECOND).min(trace.duration) };
                (power(&format!("Close up: {}", shed.cause), trace, span))
            }
        }
        @if !trace.states.is_empty() {
            section {
                h2 { "Drives" }
                (states(trace, whole))
                (lines("Throughput", "GB/s", whole, &[
                    Line { name: "writing", class: "second", steps: sample(|s| s.write_gb_s) },
                    Line { name: "reading", class: "first", steps: sample(|s| s.read_gb_s) },
                ]))
                (lines("Temperature of the hottest drive", "°C", whole, &[
                    Line { name: "composite", class: "second", steps: sample(|s| s.composite_c) },
                    Line { name: "case (touch)", class: "first", steps: sample(|s| s.case_c) },
                ]))
            }
        }
    }
}

fn power(title: &str, trace: &Trace, span: Span) -> Markup {
    let mut drawn = vec![
        Line { name: "meter", class: "meter", steps: held_before(trace.meter_w.iter().copied()) },
        Line { name: "true", class: "first", steps: trace.power_w.clone() },
    ];
    if !trace.cap_w.is_empty() {
        drawn.push(Line { name: "cap", class: "cap", steps: trace.cap_w.clone() });
    }
    lines(title, "W", span, &drawn)
}

/// What was measured at the end of a second held during it.
fn held_before(readings: impl Iterator<Item = Step<f64>>) -> Vec<Step<f64>> {
    readings.map(|(at, value)| (at.saturating_sub(SECOND), value)).collect()
}

/// The three disturbances that took the power highest above cap − margin, in the order of time.
fn worst(sheds: &[Shed]) -> Vec<&Shed> {
    let mut over: Vec<&Shed> = sheds.iter().filter(|shed| shed.into_margin_w > 0.0).collect();
    over.sort_by(|a, b| b.into_margin_w.total_cmp(&a.into_margin_w));
    over.truncate(3);
    over.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    over
}

fn states(trace: &Trace, span: Span) -> Markup {
    let class = |state: Option<usize>| state.map_or("none".into(), |ps| format!("ps{}", ps.min(COLOURS - 1)));
    let row = |steps: &Vec<Step<Option<usize>>>| -> Vec<Step<String>> {
        clip(steps, span).into_iter().map(|(at, state): (Micros, _)| (at, class(state))).collect()
    };
    let rows: Vec<_> = trace.states.iter().map(row).collect();
    let highest = trace.states.iter().flatten().filter_map(|step| step.1).max().unwrap_or(0);
    let names = [("ps0", "PS0"), ("ps1", "PS1"), ("ps2", "PS2"), ("ps3", "PS3 and higher")];
    let mut legend = names[..=highest.min(COLOURS - 1)].to_vec();
    if trace.states.iter().flatten().any(|step| step.1.is_none()) {
        legend.push(("none", "resetting or gone"));
    }
    strips("Power state of each drive", span, &rows, &legend)
}
