//! Why there is no table.

use thiserror::Error;

use crate::catalogue::CatalogueError;
use crate::input::{Input, InputError};
use crate::inventory::InventoryError;
use crate::outcome::{Complaint, Exit, Outcome};
use crate::quirks::QuirksError;

/// Why there is no table.
#[derive(Debug, Error)]
pub enum ApstError {
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
    /// No drive of that name.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// No rules.
    #[error(transparent)]
    Quirks(#[from] QuirksError),
    /// An argument that does not go with the policy.
    #[error("{argument} does not go with the policy {policy}: {reason}")]
    Argument {
        /// The argument.
        argument: &'static str,
        /// The policy.
        policy: String,
        /// Why not.
        reason: &'static str,
    },
    /// Bytes that are no table.
    #[error("no table of autonomous transitions in {input}: {problem}")]
    Table {
        /// What was read.
        input: Input,
        /// What is wrong with it.
        problem: String,
    },
}

impl ApstError {
    /// What to do next.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Input(InputError::Io { .. }) => "check the name and the permissions; `-` reads standard input",
            Self::Input(InputError::Device(_)) => {
                "this reads what was written about a drive: `nvme id-ctrl DEVICE --raw-binary | wattline apst … -`"
            }
            Self::Input(InputError::TooLong(_)) => "check that it is the right file",
            Self::Inventory { source, .. } => source.help(),
            Self::Catalogue(error) => error.help(),
            Self::Quirks(error) => error.help(),
            Self::Argument { .. } => "leave one of them out; `wattline apst build --help` lists the policies",
            Self::Table { .. } => {
                "give the 256 bytes (`nvme get-feature DEVICE -f 0x0c -b`), a hex dump of them, or the text of \
                 `nvme get-feature DEVICE -f 0x0c -H`"
            }
        }
    }

    /// As what a subcommand comes to.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        Outcome::failed(Complaint::error(self, self.help()), Exit::WrongInput)
    }
}
