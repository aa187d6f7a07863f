//! The form of a file of quirks.

use serde::Deserialize;
use wattline_core::apst::quirk::{Effect, Effects, Identity, Match, Rule};

use super::QuirksError;
use crate::input::Input;

/// A file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(default)]
    pub(super) rule: Vec<Entry>,
    #[serde(default, rename = "override")]
    pub(super) over: Vec<Entry>,
}

/// A rule, or an override: whom it is about, which effects it has or takes away, and why.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Entry {
    pub(super) name: String,
    vendor: Option<u16>,
    device: Option<u16>,
    subsystem_vendor: Option<u16>,
    subsystem_device: Option<u16>,
    model: Option<String>,
    firmware: Option<String>,
    system_vendor: Option<String>,
    #[serde(default)]
    product: OneOrMore,
    board_vendor: Option<String>,
    #[serde(default)]
    board: OneOrMore,
    effects: Vec<Effect>,
    pub(super) reason: String,
    pub(super) source: Option<String>,
}

/// A text, a list of which any will do, or nothing.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    #[default]
    Nothing,
    One(String),
    More(Vec<String>),
}

impl OneOrMore {
    /// The alternatives; one that is `None` where nothing is named.
    fn alternatives(&self) -> Vec<Option<&str>> {
        match self {
            Self::Nothing => vec![None],
            Self::One(text) => vec![Some(text)],
            Self::More(texts) => texts.iter().map(|text| Some(text.as_str())).collect(),
        }
    }
}

impl Entry {
    /// Its effects, in the order of the file.
    pub(super) fn effects(&self) -> impl Iterator<Item = Effect> {
        self.effects.iter().copied()
    }

    /// Whether it is about the drive: of its alternatives, the best answer.
    pub(super) fn matches(&self, drive: &Identity<'_>) -> Match {
        let mut answer = Match::No;
        for about in self.about() {
            match (Rule { about, effects: Effects::NONE }).matches(drive) {
                Match::Yes => return Match::Yes,
                Match::Unknown => answer = Match::Unknown,
                Match::No => {}
            }
        }
        answer
    }

    fn about(&self) -> Vec<Identity<'_>> {
        let mut about = Vec::new();
        for product in self.product.alternatives() {
            for board in self.board.alternatives() {
                about.push(Identity {
                    vendor: self.vendor,
                    device: self.device,
                    subsystem_vendor: self.subsystem_vendor,
                    subsystem_device: self.subsystem_device,
                    model: self.model.as_deref(),
                    firmware: self.firmware.as_deref(),
                    system_vendor: self.system_vendor.as_deref(),
                    product,
                    board_vendor: self.board_vendor.as_deref(),
                    board,
                });
            }
        }
        about
    }
}

/// Reads a file; `input` is what errors call it.
pub(super) fn parse(input: &Input, bytes: &[u8]) -> Result<File, QuirksError> {
    let problem = |line, problem: String| QuirksError::Toml { input: input.clone(), line, problem };
    let text = std::str::from_utf8(bytes)
        .map_err(|error| problem(line_of(bytes, error.valid_up_to()), "it is not text in UTF-8".to_owned()))?;
    let file: File = toml::from_str(text).map_err(|error| {
        let line = line_of(bytes, error.span().map_or(0, |span| span.start));
        problem(line, error.message().trim().replace('\n', ", "))
    })?;
    for entry in file.rule.iter().chain(&file.over) {
        let (input, name, about) = (input.clone(), entry.name.clone(), entry.about());
        if about.contains(&Identity::default()) {
            return Err(QuirksError::AboutEverybody { input, name });
        }
        if about.is_empty() || entry.effects.is_empty() {
            return Err(QuirksError::DoesNothing { input, name });
        }
    }
    Ok(file)
}

/// The line of a position, counted from 1.
fn line_of(text: &[u8], position: usize) -> usize {
    text.iter().take(position).filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_effect_is_read_by_its_name() {
        #[derive(Deserialize)]
        struct Effects {
            all: Vec<Effect>,
        }
        let names = Effect::ALL.map(|effect| format!("'{}'", effect.name())).join(", ");
        let Effects { all } = toml::from_str(&format!("all = [{names}]")).unwrap();
        assert_eq!(all, Effect::ALL);
    }
}
