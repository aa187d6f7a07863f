//! The subcommand `set`: changes a setting of a drive, and says what the drive holds afterwards.
//!
//! Read, send, read back. Only the second reading says what holds: a drive may accept a command and not act.

mod json;
mod text;

use std::path::PathBuf;

use clap::Subcommand;
use wattline_core::nvme::feature::PowerManagement;
use wattline_core::nvme::{IdentifyController, PowerState, PowerStateDescriptor};

pub use self::json::Document;
pub use self::text::text;
use crate::device::{Command, DeviceError, Drive, Transport};
use crate::outcome::{Complaint, Exit, Outcome};

/// Change a setting of a drive, and read it back.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    setting: Setting,
}

#[derive(Subcommand)]
enum Setting {
    Ps(PowerStateArguments),
}

/// Set the power state of a drive, and read it back.
///
/// Sends Set Features, Power Management (FID 02h). It holds until the controller is reset; nothing is saved in
/// the drive. The workload hint stays as it is. A power state above the highest that the drive lists is sent
/// too, with a warning: what the drive answers is shown.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct PowerStateArguments {
    /// A controller, such as /dev/nvme0
    device: PathBuf,
    /// The number of a power state, 0 to 31; `wattline show DEVICE` lists them
    #[arg(value_name = "N", value_parser = power_state)]
    power_state: PowerState,
    /// Show the command, and send only what reads
    #[arg(long)]
    dry_run: bool,
    /// Write JSON instead of text
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  What would be sent:
    sudo wattline set ps /dev/nvme0 1 --dry-run
  Limit a drive to the power of its state 1, and undo it:
    sudo wattline set ps /dev/nvme0 1
    sudo wattline set ps /dev/nvme0 0

Exit status: 0 only where the drive, read again, holds what was asked (or with --dry-run), 1 where
it refused, did not obey or could not be read again, 2 where the arguments are wrong.";

fn power_state(text: &str) -> Result<PowerState, String> {
    let number: Option<u8> = text.parse().ok();
    number.and_then(PowerState::new).ok_or_else(|| "a power state is a number from 0 to 31".into())
}

/// What happened.
#[derive(Clone, Debug)]
pub struct Report {
    /// The device as named.
    pub device: PathBuf,
    /// What it says about itself.
    pub controller: IdentifyController,
    /// What it held before.
    pub before: PowerManagement,
    /// What it was asked, or would have been, to hold.
    pub asked: PowerManagement,
    /// What came of it. `None`: nothing was sent.
    pub attempt: Option<Attempt>,
}

/// What came of a command.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// What the drive answered.
    pub answer: Result<(), DeviceError>,
    /// What it held after that.
    pub after: Result<PowerManagement, DeviceError>,
}

/// Does what the arguments say.
#[must_use]
pub fn run(arguments: &Arguments) -> Outcome {
    let Setting::Ps(arguments) = &arguments.setting;
    let report = Drive::open(&arguments.device)
        .and_then(|mut drive| set_power_state(&mut drive, arguments.power_state, arguments.dry_run));
    match report {
        Ok(report) => report.outcome(arguments.json),
        Err(error) => Outcome::failed(Complaint::error(&error, error.help()), error.exit()),
    }
}

/// Asks the drive to enter a power state, or only finds out what that would take.
///
/// # Errors
/// Where the drive cannot be read first. After that, all that goes wrong is in the report.
pub fn set_power_state<T: Transport>(
    drive: &mut Drive<T>,
    power_state: PowerState,
    dry_run: bool,
) -> Result<Report, DeviceError> {
    let controller = drive.identify()?;
    let before = drive.power_management(&controller)?;
    let asked = PowerManagement { power_state, ..before };
    let attempt = (!dry_run)
        .then(|| Attempt { answer: drive.set_power_management(asked), after: drive.power_management(&controller) });
    Ok(Report { device: drive.device().to_owned(), controller, before, asked, attempt })
}

impl Report {
    /// Text or JSON, what to complain about, and the exit status.
    #[must_use]
    pub fn outcome(&self, json: bool) -> Outcome {
        let mut complaints = Vec::new();
        complaints.extend(self.surprise());
        complaints.extend(self.failures());
        Outcome {
            output: if json { Document::from(self).to_string() } else { text(self) },
            complaints,
            exit: if self.attempt.is_none() || self.is_obeyed() { Exit::Done } else { Exit::NotDone },
        }
    }

    /// The command that was sent, or would have been.
    #[must_use]
    pub const fn command(&self) -> Command {
        Command::set_power_management(self.asked)
    }

    /// Whether the drive accepted the command and holds what was asked, as read back.
    #[must_use]
    pub fn is_obeyed(&self) -> bool {
        self.attempt.as_ref().is_some_and(|attempt| attempt.answer.is_ok() && attempt.after == Ok(self.asked))
    }

    /// A state's descriptor, where the drive lists the state.
    fn descriptor(&self, state: PowerState) -> Option<&PowerStateDescriptor> {
        self.controller.power_states.get(state.index())
    }

    fn surprise(&self) -> Option<Complaint> {
        let (state, device) = (self.asked.power_state, self.device.display());
        match self.descriptor(state) {
            Some(descriptor) if descriptor.non_operational => Some(Complaint::warning(
                format!(
                    "{state} of {device} is non-operational: a drive may ignore the request, and leaves the state on I/O"
                ),
                "to save power when idle, let the drive do it by itself (APST); to limit it, use an operational state",
            )),
            Some(_) => None,
            None => Some(Complaint::warning(
                format!(
                    "{device} lists no {state}: its highest is PS{}",
                    self.controller.power_states.len().saturating_sub(1)
                ),
                format!("`wattline show {device}` lists its states"),
            )),
        }
    }

    fn failures(&self) -> Vec<Complaint> {
        let Some(Attempt { answer, after }) = &self.attempt else {
            return Vec::new();
        };
        let refused = answer.as_ref().err().map(|error| Complaint::error(error, error.help()));
        let unread = after
            .as_ref()
            .err()
            .map(|error| Complaint::error(format!("what the drive holds now is not known: {error}"), error.help()));
        let disobeyed = match (answer, after) {
            (Ok(()), Ok(after)) if after != &self.asked => Some(Complaint::error(
                format!(
                    "{} accepted {}, but holds {} as read back",
                    self.device.display(),
                    text::value(self.asked),
                    text::value(*after)
                ),
                "the drive may be protecting itself from heat, or not implement the state; do not count on the limit",
            )),
            _ => None,
        };
        refused.into_iter().chain(unread).chain(disobeyed).collect()
    }
}
