//! The subcommand `show`: a drive's power states, thermal limits and idle abilities.

mod json;
mod text;

use thiserror::Error;

pub use self::json::Document;
pub(crate) use self::json::State;
pub use self::text::text;
use crate::catalogue::{self, CatalogueError};
use crate::device::{DeviceError, Drive};
use crate::input::{Input, InputError};
use crate::inventory::{Inventory, InventoryError};
use crate::outcome::{Complaint, Exit, Outcome};

/// Show a drive's power states, thermal limits and idle abilities.
///
/// Asks a drive (one command, Identify, which changes nothing), or reads what another tool wrote about one; the
/// format is recognised by its content.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A controller, such as /dev/nvme0; or what nvme-cli or smartctl wrote, or a hex dump of the Identify
    /// Controller page; `-` is standard input
    #[arg(value_name = "DEVICE|FILE", required_unless_present = "drive", conflicts_with = "drive")]
    source: Option<Input>,
    /// A drive of the catalogue, which `wattline drives` lists
    #[arg(long, value_name = "NAME")]
    drive: Option<String>,
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

/// Why there is nothing to show.
#[derive(Debug, Error)]
pub enum ShowError {
    /// No bytes.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A drive that does not answer.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// No drive of that name.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
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
    pub fn help(&self) -> String {
        match self {
            Self::Input(InputError::Io { .. }) => "check the name and the permissions; `-` reads standard input".into(),
            Self::Input(InputError::Device(_)) => "it was a file a moment ago: try again".into(),
            Self::Input(InputError::TooLong(_)) => "check that it is the right file".into(),
            Self::Device(error) => error.help(),
            Self::Catalogue(error) => error.help().into(),
            Self::Inventory { source, .. } => source.help().into(),
        }
    }

    /// Whether a drive or the system is the reason, or the input.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Device(error) => error.exit(),
            _ => Exit::WrongInput,
        }
    }
}

/// Reads the source and renders it.
#[must_use]
pub fn run(arguments: &Arguments) -> Outcome {
    match arguments.inventory() {
        Ok(inventory) => Outcome {
            output: if arguments.json { Document::from(&inventory).to_string() } else { text(&inventory) },
            ..Outcome::default()
        },
        Err(error) => Outcome::failed(Complaint::error(&error, error.help()), error.exit()),
    }
}

impl Arguments {
    fn inventory(&self) -> Result<Inventory, ShowError> {
        match (&self.drive, &self.source) {
            (Some(name), _) => Ok(catalogue::find(name)?.inventory()?),
            (None, Some(source)) => inventory(source),
            // clap makes sure that there is one or the other.
            (None, None) => inventory(&Input::Stdin),
        }
    }
}

fn inventory(source: &Input) -> Result<Inventory, ShowError> {
    if let Some(device) = source.device() {
        return Ok(Inventory::from(&Drive::open(device)?.identify()?));
    }
    Inventory::parse(&source.read()?).map_err(|error| ShowError::Inventory { input: source.clone(), source: error })
}
