//! The subcommands `apst build`, `apst explain` and `apst decode`: tables of autonomous power state transitions.
//!
//! Which state is entered when, and why not, the core decides; here it is asked, and put into words.

mod decode;
mod error;
mod json;
mod policy;
mod question;
mod sentence;
mod text;

use std::fs;
use std::path::PathBuf;

pub use self::decode::{Arguments as DecodeArguments, run as decode};
pub use self::error::ApstError;
use self::json::Document;
use self::question::{Built, Question};
use crate::outcome::{Complaint, Exit, Outcome};

/// Build the table of autonomous transitions that a policy gives a drive.
///
/// Asks a drive (one command, Identify, which changes nothing), or reads what was written about one. No table is sent.
/// `explain` says why.
#[derive(Debug, clap::Args)]
#[command(after_help = MORE)]
pub struct BuildArguments {
    #[command(flatten)]
    question: Question,
    /// Write JSON instead of text: all 32 entries, and what became of each state
    #[arg(long)]
    json: bool,
    /// Also write the table to a file: 256 bytes, as Set Features takes them
    #[arg(long, value_name = "FILE")]
    bin: Option<PathBuf>,
}

/// Explain which idle states a policy chooses for a drive, and why not the others.
///
/// One line for each state: when it is entered, or which limit keeps it out, and from which tolerance on it would be
/// chosen.
#[derive(Debug, clap::Args)]
#[command(after_help = MORE)]
pub struct ExplainArguments {
    #[command(flatten)]
    question: Question,
}

const MORE: &str = "\
Policies:
  linux                what the kernel builds by default: two tiers of latency
  linux-two-percent    what it builds with nvme_core.apst_primary_timeout_ms=0, as older kernels did
  energy               what saves most energy within the tolerance, by the drive's own figures
  windows:SCHEME       what Windows does by itself, in the scheme high-performance, balanced,
                       power-saver or modern-standby; on mains, with :dc at the end on battery

Examples:
  Why a drive never sleeps deeply:
    wattline apst explain --drive toshiba-xg4-512gb-xps13
  What the kernel gives the drive in this machine:
    sudo wattline apst build /dev/nvme0
  What it would give a drive that somebody else has, in this machine:
    wattline apst build drive.txt --pci 144d:a808 --this-machine
  A table as a file, for `nvme set-feature -f 0x0c -l 256 -v 1 -d table.bin`; it lasts until the
  kernel writes its own again, at a reset or a change of the tolerance:
    wattline apst build --drive toshiba-xg4-512gb-xps13 --policy linux-two-percent --bin table.bin

Quirks are drives that do not survive what they advertise. A file for --quirks:
  [[rule]]
  name = \"mine\"                      # also vendor, device (PCI), firmware, product, board, …
  model = \"KINGSTON SA2000*\"
  effects = [\"no-deepest-state\"]     # or \"no-transitions\"
  reason = \"gone after two days\"

  [[override]]                       # takes effects away again, for the drive that it names
  name = \"fixed\"
  model = \"Samsung Portable SSD X5\"
  effects = [\"no-deepest-state\"]
  reason = \"a year without trouble\"

Exit status: 0 on success, 1 where a drive could not be asked, or --bin had no table to write or
could not write it, 2 where the input or the arguments are wrong.";

/// Builds a table.
#[must_use]
pub fn build(arguments: &BuildArguments) -> Outcome {
    let built = match arguments.question.answer() {
        Ok(built) => built,
        Err(error) => return error.outcome(),
    };
    let mut outcome = Outcome {
        output: if arguments.json { Document::from(&built).to_string() } else { text::build(&built) },
        ..Outcome::default()
    };
    if let Some(complaint) = arguments.bin.as_ref().and_then(|path| write(&built, path)) {
        outcome.complaints.push(complaint);
        outcome.exit = Exit::NotDone;
    }
    outcome
}

/// Explains a table.
#[must_use]
pub fn explain(arguments: &ExplainArguments) -> Outcome {
    match arguments.question.answer() {
        Ok(built) => Outcome { output: text::explain(&built), ..Outcome::default() },
        Err(error) => error.outcome(),
    }
}

fn write(built: &Built, path: &PathBuf) -> Option<Complaint> {
    if !built.has_table() {
        let what = format!("no table was written to '{}': the drive has no autonomous transitions", path.display());
        return Some(Complaint::error(what, "no table will do for this drive: its idle states are the host's to set"));
    }
    let error = fs::write(path, built.bytes()).err()?;
    let what = format!("cannot write '{}': {error}", path.display());
    Some(Complaint::error(what, "check the name, the permissions and the space"))
}
