//! What is asked: which drive, which policy, within which limits. And the answer.

use std::num::NonZeroU32;

use wattline_core::apst::linux::{self, Remedy};
use wattline_core::apst::quirk::Identity;
use wattline_core::apst::wear::TransitionsPerDay;
use wattline_core::apst::{Answer, Drive, Fate, Plan, Tolerance};
use wattline_core::nvme::feature::autonomous_transitions::Table;
use wattline_core::nvme::{PowerState, PowerStateDescriptor};
use wattline_core::units::Microseconds;

use super::error::ApstError;
use super::policy::Policy;
use crate::input::Input;
use crate::inventory::Inventory;
use crate::quirks::Quirks;
use crate::source::{Known, Source};
use crate::sysfs::{Machine, Pci, Sysfs};

/// What is asked.
#[derive(Debug, clap::Args)]
pub(super) struct Question {
    #[command(flatten)]
    source: Source,
    /// How states and times are chosen
    #[arg(long, value_name = "POLICY", default_value = "linux")]
    policy: Policy,
    /// How long the first command may wait for the drive to wake up, in microseconds, or `any`; 0 switches the feature
    /// off. Windows' schemes have their own [default: 100000, as in the kernel]
    #[arg(long, value_name = "N", value_parser = tolerance)]
    tolerance_us: Option<Tolerance>,
    /// Keep the drive to so many transitions in a day, for its wear; the kernel has no such limit
    #[arg(long, value_name = "N")]
    transitions_per_day: Option<NonZeroU32>,
    /// Build what the drive advertises, without regard to known defects
    #[arg(long, conflicts_with = "quirks")]
    no_quirks: bool,
    /// More quirks, and exceptions from them; can be given several times
    #[arg(long, value_name = "FILE")]
    quirks: Vec<Input>,
    /// The drive's PCI vendor and device, which quirks go by: the last column of `lspci -n`. Of a DEVICE they are known
    #[arg(long, value_name = "VENDOR:DEVICE", value_parser = pci)]
    pci: Option<Pci>,
    /// Regard quirks of this machine: its maker and board, as sysfs has them. With a DEVICE that is so anyway
    #[arg(long)]
    this_machine: bool,
}

/// A PCI vendor and device, `144d:a808`.
fn pci(text: &str) -> Result<Pci, &'static str> {
    let number = |digits: &str| {
        let digits = Some(digits).filter(|digits| digits.len() == 4 && digits.bytes().all(|c| c.is_ascii_hexdigit()));
        digits.and_then(|digits| u16::from_str_radix(digits, 16).ok())
    };
    let pair = text.split_once(':').and_then(|(vendor, device)| Some((number(vendor)?, number(device)?)));
    let (vendor, device) = pair.ok_or("it is two numbers of four hexadecimal digits, such as 144d:a808")?;
    Ok(Pci { vendor, device, subsystem_vendor: None, subsystem_device: None })
}

fn tolerance(text: &str) -> Result<Tolerance, &'static str> {
    if text == "any" {
        return Ok(Tolerance::Unlimited);
    }
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let micros = digits.then(|| text.parse().ok()).flatten();
    micros.map(|micros| Tolerance::AtMost(Microseconds::new(micros))).ok_or("it is a number of microseconds, or `any`")
}

/// The answer.
#[derive(Debug)]
pub(super) struct Built {
    /// What the drive is called: its model, and in the catalogue its name there.
    pub(super) name: Option<String>,
    pub(super) inventory: Inventory,
    pub(super) policy: Policy,
    /// `None`: the policy has its own.
    pub(super) tolerance: Option<Tolerance>,
    /// What was found about quirks, one line each.
    pub(super) quirks: Vec<String>,
    pub(super) plan: Plan,
    /// The entries as they are written, with what has no effect.
    pub(super) entries: [u64; PowerState::COUNT],
    pub(super) ways: Vec<Way>,
}

/// A way to make the kernel enter a state that it enters at no tolerance.
#[derive(Debug)]
pub(super) struct Way {
    pub(super) state: PowerState,
    pub(super) remedy: Remedy,
    /// States that are entered now and would not be then.
    pub(super) instead_of: Vec<PowerState>,
}

impl Question {
    /// The answer.
    pub(super) fn answer(&self) -> Result<Built, ApstError> {
        let from_stdin = self.source.input.iter().chain(&self.quirks).filter(|input| **input == Input::Stdin).count();
        if from_stdin > 1 {
            return Err(ApstError::StandardInput(from_stdin));
        }
        let Known { name, inventory, surroundings } = self.source.known()?;
        let tolerance = self.tolerance()?;
        let wear = self.wear()?;
        let machine = if self.this_machine { Sysfs::default().machine() } else { surroundings.machine };
        let quirks = self.quirks()?;
        let found = quirks.about(&identity(&inventory, self.pci.or(surroundings.pci), &machine));
        let drive = Drive { states: &inventory.power_states, supported: inventory.apst_supported };
        let within = tolerance.unwrap_or(Tolerance::Unlimited);
        let (plan, entries) = self.policy.build(&drive, within, found.effects, wear);
        let mut ways = Vec::new();
        if let Some(parameters) = self.policy.linux() {
            for verdict in plan.states.iter().filter(|verdict| verdict.admitted_from.is_none()) {
                for remedy in linux::remedies(&drive, verdict.state, found.effects, &parameters) {
                    let at = larger(within, remedy.tolerance);
                    let then = linux::build(&drive, at, found.effects, &remedy.parameters);
                    let lost = |state: &PowerState| is_chosen(&plan, *state) && !is_chosen(&then, *state);
                    let instead_of = plan.states.iter().map(|verdict| verdict.state).filter(lost).collect();
                    ways.push(Way { state: verdict.state, remedy, instead_of });
                }
            }
        }
        let quirks = found.lines();
        Ok(Built { name, policy: self.policy, tolerance, quirks, plan, entries, ways, inventory })
    }

    fn tolerance(&self) -> Result<Option<Tolerance>, ApstError> {
        match self.tolerance_us {
            chosen if self.policy.has_tolerance() => Ok(Some(chosen.unwrap_or(linux::DEFAULT_TOLERANCE))),
            Some(_) => Err(self.wrong("--tolerance-us", "its schemes have tolerances of their own")),
            None => Ok(None),
        }
    }

    fn wear(&self) -> Result<Option<TransitionsPerDay>, ApstError> {
        if self.policy.linux().is_some() && self.transitions_per_day.is_some() {
            let reason = "the kernel has no such limit, so it would not be the kernel's table";
            return Err(self.wrong("--transitions-per-day", reason));
        }
        Ok(self.transitions_per_day.map(TransitionsPerDay))
    }

    fn wrong(&self, argument: &'static str, reason: &'static str) -> ApstError {
        ApstError::Argument { argument, policy: self.policy.to_string(), reason }
    }

    fn quirks(&self) -> Result<Quirks, ApstError> {
        if self.no_quirks {
            return Ok(Quirks::default());
        }
        let built_in = Ok(Quirks::built_in());
        self.quirks.iter().fold(built_in, |quirks, file| Ok(quirks?.and(file)?))
    }
}

fn identity<'a>(inventory: &'a Inventory, pci: Option<Pci>, machine: &'a Machine) -> Identity<'a> {
    Identity {
        vendor: pci.map(|pci| pci.vendor).or(inventory.vendor),
        device: pci.map(|pci| pci.device),
        subsystem_vendor: pci.and_then(|pci| pci.subsystem_vendor).or(inventory.subsystem_vendor),
        subsystem_device: pci.and_then(|pci| pci.subsystem_device),
        model: inventory.model.as_deref(),
        firmware: inventory.firmware.as_deref(),
        system_vendor: machine.system_vendor.as_deref(),
        product: machine.product.as_deref(),
        board_vendor: machine.board_vendor.as_deref(),
        board: machine.board.as_deref(),
    }
}

fn larger(tolerance: Tolerance, least: Microseconds) -> Tolerance {
    match tolerance {
        Tolerance::AtMost(limit) => Tolerance::AtMost(limit.max(least)),
        Tolerance::Unlimited => Tolerance::Unlimited,
    }
}

fn is_chosen(plan: &Plan, state: PowerState) -> bool {
    plan.states.iter().any(|verdict| verdict.state == state && matches!(verdict.fate, Fate::Chosen { .. }))
}

impl Built {
    /// Whether there is something to write, be it zeros.
    pub(super) fn has_table(&self) -> bool {
        !matches!(self.plan.answer, Answer::Unsupported | Answer::LeftAlone)
    }

    /// The 256 bytes.
    pub(super) fn bytes(&self) -> [u8; Table::LENGTH] {
        let mut bytes = [0; Table::LENGTH];
        for (bytes, entry) in bytes.chunks_exact_mut(8).zip(self.entries) {
            bytes.copy_from_slice(&entry.to_le_bytes());
        }
        bytes
    }

    /// What the core is told about the drive.
    pub(super) fn drive(&self) -> Drive<'_> {
        Drive { states: &self.inventory.power_states, supported: self.inventory.apst_supported }
    }

    pub(super) fn descriptor(&self, state: PowerState) -> Option<&PowerStateDescriptor> {
        self.inventory.power_states.get(state.index())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apst::text;
    use crate::catalogue;

    /// Whatever the catalogue's drives say, each policy has an answer, one line for each state, and a table that reads
    /// back.
    #[test]
    fn every_drive_of_the_catalogue_has_an_answer_from_every_policy() {
        let policies = ["linux", "linux-two-percent", "energy", "windows:balanced", "windows:modern-standby:dc"];
        let mut answers = 0;
        for entry in catalogue::drives().iter().filter(|entry| entry.states().count() > 0) {
            for policy in policies {
                let question = Question {
                    source: Source { input: None, drive: Some(entry.id.clone()) },
                    policy: policy.parse().unwrap(),
                    tolerance_us: None,
                    transitions_per_day: None,
                    no_quirks: true,
                    quirks: Vec::new(),
                    pci: None,
                    this_machine: false,
                };
                let built = question.answer().unwrap();
                let explained = text::explain(&built);
                for verdict in &built.plan.states {
                    let lines = explained.lines().filter(|line| line.starts_with(&format!(" {} ", verdict.state)));
                    assert_eq!(lines.count(), 1, "{explained}");
                }
                assert_eq!(Table::decode(&built.bytes()), built.plan.table, "{explained}");
                answers += 1;
            }
        }
        assert_eq!(answers, 590 * policies.len());
    }

    #[test]
    fn a_pci_device_is_written_as_lspci_writes_it() {
        let parsed = pci("144d:A808").unwrap();
        assert_eq!((parsed.vendor, parsed.device), (0x144d, 0xa808));
        for text in ["", "144d", "144d:", "144d:a80", "0x144d:0xa808", "144d:a808:1", "144d:a80g", "+14d:a808"] {
            assert!(pci(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_tolerance_is_microseconds_or_any() {
        assert_eq!(tolerance("25000"), Ok(Tolerance::AtMost(Microseconds::new(25_000))));
        assert_eq!(tolerance("any"), Ok(Tolerance::Unlimited));
        for text in ["", "-1", "+1", "1.5", "25ms", "99999999999999999999"] {
            assert!(tolerance(text).is_err(), "{text}");
        }
    }
}
