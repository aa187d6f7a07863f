//! The inventory for people: what the drive is, what it can do by itself, and its power states as a table.

use comfy_table::CellAlignment;
use wattline_core::nvme::PowerStateDescriptor;

use crate::inventory::Inventory;
use crate::quantity::{NOT_REPORTED, ability, power, shown, temperature, time};
use crate::table::{lines, table};

/// The inventory as text. It has no colour and does not depend on the terminal.
#[must_use]
pub fn text(inventory: &Inventory) -> String {
    [&header(inventory), &states(inventory), LEGEND].join("\n")
}

const LEGEND: &str = "\
-: not reported by the drive, or not in the input. RRT, RRL, RWT, RWL: rank in read throughput,
read latency, write throughput, write latency; 0 is the best. Idle power is typical over 30 s,
active power the highest average over 10 s of a workload.
";

fn header(inventory: &Inventory) -> String {
    let rows = [
        ("MN", "model", shown(inventory.model.clone())),
        ("FR", "firmware", shown(inventory.firmware.clone())),
        ("APSTA", "autonomous power state transitions", ability(inventory.apst_supported)),
        ("HCTMA", "host controlled thermal management", ability(inventory.hctm_supported)),
        ("MNTMT, MXTMT", "its lowest and highest temperature", thermal_management_range(inventory)),
        ("WCTEMP", "warning temperature", temperature(inventory.warning_temperature)),
        ("CCTEMP", "critical temperature", temperature(inventory.critical_temperature)),
        ("RTD3R", "runtime D3 resume latency", time(inventory.rtd3_resume_latency)),
        ("RTD3E", "runtime D3 entry latency", time(inventory.rtd3_entry_latency)),
    ];
    let mut table = table();
    for (mnemonic, name, value) in rows {
        table.add_row([mnemonic, name, &value]);
    }
    lines(&table)
}

fn thermal_management_range(inventory: &Inventory) -> String {
    match (inventory.min_thermal_management_temperature, inventory.max_thermal_management_temperature) {
        (None, None) => NOT_REPORTED.to_owned(),
        (lowest, highest) => format!("{} to {}", temperature(lowest), temperature(highest)),
    }
}

/// The columns: mnemonic over name. The ranks' names are in the legend, so that the table keeps to 100 columns.
const COLUMNS: [&str; 11] = [
    "PS",
    "NOPS\nkind",
    "MP\nmaximum\npower",
    "IDLP\nidle\npower",
    "ACTP\nactive\npower",
    "ENLAT\nentry\nlatency",
    "EXLAT\nexit\nlatency",
    "RRT",
    "RRL",
    "RWT",
    "RWL",
];

fn states(inventory: &Inventory) -> String {
    let mut table = table();
    table.set_header(COLUMNS);
    for (number, state) in inventory.power_states.iter().enumerate() {
        table.add_row(row(number, state));
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    lines(&table)
}

fn row(number: usize, state: &PowerStateDescriptor) -> [String; COLUMNS.len()] {
    [
        number.to_string(),
        if state.non_operational { "non-operational" } else { "operational" }.to_owned(),
        power(state.max_power),
        power(state.idle_power.power()),
        power(state.active_power.power()),
        time(state.entry_latency),
        time(state.exit_latency),
        state.relative_read_throughput.to_string(),
        state.relative_read_latency.to_string(),
        state.relative_write_throughput.to_string(),
        state.relative_write_latency.to_string(),
    ]
}
