//! Values in JSON, and how a wrong one is reported.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::InventoryError;

/// A document as a type, or the key in which it is wrong.
pub(super) fn typed<T: DeserializeOwned>(document: Value) -> Result<T, InventoryError> {
    serde_path_to_error::deserialize(document).map_err(|error| InventoryError::JsonValue {
        key: error.path().to_string(),
        problem: error.inner().to_string(),
    })
}

/// A number of at most `MAX`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(try_from = "u8")]
pub(super) struct AtMost<const MAX: u8>(u8);

impl<const MAX: u8> AtMost<MAX> {
    pub(super) const fn get(self) -> u8 {
        self.0
    }
}

impl<const MAX: u8> TryFrom<u8> for AtMost<MAX> {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, Self::Error> {
        if number <= MAX { Ok(Self(number)) } else { Err(format!("{number} is too large, at most {MAX} is possible")) }
    }
}
