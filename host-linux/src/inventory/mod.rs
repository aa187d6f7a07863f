//! What a drive says about its power states and thermal limits, whichever tool wrote it down.
//!
//! [`Inventory::parse`] recognises the format by its content:
//!
//! | format | written by | says |
//! |---|---|---|
//! | Identify Controller page, 4,096 bytes | `nvme id-ctrl --raw-binary` | everything |
//! | the same as a hex dump | by hand, from a post or a log | everything |
//! | JSON with the key `psds` | `nvme id-ctrl --output-format=json`, 2.x | everything |
//! | JSON with the key `nvme_power_states` | `smartctl --json --all`, 7.5 and later | no APST, HCTM, RTD3, idle and active power |
//! | text with the table "Supported Power States" | `smartctl --all` | the same |
//! | JSON with that text in `smartctl.output` | `smartctl --json=o --all` | the same |
//!
//! A field that the drive does not report and a field that the tool does not print are both `None`.

mod error;
pub(crate) mod hex_dump;
mod json;
mod json_value;
mod nvme_json;
mod page;
mod smartctl_json;
mod smartctl_text;

use wattline_core::nvme::{PowerState, PowerStateDescriptor};
use wattline_core::units::{Kelvin, Microseconds};

pub use self::error::{InventoryError, Resemblance};

/// What a drive says about its power states and thermal limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// PCI Vendor ID (VID).
    pub vendor: Option<u16>,
    /// PCI Subsystem Vendor ID (SSVID).
    pub subsystem_vendor: Option<u16>,
    /// Model Number (MN).
    pub model: Option<String>,
    /// Firmware Revision (FR).
    pub firmware: Option<String>,
    /// Autonomous Power State Transition Attributes (APSTA), bit 0: transitions are supported.
    pub apst_supported: Option<bool>,
    /// Warning Composite Temperature Threshold (WCTEMP).
    pub warning_temperature: Option<Kelvin>,
    /// Critical Composite Temperature Threshold (CCTEMP).
    pub critical_temperature: Option<Kelvin>,
    /// Host Controlled Thermal Management Attributes (HCTMA), bit 0: supported.
    pub hctm_supported: Option<bool>,
    /// Minimum Thermal Management Temperature (MNTMT).
    pub min_thermal_management_temperature: Option<Kelvin>,
    /// Maximum Thermal Management Temperature (MXTMT).
    pub max_thermal_management_temperature: Option<Kelvin>,
    /// Runtime D3 Resume Latency (RTD3R).
    pub rtd3_resume_latency: Option<Microseconds>,
    /// Runtime D3 Entry Latency (RTD3E).
    pub rtd3_entry_latency: Option<Microseconds>,
    /// The power states 0 to NPSS; the position is the state's number.
    pub power_states: Vec<PowerStateDescriptor>,
}

impl Inventory {
    /// Reads an inventory in any of the formats that the module lists.
    ///
    /// # Errors
    /// Where the format is not known, or the content contradicts it. A wrong value is never skipped.
    pub fn parse(input: &[u8]) -> Result<Self, InventoryError> {
        if input.trim_ascii().is_empty() {
            return Err(InventoryError::Empty { bytes: input.len() });
        }
        if input.iter().any(is_binary) {
            return page::read(input);
        }
        // Some drives name themselves in bytes that are no UTF-8, and tools pass them on.
        let text = String::from_utf8_lossy(input);
        let text = text.trim_start_matches('\u{FEFF}');
        let start = text.trim_start();
        if start.starts_with(['{', '[']) {
            json::read(text)
        } else if smartctl_text::is_recognised(text) {
            smartctl_text::read(text)
        } else if hex_dump::is_recognised(text) {
            hex_dump::read(text)
        } else {
            Err(InventoryError::UnknownText { first_line: excerpt(start.lines().next().unwrap_or_default()) })
        }
    }

    /// Number of Power States Support (NPSS): the highest power state's number. `None` without any.
    #[must_use]
    pub fn npss(&self) -> Option<usize> {
        self.power_states.len().checked_sub(1)
    }

    /// Itself, where it has as many power states as a controller can have.
    fn checked(self) -> Result<Self, InventoryError> {
        match self.power_states.len() {
            1..=PowerState::COUNT => Ok(self),
            found => Err(InventoryError::PowerStateCount { found }),
        }
    }

    /// Itself, unless it is what a page of zeros reads as: no name, no ability, and one power state that says nothing.
    /// For formats that have the whole page; a real drive may say no more than this in another.
    fn not_blank(self) -> Result<Self, InventoryError> {
        let no = |ability: Option<bool>| ability.filter(|is_able| !is_able);
        let blank = Self {
            apst_supported: no(self.apst_supported),
            hctm_supported: no(self.hctm_supported),
            power_states: vec![PowerStateDescriptor::default()],
            ..Self::default()
        };
        if self == blank { Err(InventoryError::Blank) } else { Ok(self) }
    }
}

/// Whether a byte occurs in pages but not in text, not even in coloured text.
fn is_binary(byte: &u8) -> bool {
    const ESCAPE: u8 = 0x1B;
    byte.is_ascii_control() && !byte.is_ascii_whitespace() && *byte != ESCAPE
}

/// A piece of the input, quoted for an error: on one line, not too long, and harmless to a terminal.
pub(crate) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.trim_end().char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{:?}", text.trim_end()),
    }
}

/// A model or firmware without its padding. `None` where nothing printable is left, as in the core.
fn identity(text: &str) -> Option<String> {
    let text = text.trim_matches([' ', '\0']);
    let printable = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    (printable && !text.is_empty()).then(|| text.to_owned())
}

/// A vendor's number, where 0 stands for none.
pub(crate) fn vendor(number: u16) -> Option<u16> {
    (number != 0).then_some(number)
}

/// A temperature in kelvins, where 0 means "not reported".
pub(crate) fn reported(kelvin: Option<Kelvin>) -> Option<Kelvin> {
    kelvin.filter(|&kelvin| kelvin != Kelvin::ZERO)
}

/// A latency in microseconds, where 0 means "not reported".
pub(crate) fn latency(microseconds: u32) -> Option<Microseconds> {
    (microseconds != 0).then(|| Microseconds::new(u64::from(microseconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_not_a_drive() {
        for (input, bytes) in [(&b""[..], 0), (b" \n\n", 3)] {
            assert_eq!(Inventory::parse(input).unwrap_err().to_string(), InventoryError::Empty { bytes }.to_string());
        }
    }

    #[test]
    fn text_of_no_known_format_is_quoted() {
        let error = Inventory::parse(b"\n  Hello, drive\nhow are you?").unwrap_err();
        assert!(
            matches!(&error, InventoryError::UnknownText { first_line } if first_line == "\"Hello, drive\""),
            "{error}"
        );
    }

    #[test]
    fn an_excerpt_is_short_and_harmless() {
        assert_eq!(excerpt("\u{1b}[31mred  "), r#""\u{1b}[31mred""#);
        assert_eq!(excerpt(&"µ".repeat(61)), format!("\"{}\"…", "µ".repeat(60)));
    }

    #[test]
    fn an_identity_is_printable_or_none() {
        assert_eq!(identity(" QEMU NVMe Ctrl  \0"), Some("QEMU NVMe Ctrl".to_owned()));
        for text in ["", "   ", "a\u{1b}[31m", "µ"] {
            assert_eq!(identity(text), None, "{text:?}");
        }
    }
}
