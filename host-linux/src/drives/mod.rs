//! The subcommand `drives`: the catalogue that the program carries.

use comfy_table::CellAlignment;
use serde::Serialize;

use crate::catalogue::{ATTRIBUTION, Entry, drives, matching};
use crate::outcome::{Complaint, Exit, Outcome};
use crate::quantity::{power, shown};
use crate::table::{lines, table};

/// List the drives whose power tables the program carries.
///
/// Their names, on the left, are for `--drive` of `show`, `apst build` and `apst explain`. One model can have many
/// tables: firmware matters.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Only drives with each of these words in their name, model or firmware
    #[arg(value_name = "PATTERN")]
    pattern: Vec<String>,
    /// Write JSON instead of text
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  Which Samsung 970 there are:
    wattline drives samsung 970
  One of them:
    wattline show --drive samsung-ssd-970-evo-plus-500gb-2b2qexm7

STATES counts operational and non-operational power states. MP is the power of PS0; LOWEST the
smallest of a non-operational state. `-` was not posted.

Exit status: 0 on success, 2 where no drive matches.";

/// Lists what the arguments ask for.
#[must_use]
pub fn run(arguments: &Arguments) -> Outcome {
    let pattern = arguments.pattern.join(" ");
    let found = matching(&pattern);
    if found.is_empty() {
        let what = format!("no drive in the catalogue matches '{pattern}'");
        let help = "`wattline drives` lists all; a pattern is parts of names, in whatever case";
        return Outcome::failed(Complaint::error(what, help), Exit::WrongInput);
    }
    Outcome { output: if arguments.json { json(&found) } else { text(&found) }, ..Outcome::default() }
}

fn text(found: &[&Entry]) -> String {
    let mut table = table();
    table.set_header(["NAME", "MODEL", "FIRMWARE", "STATES", "MP", "LOWEST"]);
    for entry in found {
        table.add_row(row(entry));
    }
    for column in table.column_iter_mut().skip(3) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!("{}\n{} of {} drives. {ATTRIBUTION}", lines(&table), found.len(), drives().len())
}

fn row(entry: &Entry) -> [String; 6] {
    let (idle, operational): (Vec<_>, Vec<_>) = entry.states().partition(|state| state.non_operational);
    let first = operational.first().and_then(|state| state.max_power);
    let lowest = idle.iter().filter_map(|state| state.max_power).min_by_key(|power| power.tenths_of_milliwatt());
    [
        entry.id.clone(),
        entry.model.clone(),
        shown(entry.firmware.clone()),
        format!("{} + {}", operational.len(), idle.len()),
        power(first),
        power(lowest),
    ]
}

#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    model: &'a str,
    firmware: Option<&'a str>,
    states: usize,
    non_operational: usize,
    source: &'a str,
}

impl<'a> From<&&'a Entry> for Listed<'a> {
    fn from(entry: &&'a Entry) -> Self {
        Self {
            name: &entry.id,
            model: &entry.model,
            firmware: entry.firmware.as_deref(),
            states: entry.states().count(),
            non_operational: entry.states().filter(|state| state.non_operational).count(),
            source: &entry.source,
        }
    }
}

fn json(found: &[&Entry]) -> String {
    let listed: Vec<Listed<'_>> = found.iter().map(Listed::from).collect();
    // Strings and numbers have a JSON form, so this cannot fail.
    let text = serde_json::to_string_pretty(&listed).unwrap_or_default();
    format!("{text}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_names_whom_its_licence_asks_for() {
        let all: Vec<&Entry> = drives().iter().collect();
        let text = text(&all);
        for word in ["bsdhw/SMART", "linuxhw/EnterpriseDrive", "CC BY 4.0", "594 of 594 drives"] {
            assert!(text.contains(word), "{word}");
        }
        assert_eq!(json(&all).matches("\"source\": ").count(), 594);
    }
}
