//! Every real drive, in every format that its fields allow, shows its own table.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use wattline::catalogue;
use wattline::inventory::Inventory;
use wattline::show::Document;

use crate::formats::{self, Drive, NvmeFlags, State, drives, tenths_of_milliwatt};

/// What a format says about a drive, beside its power states.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Says {
    /// Everything; what was not posted is 0 on the page that the test makes.
    Page,
    /// What was posted.
    Posted,
    /// What smartctl prints.
    Smartctl,
    /// What smartctl prints about capabilities: no model and firmware.
    SmartctlCapabilities,
}

#[test]
fn every_drive_in_every_format_shows_its_own_table() {
    let mut checked: BTreeMap<&str, usize> = BTreeMap::new();
    let mut left_out: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for drive in drives() {
        if drive.states.is_empty() {
            left_out.entry("no power state was posted").or_default().push(drive.id);
            continue;
        }
        let inputs = inputs(&drive);
        if inputs.len() < 9 {
            left_out.entry("page and hex dump only: a name longer than its field").or_default().push(drive.id.clone());
        }
        for (format, says, input) in inputs {
            let inventory = Inventory::parse(&input).unwrap_or_else(|error| panic!("{}, {format}: {error}", drive.id));
            let shown = serde_json::to_value(Document::from(&inventory)).unwrap();
            assert_eq!(shown, expected(&drive, says), "{}, {format}", drive.id);
            *checked.entry(format).or_default() += 1;
        }
    }
    println!("checked: {checked:#?}\nleft out: {left_out:#?}");
    assert_eq!(checked.len(), 9, "every format was checked");
    assert!(checked.values().all(|&count| count >= 580), "{checked:?}");
}

fn inputs(drive: &Drive) -> Vec<(&'static str, Says, Vec<u8>)> {
    let all = formats::smartctl_all(drive);
    let mut inputs = vec![
        ("nvme JSON, flags byte", Says::Posted, formats::nvme_json(drive, NvmeFlags::Byte).into()),
        ("nvme JSON, flag keys", Says::Posted, formats::nvme_json(drive, NvmeFlags::Keys).into()),
        ("smartctl JSON", Says::Smartctl, formats::smartctl_json(drive).into()),
        ("smartctl text, -a", Says::Smartctl, all.clone().into()),
        ("smartctl text, -a as posted", Says::Smartctl, formats::as_posted(&all).into()),
        ("smartctl text, --json=o -a", Says::Smartctl, formats::smartctl_json_with_output(&all).into()),
        ("smartctl text, -c", Says::SmartctlCapabilities, formats::smartctl_capabilities(drive).into()),
    ];
    if let Some(page) = formats::page(drive) {
        inputs.push(("hex dump", Says::Page, formats::hex_dump(&page).into()));
        inputs.push(("page", Says::Page, page));
    }
    inputs
}

fn expected(drive: &Drive, says: Says) -> Value {
    let smartctl = matches!(says, Says::Smartctl | Says::SmartctlCapabilities);
    let identified = says != Says::SmartctlCapabilities;
    let flag = |posted: Option<u16>| match (says, posted) {
        (Says::Page, posted) => json!(posted.unwrap_or(0)),
        (Says::Posted, posted) => json!(posted),
        _ => Value::Null,
    };
    let unless_smartctl = |value: Value| if smartctl { Value::Null } else { value };
    let states: Vec<Value> =
        drive.states.iter().enumerate().map(|(number, state)| expected_state(number, state, smartctl)).collect();
    json!({
        "model": identified.then_some(&drive.model),
        "firmware": drive.firmware.as_ref().filter(|_| identified),
        "npss": drive.states.len() - 1,
        "apsta": flag(drive.apsta.map(u16::from)),
        "wctemp_k": reported(drive.wctemp),
        "cctemp_k": reported(drive.cctemp),
        "hctma": flag(drive.hctma),
        "mntmt_k": unless_smartctl(reported(drive.mntmt)),
        "mxtmt_k": unless_smartctl(reported(drive.mxtmt)),
        "rtd3r_us": unless_smartctl(reported(drive.rtd3r)),
        "rtd3e_us": unless_smartctl(reported(drive.rtd3e)),
        "states": states,
    })
}

fn expected_state(number: usize, state: &State, smartctl: bool) -> Value {
    json!({
        "ps": number,
        "max_power_mw": milliwatts(Some(state.mp_w)),
        "operational": state.nops == 0,
        "entry_us": reported(Some(state.enlat_us)),
        "exit_us": reported(Some(state.exlat_us)),
        "rrt": state.rrt, "rrl": state.rrl, "rwt": state.rwt, "rwl": state.rwl,
        "idle_mw": milliwatts(state.idle_w.filter(|_| !smartctl)),
        "active_mw": milliwatts(state.active_w.filter(|_| !smartctl)),
    })
}

fn reported<T: Into<u32>>(value: Option<T>) -> Value {
    json!(value.map(Into::into).filter(|&value| value != 0))
}

/// The number as a reader of JSON expects it: an integer, or one decimal.
fn milliwatts(watts: Option<f64>) -> Value {
    match watts.map_or(0, tenths_of_milliwatt) {
        0 => Value::Null,
        tenths if tenths % 10 == 0 => json!(tenths / 10),
        tenths => format!("{}.{}", tenths / 10, tenths % 10).parse().unwrap(),
    }
}

/// The catalogue that the program carries is the same list, read by other code.
#[test]
fn every_drive_of_the_catalogue_shows_its_own_table() {
    for drive in drives() {
        let entry = catalogue::find(&drive.id).unwrap_or_else(|error| panic!("{error}"));
        match entry.inventory() {
            Ok(inventory) => {
                let shown = serde_json::to_value(Document::from(&inventory)).unwrap();
                assert_eq!(shown, expected(&drive, Says::Posted), "{}", drive.id);
            }
            Err(error) => assert!(drive.states.is_empty(), "{}: {error}", drive.id),
        }
    }
}

/// A page that a drive returned, not one that the test made.
#[test]
fn a_real_page_shows_the_table_that_was_posted_with_it() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/hex/wdc-wds250g2b0c-211070wd.id-ctrl.hex");
    let inventory = Inventory::parse(&std::fs::read(path).unwrap()).unwrap();
    let all = drives();
    let drive = all.iter().find(|drive| drive.id == "wdc-wds250g2b0c-00pxh0-211070wd").unwrap();
    assert_eq!(serde_json::to_value(Document::from(&inventory)).unwrap(), expected(drive, Says::Page));
}

/// The bytes of a real descriptor are a check on this test's own writing.
#[test]
fn the_page_that_the_test_writes_has_the_bytes_of_the_real_one() {
    let all = drives();
    let drive = all.iter().find(|drive| drive.states.iter().all(|state| state.raw.is_some())).unwrap();
    let page = formats::page(drive).unwrap();
    for (number, state) in drive.states.iter().enumerate() {
        let written = &page[2048 + 32 * number..][..32];
        let raw = state.raw.as_deref().unwrap();
        let raw: Vec<u8> = (0..32).map(|at| u8::from_str_radix(&raw[2 * at..2 * at + 2], 16).unwrap()).collect();
        // Idle and active power are the same in another scale, and the workload is not written.
        assert_eq!((&written[..16], &written[23..]), (&raw[..16], &raw[23..]), "PS{number}");
    }
}
