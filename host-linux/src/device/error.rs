//! What can go wrong with a device, and what to do about it.

use std::path::PathBuf;

use nix::errno::Errno;
use thiserror::Error;
use wattline_core::nvme::{PowerState, Status, identify::IdentifyError};

use crate::outcome::Exit;

/// Why a command brought nothing: the operating system, the drive, or an answer that makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Cause {
    /// The operating system refused, so the drive may not have seen it.
    #[error("the operating system answered {0}")]
    Os(#[from] Errno),
    /// The drive refused.
    #[error("the drive answered {0}")]
    Status(Status),
    /// An answer came, and it cannot be.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
}

impl From<Status> for Cause {
    fn from(status: Status) -> Self {
        Self::Status(status)
    }
}

/// An answer that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ProtocolError {
    /// The ioctl returned neither 0 nor an NVMe status.
    #[error("the kernel's driver returned {0}, which is neither success nor an NVMe status")]
    Return(i32),
    /// The drive reports success and transferred nothing.
    #[error("the drive reports success, but all {0} bytes are 0")]
    EmptyPage(usize),
    /// The page contradicts itself.
    #[error(transparent)]
    Page(IdentifyError),
    /// The drive says that it is in a state that it does not have.
    #[error("the drive says that it is in {state}, but the highest state that it lists is PS{highest}")]
    NoSuchState {
        /// The state that it says.
        state: PowerState,
        /// NPSS of its Identify page.
        highest: usize,
    },
}

/// Why a device could not be asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DeviceError {
    /// The name is not that of an NVMe controller.
    #[error("{} is {problem}", .device.display())]
    Name {
        /// The name as given.
        device: PathBuf,
        /// What it names instead.
        problem: NameProblem,
    },
    /// Something was tried and failed.
    #[error("cannot {tried} {}: {cause}", .device.display())]
    Failed {
        /// What was tried.
        tried: &'static str,
        /// On which device.
        device: PathBuf,
        /// What came back.
        cause: Cause,
    },
}

/// What a name means that is not that of an NVMe controller.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NameProblem {
    /// A namespace, as a block or a generic device, or a partition: power belongs to the controller.
    #[error("a namespace; power states belong to its controller")]
    Namespace {
        /// The controllers that it is reached through; several where it is shared.
        controllers: Vec<String>,
    },
    /// A device of another kind.
    #[error("no NVMe controller")]
    OtherDevice,
    /// Nothing has this name.
    #[error("absent: there is no such device")]
    Absent,
    /// A file or a directory.
    #[error("no device")]
    NoDevice,
}

impl DeviceError {
    /// What to do next.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Name { problem: NameProblem::Namespace { controllers }, .. } if !controllers.is_empty() => {
                let names: Vec<_> = controllers.iter().map(|name| format!("/dev/{name}")).collect();
                format!("use {}", names.join(" or "))
            }
            Self::Name { problem: NameProblem::Absent, .. } => ABSENT.into(),
            Self::Name { .. } => LIST.into(),
            Self::Failed { cause: Cause::Os(errno), .. } => os_help(*errno).into(),
            Self::Failed { cause: Cause::Status(status), device, .. } => {
                status_help(*status, &device.to_string_lossy())
            }
            Self::Failed { cause: Cause::Protocol(_), device, .. } => format!(
                "the drive's firmware, the kernel or this program has a bug; `nvme id-ctrl {}` shows what another \
                 program sees",
                device.display()
            ),
        }
    }

    /// Whether another name has to be given, or something done about the device.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Name { .. } => Exit::WrongInput,
            Self::Failed { .. } => Exit::NotDone,
        }
    }
}

const ABSENT: &str =
    "`wattline list` shows the NVMe controllers of this machine; about one that is missing there, see `dmesg`";
const LIST: &str = "give an NVMe controller, such as /dev/nvme0; `wattline list` shows them";

fn os_help(errno: Errno) -> &'static str {
    match errno {
        Errno::EACCES | Errno::EPERM => "asking a drive needs root (the capability CAP_SYS_ADMIN): try it with sudo",
        Errno::ENOTTY => LIST,
        Errno::EINTR => {
            "the kernel stopped waiting for the drive, which resets its controller: see `dmesg`, and ask the drive again"
        }
        Errno::ENODEV | Errno::ENXIO | Errno::EIO => "the drive is gone or does not answer any more: see `dmesg`",
        _ => "see `dmesg` for what the kernel says about the drive",
    }
}

fn status_help(status: Status, device: &str) -> String {
    let same = |other: Status| status.bits() & 0x7FF == other.bits();
    if same(Status::FEATURE_NOT_CHANGEABLE) {
        "this drive does not let its power state be chosen; nothing can be done here".into()
    } else if same(Status::INVALID_FIELD) {
        format!("it has no such power state, or does not know the command; `wattline show {device}` lists its states")
    } else {
        format!("`nvme error-log {device}` may say more, and so may `dmesg`")
    }
}
