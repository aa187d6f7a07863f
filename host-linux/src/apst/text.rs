//! A table, and why, for people.

use std::fmt::Write;

use wattline_core::apst::Tolerance;

use super::question::Built;
use super::sentence::{answer, reason, reckoning, way};
use crate::quantity::{shown, time};
use crate::table::{lines, table};

/// The table: what is entered from where, after how long.
pub(super) fn build(built: &Built) -> String {
    let mut text = header(built);
    if !built.plan.table.is_empty() {
        let mut table = table();
        table.set_header(["FROM", "ITPS\nto", "ITPT\nafter"]);
        for (source, transition) in built.plan.table.transitions() {
            table.add_row([
                source.to_string(),
                transition.target().to_string(),
                format!("{} ms", transition.idle_milliseconds()),
            ]);
        }
        text.push('\n');
        text.push_str(&lines(&table));
    }
    text
}

/// One line for each state.
pub(super) fn explain(built: &Built) -> String {
    let mut text = header(built);
    let mut table = table();
    for verdict in &built.plan.states {
        table.add_row([verdict.state.to_string(), reason(built, verdict)]);
    }
    text.push('\n');
    text.push_str(&lines(&table));
    if !built.ways.is_empty() {
        text.push('\n');
    }
    for remedy in &built.ways {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", way(built, remedy));
    }
    text
}

fn header(built: &Built) -> String {
    let model = shown(built.inventory.model.clone());
    let mut text = format!("{model}, firmware {}\n", shown(built.inventory.firmware.clone()));
    let tolerance = match built.tolerance {
        Some(Tolerance::Unlimited) => "any tolerance".to_owned(),
        Some(Tolerance::AtMost(limit)) if limit.get() == 0 => "no tolerance".to_owned(),
        Some(Tolerance::AtMost(limit)) => format!("a tolerance of {}", time(Some(limit))),
        None => "the scheme's tolerances".to_owned(),
    };
    let _ = writeln!(text, "policy {}, {tolerance}", built.policy);
    let _ = writeln!(text, "autonomous transitions: {}", answer(built));
    if built.inventory.apst_supported.is_none() {
        text.push_str("whether the drive has them is not in the input (APSTA): built as if it had\n");
    }
    if let Some(reckoning) = reckoning(built) {
        let _ = writeln!(text, "{reckoning}");
    }
    for quirk in &built.quirks {
        let _ = writeln!(text, "{quirk}");
    }
    text
}
