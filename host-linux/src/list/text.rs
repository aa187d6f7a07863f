//! The list for people.

use super::Entry;
use crate::quantity::{power, shown};
use crate::table::{lines, table};

/// One line for each controller. It has no colour and does not depend on the terminal.
#[must_use]
pub fn text(entries: &[Entry]) -> String {
    if entries.is_empty() {
        return "no NVMe controllers\n".into();
    }
    let mut table = table();
    table.set_header(["DEVICE", "MODEL", "SERIAL", "FIRMWARE", "TRANSPORT", "PS NOW", "MP NOW", "STATES"]);
    for entry in entries {
        table.add_row(row(entry));
    }
    format!("{}\n{LEGEND}", lines(&table))
}

const LEGEND: &str = "\
-: not reported, or not to be found out. PS: power state. MP: its maximum power. STATES: all that it
has; (non-operational ones), in which it does no I/O, in brackets.
";

fn row(entry: &Entry) -> [String; 8] {
    let known = &entry.controller;
    let now = entry.power_management.map(|value| value.power_state);
    let descriptor = now.and_then(|state| entry.power_states().get(state.index()));
    [
        entry.device.display().to_string(),
        shown(known.model.clone()),
        shown(known.serial.clone()),
        shown(known.firmware.clone()),
        shown(known.transport.clone()),
        shown(now.map(|state| state.number().to_string())),
        power(descriptor.and_then(|state| state.max_power)),
        shown(states(entry)),
    ]
}

/// `0 1 2 (3) (4)`.
fn states(entry: &Entry) -> Option<String> {
    let states = entry.power_states().iter().enumerate();
    let names: Vec<_> = states
        .map(|(number, state)| if state.non_operational { format!("({number})") } else { number.to_string() })
        .collect();
    (!names.is_empty()).then(|| names.join(" "))
}
