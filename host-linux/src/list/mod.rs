//! The subcommand `list`: the NVMe controllers of this machine and the power state of each.

mod json;
mod text;

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;
use wattline_core::nvme::feature::PowerManagement;
use wattline_core::nvme::{IdentifyController, PowerStateDescriptor};

pub use self::json::Document;
pub use self::text::text;
use crate::device::{DeviceError, Drive, Transport};
use crate::outcome::{Complaint, Exit, Outcome};
use crate::sysfs::{Controller, Sysfs};

/// List the NVMe controllers of this machine and the power state that each is in.
///
/// Names come from sysfs, power states from the drives themselves, each of which is asked twice (Identify, Get
/// Features). Asking can wake a drive, and needs root; without it, what sysfs says is listed all the same.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Write JSON instead of text: null is "not reported" or "could not be asked"
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  sudo wattline list
  Drives that are not in power state 0:
    sudo wattline list --json | jq -r '.controllers[] | select(.ps != 0) | .device'

Exit status: 0 if every controller answered, 1 if one did not; the others are listed all the same.";

/// One controller, with as much as could be found out.
#[derive(Clone, Debug)]
pub struct Entry {
    /// `/dev/nvme0`.
    pub device: PathBuf,
    /// What sysfs says.
    pub controller: Controller,
    /// What the drive says about itself.
    pub identity: Option<IdentifyController>,
    /// The power state that it is in.
    pub power_management: Option<PowerManagement>,
    /// Why one of the two is missing.
    pub problem: Option<Problem>,
}

/// Why a drive said nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// Its driver is busy with it, and a question would wait for that.
    #[error("{} was not asked: the kernel's driver says that it is {state:?}", .device.display())]
    NotLive {
        /// `/dev/nvme0`.
        device: PathBuf,
        /// What sysfs says: `resetting`, `dead`, …
        state: String,
    },
    /// It was asked, in vain.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl Problem {
    fn help(&self) -> String {
        match self {
            Self::NotLive { .. } => "see `dmesg` for what the kernel says about the drive".into(),
            Self::Device(error) => error.help(),
        }
    }
}

/// Lists this machine's controllers.
#[must_use]
pub fn run(arguments: &Arguments) -> Outcome {
    match entries(&Sysfs::default(), Drive::open) {
        Ok(entries) => outcome(&entries, arguments.json),
        Err(error) => Outcome::failed(
            Complaint::error(format!("cannot list /sys/class/nvme: {error}"), "sysfs has to be mounted at /sys"),
            Exit::NotDone,
        ),
    }
}

/// Every controller that sysfs lists. `open` gives access to the one that a device file names.
///
/// # Errors
/// Where sysfs cannot be read. A failure of one controller is part of its entry.
pub fn entries<T: Transport>(
    sysfs: &Sysfs,
    mut open: impl FnMut(&Path) -> Result<Drive<T>, DeviceError>,
) -> io::Result<Vec<Entry>> {
    Ok(sysfs.controllers()?.into_iter().map(|controller| Entry::of(controller, &mut open)).collect())
}

/// Text or JSON, a complaint for every problem, and the exit status.
#[must_use]
pub fn outcome(entries: &[Entry], json: bool) -> Outcome {
    let problems = entries.iter().filter_map(|entry| entry.problem.as_ref());
    let complaints: Vec<_> = problems.map(|problem| Complaint::error(problem, problem.help())).collect();
    Outcome {
        output: if json { Document::from(entries).to_string() } else { text(entries) },
        exit: if complaints.is_empty() { Exit::Done } else { Exit::NotDone },
        complaints,
    }
}

impl Entry {
    fn of<T: Transport>(controller: Controller, open: &mut impl FnMut(&Path) -> Result<Drive<T>, DeviceError>) -> Self {
        let device = Path::new("/dev").join(&controller.name);
        let mut entry = Self { device, controller, identity: None, power_management: None, problem: None };
        entry.problem = match &entry.controller.state {
            Some(state) if state != "live" => {
                Some(Problem::NotLive { device: entry.device.clone(), state: state.clone() })
            }
            _ => entry.ask(open).err().map(Problem::Device),
        };
        entry
    }

    fn ask<T: Transport>(
        &mut self,
        open: &mut impl FnMut(&Path) -> Result<Drive<T>, DeviceError>,
    ) -> Result<(), DeviceError> {
        let mut drive = open(&self.device)?;
        let identity = self.identity.insert(drive.identify()?);
        self.power_management = Some(drive.power_management(identity)?);
        Ok(())
    }

    /// The power states that it has.
    fn power_states(&self) -> &[PowerStateDescriptor] {
        self.identity.as_ref().map_or(&[], |identity| &identity.power_states)
    }
}
