//! The report: one self-contained HTML page.

use maud::{DOCTYPE, html};

use crate::outcome::Outcome;
use crate::rows::Row;
use crate::scenario::Scenario;
use crate::trace::Trace;

/// The page.
#[must_use]
pub fn page(scenario: &Scenario, outcome: &Outcome, _trace: Option<&Trace>, rows: &[Row]) -> String {
    html! {
        (DOCTYPE)
        html lang="en" { head { title { (scenario.name) } } body { p { (outcome.checks.len()) } p { (rows.len()) } } }
    }
    .into_string()
}
