//! What is wrong with a scenario: where, and what was probably meant.

use std::path::PathBuf;

use super::builtin;

/// Why there is no scenario.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// Neither a built-in name nor a file.
    #[error("no scenario `{name}`{hint}: the built-in ones are {known}; or give the path of a TOML file")]
    UnknownName {
        /// What was asked for.
        name: String,
        /// What was probably meant.
        hint: Hint,
        /// What there is.
        known: String,
    },
    /// The file cannot be read.
    #[error("cannot read scenario {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A device, such as `/dev/zero`.
    #[error("{} is a device, and no scenario", path.display())]
    Device {
        /// The device.
        path: PathBuf,
    },
    /// Longer than any scenario.
    #[error("{} has more than 1 MiB, which is longer than any scenario", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
    },
    /// There is nothing in the file.
    #[error("{origin}: nothing in it ({bytes} bytes); a scenario needs at least `name` and `duration_s`")]
    Empty {
        /// The file.
        origin: String,
        /// How much there was.
        bytes: usize,
    },
    /// The text is no TOML, or has a key or a value that no scenario has.
    #[error("{origin}, line {line}: {message}{hint}")]
    InText {
        /// The file.
        origin: String,
        /// Line, from 1.
        line: usize,
        /// What was found and what was expected.
        message: String,
        /// What was probably meant.
        hint: Hint,
    },
    /// Each key is fine, but they do not fit together.
    #[error("{origin}: {what}")]
    Contradiction {
        /// The file.
        origin: String,
        /// What does not fit, and what would.
        what: String,
    },
}

/// The word that was probably meant.
#[derive(Debug, Default)]
pub struct Hint(Option<String>);

impl std::fmt::Display for Hint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Some(word) => write!(f, " (did you mean `{word}`?)"),
            None => Ok(()),
        }
    }
}

impl Hint {
    fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Self {
        let scored = candidates.into_iter().map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate));
        let near = scored.filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 3);
        Self(near.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate.to_owned()))
    }
}

impl ScenarioError {
    pub(super) fn unknown_name(name: &str) -> Self {
        let names = builtin::ALL.map(|(known, _)| known);
        Self::UnknownName { name: name.into(), hint: Hint::nearest(name, names), known: names.join(", ") }
    }

    pub(super) fn in_text(origin: &str, text: &str, error: &toml::de::Error) -> Self {
        let span = error.span().unwrap_or(0..0);
        let line = text.bytes().take(span.start).filter(|byte| *byte == b'\n').count() + 1;
        let mut message = for_people(error.message());
        if message == "duplicate key"
            && let Some(key) = text.get(span)
        {
            message = format!("duplicate key `{key}`");
        }
        let message = visible(&message);
        let hint = hint(&message);
        Self::InText { origin: origin.into(), line, message, hint }
    }
}

/// The message in one line, without the names that serde and Rust have for what was expected.
fn for_people(message: &str) -> String {
    const WORDS: [(&str, &str); 7] = [
        ("expected f64", "expected a number"),
        ("expected u16", "expected a whole number from 0 to 65535"),
        ("expected u32", "expected a whole number from 0 to 4294967295"),
        ("expected usize", "expected a whole number, not negative"),
        ("wanted string or table", "expected a word in quotes"),
        ("wanted exactly 1 element, found 0 elements", "expected a word in quotes, found a table"),
        ("wanted exactly 1 element, more than 1 element", "expected a word in quotes, found a table"),
    ];
    let line = message.trim().replace('\n', ", ");
    WORDS.iter().fold(line, |line, (from, to)| line.replace(from, to))
}

/// The text with control characters written out, for terminals.
fn visible(text: &str) -> String {
    let write = |letter: char| if letter.is_control() { letter.escape_default().to_string() } else { letter.into() };
    text.chars().map(write).collect()
}

/// serde writes an unknown word first and then every known one, each in backticks.
fn hint(message: &str) -> Hint {
    if !message.starts_with("unknown field") && !message.starts_with("unknown variant") {
        return Hint::default();
    }
    let mut quoted = message.split('`').skip(1).step_by(2);
    let Some(word) = quoted.next() else { return Hint::default() };
    Hint::nearest(word, quoted)
}
