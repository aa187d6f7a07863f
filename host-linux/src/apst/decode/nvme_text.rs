//! The text of `nvme get-feature -f 0x0c -H`.
//!
//! ```text
//! get-feature:0x0c (Autonomous Power State Transition), Current value:0x00000001
//!     Autonomous Power State Transition Enable (APSTE): Enabled
//!     Auto PST Entries    .................
//!     Entry[ 0]
//!     .................
//!     Idle Time Prior to Transition (ITPT): 100 ms
//!     Idle Transition Power State   (ITPS): 3
//! ```
//!
//! The words are the same in every version; spaces and rules between them are not. Posts often end after the entries
//! that matter, so entries that are not there are empty.

use wattline_core::nvme::PowerState;
use wattline_core::nvme::feature::autonomous_transitions::Transition;

use super::Held;
use crate::inventory::excerpt;

/// Whether the text is about the feature.
pub(super) fn is_recognised(text: &str) -> bool {
    text.contains("(ITPT)") || text.contains("(APSTE)") || text.contains("(Autonomous Power State Transition)")
}

/// Reads the text.
pub(super) fn read(text: &str) -> Result<Held, String> {
    let mut held = Held { enabled: None, entries: [0; PowerState::COUNT] };
    let mut entry: Option<Entry> = None;
    let mut has_entries = false;
    for (index, line) in text.lines().enumerate() {
        let at = |problem: String| format!("line {}: {problem}", index + 1);
        if line.contains("(APSTE)") {
            held.enabled = Some(enabled(line).map_err(at)?);
        } else if let Some((_, rest)) = line.split_once("Entry[") {
            finish(&mut held, entry.take())?;
            has_entries = true;
            let number = rest.split(']').next().unwrap_or_default();
            entry = Some(Entry { source: state(number).map_err(at)?, time: None, target: None });
        } else if line.contains("(ITPT)") {
            let entry = entry.as_mut().ok_or_else(|| at("an idle time before the first entry".to_owned()))?;
            entry.time = Some(time(value(line)).map_err(at)?);
        } else if line.contains("(ITPS)") {
            let entry = entry.as_mut().ok_or_else(|| at("a power state before the first entry".to_owned()))?;
            entry.target = Some(state(value(line)).map_err(at)?);
        }
    }
    finish(&mut held, entry)?;
    if has_entries { Ok(held) } else { Err("nvme-cli's text without its entries: it writes them with `-H`".to_owned()) }
}

struct Entry {
    source: PowerState,
    time: Option<u32>,
    target: Option<PowerState>,
}

/// An entry whose values were cut off would read as no transition, so that is an error.
fn finish(held: &mut Held, entry: Option<Entry>) -> Result<(), String> {
    let Some(Entry { source, time, target }) = entry else { return Ok(()) };
    let (Some(time), Some(target)) = (time, target) else {
        return Err(format!("the text ends, or goes on, before the time and the state of entry {}", source.number()));
    };
    held.entries[source.index()] = u64::from(target.number()) << 3 | u64::from(time) << 8;
    Ok(())
}

fn value(line: &str) -> &str {
    line.rsplit(':').next().unwrap_or_default().trim()
}

fn enabled(line: &str) -> Result<bool, String> {
    match value(line) {
        "Enabled" => Ok(true),
        "Disabled" => Ok(false),
        other => Err(format!("{} is neither Enabled nor Disabled", excerpt(other))),
    }
}

fn state(text: &str) -> Result<PowerState, String> {
    let number = text.trim().parse().ok().and_then(PowerState::new);
    number.ok_or_else(|| format!("{} is not the number of a power state", excerpt(text)))
}

fn time(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix("ms").unwrap_or(text).trim().parse().ok();
    let fits = number.filter(|time| *time <= Transition::LONGEST_IDLE_TIME);
    fits.ok_or_else(|| format!("{} is not a time in milliseconds, or too long for its field", excerpt(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "\tAutonomous Power State Transition Enable (APSTE): Enabled\n\
        \tEntry[ 3]   \n\t.................\n\
        \tIdle Time Prior to Transition (ITPT): 8500 ms\n\tIdle Transition Power State   (ITPS): 4\n";

    #[test]
    fn an_entry_is_read_and_the_others_are_empty() {
        let held = read(ONE).unwrap();
        assert_eq!((held.enabled, held.entries[3]), (Some(true), 0x0021_3420));
        assert_eq!(held.entries.iter().filter(|entry| **entry != 0).count(), 1);
        let off = read(&ONE.replace("Enabled", "Disabled")).unwrap();
        assert_eq!(off.enabled, Some(false));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (from, to, problem) in [
            ("Enabled", "Perhaps", "line 1: \"Perhaps\" is neither Enabled nor Disabled"),
            ("[ 3]", "[32]", "line 2: \"32\" is not the number of a power state"),
            ("8500", "-1", "line 4: \"-1 ms\" is not a time in milliseconds, or too long for its field"),
            ("8500", "16777216", "line 4: \"16777216 ms\" is not a time in milliseconds, or too long for its field"),
            ("): 4", "): 40", "line 5: \"40\" is not the number of a power state"),
            ("\tEntry[ 3]   \n", "", "line 3: an idle time before the first entry"),
        ] {
            assert_eq!(read(&ONE.replace(from, to)).unwrap_err(), problem);
        }
        let cut = &ONE[..ONE.find("\tIdle Transition").unwrap()];
        assert_eq!(read(cut).unwrap_err(), "the text ends, or goes on, before the time and the state of entry 3");
        let header = "get-feature:0x0c (Autonomous Power State Transition), Current value:0x00000001\n";
        assert!(is_recognised(header) && read(header).unwrap_err().contains("-H"));
    }
}
