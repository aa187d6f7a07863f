//! Profiles by name: the built-in ones, and TOML files in the form of [`wattline_core::profile::Profile`].
//!
//! `PROFILES.md` in this crate describes the file. A profile that is loaded here is *sound*: no quantity that is given
//! is 0, and none is so large that a sum over 256 drives would not fit the core's quantities.

mod check;
mod error;

use std::fmt;
use std::str::FromStr;

use wattline_core::profile::{Profile, d5_p5336};

pub use self::error::{Hint, ProfileError};
use crate::input::Input;

/// A profile that the core carries.
type BuiltIn = (&'static str, fn() -> Profile);

/// All of them.
const BUILT_IN: [BuiltIn; 1] = [("d5-p5336", d5_p5336)];

/// Where a profile comes from, as named on the command line.
#[derive(Clone, Debug)]
pub enum Source {
    /// A profile that the core carries.
    BuiltIn(fn() -> Profile),
    /// A TOML file, or standard input.
    Toml(Input),
}

impl Source {
    /// The profile.
    ///
    /// # Errors
    /// Where the file cannot be read or holds no sound profile.
    pub fn load(&self) -> Result<Profile, ProfileError> {
        match self {
            Self::BuiltIn(profile) => Ok(profile()),
            Self::Toml(input) => parse(input, &input.read()?),
        }
    }
}

/// A built-in name, else a path. A word without a dot or a slash that names no file was meant to be a built-in name.
impl FromStr for Source {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some((_, profile)) = BUILT_IN.iter().find(|(name, _)| *name == text) {
            return Ok(Self::BuiltIn(*profile));
        }
        let is_path = text == "-" || text.contains(['.', '/']) || std::path::Path::new(text).exists();
        let Ok(input) = text.parse();
        if is_path { Ok(Self::Toml(input)) } else { Err(UnknownName::new(text)) }
    }
}

/// A word that names neither a built-in profile nor a file.
#[derive(Clone, Debug)]
pub struct UnknownName(Hint);

impl UnknownName {
    fn new(word: &str) -> Self {
        Self(Hint::nearest(word, BUILT_IN.map(|(name, _)| name)))
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = BUILT_IN.map(|(name, _)| name).join(", ");
        write!(f, "no built-in profile has this name{}; built in: {names}; a file is named by its path", self.0)
    }
}

impl std::error::Error for UnknownName {}

/// Reads a profile; `input` is what errors call it.
///
/// # Errors
/// Where the bytes are no sound profile.
pub fn parse(input: &Input, bytes: &[u8]) -> Result<Profile, ProfileError> {
    if bytes.trim_ascii().is_empty() {
        return Err(ProfileError::Empty { input: input.clone(), bytes: bytes.len() });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| ProfileError::NotText {
        input: input.clone(),
        line: error::line_of(bytes, error.valid_up_to()),
    })?;
    let profile = toml::from_str(text).map_err(|error| match check::too_many_states(text) {
        Some(unsound) => unsound.located(input, text),
        None => ProfileError::toml(input, text, &error),
    })?;
    check::check(&profile).map_err(|unsound| unsound.located(input, text))?;
    Ok(profile)
}
