//! Why there is no profile: where in which file, and what was probably meant.

use std::fmt;

use thiserror::Error;

use crate::input::{Input, InputError};

/// Why there is no profile.
#[derive(Debug, Error)]
pub enum ProfileError {
    /// No bytes.
    #[error(transparent)]
    Input(#[from] InputError),
    /// Nothing came, or only white space.
    #[error("no profile in {input}: {bytes} bytes came, none of them content")]
    Empty {
        /// What was read.
        input: Input,
        /// How many bytes came.
        bytes: usize,
    },
    /// Not UTF-8.
    #[error("no profile in {input}: line {line} is not text in UTF-8")]
    NotText {
        /// What was read.
        input: Input,
        /// Counted from 1.
        line: usize,
    },
    /// No TOML, or a key or a value that no profile has.
    #[error("no profile in {input}: line {line}: {problem}{hint}")]
    Toml {
        /// What was read.
        input: Input,
        /// Counted from 1.
        line: usize,
        /// What was found and what was expected.
        problem: String,
        /// The key that was probably meant.
        hint: Hint,
    },
    /// A value that cannot be right.
    #[error("no profile in {input}: line {line}: `{key}` {problem}")]
    Unsound {
        /// What was read.
        input: Input,
        /// Counted from 1.
        line: usize,
        /// The path of the key: `states[0].measured.random-read.power_mw`.
        key: String,
        /// What is wrong with its value.
        problem: String,
    },
}

impl ProfileError {
    /// What to do next.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Input(InputError::Io { .. }) => "check the name and the permissions; `-` reads standard input",
            Self::Input(_) | Self::Empty { .. } | Self::NotText { .. } => {
                "name a built-in profile or a TOML file; `wattline plan --help` shows both"
            }
            Self::Toml { .. } => {
                "quantities are whole numbers in the unit that ends their key: 16.5 W is `power_mw = 16500`; \
                 `wattline plan --help` shows a file"
            }
            Self::Unsound { .. } => "correct the value, or leave the key out where it is not known",
        }
    }

    pub(super) fn toml(input: &Input, text: &str, error: &toml::de::Error) -> Self {
        let problem = error.message().trim().replace('\n', ", ");
        let line = line_of(text.as_bytes(), error.span().map_or(0, |span| span.start));
        Self::Toml { input: input.clone(), line, hint: Hint::from_serde(&problem), problem }
    }
}

/// The line of a position, counted from 1.
pub(super) fn line_of(text: &[u8], position: usize) -> usize {
    text.iter().take(position).filter(|byte| **byte == b'\n').count() + 1
}

/// The word that was probably meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hint(Option<String>);

impl Hint {
    /// The candidate that is nearest to a word; none where even that is far away.
    pub(super) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Self {
        let measured = candidates.into_iter().map(|known| (strsim::damerau_levenshtein(word, known), known));
        // Every third letter may be wrong, and one more in a short word: a guess.
        let near = measured.filter(|(distance, known)| *distance <= 1 + known.len() / 3);
        Self(near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known.to_owned()))
    }

    /// serde names the unknown key first and then every known one, each in backticks.
    fn from_serde(problem: &str) -> Self {
        if !problem.starts_with("unknown field") {
            return Self::default();
        }
        let mut quoted = problem.split('`').skip(1).step_by(2);
        quoted.next().map(|word| Self::nearest(word, quoted)).unwrap_or_default()
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(word) => write!(f, " (did you mean `{word}`?)"),
            None => Ok(()),
        }
    }
}
