//! Tables for people: aligned by spaces alone, without colour, the same on every terminal.

use std::fmt::Write;

use comfy_table::{ContentArrangement, Table, presets};

/// What a person sees where something is not known.
pub(crate) const NOT_REPORTED: &str = "-";

/// The text, or the sign for what is not known.
pub(crate) fn shown(text: Option<String>) -> String {
    text.unwrap_or_else(|| NOT_REPORTED.to_owned())
}

/// An empty table.
pub(crate) fn table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table
}

/// The table without the space around it.
pub(crate) fn lines(table: &Table) -> String {
    let mut text = String::new();
    for line in table.lines() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}
