//! Axes, lines and strips as SVG. A chart has a fixed size in its own units and grows with the page.

use std::fmt::Write;

use maud::{Markup, PreEscaped, html};

use crate::time::{Micros, seconds};
use crate::trace::Step;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 30.0;

/// A span of virtual time that a chart shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) from: Micros,
    pub(super) to: Micros,
}

impl Span {
    fn x(self, at: Micros) -> f64 {
        let share = seconds(at.saturating_sub(self.from)) / seconds((self.to - self.from).max(1));
        LEFT + share.min(1.0) * (WIDTH - LEFT - RIGHT)
    }
}

/// A line of a chart: its name in the legend, its class in the style sheet, and its steps.
pub(super) struct Line<'a> {
    pub(super) name: &'a str,
    pub(super) class: &'a str,
    pub(super) steps: Vec<Step<f64>>,
}

/// Lines over time.
pub(super) fn lines(title: &str, unit: &str, span: Span, lines: &[Line<'_>]) -> Markup {
    const HEIGHT: f64 = 260.0;
    let shown: Vec<Vec<Step<f64>>> = lines.iter().map(|line| clip(&line.steps, span)).collect();
    let values = || shown.iter().flatten().map(|step| step.1).filter(|value| value.is_finite());
    let scale = Scale::around(values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let y = |value: f64| TOP + (scale.high - value) / (scale.high - scale.low) * (HEIGHT - TOP - BOTTOM);
    let legend: Vec<(&str, &str)> = lines.iter().map(|line| (line.class, line.name)).collect();
    let plot = html! {
        @for tick in scale.ticks() {
            line.grid x1=(LEFT) x2=(WIDTH - RIGHT) y1=(round(y(tick))) y2=(round(y(tick))) {}
            text.tick x=(LEFT - 8.0) y=(round(y(tick) + 4.0)) text-anchor="end" { (scale.label(tick)) }
        }
        @for (line, steps) in lines.iter().zip(&shown) {
            path class=(format!("line {}", line.class)) d=(path(steps, span, y)) {}
        }
    };
    figure(title, unit, HEIGHT, span, &legend, &plot)
}

/// One strip for each row, coloured by what it is in.
pub(super) fn strips(title: &str, span: Span, rows: &[Vec<Step<String>>], legend: &[(&str, &str)]) -> Markup {
    const ROW: f64 = 14.0;
    let height = TOP + BOTTOM + ROW * rows.len() as f64;
    let plot = html! {
        @for (slot, steps) in rows.iter().enumerate() {
            @let top = TOP + ROW * slot as f64;
            text.tick x=(LEFT - 8.0) y=(round(top + ROW - 3.5)) text-anchor="end" { (slot) }
            @for (step, end) in steps.iter().zip(steps.iter().skip(1).map(|step| step.0).chain([span.to])) {
                @let (left, right) = (span.x(step.0), span.x(end));
                rect class=(step.1) x=(round(left)) y=(round(top + 1.0)) width=(round((right - left).max(0.3))) height=(ROW - 2.0) {}
            }
        }
    };
    figure(title, "drive", height, span, legend, &plot)
}

fn figure(title: &str, unit: &str, height: f64, span: Span, legend: &[(&str, &str)], plot: &Markup) -> Markup {
    let time = Scale::around(seconds(span.from), seconds(span.to));
    let ticks = time.ticks().into_iter().filter(|tick| *tick >= seconds(span.from) && *tick <= seconds(span.to));
    let label = format!("{title}, in {unit}, from {:.0} s to {:.0} s", seconds(span.from), seconds(span.to));
    html! {
        figure {
            figcaption {
                span.title { (title) }
                span.legend {
                    @for (class, name) in legend { span.key { span class=(format!("swatch {class}")) {} (name) } }
                }
            }
            svg role="img" aria-label=(label) viewBox=(format!("0 0 {WIDTH} {}", round(height))) {
                @for tick in ticks {
                    @let x = round(span.x(crate::time::micros(tick)));
                    line.grid x1=(x) x2=(x) y1=(TOP) y2=(round(height - BOTTOM)) {}
                    text.tick x=(x) y=(round(height - BOTTOM + 16.0)) text-anchor="middle" { (time.label(tick)) " s" }
                }
                text.tick x="0" y=(TOP + 4.0) { (unit) }
                (plot)
            }
        }
    }
}

/// The part of a record that lies in a span, beginning at its start.
pub(super) fn clip<T: Clone>(steps: &[Step<T>], span: Span) -> Vec<Step<T>> {
    let first = steps.partition_point(|step| step.0 <= span.from).saturating_sub(1);
    let inside = steps[first.min(steps.len())..].iter().take_while(|step| step.0 < span.to);
    inside.map(|(at, value)| ((*at).max(span.from), value.clone())).collect()
}

/// A stepped line. Where many steps fall into one column, only that column's extent is drawn.
fn path(steps: &[Step<f64>], span: Span, y: impl Fn(f64) -> f64) -> PreEscaped<String> {
    let mut d = String::new();
    let mut column: Option<Column> = None;
    for &(at, value) in steps {
        let x = round(span.x(at));
        match &mut column {
            Some(column) if column.x == x => column.add(value),
            _ => {
                if let Some(full) = column.replace(Column { x, low: value, high: value, last: value }) {
                    full.draw(&mut d, &y);
                    let _ = write!(d, "H{x}");
                } else {
                    let _ = write!(d, "M{x} {}", round(y(value)));
                }
            }
        }
    }
    if let Some(full) = column {
        full.draw(&mut d, &y);
        let _ = write!(d, "H{}", round(span.x(span.to)));
    }
    PreEscaped(d)
}

/// All steps that share an x.
struct Column {
    x: f64,
    low: f64,
    high: f64,
    last: f64,
}

impl Column {
    fn add(&mut self, value: f64) {
        (self.low, self.high, self.last) = (self.low.min(value), self.high.max(value), value);
    }

    fn draw(&self, d: &mut String, y: impl Fn(f64) -> f64) {
        let _ = write!(d, "V{}", round(y(self.low)));
        if self.high > self.low {
            let _ = write!(d, "V{}V{}", round(y(self.high)), round(y(self.last)));
        }
    }
}

/// An axis with round numbers.
struct Scale {
    low: f64,
    high: f64,
    step: f64,
}

impl Scale {
    fn around(low: f64, high: f64) -> Self {
        let (low, high) = if low.is_finite() && high.is_finite() { (low, high) } else { (0.0, 1.0) };
        let span = (high - low).max(1e-3);
        let magnitude = libm::pow(10.0, libm::floor(libm::log10(span / 5.0)));
        let step = [1.0, 2.0, 5.0, 10.0].map(|round| round * magnitude).into_iter().find(|step| span / step <= 6.0);
        let step = step.unwrap_or(10.0 * magnitude);
        let (low, high) = (libm::floor(low / step) * step, libm::ceil(high / step) * step);
        Self { low, high: if high > low { high } else { low + step }, step }
    }

    fn ticks(&self) -> Vec<f64> {
        let count = libm::round((self.high - self.low) / self.step);
        let numbers = std::iter::successors(Some(0.0), |n| Some(n + 1.0)).take_while(|n| *n <= count);
        numbers.map(|n| self.low + n * self.step).collect()
    }

    fn label(&self, tick: f64) -> String {
        if self.step >= 1.0 { format!("{tick:.0}") } else { format!("{tick:.1}") }
    }
}

/// To a tenth of the chart's unit.
fn round(length: f64) -> f64 {
    libm::round(length * 10.0) / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_numbers_that_hold_the_values() {
        for (low, high) in [(594.0, 1089.0), (0.0, 0.4), (726.0, 726.0), (-3.0, 17.0)] {
            let scale = Scale::around(low, high);
            assert!(scale.low <= low && scale.high >= high, "{low} {high}");
            assert!((2..=8).contains(&scale.ticks().len()), "{low} {high}: {:?}", scale.ticks());
        }
    }

    #[test]
    fn a_clipped_record_begins_with_what_held_before() {
        let steps = [(0, 'a'), (10, 'b'), (20, 'c')];
        assert_eq!(clip(&steps, Span { from: 15, to: 20 }), [(15, 'b')]);
        assert_eq!(clip(&steps, Span { from: 0, to: 11 }), [(0, 'a'), (10, 'b')]);
    }

    #[test]
    fn a_crowded_column_shows_its_extent() {
        let span = Span { from: 0, to: 1_000_000_000 };
        let steps = [(0, 1.0), (1, 9.0), (2, 5.0), (500_000_000, 2.0)];
        assert_eq!(path(&steps, span, |value| value).0, "M64 1V1V9V5H504V2H944");
    }
}
