//! The report: one self-contained HTML page, with nothing to load and nothing that runs.
//!
//! | room | what it knows |
//! |---|---|
//! | `figures` | from a trace to charts |
//! | `chart` | axes, lines and strips as SVG |

mod chart;
mod figures;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::check::Check;
use crate::outcome::{Governed, Outcome};
use crate::rows::Row;
use crate::scenario::Scenario;
use crate::trace::Trace;

const STYLE: &str = include_str!("style.css");

/// The page of one run; `rows` are the reference experiment's, where they are to be shown.
#[must_use]
pub fn page(scenario: &Scenario, outcome: &Outcome, trace: Option<&Trace>, rows: &[Row]) -> String {
    let held = outcome.holds();
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Wattline: " (scenario.name) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    p.kicker { "Wattline simulation, seed " (outcome.seed) }
                    h1 { (scenario.name) }
                    p { (scenario.description) }
                    p.verdict.good[held].bad[!held] { @if held { "Everything held" } @else { "Not everything held" } }
                }
                main {
                    @if let Some(governed) = &outcome.governed { (summary(outcome, governed)) }
                    @if let Some(trace) = trace { (figures::all(trace, outcome.governed.as_ref())) }
                    @if !outcome.checks.is_empty() { (checks(&outcome.checks)) }
                    @if let Some(governed) = &outcome.governed { (disturbances(governed)) (alarms(governed)) }
                    @if !rows.is_empty() { (article(rows)) }
                }
                footer {
                    p {
                        "All figures are simulated: a model calibrated on one published experiment. Watts are those of the "
                        "server's own meter; the true ones are known to the simulator only."
                    }
                }
            }
        }
    }
    .into_string()
}

fn summary(outcome: &Outcome, governed: &Governed) -> Markup {
    let best = outcome.optimum.and_then(|optimum| optimum.gb_s);
    let measured = outcome.optimum.and_then(|optimum| optimum.gb_s_measured);
    let share = |best: f64| format!("{:.1} % of the exact optimum, {best:.1} GB/s", governed.gb_s / best * 100.0);
    let note = match (best, measured) {
        (Some(best), Some(measured)) if best < measured => {
            format!("{}, by nameplate figures; {}, by measured ones", share(best), share(measured))
        }
        (Some(best), _) => share(best),
        (None, _) => String::new(),
    };
    html! {
        section aria-label="Summary" {
            dl.tiles {
                (tile("Cap", &format!("{:.0} W", governed.cap_w), &format!("margin {:.1} W", governed.margin_w)))
                (tile(
                    "Highest second",
                    &number(governed.max_1s_w, 1, " W"),
                    &format!("after shedding; mean {:.1} W", governed.mean_w),
                ))
                (tile("First shedding", &number(governed.shed_ms, 0, " ms"), "until the watts stayed at or below the cap"))
                (tile(
                    "Throughput",
                    &format!("{:.1} GB/s", governed.gb_s),
                    &note,
                ))
                @if let Some(uniform) = outcome.uniform {
                    (tile(
                        "Best single state",
                        &format!("{:.1} GB/s", uniform.gb_s),
                        &format!("all drives in PS{}", uniform.ps),
                    ))
                }
                (tile(
                    "Transitions",
                    &format!("{:.0}", governed.transitions_per_drive_hour),
                    "per drive and hour",
                ))
            }
        }
    }
}

fn tile(name: &str, value: &str, note: &str) -> Markup {
    html! { div { dt { (name) } dd { (value) } dd.note { (note) } } }
}

fn checks(checks: &[Check]) -> Markup {
    html! {
        section {
            h2 { "Checks" }
            table {
                thead { tr { th scope="col" { "check" } th scope="col" { "held" } th scope="col" { "by what figures" } } }
                tbody {
                    @for check in checks {
                        tr {
                            th scope="row" { (check.name) }
                            td { span.mark.good[check.ok].bad[!check.ok] { @if check.ok { "yes" } @else { "no" } } }
                            td { (check.detail) }
                        }
                    }
                }
            }
        }
    }
}

fn disturbances(governed: &Governed) -> Markup {
    html! {
        section {
            h2 { "Disturbances" }
            table.numbers {
                thead {
                    tr {
                        th scope="col" { "what" } th scope="col" { "at s" } th scope="col" { "shed in ms" }
                        th scope="col" { "highest W over the cap" } th scope="col" { "ms over the cap" }
                        th scope="col" { "highest W above cap − margin" } th scope="col" { "ms above cap − margin" }
                    }
                }
                tbody {
                    @for shed in &governed.sheds {
                        tr {
                            th scope="row" { (shed.cause) }
                            td { (format!("{:.1}", shed.at_s)) }
                            td { (number(shed.shed_ms, 0, "")) }
                            td { (format!("{:.1}", shed.over_w)) }
                            td { (format!("{:.0}", shed.over_ms)) }
                            td { (format!("{:.1}", shed.into_margin_w)) }
                            td { (format!("{:.0}", shed.into_margin_ms)) }
                        }
                    }
                }
            }
        }
    }
}

fn alarms(governed: &Governed) -> Markup {
    html! {
        @if !governed.alarms.is_empty() {
            section {
                h2 { "Alarms" }
                table {
                    thead { tr { th scope="col" { "at s" } th scope="col" { "" } th scope="col" { "alarm" } } }
                    tbody {
                        @for alarm in &governed.alarms {
                            tr {
                                td { (format!("{:.3}", alarm.at_s)) }
                                td { @if alarm.raised { "raised" } @else { "over" } }
                                td { (alarm.alarm) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn article(rows: &[Row]) -> Markup {
    html! {
        section {
            h2 { "The reference experiment, repeated" }
            table.numbers {
                thead {
                    tr {
                        th scope="col" { "row" } th scope="col" { "article W" } th scope="col" { "simulated W" }
                        th scope="col" { "article GB/s" } th scope="col" { "simulated GB/s" }
                    }
                }
                tbody {
                    @for row in rows {
                        tr {
                            th scope="row" { (row.title()) }
                            td { (format!("{:.0}", row.article_w)) }
                            td { (format!("{:.1}", row.simulated_w)) }
                            td { (number(row.article_gb_s, 1, "")) }
                            td { (number(row.simulated_gb_s, 2, "")) }
                        }
                    }
                }
            }
        }
    }
}

fn number(value: Option<f64>, decimals: usize, unit: &str) -> String {
    value.map_or("-".into(), |value| format!("{value:.decimals$}{unit}"))
}
