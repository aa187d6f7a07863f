//! Why there is no table.

use thiserror::Error;

use crate::input::{Input, InputError};
use crate::outcome::{Complaint, Exit, Outcome};
use crate::quirks::QuirksError;
use crate::source::SourceError;

/// Why there is no table.
#[derive(Debug, Error)]
pub enum ApstError {
    /// No drive.
    #[error(transparent)]
    Source(#[from] SourceError),
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
    /// More than one thing is to come from standard input.
    #[error("standard input is to be read {0} times, but can be read only once")]
    StandardInput(usize),
    /// No bytes of a table.
    #[error(transparent)]
    Input(#[from] InputError),
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
    pub fn help(&self) -> String {
        match self {
            Self::Source(error) => error.help(),
            Self::Quirks(error) => error.help().into(),
            Self::Argument { .. } => "leave one of them out; `wattline apst build --help` lists the policies".into(),
            Self::StandardInput(_) => "write what is to come from there into files, except for one".into(),
            Self::Input(InputError::Io { .. }) => "check the name and the permissions; `-` reads standard input".into(),
            Self::Input(InputError::Device(input)) => {
                format!("write down what it holds: `nvme get-feature {input} -f 0x0c -H | wattline apst decode -`")
            }
            Self::Input(InputError::TooLong(_)) => "check that it is the right file".into(),
            Self::Table { .. } => "give the 256 bytes (`nvme get-feature DEVICE -f 0x0c -b`), a hex dump of them, or \
                                   the text of `nvme get-feature DEVICE -f 0x0c -H`"
                .into(),
        }
    }

    /// As what a subcommand comes to.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Source(error) => error.outcome(),
            _ => Outcome::failed(Complaint::error(self, self.help()), Exit::WrongInput),
        }
    }
}
