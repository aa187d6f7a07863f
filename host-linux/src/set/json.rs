//! What happened, for programs.

use std::fmt;

use nix::errno::Errno;
use serde::Serialize;
use wattline_core::nvme::Status;
use wattline_core::nvme::feature::PowerManagement;

use super::{Attempt, Report};
use crate::device::{Cause, Command, DeviceError};

/// The document that `set ps --json` writes.
#[derive(Debug, Serialize)]
pub struct Document {
    device: String,
    dry_run: bool,
    before: Value,
    asked: Value,
    command: CommandDwords,
    /// `null` where nothing was sent, or no NVMe status came back.
    status: Option<NvmeStatus>,
    /// `null` where the operating system did not refuse.
    errno: Option<String>,
    /// `null` where nothing was sent, or it could not be read back.
    after: Option<Value>,
    obeyed: bool,
}

#[derive(Debug, Serialize)]
struct Value {
    ps: u8,
    workload_hint: u8,
}

#[derive(Debug, Serialize)]
struct CommandDwords {
    opcode: u8,
    nsid: u32,
    cdw10: u32,
    cdw11: u32,
    cdw12: u32,
    cdw13: u32,
    cdw14: u32,
    cdw15: u32,
    data_length: usize,
    timeout_ms: u32,
}

#[derive(Debug, Serialize)]
struct NvmeStatus {
    name: Option<&'static str>,
    sct: u8,
    sc: u8,
    dnr: bool,
}

impl From<&Report> for Document {
    fn from(report: &Report) -> Self {
        let answer = report.attempt.as_ref().map(|attempt| &attempt.answer);
        Self {
            device: report.device.display().to_string(),
            dry_run: report.attempt.is_none(),
            before: report.before.into(),
            asked: report.asked.into(),
            command: report.command().into(),
            status: answer.and_then(status).map(NvmeStatus::from),
            errno: answer.and_then(errno).map(|errno| format!("{errno:?}")),
            after: match report.attempt {
                Some(Attempt { after: Ok(after), .. }) => Some(after.into()),
                _ => None,
            },
            obeyed: report.is_obeyed(),
        }
    }
}

fn status(answer: &Result<(), DeviceError>) -> Option<Status> {
    match answer {
        Ok(()) => Some(Status::SUCCESS),
        Err(DeviceError::Failed { cause: Cause::Status(status), .. }) => Some(*status),
        Err(_) => None,
    }
}

fn errno(answer: &Result<(), DeviceError>) -> Option<Errno> {
    match answer {
        Err(DeviceError::Failed { cause: Cause::Os(errno), .. }) => Some(*errno),
        _ => None,
    }
}

impl From<PowerManagement> for Value {
    fn from(value: PowerManagement) -> Self {
        Self { ps: value.power_state.number(), workload_hint: value.workload_hint.code() }
    }
}

impl From<Command> for CommandDwords {
    fn from(command: Command) -> Self {
        let [_, nsid, _, _, _, _, _, _, _, _, cdw10, cdw11, cdw12, cdw13, cdw14, cdw15] = *command.entry();
        let (opcode, data_length, timeout_ms) = (command.opcode(), command.data_length(), command.timeout_ms());
        Self { opcode, nsid, cdw10, cdw11, cdw12, cdw13, cdw14, cdw15, data_length, timeout_ms }
    }
}

impl From<Status> for NvmeStatus {
    fn from(status: Status) -> Self {
        Self {
            name: status.name(),
            sct: status.status_code_type(),
            sc: status.status_code(),
            dnr: status.do_not_retry(),
        }
    }
}

/// Indented, and with a line end.
impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string_pretty(self).map_err(|_| fmt::Error)?;
        writeln!(f, "{text}")
    }
}
