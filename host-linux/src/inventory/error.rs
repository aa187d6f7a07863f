//! Why an input gives no inventory, and what to do about it.

use std::fmt;

use thiserror::Error;
use wattline_core::nvme::identify::IdentifyError;
use wattline_core::nvme::{IdentifyController, PowerState};

/// Why an input gives no inventory.
#[derive(Debug, Error)]
pub enum InventoryError {
    /// Nothing came, or only white space.
    #[error("nothing to read: {bytes} bytes came, none of them content")]
    Empty {
        /// How many bytes came.
        bytes: usize,
    },
    /// Binary data, or a hex dump of it, of another length than a page.
    #[error("an Identify Controller page has {} bytes, but {bytes} came", IdentifyController::LENGTH)]
    PageLength {
        /// How many bytes came.
        bytes: usize,
    },
    /// A page of the right length that contradicts itself.
    #[error(transparent)]
    Page(#[from] IdentifyError),
    /// A page of zeros, in whatever form.
    #[error("it says nothing: no name, and no power state with anything in it")]
    Blank,
    /// A hex dump with a gap, or with something else than bytes.
    #[error("line {line} of the hex dump: {problem}")]
    HexDump {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// It starts like JSON and is none.
    #[error("it starts like JSON, but is not: {0}")]
    Json(serde_json::Error),
    /// JSON without the keys of a known format.
    #[error("JSON without power states: neither `psds` (nvme-cli) nor `nvme_power_states` (smartctl) is in it; {0}")]
    JsonShape(Resemblance),
    /// A value in JSON that is wrong.
    #[error("JSON key `{key}`: {problem}")]
    JsonValue {
        /// The path of the key: `psds[2].entry_lat`.
        key: String,
        /// What is wrong with its value.
        problem: String,
    },
    /// smartctl's text without its table of power states.
    #[error("smartctl's output without its table \"Supported Power States\"")]
    SmartctlWithoutTable,
    /// A line in smartctl's text that is wrong.
    #[error("line {line} of smartctl's output, {field}: {problem}")]
    SmartctlValue {
        /// Counted from 1.
        line: usize,
        /// The field, as smartctl names it.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// Text that no reader recognises.
    #[error("text of no known format; its first line is {first_line}")]
    UnknownText {
        /// An excerpt of the first line that is not empty.
        first_line: String,
    },
    /// No power state at all, or more than a controller can have.
    #[error("it lists {found} power states, but a controller has 1 to {}", PowerState::COUNT)]
    PowerStateCount {
        /// How many are listed.
        found: usize,
    },
}

/// How to get an input that can be read.
const FORMATS: &str = "give the output of `nvme id-ctrl DEVICE --raw-binary`, `nvme id-ctrl DEVICE -o json`, \
                       `smartctl --all DEVICE` or `smartctl --json --all DEVICE`, or a hex dump of the first";

impl InventoryError {
    /// What to do next.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Empty { .. } | Self::Blank => {
                "the command that should have written it probably failed; asking a drive needs root"
            }
            Self::PageLength { .. } | Self::Page(_) => {
                "write the page again: `nvme id-ctrl DEVICE --raw-binary > FILE`; no other log or page will do"
            }
            Self::HexDump { .. } => {
                "write lines of `offset: bytes`, all in hexadecimal, from 0000 on and without a gap; `#` starts a comment"
            }
            Self::Json(_) => "write it again, in full: the command may have been interrupted",
            Self::JsonShape(Resemblance::SmartctlFailure(_)) => "smartctl could not ask the drive: see its message",
            Self::JsonShape(Resemblance::SmartctlBefore75) => {
                "smartctl has power states in its JSON from version 7.5 on; before, use `smartctl --json=o --all DEVICE`, \
                 or its text: `smartctl --all DEVICE`"
            }
            Self::JsonShape(_) | Self::UnknownText { .. } => FORMATS,
            Self::JsonValue { .. } | Self::SmartctlValue { .. } | Self::PowerStateCount { .. } => {
                "correct the value if the file was edited; otherwise the tool, or this program, has a bug: \
                 `nvme id-ctrl DEVICE --raw-binary` avoids both"
            }
            Self::SmartctlWithoutTable => {
                "use `smartctl --all DEVICE` or `smartctl --capabilities DEVICE`, on an NVMe drive"
            }
        }
    }
}

/// What JSON without power states looks like.
#[derive(Debug, PartialEq, Eq)]
pub enum Resemblance {
    /// smartctl, with its own message, quoted, why it has nothing to say.
    SmartctlFailure(String),
    /// smartctl of a version that leaves the power states out.
    SmartctlBefore75,
    /// Another command's output.
    Command(&'static str),
    /// An object with these first keys, quoted.
    Object(Vec<String>),
    /// A list, a number or the like.
    NotAnObject,
}

impl fmt::Display for Resemblance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SmartctlFailure(message) => write!(f, "it looks like a failure of smartctl: {message}"),
            Self::SmartctlBefore75 => f.write_str("it looks like smartctl before 7.5"),
            Self::Command(command) => write!(f, "it looks like `{command}`"),
            Self::Object(keys) if keys.is_empty() => f.write_str("it is an empty object"),
            Self::Object(keys) => write!(f, "it is an object with the keys {}", keys.join(", ")),
            Self::NotAnObject => f.write_str("it is not an object"),
        }
    }
}
