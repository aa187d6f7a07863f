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

use std::path::Path;

pub use error::ScenarioError;
pub use schema::Scenario;

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
    let text =
        std::fs::read_to_string(path).map_err(|source| ScenarioError::Unreadable { path: path.into(), source })?;
    parse(name_or_path, &text)
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
