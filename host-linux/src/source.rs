//! Which drive is meant: one of this machine, one that somebody wrote about, or one of the catalogue.

use std::fs;
use std::path::Path;

use thiserror::Error;

use crate::catalogue::{self, CatalogueError};
use crate::device::{DeviceError, Drive};
use crate::input::{Input, InputError};
use crate::inventory::{Inventory, InventoryError};
use crate::outcome::{Complaint, Exit, Outcome};
use crate::sysfs::{Machine, Node, Pci, Sysfs};

/// Which drive is meant.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Source {
    /// A controller, such as /dev/nvme0; or what nvme-cli or smartctl wrote, or a hex dump of the Identify
    /// Controller page; `-` is standard input
    #[arg(value_name = "DEVICE|FILE")]
    pub(crate) input: Option<Input>,
    /// A drive of the catalogue, which `wattline drives` lists
    #[arg(long, value_name = "NAME")]
    pub(crate) drive: Option<String>,
}

/// What is known about a drive.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Its name in the catalogue, or else its model.
    pub(crate) name: Option<String>,
    /// What it says.
    pub(crate) inventory: Inventory,
    /// Where it is.
    pub(crate) surroundings: Surroundings,
}

/// Where a drive is, so far as that is known: of a drive in a file or in the catalogue, it is not.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    /// What it is on the bus.
    pub(crate) pci: Option<Pci>,
    /// What it is built into.
    pub(crate) machine: Machine,
}

/// Why nothing is known.
#[derive(Debug, Error)]
pub enum SourceError {
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

impl Source {
    /// Asks the drive, reads the file or looks into the catalogue.
    pub(crate) fn known(&self) -> Result<Known, SourceError> {
        match (&self.drive, &self.input) {
            (Some(name), _) => {
                let entry = catalogue::find(name)?;
                Ok(Known { name: Some(entry.id.clone()), inventory: entry.inventory()?, ..Known::default() })
            }
            (None, Some(input)) => match input.device() {
                Some(device) => Ok(asked(device)?),
                None => read(input),
            },
            // clap makes sure that there is one or the other.
            (None, None) => read(&Input::Stdin),
        }
    }
}

fn asked(device: &Path) -> Result<Known, DeviceError> {
    let inventory = Inventory::from(&Drive::open(device)?.identify()?);
    let sysfs = Sysfs::default();
    let node = fs::metadata(device).ok().and_then(|metadata| Node::of(&metadata));
    let surroundings = Surroundings { pci: node.and_then(|node| sysfs.pci(node)), machine: sysfs.machine() };
    Ok(Known { name: inventory.model.clone(), inventory, surroundings })
}

fn read(input: &Input) -> Result<Known, SourceError> {
    let wrong = |source| SourceError::Inventory { input: input.clone(), source };
    let inventory = Inventory::parse(&input.read()?).map_err(wrong)?;
    Ok(Known { name: inventory.model.clone(), inventory, ..Known::default() })
}

impl SourceError {
    /// What to do next.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Input(InputError::Io { .. }) => {
                "check the name and the permissions; a drive is named like /dev/nvme0, and `-` reads standard input"
                    .into()
            }
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

    /// As what a subcommand comes to.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        Outcome::failed(Complaint::error(self, self.help()), self.exit())
    }
}
