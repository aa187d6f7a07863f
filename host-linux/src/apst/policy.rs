//! Policies by name.

use std::fmt;
use std::str::FromStr;

use wattline_core::apst::energy;
use wattline_core::apst::linux::{self, Parameters};
use wattline_core::apst::quirk::Effects;
use wattline_core::apst::wear::TransitionsPerDay;
use wattline_core::apst::windows::{self, Scheme, Source};
use wattline_core::apst::{Drive, Plan, Tolerance};
use wattline_core::nvme::PowerState;
use wattline_core::nvme::feature::autonomous_transitions::raw_entry;

/// A policy, as named on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    /// The kernel's default mode.
    Linux,
    /// Its other one.
    LinuxTwoPercent,
    /// What saves most energy.
    Energy,
    /// Windows' defaults.
    Windows(Scheme, Source),
}

/// The schemes and their names.
const SCHEMES: [(&str, Scheme); 4] = [
    ("high-performance", Scheme::HighPerformance),
    ("balanced", Scheme::Balanced),
    ("power-saver", Scheme::PowerSaver),
    ("modern-standby", Scheme::ModernStandby),
];

impl Policy {
    /// The kernel's parameters, where the kernel is meant.
    pub(super) fn linux(self) -> Option<Parameters> {
        match self {
            Self::Linux => Some(Parameters::TWO_TIER),
            Self::LinuxTwoPercent => Some(Parameters::TWO_PERCENT),
            Self::Energy | Self::Windows(..) => None,
        }
    }

    /// Whether it has a tolerance that can be chosen.
    pub(super) fn has_tolerance(self) -> bool {
        !matches!(self, Self::Windows(..))
    }

    /// The plan, and the entries as they are written. `tolerance` and `wear` are for the policies that have one.
    pub(super) fn build(
        self,
        drive: &Drive<'_>,
        tolerance: Tolerance,
        quirks: Effects,
        wear: Option<TransitionsPerDay>,
    ) -> (Plan, [u64; PowerState::COUNT]) {
        match self {
            Self::Linux | Self::LinuxTwoPercent => {
                let parameters = self.linux().unwrap_or_default();
                let entries = linux::entries(drive, tolerance, quirks, &parameters);
                (linux::build(drive, tolerance, quirks, &parameters), entries)
            }
            Self::Energy => {
                // Nobody records gaps yet, so there is no histogram.
                let parameters = energy::Parameters { wear, ..energy::Parameters::default() };
                with_entries(energy::build(drive, tolerance, quirks, &parameters, None))
            }
            Self::Windows(scheme, source) => {
                with_entries(windows::build(drive, quirks, &windows::Parameters { scheme, source, wear }))
            }
        }
    }
}

fn with_entries(plan: Plan) -> (Plan, [u64; PowerState::COUNT]) {
    let buffer = plan.table.encode();
    let mut entries = [0; PowerState::COUNT];
    for state in PowerState::up_to(PowerState::PS31) {
        entries[state.index()] = raw_entry(&buffer, state);
    }
    (plan, entries)
}

impl FromStr for Policy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "linux" => return Ok(Self::Linux),
            "linux-two-percent" => return Ok(Self::LinuxTwoPercent),
            "energy" => return Ok(Self::Energy),
            _ => {}
        }
        let names = SCHEMES.map(|(name, _)| name).join(", ");
        let Some(windows) = text.strip_prefix("windows:") else {
            return Err(format!(
                "policies are linux, linux-two-percent, energy and windows:SCHEME, with one of {names}"
            ));
        };
        let (name, source) = match windows.split_once(':') {
            None => (windows, Source::Ac),
            Some((name, "ac")) => (name, Source::Ac),
            Some((name, "dc")) => (name, Source::Dc),
            Some((_, other)) => return Err(format!("'{other}' is neither ac (mains) nor dc (battery)")),
        };
        let scheme = SCHEMES.into_iter().find(|(known, _)| *known == name);
        let (_, scheme) = scheme.ok_or_else(|| format!("Windows has the schemes {names}"))?;
        Ok(Self::Windows(scheme, source))
    }
}

/// As it is written on the command line.
impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linux => f.write_str("linux"),
            Self::LinuxTwoPercent => f.write_str("linux-two-percent"),
            Self::Energy => f.write_str("energy"),
            Self::Windows(scheme, source) => {
                let name = SCHEMES.into_iter().find(|(_, known)| known == scheme).map_or("", |(name, _)| name);
                write!(f, "windows:{name}{}", if *source == Source::Dc { ":dc" } else { "" })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_written_as_it_is_read() {
        for text in [
            "linux",
            "linux-two-percent",
            "energy",
            "windows:balanced",
            "windows:power-saver:dc",
            "windows:modern-standby",
        ] {
            assert_eq!(text.parse::<Policy>().unwrap().to_string(), text);
        }
        assert_eq!("windows:balanced:ac".parse(), Ok(Policy::Windows(Scheme::Balanced, Source::Ac)));
        for text in ["", "Linux", "windows", "windows:", "windows:best", "windows:balanced:sun"] {
            assert!(text.parse::<Policy>().is_err(), "{text}");
        }
    }
}
