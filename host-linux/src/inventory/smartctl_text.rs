//! smartctl's text: the table "Supported Power States" and four lines above it.
//!
//! ```text
//! Supported Power States
//! St Op     Max   Active     Idle   RL RT WL WT  Ent_Lat  Ex_Lat
//!  0 +     8.25W       -        -    0  0  0  0        0       0
//!  4 -   0.0035W       -        -    4  4  4  4     3900   45700
//! ```
//!
//! The layout is the same in every version from 2016 to 7.5. Wide numbers push a row to the right and posts lose
//! leading spaces, so a row is eleven words, not fixed columns. The number of decimals in Max is its scale. The ranks
//! are latency before throughput, the reverse of the descriptor.
//!
//! **Active and Idle are not read.** smartctl takes their scales from the low two bits of descriptor bytes 22 and 18,
//! where the workload and nothing are; the scales are in bits 7:6. So a number there may be off by a factor of 100, and
//! `-` does not mean that the drive reports none.

use std::str::FromStr;

use wattline_core::nvme::{Power, PowerScale, PowerStateDescriptor};
use wattline_core::units::Kelvin;

use super::{Inventory, InventoryError, excerpt, identity, latency, reported, vendor};

const COLUMNS: [&str; 11] = ["St", "Op", "Max", "Active", "Idle", "RL", "RT", "WL", "WT", "Ent_Lat", "Ex_Lat"];

/// Whether the text is smartctl's, with the table or without.
pub(super) fn is_recognised(text: &str) -> bool {
    text.trim_start().starts_with("smartctl ") || text.lines().any(is_header)
}

/// Reads smartctl's text.
pub(super) fn read(text: &str) -> Result<Inventory, InventoryError> {
    let [vendor, subsystem_vendor] = vendors(text);
    let value = |name| field(text, name).map(|(_, value)| value);
    Inventory {
        vendor,
        subsystem_vendor,
        model: value("Model Number").and_then(identity),
        firmware: value("Firmware Version").and_then(identity),
        warning_temperature: temperature(text, "Warning Comp. Temp. Threshold")?,
        critical_temperature: temperature(text, "Critical Comp. Temp. Threshold")?,
        power_states: power_states(text)?,
        ..Inventory::default()
    }
    .checked()
}

/// The lines of a text with their numbers, counted from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()))
}

/// The value of the first line `name: value`, however many spaces are in the name, and the line's number.
fn field<'a>(text: &'a str, name: &str) -> Option<(usize, &'a str)> {
    lines(text).find_map(|(number, line)| {
        let (key, value) = line.split_once(':')?;
        key.split_whitespace().eq(name.split_whitespace()).then_some((number, value.trim()))
    })
}

/// `PCI Vendor/Subsystem ID: 0x15b7` where both are equal, else a line for each. They only serve to recognise a drive,
/// so what is no number is not known.
fn vendors(text: &str) -> [Option<u16>; 2] {
    let number = |name| {
        let (_, value) = field(text, name)?;
        u16::from_str_radix(value.strip_prefix("0x")?, 16).ok().and_then(vendor)
    };
    match number("PCI Vendor/Subsystem ID") {
        Some(both) => [Some(both), Some(both)],
        None => [number("PCI Vendor ID"), number("PCI Vendor Subsystem ID")],
    }
}

/// A threshold: `70 Celsius`. Without one, smartctl leaves the line out or, with debugging output, writes `-`.
fn temperature(text: &str, name: &'static str) -> Result<Option<Kelvin>, InventoryError> {
    let Some((line, value)) = field(text, name).filter(|&(_, value)| value != "-") else { return Ok(None) };
    let celsius = value.strip_suffix("Celsius").and_then(|number| number.trim().parse().ok());
    match celsius.and_then(Kelvin::from_celsius) {
        Some(kelvin) => Ok(reported(Some(kelvin))),
        None => Err(wrong(line, name, format!("{} is not a temperature in Celsius", excerpt(value)))),
    }
}

fn is_header(line: &str) -> bool {
    line.split_whitespace().eq(COLUMNS)
}

/// The table's rows. It ends at an empty line; where a post has lost that, at the first line without a number.
fn power_states(text: &str) -> Result<Vec<PowerStateDescriptor>, InventoryError> {
    let mut rows = lines(text).skip_while(|(_, line)| !is_header(line));
    rows.next().ok_or(InventoryError::SmartctlWithoutTable)?;
    rows.take_while(|(_, line)| line.starts_with(|first: char| first.is_ascii_digit()))
        .enumerate()
        .map(|(state, (line, row))| power_state(state, line, row))
        .collect()
}

fn power_state(state: usize, line: usize, row: &str) -> Result<PowerStateDescriptor, InventoryError> {
    let words: Vec<&str> = row.split_whitespace().collect();
    let [st, op, max, _active, _idle, rl, rt, wl, wt, ent_lat, ex_lat] = words[..] else {
        let problem = format!("a power state has {} columns, but {} has {}", COLUMNS.len(), excerpt(row), words.len());
        return Err(wrong(line, "Supported Power States", problem));
    };
    if number::<usize>(line, "St", st)? != state {
        return Err(wrong(line, "St", format!("power state {st}, but {state} has to follow")));
    }
    Ok(PowerStateDescriptor {
        max_power: max_power(line, max)?,
        non_operational: match op {
            "+" => false,
            "-" => true,
            _ => return Err(wrong(line, "Op", format!("{} is neither + nor -", excerpt(op)))),
        },
        entry_latency: latency(number(line, "Ent_Lat", ent_lat)?),
        exit_latency: latency(number(line, "Ex_Lat", ex_lat)?),
        relative_read_throughput: rank(line, "RT", rt)?,
        relative_read_latency: rank(line, "RL", rl)?,
        relative_write_throughput: rank(line, "WT", wt)?,
        relative_write_latency: rank(line, "WL", wl)?,
        ..PowerStateDescriptor::default()
    })
}

/// `25.00W` is 2500 × 0.01 W, `0.0050W` is 50 × 0.0001 W.
fn max_power(line: usize, word: &str) -> Result<Option<Power>, InventoryError> {
    let not_watts = || wrong(line, "Max", format!("{} is not watts with two or four decimals", excerpt(word)));
    let (whole, decimals) = word.strip_suffix('W').and_then(|watts| watts.split_once('.')).ok_or_else(not_watts)?;
    let scale = match decimals.len() {
        2 => PowerScale::TenMilliwatts,
        4 => PowerScale::TenthMilliwatt,
        _ => return Err(not_watts()),
    };
    Ok(Power::new(number(line, "Max", &format!("{whole}{decimals}"))?, scale))
}

fn rank(line: usize, column: &'static str, word: &str) -> Result<u8, InventoryError> {
    let rank = number(line, column, word)?;
    if rank < 32 { Ok(rank) } else { Err(wrong(line, column, format!("{rank} is too large, at most 31 is possible"))) }
}

/// Digits and nothing else: `parse` alone would take a sign.
fn number<T: FromStr>(line: usize, column: &'static str, word: &str) -> Result<T, InventoryError> {
    let digits = word.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.then(|| word.parse().ok()).flatten();
    number.ok_or_else(|| wrong(line, column, format!("{} is not a number, or too large for its field", excerpt(word))))
}

fn wrong(line: usize, field: &'static str, problem: String) -> InventoryError {
    InventoryError::SmartctlValue { line, field, problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "St Op     Max   Active     Idle   RL RT WL WT  Ent_Lat  Ex_Lat\n";

    #[test]
    fn a_row_is_read_but_for_active_and_idle() {
        let row = format!("{HEADER} 0 -   0.0018W   14.00W   0.0079W   1  2  3  4        0 7000000\n");
        let inventory = read(&row).unwrap();
        assert_eq!((&inventory.model, inventory.warning_temperature), (&None, None));
        let [state] = inventory.power_states[..] else { panic!("one state") };
        assert_eq!(state.max_power, Power::new(18, PowerScale::TenthMilliwatt));
        assert!(state.non_operational);
        assert_eq!((state.relative_read_latency, state.relative_read_throughput), (1, 2));
        assert_eq!((state.relative_write_latency, state.relative_write_throughput), (3, 4));
        assert_eq!((state.entry_latency, state.exit_latency), (None, latency(7_000_000)));
        assert_eq!((state.active_power.power(), state.idle_power.power()), (None, None));
    }

    /// The rows of the table of block sizes start with a number and a sign, too.
    #[test]
    fn the_table_ends_where_its_rows_end() {
        let row = " 0 +     9.00W       -        -    0  0  0  0        0       0\n";
        for rest in
            ["\nSupported LBA Sizes (NSID 0x1)\n 0 +  512  0  0\n", "Supported LBA Sizes\n 0 +  512  0  0\n", ""]
        {
            assert_eq!(read(&format!("{HEADER}{row}{rest}")).unwrap().power_states.len(), 1, "{rest:?}");
        }
    }

    #[test]
    fn a_wrong_value_is_named_with_its_line_and_column() {
        for (row, message) in [
            ("0 + 9.00W - - 0 0 0 0 0", "line 2 of smartctl's output, Supported Power States: a power state has 11"),
            ("1 + 9.00W - - 0 0 0 0 0 0", "line 2 of smartctl's output, St: power state 1, but 0 has to follow"),
            ("0 x 9.00W - - 0 0 0 0 0 0", "line 2 of smartctl's output, Op: \"x\""),
            ("0 + -9.00W - - 0 0 0 0 0 0", "line 2 of smartctl's output, Max: \"-900\""),
            ("0 + 9.0W - - 0 0 0 0 0 0", "line 2 of smartctl's output, Max: \"9.0W\""),
            ("0 + 655.36W - - 0 0 0 0 0 0", "line 2 of smartctl's output, Max: \"65536\""),
            ("0 + 9.00W - - 32 0 0 0 0 0", "line 2 of smartctl's output, RL: 32 is too large"),
            ("0 + 9.00W - - 0 0 0 0 -1 0", "line 2 of smartctl's output, Ent_Lat: \"-1\""),
            ("0 + 9.00W - - 0 0 0 0 0 4294967296", "line 2 of smartctl's output, Ex_Lat: \"4294967296\""),
        ] {
            let error = read(&format!("{HEADER}{row}\n")).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
        let error = read(&format!("Warning  Comp. Temp. Threshold:  hot\n{HEADER}")).unwrap_err().to_string();
        assert!(error.contains("line 1 of smartctl's output, Warning Comp. Temp. Threshold: \"hot\""), "{error}");
        assert!(matches!(read("smartctl 7.3 …"), Err(InventoryError::SmartctlWithoutTable)));
    }
}
