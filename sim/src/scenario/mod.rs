//! Scenarios: what is simulated, as TOML.
//!
//! | room | what it knows |
//! |---|---|
//! | [`schema`] | every key, its unit and its default |
//! | [`value`] | watts, ranges of drives and shares as they are written |
//! | [`error`] | what is wrong with a file: where, and what was probably meant |
//! | `check` | whether the keys fit together |
//! | [`builtin`] | the scenarios that the program carries |

pub mod builtin;
mod check;
pub mod error;
pub mod schema;
pub mod value;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

pub use error::ScenarioError;
pub use schema::Scenario;

/// Most bytes of a scenario: 1 MiB. The longest built-in one has below 2 KiB; the rest keeps a wrong file out of the
/// memory.
const MAX_BYTES: u64 = 1 << 20;

/// Finds a scenario: a built-in one by its name, else the TOML file at that path.
///
/// # Errors
///
/// Where there is neither, where the file cannot be read, and where it is no scenario.
pub fn load(name_or_path: &str) -> Result<Scenario, ScenarioError> {
    if let Some(text) = builtin::text(name_or_path) {
        return parse(name_or_path, text);
    }
    let path = Path::new(name_or_path);
    if !path.exists() && path.extension().is_none() {
        return Err(ScenarioError::unknown_name(name_or_path));
    }
    parse(name_or_path, &read(path)?)
}

fn read(path: &Path) -> Result<String, ScenarioError> {
    let unreadable = |source: io::Error| ScenarioError::Unreadable { path: path.into(), source };
    let file = File::open(path).map_err(unreadable)?;
    if is_device(&file.metadata().map_err(unreadable)?) {
        return Err(ScenarioError::Device { path: path.into() });
    }
    let mut text = String::new();
    let count = file.take(MAX_BYTES + 1).read_to_string(&mut text);
    // What is cut in the middle of a letter is too long as well.
    match count {
        Ok(count) if count as u64 <= MAX_BYTES => Ok(text),
        Err(source) if path.metadata().is_ok_and(|metadata| metadata.len() <= MAX_BYTES) => Err(unreadable(source)),
        Ok(_) | Err(_) => Err(ScenarioError::TooLong { path: path.into() }),
    }
}

#[cfg(unix)]
fn is_device(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let kind = metadata.file_type();
    kind.is_char_device() || kind.is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: &std::fs::Metadata) -> bool {
    false
}

/// Reads a scenario from its text; `origin` is what errors call it.
///
/// # Errors
///
/// Where the text is no scenario.
pub fn parse(origin: &str, text: &str) -> Result<Scenario, ScenarioError> {
    if text.trim().is_empty() {
        return Err(ScenarioError::Empty { origin: origin.into(), bytes: text.len() });
    }
    let scenario: Scenario = toml::from_str(text).map_err(|error| ScenarioError::in_text(origin, text, &error))?;
    scenario.check().map_err(|what| ScenarioError::Contradiction { origin: origin.into(), what })?;
    Ok(scenario)
}

#[cfg(test)]
mod tests;
