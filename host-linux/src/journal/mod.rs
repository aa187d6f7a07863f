//! Journals: the subcommand `journal show`, a timeline for people, and `replay`, which decides again.

mod replay;
mod show;
mod words;

use thiserror::Error;
use wattline_core::journal::{FORMAT_VERSION, Frame, FrameError, Reader, Record, Replay};

pub use self::replay::{Arguments as ReplayArguments, Verdict, replay};
pub use self::show::{Arguments as ShowArguments, show};
use crate::input::{Input, InputError};

/// Room for any governor's journal: a slot is a byte, and so is the index of a profile, of which real systems have a
/// few.
type AnyReplay = Replay<256, 16, 256>;

/// Why there is no journal to read.
#[derive(Debug, Error)]
pub enum JournalError {
    /// No bytes.
    #[error(transparent)]
    Input(#[from] InputError),
    /// Nothing in it.
    #[error("{0} is empty")]
    Empty(Input),
    /// Not one frame that can be read.
    #[error("{input} is not a journal: none of its {frames} frames can be read, the first because of a {first}")]
    NotAJournal {
        /// What was read.
        input: Input,
        /// How many frames there seem to be.
        frames: usize,
        /// What is wrong with the first.
        first: FrameError,
    },
    /// Written in another format.
    #[error("{input} has format version {format}, and this program reads version {FORMAT_VERSION}")]
    Format {
        /// What was read.
        input: Input,
        /// The version of its writer.
        format: u16,
    },
}

impl JournalError {
    /// What to do next.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Input(_) => "check the name and the permissions; `-` reads standard input",
            Self::Empty(_) => "the program that should have written it probably failed",
            Self::NotAJournal { .. } => "give a file that `wattline-sim run --journal FILE` or a firmware wrote",
            Self::Format { .. } => "read it with the version of wattline that wrote it",
        }
    }
}

/// All frames of a journal, damaged ones included, and its length in bytes.
fn frames(input: &Input) -> Result<(Vec<Frame>, usize), JournalError> {
    let bytes = input.read()?;
    let frames: Vec<Frame> = Reader::new(&bytes).collect();
    let Some(first) = frames.first() else { return Err(JournalError::Empty(input.clone())) };
    if let (Err(error), true) = (&first.content, frames.iter().all(|frame| frame.content.is_err())) {
        return Err(JournalError::NotAJournal { input: input.clone(), frames: frames.len(), first: *error });
    }
    let newer = frames.iter().find_map(|frame| match frame.content {
        Ok(Record::Start { format, .. }) if format != FORMAT_VERSION => Some(format),
        _ => None,
    });
    match newer {
        Some(format) => Err(JournalError::Format { input: input.clone(), format }),
        None => Ok((frames, bytes.len())),
    }
}
