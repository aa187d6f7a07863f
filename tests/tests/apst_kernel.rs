//! The policy `linux` against tables that a real Linux 6.1 kernel wrote for the power states of real drives.
//! `tests/data/README.md` says how they were recorded.

use std::collections::BTreeMap;

use wattline_core::apst::quirk::Effects;
use wattline_core::apst::{Drive, Tolerance, linux};
use wattline_core::nvme::feature::autonomous_transitions::Table;
use wattline_core::nvme::{Power, PowerScale, PowerState, PowerStateDescriptor};
use wattline_core::units::Microseconds;

const DRIVES: &str = include_str!("../data/kernel-apst-drives.tsv");
const TABLES: &str = include_str!("../data/kernel-apst.tsv");

/// What was presented to the kernel.
struct Presented {
    supported: bool,
    states: Vec<PowerStateDescriptor>,
}

/// What the kernel then wrote.
struct Row<'a> {
    drive: &'a str,
    parameters: linux::Parameters,
    tolerance: Microseconds,
    enabled: bool,
    entries: [u64; PowerState::COUNT],
}

#[test]
fn every_table_is_the_kernels_bit_for_bit() {
    let drives = drives();
    let mut counted: BTreeMap<(&str, u64), usize> = BTreeMap::new();
    for line in rows() {
        let row = Row::parse(line);
        let presented = &drives[row.drive];
        let drive = Drive { states: &presented.states, supported: Some(presented.supported) };
        let tolerance = Tolerance::AtMost(row.tolerance);

        let entries = linux::entries(&drive, tolerance, Effects::NONE, &row.parameters);
        let plan = linux::build(&drive, tolerance, Effects::NONE, &row.parameters);
        assert_eq!(entries, row.entries, "{line}");
        assert_eq!(plan.enabled, row.enabled, "{line}");
        assert_eq!(plan.table.encode(), bytes(&row.entries), "{line}");
        *counted
            .entry((if row.parameters.is_two_tier() { "two-tier" } else { "two-percent" }, row.tolerance.get()))
            .or_default() += 1;
    }
    println!("rows for each mode and tolerance: {counted:#?}");
    assert_eq!(drives.len(), 95);
    assert_eq!(counted.len(), 9 * 2);
    assert!(counted.values().all(|&rows| rows == 95));
}

/// A state that the kernel entered at some tolerance is said to be admitted from no more than that; and one that is
/// said to be admitted from a recorded tolerance or less, and was not entered there, was shadowed by a deeper one.
#[test]
fn what_the_explanation_promises_the_kernel_did() {
    let drives = drives();
    let mut entered = 0;
    for line in rows() {
        let row = Row::parse(line);
        let drive = Drive { states: &drives[row.drive].states, supported: Some(true) };
        let plan = linux::build(&drive, Tolerance::Unlimited, Effects::NONE, &row.parameters);
        for entry in row.entries.iter().filter(|&&entry| entry != 0) {
            let target = usize::try_from(entry >> 3 & 31).unwrap();
            let from = plan.states[target].admitted_from.expect("the kernel entered it");
            assert!(from <= row.tolerance, "{line}: PS{target} from {from:?}");
            entered += 1;
        }
        for verdict in &plan.states {
            let Some(from) = verdict.admitted_from.filter(|from| *from <= row.tolerance) else { continue };
            let number = u64::from(verdict.state.number());
            let at_or_below = row.entries.iter().any(|&entry| entry != 0 && entry >> 3 & 31 >= number);
            assert!(at_or_below, "{line}: {} from {from:?}", verdict.state);
        }
    }
    println!("entries of the kernel's that were checked: {entered}");
}

fn drives() -> BTreeMap<&'static str, Presented> {
    lines(DRIVES).map(presented).collect()
}

fn rows() -> impl Iterator<Item = &'static str> {
    lines(TABLES)
}

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.starts_with('#') && !line.is_empty())
}

/// `drive APSTA MP:MXPS:NOPS:ENLAT:EXLAT …`
fn presented(line: &'static str) -> (&'static str, Presented) {
    let mut columns = line.split('\t');
    let name = columns.next().unwrap();
    let supported = columns.next().unwrap() == "1";
    let states = columns.map(|state| {
        let [mp, mxps, nops, enlat, exlat] = numbers(state);
        let scale = if mxps == 1 { PowerScale::TenthMilliwatt } else { PowerScale::TenMilliwatts };
        let latency = |micros| (micros != 0).then(|| Microseconds::new(micros));
        PowerStateDescriptor {
            max_power: Power::new(u16::try_from(mp).unwrap(), scale),
            non_operational: nops == 1,
            entry_latency: latency(enlat),
            exit_latency: latency(exlat),
            ..PowerStateDescriptor::default()
        }
    });
    (name, Presented { supported, states: states.collect() })
}

impl<'a> Row<'a> {
    /// `drive mode tolerance APSTE ITPS:ITPT …`
    fn parse(line: &'a str) -> Self {
        let mut columns = line.split('\t');
        let drive = columns.next().unwrap();
        let parameters = match columns.next().unwrap() {
            "two-tier" => linux::Parameters::TWO_TIER,
            "two-percent" => linux::Parameters::TWO_PERCENT,
            mode => panic!("mode {mode}"),
        };
        let tolerance = Microseconds::new(columns.next().unwrap().parse().unwrap());
        let enabled = columns.next().unwrap() == "1";
        let mut entries = [0; PowerState::COUNT];
        for (entry, column) in entries.iter_mut().zip(columns) {
            let [itps, itpt] = numbers(column);
            *entry = itps << 3 | itpt << 8;
        }
        Self { drive, parameters, tolerance, enabled, entries }
    }
}

fn numbers<const COUNT: usize>(text: &str) -> [u64; COUNT] {
    let numbers: Vec<u64> = text.split(':').map(|number| number.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

fn bytes(entries: &[u64; PowerState::COUNT]) -> [u8; Table::LENGTH] {
    let mut bytes = [0; Table::LENGTH];
    for (bytes, entry) in bytes.chunks_exact_mut(8).zip(entries) {
        bytes.copy_from_slice(&entry.to_le_bytes());
    }
    bytes
}
