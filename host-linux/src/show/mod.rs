//! The subcommand `show`: a drive's power states, thermal limits and idle abilities.

mod json;
mod text;

pub use self::json::Document;
pub(crate) use self::json::State;
pub use self::text::text;
use crate::outcome::Outcome;
use crate::source::Source;

/// Show a drive's power states, thermal limits and idle abilities.
///
/// Asks a drive (one command, Identify, which changes nothing), or reads what another tool wrote about one; the
/// format is recognised by its content.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Write JSON instead of text: null is "not reported", numbers end in their unit
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  Of a drive in this machine:
    sudo wattline show /dev/nvme0
  Of a drive that somebody else has:
    wattline show --drive samsung-ssd-970-evo-plus-500gb-2b2qexm7
  From the drive's own page, which says everything:
    nvme id-ctrl /dev/nvme0 --raw-binary | wattline show -
  From JSON, for another program:
    nvme id-ctrl /dev/nvme0 -o json | wattline show --json - | jq '.states[].max_power_mw'
  From smartctl's report, which has no idle abilities, and no power of an idle or active drive:
    smartctl --all /dev/nvme0 > drive.txt
    wattline show drive.txt

In text, `-` means that the drive does not report it or that the tool does not print it.
In a hex dump, each line is `offset: bytes` in hexadecimal, and `#` starts a comment.

Exit status: 0 on success, 1 where a drive could not be asked, 2 where the input is wrong.";

/// Reads the source and renders it.
#[must_use]
pub fn run(arguments: &Arguments) -> Outcome {
    match arguments.source.known() {
        Ok(known) => Outcome {
            output: if arguments.json { Document::from(&known.inventory).to_string() } else { text(&known.inventory) },
            ..Outcome::default()
        },
        Err(error) => error.outcome(),
    }
}
