//! Quirks: which drives, and which drives in which machines, do not survive what they advertise.
//!
//! The rules are data that an adapter keeps. Here is what a rule can say and when it applies: each thing that it
//! names has to be known about the drive or its machine, and equal. What is not known leaves the question open
//! ([`Match::Unknown`]), so that nobody takes "I cannot see the PCI device" for "this drive is fine".

use serde::Deserialize;

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// No autonomous transitions at all (Linux: `NO_APST`).
    NoTransitions,
    /// No transition into the state with the highest number (Linux: `NO_DEEPEST_PS`). Where that is an operational
    /// state the rule has no effect, and a drive with two bad states keeps the second: it is the kernel's rule.
    NoDeepestState,
    /// Shut the drive down in suspend-to-idle (Linux: `SIMPLE_SUSPEND`).
    ShutDownInSuspend,
    /// Never shut the drive down in suspend-to-idle (Linux: `FORCE_NO_SIMPLE_SUSPEND`).
    NoShutDownInSuspend,
    /// Do not set temperature thresholds (Linux: `NO_TEMP_THRESH_CHANGE`).
    NoTemperatureThresholds,
    /// Do not touch the temperature thresholds of single sensors (Linux: `NO_SECONDARY_TEMP_THRESH`).
    NoSensorTemperatureThresholds,
    /// Wait before the ready bit is read after the controller was disabled (Linux: `DELAY_BEFORE_CHK_RDY`).
    DelayBeforeReady,
    /// Message-signalled interrupts other than MSI-X fail (Linux: `BROKEN_MSI`).
    BrokenMsi,
}

impl Effect {
    /// Every effect.
    pub const ALL: [Self; 8] = [
        Self::NoTransitions,
        Self::NoDeepestState,
        Self::ShutDownInSuspend,
        Self::NoShutDownInSuspend,
        Self::NoTemperatureThresholds,
        Self::NoSensorTemperatureThresholds,
        Self::DelayBeforeReady,
        Self::BrokenMsi,
    ];

    /// Its name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoTransitions => "no-transitions",
            Self::NoDeepestState => "no-deepest-state",
            Self::ShutDownInSuspend => "shut-down-in-suspend",
            Self::NoShutDownInSuspend => "no-shut-down-in-suspend",
            Self::NoTemperatureThresholds => "no-temperature-thresholds",
            Self::NoSensorTemperatureThresholds => "no-sensor-temperature-thresholds",
            Self::DelayBeforeReady => "delay-before-ready",
            Self::BrokenMsi => "broken-msi",
        }
    }
}

/// A set of effects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Effects(u16);

impl Effects {
    /// No effect: quirks off.
    pub const NONE: Self = Self(0);

    /// This set and `effect`.
    #[must_use]
    pub const fn with(self, effect: Effect) -> Self {
        Self(self.0 | 1 << effect as u16)
    }

    /// This set without `effect`.
    #[must_use]
    pub const fn without(self, effect: Effect) -> Self {
        Self(self.0 & !(1 << effect as u16))
    }

    /// Whether `effect` is in it.
    #[must_use]
    pub const fn contains(self, effect: Effect) -> bool {
        self.0 & 1 << effect as u16 != 0
    }
}

impl FromIterator<Effect> for Effects {
    fn from_iter<I: IntoIterator<Item = Effect>>(effects: I) -> Self {
        effects.into_iter().fold(Self::NONE, Self::with)
    }
}

/// What a rule asks of a drive and its machine, or what is known about them. `None` in a rule: anything will do. `None`
/// in an identity: not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity<'a> {
    /// PCI Vendor ID (VID).
    pub vendor: Option<u16>,
    /// PCI Device ID.
    pub device: Option<u16>,
    /// PCI Subsystem Vendor ID (SSVID).
    pub subsystem_vendor: Option<u16>,
    /// PCI Subsystem ID.
    pub subsystem_device: Option<u16>,
    /// Model Number (MN) without its padding. A `*` at the end of a rule's stands for any end.
    pub model: Option<&'a str>,
    /// Firmware Revision (FR), likewise.
    pub firmware: Option<&'a str>,
    /// Who made the machine (DMI, System Manufacturer).
    pub system_vendor: Option<&'a str>,
    /// What the machine is called (DMI, Product Name).
    pub product: Option<&'a str>,
    /// Who made its board (DMI, Baseboard Manufacturer).
    pub board_vendor: Option<&'a str>,
    /// What its board is called (DMI, Baseboard Product).
    pub board: Option<&'a str>,
}

/// Whether a rule is about a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Match {
    /// It is.
    Yes,
    /// It is not.
    No,
    /// Nothing speaks against it, but something that it names is not known.
    Unknown,
}

/// A rule: whom it is about, and what it does. Its reason and source stay with the adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule<'a> {
    /// Whom it is about.
    pub about: Identity<'a>,
    /// What it does.
    pub effects: Effects,
}

impl Rule<'_> {
    /// Whether the rule is about this drive. A rule that names nothing is about every drive.
    #[must_use]
    pub fn matches(&self, drive: &Identity<'_>) -> Match {
        let rule = &self.about;
        let numbers = [
            (rule.vendor, drive.vendor),
            (rule.device, drive.device),
            (rule.subsystem_vendor, drive.subsystem_vendor),
            (rule.subsystem_device, drive.subsystem_device),
        ];
        let texts = [
            (rule.model, drive.model),
            (rule.firmware, drive.firmware),
            (rule.system_vendor, drive.system_vendor),
            (rule.product, drive.product),
            (rule.board_vendor, drive.board_vendor),
            (rule.board, drive.board),
        ];
        let numbers =
            numbers.into_iter().map(|(wanted, known)| compare(wanted, known, |wanted, known| wanted == known));
        let texts = texts.into_iter().map(|(wanted, known)| compare(wanted, known, is_like));
        numbers.chain(texts).fold(Match::Yes, Match::and)
    }
}

impl Match {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Yes, Self::Yes) => Self::Yes,
        }
    }
}

fn compare<T: Copy>(wanted: Option<T>, known: Option<T>, is_equal: impl Fn(T, T) -> bool) -> Match {
    match (wanted, known) {
        (None, _) => Match::Yes,
        (Some(_), None) => Match::Unknown,
        (Some(wanted), Some(known)) if is_equal(wanted, known) => Match::Yes,
        (Some(_), Some(_)) => Match::No,
    }
}

fn is_like(wanted: &str, known: &str) -> bool {
    let known = known.trim_matches([' ', '\0']);
    wanted.strip_suffix('*').map_or(wanted == known, |start| known.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    const XPS: Rule<'_> = Rule {
        about: Identity {
            vendor: Some(0x144d),
            device: Some(0xa802),
            system_vendor: Some("Dell Inc."),
            product: Some("XPS 15 9550"),
            model: None,
            firmware: None,
            subsystem_vendor: None,
            subsystem_device: None,
            board_vendor: None,
            board: None,
        },
        effects: Effects::NONE.with(Effect::NoDeepestState),
    };

    #[test]
    fn a_rule_is_about_a_drive_in_a_machine() {
        assert_eq!(XPS.matches(&XPS.about), Match::Yes);
        assert_eq!(XPS.matches(&Identity { model: Some("anything"), ..XPS.about }), Match::Yes);
        assert_eq!(XPS.matches(&Identity { product: Some("XPS 15 9560"), ..XPS.about }), Match::No);
        assert_eq!(XPS.matches(&Identity { device: Some(0xa804), ..XPS.about }), Match::No);
    }

    #[test]
    fn what_is_not_known_leaves_the_question_open() {
        assert_eq!(XPS.matches(&Identity { device: None, ..XPS.about }), Match::Unknown);
        assert_eq!(XPS.matches(&Identity { device: None, product: Some("other"), ..XPS.about }), Match::No);
        assert_eq!(XPS.matches(&Identity::default()), Match::Unknown);
        let everybody = Rule { about: Identity::default(), effects: Effects::NONE };
        assert_eq!(everybody.matches(&Identity::default()), Match::Yes);
    }

    #[test]
    fn a_star_stands_for_any_end_and_padding_does_not_count() {
        let rule =
            |model| Rule { about: Identity { model: Some(model), ..Identity::default() }, effects: Effects::NONE };
        let drive = Identity { model: Some("Samsung Portable SSD X5  "), ..Identity::default() };
        for (model, expected) in [
            ("Samsung Portable SSD X5", Match::Yes),
            ("Samsung Portable*", Match::Yes),
            ("*", Match::Yes),
            ("Samsung Portable", Match::No),
            ("samsung portable*", Match::No),
        ] {
            assert_eq!(rule(model).matches(&drive), expected, "{model}");
        }
    }

    #[test]
    fn effects_are_a_set() {
        let all = Effect::ALL;
        let set: Effects = all.into_iter().collect();
        for effect in all {
            assert!(set.contains(effect) && !set.without(effect).contains(effect));
            assert_eq!(all.iter().filter(|&&other| Effects::NONE.with(effect).contains(other)).count(), 1);
        }
    }
}
