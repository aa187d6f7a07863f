//! A drive that expects certain commands in a certain order, answers as told, and fails on anything else:
//! another dword, another length, another timeout, a command too many, a command too few.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::thread;

use wattline::device::{Cause, Command, Drive, Transport};

/// What is expected of a command, as numbers from the specification, and never from the code under test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Expected {
    /// The submission queue entry, without what the kernel fills in.
    pub(crate) entry: [u32; 16],
    pub(crate) data_length: usize,
    pub(crate) timeout_ms: u32,
}

impl Expected {
    /// Only these dwords are not 0; no data; the kernel's own timeout.
    pub(crate) fn dwords(dwords: &[(usize, u32)]) -> Self {
        let mut expected = Self::default();
        for &(number, value) in dwords {
            expected.entry[number] = value;
        }
        expected
    }
}

/// Dword 0 of the completion, and the data.
type Answer = Result<(u32, Vec<u8>), Cause>;

#[derive(Debug, Default)]
pub(crate) struct FakeDrive {
    script: VecDeque<(Expected, Answer)>,
}

impl FakeDrive {
    pub(crate) fn expect(mut self, expected: Expected, answer: Answer) -> Self {
        self.script.push_back((expected, answer));
        self
    }

    /// Identify, opcode 06h, CNS 01h in dword 10, 4,096 bytes.
    pub(crate) fn identify(self, page: &[u8]) -> Self {
        let expected = Expected { data_length: 4096, ..Expected::dwords(&[(0, 0x06), (10, 0x01)]) };
        self.expect(expected, Ok((0, page.to_vec())))
    }

    /// Get Features, opcode 0Ah, FID 02h with SEL 0 (current) in dword 10.
    pub(crate) fn get(self, answer: Result<u32, Cause>) -> Self {
        self.expect(Expected::dwords(&[(0, 0x0A), (10, 0x02)]), answer.map(|dword| (dword, vec![])))
    }

    /// Set Features, opcode 09h, FID 02h without SV in dword 10, the value in dword 11.
    pub(crate) fn set(self, value: u32, answer: Result<(), Cause>) -> Self {
        self.expect(Expected::dwords(&[(0, 0x09), (10, 0x02), (11, value)]), answer.map(|()| (0, vec![])))
    }

    pub(crate) fn drive(self, device: impl Into<PathBuf>) -> Drive<Self> {
        Drive::over(device, self)
    }
}

impl Transport for FakeDrive {
    fn submit(&mut self, command: &Command, data: &mut [u8]) -> Result<u32, Cause> {
        let (expected, answer) = self.script.pop_front().unwrap_or_else(|| panic!("not expected: {command}"));
        let entry = *command.entry();
        assert_eq!(
            Expected { entry, data_length: data.len(), timeout_ms: command.timeout_ms() },
            expected,
            "{command}"
        );
        assert_eq!(command.data_length(), data.len(), "{command}");
        let (dword, bytes) = answer?;
        data[..bytes.len()].copy_from_slice(&bytes);
        Ok(dword)
    }
}

impl Drop for FakeDrive {
    fn drop(&mut self) {
        if !thread::panicking() {
            assert!(self.script.is_empty(), "expected and did not come: {:?}", self.script);
        }
    }
}

#[test]
#[should_panic(expected = "expected and did not come")]
fn a_command_too_few_is_noticed() {
    drop(FakeDrive::default().get(Ok(0)).drive("/dev/nvme0"));
}

#[test]
#[should_panic(expected = "not expected: Identify Controller")]
fn a_command_too_many_is_noticed() {
    let _ = FakeDrive::default().drive("/dev/nvme0").identify();
}

#[test]
#[should_panic(expected = "Identify Controller")]
fn another_timeout_is_noticed() {
    let expected = Expected { data_length: 4096, timeout_ms: 1000, ..Expected::dwords(&[(0, 0x06), (10, 0x01)]) };
    let _ = FakeDrive::default().expect(expected, Ok((0, vec![]))).drive("/dev/nvme0").identify();
}
