//! Whether a profile's quantities can be right.
//!
//! The limits do not judge plausibility. They keep sums over many drives within the core's quantities, and they catch
//! a figure in the wrong unit.

use toml::de::{DeTable, DeValue};
use wattline_core::nvme::PowerState;
use wattline_core::profile::{Profile, Work};

use super::error::{ProfileError, line_of};
use crate::input::Input;

/// Most milliwatts of one drive. NVMe's own field ends at 655.35 W, and the chassis adds to it; 1 kW is a guess.
const DRIVE_MW: u64 = 1_000_000;
/// Most milliwatts of a server without drives: what the command line takes as watts, 100 kW.
const SERVER_MW: u64 = 100_000_000;
/// Most bytes per second of one drive: 1 TB/s, about four times what 16 lanes of PCIe 7.0 carry.
const DRIVE_BYTES_PER_SECOND: u64 = 1_000_000_000_000;
/// Most gigabytes of one drive: 1 EB, thousands of the largest that are sold. A guess.
const DRIVE_GB: u64 = 1_000_000_000;

/// One step of a path into TOML.
#[derive(Clone, Copy, Debug)]
enum Step {
    Key(&'static str),
    Index(usize),
}
use Step::{Index, Key};

/// A value that cannot be right.
#[derive(Debug)]
pub(super) struct Unsound {
    path: Vec<Step>,
    problem: String,
}

/// Checks each quantity that is given.
pub(super) fn check(profile: &Profile) -> Result<(), Unsound> {
    if profile.name.chars().any(char::is_control) {
        return Err(Unsound { path: vec![Key("name")], problem: "has a character that cannot be printed".into() });
    }
    if profile.states.is_empty() {
        return Err(wrong_count(0));
    }
    within(profile.capacity_gb.map(u64::from), DRIVE_GB, &[Key("capacity_gb")])?;
    let base = profile.reference_base.map(|base| u64::from(base.get()));
    within(base, SERVER_MW, &[Key("reference_base_mw")])?;
    for (number, state) in profile.states.iter().enumerate() {
        for work in Work::ALL {
            let path = [Key("states"), Index(number), Key("measured"), Key(work.name())];
            let Some(measured) = state.measured[work] else { continue };
            let figures = [
                (u64::from(measured.power.get()), DRIVE_MW, "power_mw"),
                (measured.throughput.get(), DRIVE_BYTES_PER_SECOND, "bytes_per_second"),
            ];
            for (value, most, key) in figures {
                within(Some(value), most, &[path.as_slice(), &[Key(key)]].concat())?;
            }
        }
    }
    Ok(())
}

/// Whether there are more states than a profile can hold, for which serde has no good words.
pub(super) fn too_many_states(text: &str) -> Option<Unsound> {
    let table = DeTable::parse(text).ok()?;
    let count = table.get_ref().get("states")?.get_ref().as_array()?.len();
    (count > PowerState::COUNT).then(|| wrong_count(count))
}

fn wrong_count(count: usize) -> Unsound {
    let problem = format!("has {count} power states, but a drive has 1 to {}", PowerState::COUNT);
    Unsound { path: vec![Key("states")], problem }
}

fn within(value: Option<u64>, most: u64, path: &[Step]) -> Result<(), Unsound> {
    match value {
        Some(value) if value == 0 || value > most => {
            Err(Unsound { path: path.to_vec(), problem: format!("is {value}, but can be 1 to {most}") })
        }
        _ => Ok(()),
    }
}

impl Unsound {
    /// The error, with the line on which the value stands.
    pub(super) fn located(self, input: &Input, text: &str) -> ProfileError {
        let position = position(text, &self.path).unwrap_or_default();
        let line = line_of(text.as_bytes(), position);
        ProfileError::Unsound { input: input.clone(), line, key: dotted(&self.path), problem: self.problem }
    }
}

/// Where the value at a path begins.
fn position(text: &str, path: &[Step]) -> Option<usize> {
    let table = DeTable::parse(text).ok()?;
    let (Key(first), rest) = path.split_first()? else { return None };
    let start = table.get_ref().get(*first)?;
    let found = rest.iter().try_fold(start, |value, step| match (value.get_ref(), step) {
        (DeValue::Table(table), Key(key)) => table.get(*key),
        (DeValue::Array(array), Index(index)) => array.get(*index),
        _ => None,
    })?;
    Some(found.span().start)
}

fn dotted(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Key(key) if text.is_empty() => text.push_str(key),
            Key(key) => text.extend([".", key]),
            Index(index) => text.push_str(&format!("[{index}]")),
        }
    }
    text
}
