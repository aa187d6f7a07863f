//! Where bytes come from: a file, or standard input.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use thiserror::Error;

/// Most bytes that are read. The longest input is smartctl's JSON with all logs, well below 1 MiB;
/// 16 MiB keeps a wrong file from filling the memory.
const MAX_BYTES: u64 = 16 << 20;

/// A source of bytes, as named on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Standard input, written `-`.
    Stdin,
    /// A file.
    File(PathBuf),
}

/// Why an input could not be read.
#[derive(Debug, Error)]
pub enum InputError {
    /// The operating system refused.
    #[error("cannot read {input}: {source}")]
    Io {
        /// What was read.
        input: Input,
        /// What the operating system said.
        source: io::Error,
    },
    /// A device file, such as `/dev/nvme0`.
    #[error("{0} is a device, and this command reads what was written about one")]
    Device(Input),
    /// Longer than anything that is written about a drive.
    #[error("{0} has more than 16 MiB, which is more than anybody writes about a drive")]
    TooLong(Input),
}

impl Input {
    /// The path, where it is that of a device file, or would be one: what is not there but below `/dev`.
    #[must_use]
    pub fn device(&self) -> Option<&Path> {
        let Self::File(path) = self else { return None };
        let is_device = match std::fs::metadata(path) {
            Ok(metadata) => metadata.file_type().is_block_device() || metadata.file_type().is_char_device(),
            Err(error) => error.kind() == io::ErrorKind::NotFound && path.starts_with("/dev"),
        };
        is_device.then_some(path)
    }

    /// All bytes.
    ///
    /// # Errors
    /// Where it cannot be read, is a device, or is too long to be what a tool wrote about a drive.
    pub fn read(&self) -> Result<Vec<u8>, InputError> {
        match self {
            Self::Stdin => self.read_from(io::stdin().lock()),
            Self::File(path) => {
                let file = File::open(path).map_err(|source| self.refused(source))?;
                let kind = file.metadata().map_err(|source| self.refused(source))?.file_type();
                if kind.is_block_device() || kind.is_char_device() {
                    return Err(InputError::Device(self.clone()));
                }
                self.read_from(file)
            }
        }
    }

    fn read_from(&self, source: impl Read) -> Result<Vec<u8>, InputError> {
        let mut bytes = Vec::new();
        let count = source.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|source| self.refused(source))?;
        if count as u64 > MAX_BYTES { Err(InputError::TooLong(self.clone())) } else { Ok(bytes) }
    }

    fn refused(&self, source: io::Error) -> InputError {
        InputError::Io { input: self.clone(), source }
    }
}

impl FromStr for Input {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(if text == "-" { Self::Stdin } else { Self::File(text.into()) })
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin => f.write_str("standard input"),
            Self::File(path) => write!(f, "'{}'", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dash_is_standard_input() {
        assert_eq!("-".parse(), Ok(Input::Stdin));
        assert_eq!("./-".parse(), Ok(Input::File("./-".into())));
    }

    #[test]
    fn an_endless_input_ends() {
        let error = Input::Stdin.read_from(io::repeat(b' ')).unwrap_err();
        assert!(matches!(error, InputError::TooLong(Input::Stdin)), "{error}");
    }

    #[test]
    fn a_device_is_not_read() {
        let error = Input::File("/dev/zero".into()).read().unwrap_err();
        assert!(matches!(error, InputError::Device(_)), "{error}");
    }
}
