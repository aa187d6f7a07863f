//! Quirks: rules about drives that do not survive what they advertise, from the list that the program carries and from
//! files of the user's.
//!
//! Whom a rule is about, the core decides; here are the files, and what is shown of them.

mod file;

use std::fmt;

use thiserror::Error;
use wattline_core::apst::quirk::{Effect, Effects, Identity, Match};

use self::file::{Entry, File, parse};
use crate::input::{Input, InputError};

/// The rules that the program carries.
const BUILT_IN: &str = include_str!("../../data/quirks.toml");

/// Rules, and what takes effects away again.
#[derive(Clone, Debug, Default)]
pub struct Quirks {
    rules: Vec<Entry>,
    overrides: Vec<Entry>,
}

/// Why there are no rules.
#[derive(Debug, Error)]
pub enum QuirksError {
    /// No bytes.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A file that is not of the form.
    #[error("no quirks in {input}: line {line}: {problem}")]
    Toml {
        /// What was read.
        input: Input,
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// A rule or override that names nothing, and so would be about every drive.
    #[error("no quirks in {input}: \"{name}\" names no drive and no machine, and would be about all")]
    AboutEverybody {
        /// What was read.
        input: Input,
        /// The rule.
        name: String,
    },
    /// A rule or override with an empty list: it would be about no drive, or do nothing.
    #[error("no quirks in {input}: \"{name}\" has an empty list, and would do nothing")]
    DoesNothing {
        /// What was read.
        input: Input,
        /// The rule.
        name: String,
    },
}

impl QuirksError {
    /// What to do next.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Input(_) => "check the name and the permissions; `-` reads standard input",
            Self::Toml { .. } | Self::AboutEverybody { .. } | Self::DoesNothing { .. } => {
                "`wattline apst build --help` shows a file; the built-in list is one too"
            }
        }
    }
}

impl Quirks {
    /// The built-in rules.
    #[must_use]
    pub fn built_in() -> Self {
        let file: File = toml::from_str(BUILT_IN).expect("a test reads the whole list");
        Self { rules: file.rule, overrides: file.over }
    }

    /// These, and those of a file of the user's.
    ///
    /// # Errors
    /// Where the file cannot be read or is not of the form.
    pub fn and(mut self, input: &Input) -> Result<Self, QuirksError> {
        let file = parse(input, &input.read()?)?;
        self.rules.extend(file.rule);
        self.overrides.extend(file.over);
        Ok(self)
    }

    /// What the rules come to for a drive.
    #[must_use]
    pub fn about(&self, drive: &Identity<'_>) -> Found<'_> {
        let mut found = Found::default();
        for rule in &self.rules {
            match rule.matches(drive) {
                Match::Yes => found.apply(rule),
                Match::Unknown => found.open.push(rule),
                Match::No => {}
            }
        }
        let ruled = found.effects;
        for over in &self.overrides {
            let takes_something = over.effects().any(|effect| ruled.contains(effect));
            match over.matches(drive) {
                Match::Yes if takes_something => {
                    found.effects = over.effects().fold(found.effects, Effects::without);
                    found.overridden.push(over);
                }
                Match::Unknown if takes_something => found.open.push(over),
                _ => {}
            }
        }
        found
    }
}

/// What the rules come to for a drive.
#[derive(Clone, Debug, Default)]
pub struct Found<'a> {
    /// What to keep to.
    pub effects: Effects,
    applied: Vec<&'a Entry>,
    open: Vec<&'a Entry>,
    overridden: Vec<&'a Entry>,
}

impl<'a> Found<'a> {
    fn apply(&mut self, rule: &'a Entry) {
        self.effects = rule.effects().fold(self.effects, Effects::with);
        self.applied.push(rule);
    }

    /// One line for each rule that has to do with autonomous transitions: applied, overridden, or not decided.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let about_transitions = |rule: &&&Entry| {
            rule.effects().any(|effect| matches!(effect, Effect::NoTransitions | Effect::NoDeepestState))
        };
        let mut lines = Vec::new();
        for rule in self.applied.iter().filter(about_transitions) {
            lines.push(format!("quirk: {rule}"));
        }
        for over in self.overridden.iter().filter(about_transitions) {
            lines.push(format!("quirk overridden: {over}"));
        }
        let open: Vec<&str> = self.open.iter().filter(about_transitions).map(|rule| rule.name.as_str()).collect();
        if !open.is_empty() {
            let mut names = open;
            names.dedup();
            lines.push(format!(
                "quirks not decided, since not all that they go by is known (see --pci and --this-machine): {}",
                names.join("; ")
            ));
        }
        lines
    }
}

/// `no-deepest-state, WD Blue SN550: drive hangs … (Linux, drivers/nvme/host/pci.c)`.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let effects: Vec<_> = self.effects().map(Effect::name).collect();
        write!(f, "{}, {}: {}", effects.join(", "), self.name, self.reason)?;
        match &self.source {
            Some(source) => write!(f, " ({source})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> Result<Quirks, QuirksError> {
        let file = parse(&Input::Stdin, text.as_bytes())?;
        Ok(Quirks { rules: file.rule, overrides: file.over })
    }

    const A2000: Identity<'_> = Identity {
        vendor: Some(0x2646),
        device: Some(0x2263),
        subsystem_vendor: None,
        subsystem_device: None,
        model: Some("KINGSTON SA2000M81000G"),
        firmware: Some("S5Z42105"),
        system_vendor: None,
        product: None,
        board_vendor: None,
        board: None,
    };

    #[test]
    fn the_built_in_rules_are_the_kernels() {
        let quirks = Quirks::built_in();
        assert_eq!((quirks.rules.len(), quirks.overrides.len()), (33, 0));
        let device = |vendor, device| Identity { vendor: Some(vendor), device: Some(device), ..Identity::default() };
        let no_deepest = [
            (0x8086, 0xf1a5),
            (0x126f, 0x1001),
            (0x126f, 0x2262),
            (0x15b7, 0x5009),
            (0x1cc1, 0x8201),
            (0x2646, 0x2262),
            (0x2646, 0x2263),
            (0x1e49, 0x0021),
            (0x1e49, 0x0041),
            (0x025e, 0xf1ac),
        ];
        for (vendor, id) in no_deepest {
            let effects = quirks.about(&device(vendor, id)).effects;
            assert!(effects.contains(Effect::NoDeepestState), "{vendor:04x}:{id:04x}");
            assert!(!effects.contains(Effect::NoTransitions));
        }
        let model = |vendor, model| Identity { vendor: Some(vendor), model: Some(model), ..Identity::default() };
        for (vendor, name) in [(0x1179, "THNSF5256GPUK TOSHIBA"), (0x1e0f, "KCD6XVUL6T40")] {
            assert!(quirks.about(&model(vendor, name)).effects.contains(Effect::NoTransitions), "{name}");
            assert!(!quirks.about(&model(0, name)).effects.contains(Effect::NoTransitions), "{name} of somebody else");
        }
        assert!(quirks.about(&model(0x144d, "Samsung Portable SSD X5")).effects.contains(Effect::NoDeepestState));
    }

    #[test]
    fn a_board_can_be_the_reason() {
        let quirks = Quirks::built_in();
        let evo = Identity { vendor: Some(0x144d), device: Some(0xa804), ..Identity::default() };
        let asus = Identity { board_vendor: Some("ASUSTeK COMPUTER INC."), ..evo };
        for board in ["PRIME B350M-A", "PRIME Z370-A"] {
            let effects = quirks.about(&Identity { board: Some(board), ..asus }).effects;
            assert!(effects.contains(Effect::NoTransitions), "{board}");
        }
        assert_eq!(quirks.about(&Identity { board: Some("PRIME X570"), ..asus }).effects, Effects::NONE);
        assert_eq!(quirks.about(&evo).effects, Effects::NONE);
        assert!(quirks.about(&evo).lines().join("\n").contains("not decided"));
        let any = Identity { board: Some("LXKT-ZXEG-N6"), ..Identity::default() };
        assert!(quirks.about(&any).effects.contains(Effect::NoTransitions));
    }

    #[test]
    fn a_user_adds_rules_and_takes_effects_away_with_a_reason() {
        let quirks = Quirks::built_in();
        assert!(quirks.about(&A2000).effects.contains(Effect::NoDeepestState));
        let mine = file(
            "[[rule]]\nname = \"mine\"\nmodel = \"KINGSTON*\"\neffects = [\"no-transitions\"]\nreason = \"I saw it\"\n
             [[override]]\nname = \"fixed\"\nmodel = \"KINGSTON SA2000M81000G\"\nfirmware = \"S5Z42105\"
             effects = [\"no-deepest-state\"]\nreason = \"a year without trouble\"\n",
        );
        let mine = mine.unwrap();
        let both = Quirks { rules: quirks.rules.into_iter().chain(mine.rules).collect(), overrides: mine.overrides };
        let found = both.about(&A2000);
        assert!(found.effects.contains(Effect::NoTransitions) && !found.effects.contains(Effect::NoDeepestState));
        let lines = found.lines().join("\n");
        for words in [
            "quirk: no-deepest-state, Kingston A2000: controller stops working",
            "(Linux, drivers/nvme/host/pci.c)",
            "quirk: no-transitions, mine: I saw it",
            "quirk overridden: no-deepest-state, fixed: a year without trouble",
        ] {
            assert!(lines.contains(words), "{words}\n{lines}");
        }
        let unknown = Identity { firmware: None, ..A2000 };
        let found = both.about(&unknown);
        assert!(found.effects.contains(Effect::NoDeepestState), "an exception that is not decided is none");
        assert!(found.lines().join("\n").contains("not decided") && found.lines().join("\n").ends_with("fixed"));
        let other = Identity { firmware: Some("S5Z42109"), ..A2000 };
        assert!(both.about(&other).effects.contains(Effect::NoDeepestState), "another firmware is not overridden");
    }

    #[test]
    fn a_wrong_file_is_named_with_its_line() {
        let whole = "[[rule]]\nname = \"a\"\nmodel = \"b\"\neffects = [\"no-transitions\"]\nreason = \"c\"\n";
        assert!(file(whole).is_ok());
        for (text, words) in [
            (whole.replace("model", "modle"), "line 3: unknown field `modle`"),
            (whole.replace("no-transitions", "none"), "line 4: unknown variant `none`"),
            (whole.replace("reason = \"c\"\n", ""), "missing field `reason`"),
            (whole.replace("model = \"b\"", "vendor = 65536"), "line 3"),
            (whole.replace("model = \"b\"\n", ""), "\"a\" names no drive and no machine"),
            (whole.replace("model = \"b\"", "model = \"b\"\nboard = []"), "\"a\" has an empty list"),
            (whole.replace("effects = [\"no-transitions\"]", "effects = []"), "\"a\" has an empty list"),
            ("[[rules]]".to_owned(), "unknown field `rules`"),
            ("\u{fffd}".to_owned(), "line 1"),
        ] {
            let error = file(&text).unwrap_err().to_string();
            assert!(error.starts_with("no quirks in standard input: ") && error.contains(words), "{error}");
        }
    }
}
