//! The power tables of real drives that the program carries, and how one is named.
//!
//! `data/README.md` says where they come from and under which terms.

mod entry;

use std::sync::LazyLock;

use thiserror::Error;

pub use self::entry::Entry;

/// The list, as it stands in the source.
const DRIVES: &str = include_str!("../../data/drives.json");

/// Whom the list names, and has to be named with it (CC BY 4.0).
pub const ATTRIBUTION: &str = "\
Most tables are from the collections bsdhw/SMART and linuxhw/EnterpriseDrive
(CC BY 4.0), brought into this form; the others are from public posts. `--json` names the source of each.
";

static CATALOGUE: LazyLock<Vec<Entry>> =
    LazyLock::new(|| serde_json::from_str(DRIVES).expect("a test reads the whole list"));

/// All drives.
#[must_use]
pub fn drives() -> &'static [Entry] {
    &CATALOGUE
}

/// Why a name is not that of one drive.
#[derive(Clone, Debug, Error)]
pub enum CatalogueError {
    /// No drive has it.
    #[error("no drive in the catalogue is called '{name}'{}", meant(.nearest.as_deref()))]
    Unknown {
        /// The name.
        name: String,
        /// The drive that was probably meant.
        nearest: Option<String>,
    },
    /// Several have it.
    #[error("{} drives in the catalogue are called '{name}':{}", .candidates.len(), listed(.candidates))]
    Ambiguous {
        /// The name.
        name: String,
        /// The drives.
        candidates: Vec<&'static Entry>,
    },
    /// The post about it had no power states.
    #[error("no power state of {0} was posted")]
    NoStates(&'static str),
}

impl CatalogueError {
    /// What to do next.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "`wattline drives WORD` lists drives by a part of their name, model or firmware",
            Self::Ambiguous { .. } => "give one of the names on the left; firmware matters, tables differ by it",
            Self::NoStates(_) => "take another drive: `wattline drives` lists them",
        }
    }
}

fn meant(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |word| format!(" (did you mean '{word}'?)"))
}

/// Not more than fit a screen.
fn listed(candidates: &[&Entry]) -> String {
    const MOST: usize = 30;
    let line = |entry: &&Entry| {
        format!("\n  {}  {}, firmware {}", entry.id, entry.model, entry.firmware.as_deref().unwrap_or("-"))
    };
    let mut text: String = candidates.iter().take(MOST).map(line).collect();
    if candidates.len() > MOST {
        text.push_str(&format!("\n  … and {} more", candidates.len() - MOST));
    }
    text
}

/// The drive of this name: a name of the list, else a model, else a part of name, model and firmware, or several parts.
///
/// # Errors
/// Where no drive, or more than one, is called so.
pub fn find(name: &str) -> Result<&'static Entry, CatalogueError> {
    let wanted = name.trim().to_lowercase();
    let all = |is_it: &dyn Fn(&Entry) -> bool| -> Vec<&'static Entry> {
        drives().iter().filter(|entry| is_it(entry)).collect()
    };
    let found =
        [all(&|entry| entry.id == wanted), all(&|entry| entry.model.to_lowercase() == wanted), matching(&wanted)];
    let best = found.into_iter().find(|entries| !entries.is_empty() && !wanted.is_empty()).unwrap_or_default();
    match best[..] {
        [entry] => Ok(entry),
        [] => Err(CatalogueError::Unknown { name: name.to_owned(), nearest: nearest(&wanted) }),
        _ => Err(CatalogueError::Ambiguous { name: name.to_owned(), candidates: best }),
    }
}

/// The drives that have every word of a pattern in their name, model or firmware, in whatever case.
#[must_use]
pub fn matching(pattern: &str) -> Vec<&'static Entry> {
    let words: Vec<String> = pattern.split_whitespace().map(str::to_lowercase).collect();
    let is_about = |entry: &&Entry| {
        let text = format!("{} {} {}", entry.id, entry.model, entry.firmware.as_deref().unwrap_or_default());
        let text = text.to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    drives().iter().filter(is_about).collect()
}

fn nearest(wanted: &str) -> Option<String> {
    let distance = |entry: &Entry| {
        let id = strsim::damerau_levenshtein(wanted, &entry.id);
        id.min(strsim::damerau_levenshtein(wanted, &entry.model.to_lowercase()))
    };
    let (distance, entry) =
        drives().iter().map(|entry| (distance(entry), entry)).min_by_key(|(distance, _)| *distance)?;
    // Every third letter may be wrong: a guess.
    (distance <= wanted.len() / 3).then(|| entry.id.clone())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_whole_list_is_read_and_every_name_is_one_drives() {
        assert_eq!(drives().len(), 594);
        let names: BTreeSet<&str> = drives().iter().map(|entry| entry.id.as_str()).collect();
        assert_eq!(names.len(), 594);
        for entry in drives() {
            assert_eq!(find(&entry.id).unwrap().id, entry.id);
        }
    }

    #[test]
    fn a_model_is_a_name_where_it_has_one_table() {
        assert_eq!(find("kingston SA2000M8500G").unwrap().id, "kingston-sa2000m8500g-s5z42105");
        let error = find("samsung ssd 970 evo plus 2tb").unwrap_err();
        let CatalogueError::Ambiguous { candidates, .. } = &error else { panic!("{error}") };
        assert!(candidates.len() > 1 && error.to_string().contains("firmware 2B2QEXM7"), "{error}");
    }

    #[test]
    fn no_name_is_no_drives() {
        for name in ["", "  ", "\t"] {
            assert!(matches!(find(name), Err(CatalogueError::Unknown { .. })), "{name:?}");
        }
    }

    #[test]
    fn a_name_with_a_letter_wrong_is_recognised() {
        let error = find("toshiba-xg4-512gb-xsp13").unwrap_err().to_string();
        assert!(error.ends_with("(did you mean 'toshiba-xg4-512gb-xps13'?)"), "{error}");
        assert!(!find("zzzzzzzzzzzz").unwrap_err().to_string().contains("did you mean"));
    }

    #[test]
    fn every_pattern_is_found_where_it_stands() {
        assert_eq!(matching("").len(), 594);
        assert_eq!(matching("no such drive").len(), 0);
        for entry in matching("KINGSTON a2000") {
            assert!(entry.id.contains("kingston") && format!("{} {}", entry.id, entry.model).contains("2000"));
        }
    }
}
