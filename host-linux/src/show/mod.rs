//! The subcommand `show`: a drive's power states, thermal limits and idle abilities.

mod json;
mod quantity;
mod text;

use thiserror::Error;

pub use self::json::Document;
pub use self::text::text;
use crate::input::{Input, InputError};
use crate::inventory::{Inventory, InventoryError};

/// Show a drive's power states, thermal limits and idle abilities.
///
/// Reads what another tool wrote about an NVMe drive; the format is recognised by its content.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// What nvme-cli or smartctl wrote, or a hex dump of the Identify Controller page; `-` is standard input
    file: Input,
    /// Write JSON instead of text: null is "not reported", numbers end in their unit
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  From the drive's own page, which says everything:
    nvme id-ctrl /dev/nvme0 --raw-binary | wattline show -
  From JSON, for another program:
    nvme id-ctrl /dev/nvme0 -o json | wattline show --json - | jq '.states[].max_power_mw'
  From smartctl's report, which has no idle abilities, and no power of an idle or active drive:
    smartctl --all /dev/nvme0 > drive.txt
    wattline show drive.txt

In text, `-` means that the drive does not report it or that the tool does not print it.
In a hex dump, each line is `offset: bytes` in hexadecimal, and `#` starts a comment.";

/// Why there is nothing to show.
#[derive(Debug, Error)]
pub enum ShowError {
    /// No bytes.
    #[error(transparent)]
    Input(#[from] InputError),
    /// Bytes, but no inventory.
    #[error("cannot read power states from {input}: {source}")]
    Inventory {
        /// What was read.
        input: Input,
        /// What is wrong with it.
        source: InventoryError,
    },
}

impl ShowError {
    /// What to do next.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Input(InputError::Io { .. }) => "check the name and the permissions; `-` reads standard input",
            Self::Input(InputError::Device(_)) => {
                "ask the drive first: `nvme id-ctrl DEVICE --raw-binary | wattline show -`"
            }
            Self::Input(InputError::TooLong(_)) => "check that it is the right file",
            Self::Inventory { source, .. } => source.help(),
        }
    }
}

/// Reads the input and renders it.
///
/// # Errors
/// Where the input cannot be read or gives no inventory.
pub fn run(arguments: &Arguments) -> Result<String, ShowError> {
    let input = &arguments.file;
    let inventory =
        Inventory::parse(&input.read()?).map_err(|source| ShowError::Inventory { input: input.clone(), source })?;
    Ok(if arguments.json { Document::from(&inventory).to_string() } else { text(&inventory) })
}
