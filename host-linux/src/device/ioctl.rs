//! The admin command ioctl of Linux's NVMe driver: the one file with unsafe code.
//!
//! `NVME_IOCTL_ADMIN_CMD` rather than its 64-bit sister, which kernels before 5.5 do not have: the sister only
//! adds the completion's dword 1, and no command that is sent here uses that.

use std::fs::File;
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use wattline_core::nvme::Status;

use super::{Cause, Command, ProtocolError, Transport};

#[cfg(test)]
mod header_test;

/// `struct nvme_passthru_cmd` of `linux/nvme_ioctl.h`; `header_test.rs` compares the two.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PassthroughCommand {
    opcode: u8,
    flags: u8,
    rsvd1: u16,
    nsid: u32,
    cdw2: u32,
    cdw3: u32,
    metadata: u64,
    addr: u64,
    metadata_len: u32,
    data_len: u32,
    cdw10: u32,
    cdw11: u32,
    cdw12: u32,
    cdw13: u32,
    cdw14: u32,
    cdw15: u32,
    timeout_ms: u32,
    result: u32,
}

nix::ioctl_readwrite!(nvme_ioctl_admin_cmd, b'N', 0x41, PassthroughCommand);

/// An open NVMe character device.
#[derive(Debug)]
pub struct CharacterDevice(File);

impl CharacterDevice {
    pub(super) fn new(file: File) -> Self {
        Self(file)
    }
}

impl Transport for CharacterDevice {
    fn submit(&mut self, command: &Command, data: &mut [u8]) -> Result<u32, Cause> {
        assert_eq!(data.len(), command.data_length(), "the buffer for {}", command.name());
        let mut passthrough = PassthroughCommand::from(command);
        passthrough.addr = if data.is_empty() { 0 } else { data.as_mut_ptr() as u64 };
        // SAFETY: The kernel reads and writes `passthrough`, which has the layout that this request number
        // stands for and lives until the call is over. The drive reads or writes memory at `addr`: as many
        // bytes as `command` transfers, which is the length of `data`, as just asserted, since a `Command`
        // knows its length; and `data` is borrowed mutably until the kernel has unmapped it and returned.
        let returned = unsafe { nvme_ioctl_admin_cmd(self.0.as_raw_fd(), &raw mut passthrough) };
        completion(returned, passthrough.result)
    }
}

/// What the driver returns: -1 and errno, 0, or the drive's status as a positive number.
fn completion(returned: Result<i32, Errno>, result: u32) -> Result<u32, Cause> {
    let returned = returned?;
    if returned == 0 {
        return Ok(result);
    }
    match u16::try_from(returned).map(Status::from_bits) {
        Ok(status) if i32::from(status.bits()) == returned && !status.is_success() => Err(status.into()),
        _ => Err(ProtocolError::Return(returned).into()),
    }
}

impl From<&Command> for PassthroughCommand {
    fn from(command: &Command) -> Self {
        let [_, nsid, cdw2, cdw3, _, _, _, _, _, _, cdw10, cdw11, cdw12, cdw13, cdw14, cdw15] = *command.entry();
        Self {
            opcode: command.opcode(),
            nsid,
            cdw2,
            cdw3,
            data_len: u32::try_from(command.data_length()).expect("a page is shorter than 4 GiB"),
            cdw10,
            cdw11,
            cdw12,
            cdw13,
            cdw14,
            cdw15,
            timeout_ms: command.timeout_ms(),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dword_goes_to_its_place() {
        let identify = PassthroughCommand { opcode: 0x06, data_len: 4096, cdw10: 1, ..Default::default() };
        assert_eq!(PassthroughCommand::from(&Command::identify_controller()), identify);
    }

    #[test]
    fn what_the_driver_returns_is_told_apart() {
        assert_eq!(completion(Ok(0), 0x21), Ok(0x21));
        assert_eq!(completion(Err(Errno::EACCES), 0), Err(Cause::Os(Errno::EACCES)));
        assert_eq!(completion(Ok(0x410E), 0), Err(Cause::Status(Status::from_bits(0x410E))));
        for impossible in [0x4000, 0x8002, 0x1_0002, -2] {
            assert_eq!(completion(Ok(impossible), 0), Err(Cause::Protocol(ProtocolError::Return(impossible))));
        }
    }
}
