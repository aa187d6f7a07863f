//! Uses all of `apst`: every policy, its explanations, and quirks. Descriptors and tables are values here; what reads
//! them from bytes is in `nvme`.
#![no_std]
#![no_main]

use wattline_core::apst::gaps::Gaps;
use wattline_core::apst::quirk::{Effects, Identity, Rule};
use wattline_core::apst::{energy, linux, windows, Drive, Tolerance, Wish};
use wattline_core::nvme::{PowerState, PowerStateDescriptor};
use wattline_core::units::Microseconds;
use wattline_rooms::{any, keep};

wattline_rooms::program!(main);

fn main() {
    let rule = Rule { about: any(Identity::default()), effects: any(Effects::NONE) };
    keep(rule.matches(&any(Identity::default())));
    let states = any([PowerStateDescriptor::default(); 5]);
    let drive = Drive { states: &states, supported: any(Some(true)) };
    for_linux(&drive, rule.effects);
    least_energy(&drive, rule.effects);
    let (scheme, source) = (any(windows::Scheme::Balanced), any(windows::Source::Ac));
    keep(windows::build(&drive, rule.effects, &windows::Parameters { scheme, source, wear: any(None) }));
}

fn for_linux(drive: &Drive<'_>, quirks: Effects) {
    let (tolerance, parameters) = (any(Tolerance::Unlimited), any(linux::Parameters::TWO_TIER));
    keep(any(Wish::Apply).plan(drive, || linux::build(drive, tolerance, quirks, &parameters)));
    keep(linux::entries(drive, tolerance, quirks, &parameters));
    keep(linux::remedies(drive, any(PowerState::PS0), quirks, &parameters));
}

fn least_energy(drive: &Drive<'_>, quirks: Effects) {
    let (tolerance, parameters) = (any(Tolerance::Unlimited), any(energy::Parameters::default()));
    let mut gaps = Gaps::new();
    gaps.record(any(Microseconds::ZERO));
    let plan = energy::build(drive, tolerance, quirks, &parameters, any(Some(&gaps)));
    let (source, table) = (any(PowerState::PS0), &plan.table);
    keep(energy::break_even(drive, source, any(PowerState::PS31)));
    keep(energy::spent(drive, table, source, any(Microseconds::ZERO)));
    keep(energy::expected(drive, table, source, &gaps));
    keep(energy::worst_ratio(drive, table, source, tolerance, quirks));
    keep(plan);
}
