//! The subcommand `apst decode`: a table that a drive returned.

mod nvme_text;

use std::fmt::Write;

use serde::Serialize;
use wattline_core::nvme::PowerState;
use wattline_core::nvme::feature::autonomous_transitions::{Table, Transition, raw_entry};

use super::error::ApstError;
use super::json::Entry;
use crate::input::Input;
use crate::inventory::{excerpt, hex_dump};
use crate::outcome::Outcome;

/// Show what a table of autonomous transitions says.
///
/// Reads the 256 bytes of Get Features 0Ch, a hex dump of them, or what nvme-cli writes about them; which, is
/// recognised by the content.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The table; `-` is standard input
    #[arg(value_name = "FILE")]
    file: Input,
    /// Write JSON instead of text: all 32 entries, as `apst build --json` has them
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  What the drive holds now:
    nvme get-feature /dev/nvme0 -f 0x0c -H | wattline apst decode -
  A table in a file:
    wattline apst decode table.bin

The bytes do not say whether the feature is on (APSTE); nvme-cli's text does. An enabled feature
with a table of zeros sends the drive nowhere.

Exit status: 0 on success, 2 where the input is wrong.";

/// What was read.
#[derive(Debug)]
struct Held {
    /// APSTE. `None`: not in the input.
    enabled: Option<bool>,
    entries: [u64; PowerState::COUNT],
}

/// Reads a table and shows it.
#[must_use]
pub fn run(arguments: &Arguments) -> Outcome {
    match read(&arguments.file) {
        Ok(held) => Outcome { output: if arguments.json { json(&held) } else { text(&held) }, ..Outcome::default() },
        Err(error) => error.outcome(),
    }
}

fn read(input: &Input) -> Result<Held, ApstError> {
    let bytes = input.read()?;
    held(&bytes).map_err(|problem| ApstError::Table { input: input.clone(), problem })
}

fn held(bytes: &[u8]) -> Result<Held, String> {
    // A table always has zeros in it, and text never.
    if bytes.contains(&0) {
        return from_buffer(bytes);
    }
    let text = String::from_utf8_lossy(bytes);
    if nvme_text::is_recognised(&text) {
        nvme_text::read(&text)
    } else if hex_dump::is_recognised(&text) {
        let bytes = hex_dump::bytes(&text).map_err(|flaw| format!("line {}: {}", flaw.line, flaw.problem))?;
        from_buffer(&bytes)
    } else {
        let line = text.lines().find(|line| !line.trim().is_empty());
        Err(line.map_or("it is empty".to_owned(), |line| format!("its first line is {}", excerpt(line))))
    }
}

fn from_buffer(bytes: &[u8]) -> Result<Held, String> {
    let wrong = |_| format!("a table has {} bytes, but {} came", Table::LENGTH, bytes.len());
    let buffer: &[u8; Table::LENGTH] = bytes.try_into().map_err(wrong)?;
    let mut entries = [0; PowerState::COUNT];
    for state in PowerState::up_to(PowerState::PS31) {
        entries[state.index()] = raw_entry(buffer, state);
    }
    Ok(Held { enabled: None, entries })
}

fn text(held: &Held) -> String {
    let enabled = match held.enabled {
        Some(true) => "on (APSTE)",
        Some(false) => "off (APSTE)",
        None => "not known to be on or off: APSTE is not in the table",
    };
    let mut text = format!("autonomous transitions: {enabled}\n");
    let mut is_empty = true;
    for (source, &entry) in PowerState::up_to(PowerState::PS31).zip(&held.entries) {
        if let Some(transition) = Transition::decode(entry) {
            is_empty = false;
            let _ = writeln!(text, "{source} → {} after {} ms", transition.target(), transition.idle_milliseconds());
        } else if entry != 0 {
            let _ = writeln!(text, "{source}: no transition, since its time is 0 ms; it names PS{}", entry >> 3 & 0x1F);
        }
        let reserved = entry & !0xFFFF_FFF8;
        if reserved != 0 {
            let _ = writeln!(text, "{source}: reserved bits are set: {reserved:#x}");
        }
    }
    if is_empty {
        text.push_str("no transition: whether on or off, the drive goes to no state by itself\n");
    }
    text
}

#[derive(Serialize)]
struct Document {
    apste: Option<u8>,
    entries: Vec<Entry>,
}

fn json(held: &Held) -> String {
    let document = Document { apste: held.enabled.map(u8::from), entries: Entry::all(&held.entries) };
    // Numbers have a JSON form, so this cannot fail.
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    format!("{text}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_table_says_why() {
        for (input, problem) in [
            (&b""[..], "it is empty"),
            (b"hello\n", "its first line is \"hello\""),
            (&[0; 255], "a table has 256 bytes, but 255 came"),
            (&[0; 4096], "a table has 256 bytes, but 4096 came"),
            (b"0000: 00 01\n", "a table has 256 bytes, but 2 came"),
            (b"0000: 00\n0010: 00\n", "line 2: it starts at offset 0x0010, but 0x0001 has to follow"),
        ] {
            assert_eq!(held(input).unwrap_err(), problem);
        }
    }

    #[test]
    fn bits_without_a_meaning_are_shown() {
        let mut bytes = [0; Table::LENGTH];
        bytes[..8].copy_from_slice(&0x1_0000_641F_u64.to_le_bytes());
        bytes[8] = 0x20;
        let text = text(&held(&bytes).unwrap());
        for line in [
            "PS0 → PS3 after 100 ms\n",
            "PS0: reserved bits are set: 0x100000007\n",
            "PS1: no transition, since its time is 0 ms; it names PS4\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
    }
}
