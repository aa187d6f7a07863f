//! A drive itself, asked through the kernel: NVMe admin commands about power, and nothing else.
//!
//! [`Drive`] says what is asked; a [`Transport`] carries it: [`CharacterDevice`] to a real drive, a fake in tests.
//! Three kinds of failure stay apart ([`Cause`]): the operating system's errno, the drive's NVMe status, and an
//! answer that cannot be.

mod command;
mod error;
#[allow(unsafe_code, reason = "the one file that calls the kernel")]
mod ioctl;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use wattline_core::nvme::IdentifyController;
use wattline_core::nvme::feature::{PowerManagement, Select};

pub use self::command::Command;
pub use self::error::{Cause, DeviceError, NameProblem, ProtocolError};
pub use self::ioctl::CharacterDevice;
use crate::sysfs::{Node, Owner, Sysfs};

/// Carries admin commands to one controller.
pub trait Transport {
    /// Sends a command, waits for its completion, and returns the completion's dword 0.
    ///
    /// # Errors
    /// Whatever kept the command from succeeding.
    ///
    /// # Panics
    /// Where `data` has another length than the command transfers.
    fn submit(&mut self, command: &Command, data: &mut [u8]) -> Result<u32, Cause>;
}

/// A controller that can be asked.
#[derive(Debug)]
pub struct Drive<T> {
    device: PathBuf,
    transport: T,
}

impl Drive<CharacterDevice> {
    /// Opens a controller's character device for reading, which is all that admin commands need.
    ///
    /// # Errors
    /// Where the name is another's, or the operating system refuses.
    pub fn open(device: &Path) -> Result<Self, DeviceError> {
        let failed = |tried, error: &std::io::Error| {
            let device = device.to_owned();
            match Errno::from_raw(error.raw_os_error().unwrap_or_default()) {
                Errno::ENOENT | Errno::ENOTDIR => DeviceError::Name { device, problem: NameProblem::Absent },
                errno => DeviceError::Failed { tried, device, cause: errno.into() },
            }
        };
        let metadata = fs::metadata(device).map_err(|error| failed("find", &error))?;
        let problem = match Node::of(&metadata).map(|node| Sysfs::default().owner(node)) {
            Some(Owner::Itself) => {
                let file = File::open(device).map_err(|error| failed("open", &error))?;
                return Ok(Self::over(device, CharacterDevice::new(file)));
            }
            Some(Owner::Controllers(controllers)) => NameProblem::Namespace { controllers },
            Some(Owner::Other) => NameProblem::OtherDevice,
            None => NameProblem::NoDevice,
        };
        Err(DeviceError::Name { device: device.to_owned(), problem })
    }
}

impl<T: Transport> Drive<T> {
    /// The controller at the other end of a transport.
    pub fn over(device: impl Into<PathBuf>, transport: T) -> Self {
        Self { device: device.into(), transport }
    }

    /// The name that it was opened by.
    #[must_use]
    pub fn device(&self) -> &Path {
        &self.device
    }

    /// Reads the Identify Controller page.
    ///
    /// # Errors
    /// Where the command fails, or the page cannot be.
    pub fn identify(&mut self) -> Result<IdentifyController, DeviceError> {
        let command = Command::identify_controller();
        let mut page = [0; IdentifyController::LENGTH];
        let answer = match self.transport.submit(&command, &mut page) {
            Ok(_) if page.iter().all(|&byte| byte == 0) => Err(ProtocolError::EmptyPage(page.len()).into()),
            Ok(_) => IdentifyController::decode(&page).map_err(|error| ProtocolError::Page(error).into()),
            Err(cause) => Err(cause),
        };
        answer.map_err(|cause| self.failed("identify", cause))
    }

    /// Reads the power state and the workload hint in force.
    ///
    /// # Errors
    /// Where the command fails, or the state is none that the drive has.
    pub fn power_management(&mut self, controller: &IdentifyController) -> Result<PowerManagement, DeviceError> {
        let answer = self.transport.submit(&Command::get_power_management(Select::Current), &mut []);
        let value = answer.map(PowerManagement::decode).and_then(|value| {
            let state = value.power_state;
            let highest = controller.power_states.len().saturating_sub(1);
            let exists = state.index() <= highest;
            if exists { Ok(value) } else { Err(ProtocolError::NoSuchState { state, highest }.into()) }
        });
        value.map_err(|cause| self.failed("read the power state of", cause))
    }

    /// Sets power state and workload hint until the next reset. Success is only the drive's word: read it back.
    ///
    /// # Errors
    /// Where the command fails.
    pub fn set_power_management(&mut self, value: PowerManagement) -> Result<(), DeviceError> {
        let answer = self.transport.submit(&Command::set_power_management(value), &mut []);
        answer.map(drop).map_err(|cause| self.failed("set the power state of", cause))
    }

    fn failed(&self, tried: &'static str, cause: Cause) -> DeviceError {
        DeviceError::Failed { tried, device: self.device.clone(), cause }
    }
}
