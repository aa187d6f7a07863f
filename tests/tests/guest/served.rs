//! Drives of the simulator, served by `wattline-sim serve` to the guest's kernel. What was recorded is that of
//! `tests/guest/served`.

use serde_json::{Value, json};
use wattline_core::apst::quirk::Effects;
use wattline_core::apst::{Drive, Tolerance, linux};
use wattline_core::nvme::IdentifyController;
use wattline_core::units::Microseconds;

use crate::recorded::{Recorded, json};

const RECORDED: Recorded = Recorded("WATTLINE_SERVED_RESULTS");

fn of(name: &str) -> Value {
    json(&RECORDED.done(name))
}

/// nvme-cli says that the drive refused, and how.
fn refused(name: &str, with: &str) {
    let run = RECORDED.run(name);
    assert_eq!(run.status, 1, "{name}");
    assert!(run.stderr.contains(with), "{name}: {}", run.stderr);
}

const INVALID_FIELD: &str = "Invalid Field in Command: A reserved coded value or an unsupported value in a defined \
                             field(0x4002)";

#[test]
#[ignore = "needs the guest: tests/run served"]
fn the_kernel_has_the_drives_and_the_tools_list_them() {
    let listed = of("list");
    let devices = listed["Devices"].as_array().expect("devices");
    let serials: Vec<_> = devices.iter().map(|device| device["SerialNumber"].as_str().expect("text")).collect();
    assert!(serials.len() == 2 && serials.contains(&"WATTLINE0000") && serials.contains(&"WATTLINE0001"));
    assert!(devices.iter().all(|device| device["PhysicalSize"] == 64 << 20 && device["SectorSize"] == 512));
    let ours = of("wattline-list");
    let ours = ours["controllers"].as_array().expect("controllers");
    assert_eq!(ours.len(), 2);
    for drive in ours {
        assert_eq!((&drive["transport"], &drive["state"], &drive["ps"]), (&json!("tcp"), &json!("live"), &json!(0)));
        assert_eq!(drive["error"], Value::Null);
    }
    let page = of("identify");
    assert_eq!((&page["npss"], &page["apsta"], &page["hctma"]), (&json!(2), &json!(0), &json!(1)));
    let powers: Vec<_> = page["psds"].as_array().expect("states").iter().map(|state| &state["max_power"]).collect();
    assert_eq!(powers, [2500, 1500, 1000], "the reference drive's nameplate, in 10 mW");
    assert_eq!(of("namespace")["nsze"], 64 << 11);
}

#[test]
#[ignore = "needs the guest: tests/run served"]
fn power_states_are_set_kept_and_refused_as_on_hardware() {
    for (select, expected) in [(0, 0), (1, 0), (2, 0)] {
        assert_eq!(RECORDED.feature(&format!("power-{select}")), expected, "SEL {select}");
    }
    let capabilities = RECORDED.done("power-3");
    assert!(capabilities.contains("Feature is saveable") && capabilities.contains("Feature is changeable"));
    RECORDED.done("power-set");
    assert_eq!(RECORDED.feature("power-is"), 1);
    refused("power-invalid", INVALID_FIELD);
    assert_eq!(RECORDED.feature("power-still"), 1, "a refusal changes nothing");
    RECORDED.done("power-save");
    RECORDED.done("power-after-save");
    assert_eq!(RECORDED.feature("power-after-reset"), 1, "the saved state");
}

#[test]
#[ignore = "needs the guest: tests/run served"]
fn wattline_sets_a_power_state() {
    let report = of("wattline-set");
    assert_eq!((&report["before"]["ps"], &report["after"]["ps"]), (&json!(1), &json!(2)));
    assert_eq!(report["obeyed"], json!(true));
    assert_eq!(RECORDED.feature("wattline-is"), 2, "and nvme-cli reads the same");
}

#[test]
#[ignore = "needs the guest: tests/run served"]
fn thermal_features_have_their_rules() {
    assert_eq!(RECORDED.feature("threshold-was"), 343, "WCTEMP");
    RECORDED.done("threshold-set");
    assert_eq!(RECORDED.feature("threshold-is"), 350);
    refused("threshold-invalid", INVALID_FIELD);
    RECORDED.done("thermal-set");
    assert_eq!(RECORDED.feature("thermal-is"), 0x0140_0154);
    for name in ["thermal-outside", "thermal-swapped", "transitions-none"] {
        refused(name, INVALID_FIELD);
    }
}

#[test]
#[ignore = "needs the guest: tests/run served"]
fn logs_are_read_by_the_tools() {
    let smart = of("smart");
    assert_eq!((&smart["avail_spare"], &smart["critical_warning"]), (&json!(100), &json!(0)));
    // Air of 25 C, and 5.5 W through 1.6 K/W.
    assert_eq!((&smart["temperature"], &smart["temperature_sensor_1"]), (&json!(307), &json!(307)));
    let errors = of("errors");
    let newest = &errors["errors"][0];
    assert_eq!((&newest["error_count"], &newest["sqid"]), (&json!(5), &json!(0)));
    assert_eq!(number(&newest["status_field"]), 0x4002);
    let effects = RECORDED.bytes("effects.stdout");
    assert_eq!(effects.len(), 4096);
    let supported: Vec<_> = (0..512).filter(|opcode| effects[opcode * 4] & 1 != 0).collect();
    assert_eq!(supported, [2, 6, 8, 9, 10, 12, 24, 256, 257, 258, 264]);
    assert_eq!(number(&of("effects-tool")[0]["admin_cmd_set"]["ACS_9 (Set Features)"]), 1);
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is not a number"))
}

#[test]
#[ignore = "needs the guest: tests/run served"]
fn the_management_controller_reads_the_meter_and_wants_a_password() {
    let power = json(&RECORDED.file("redfish-power.json"));
    // 462 W and four drives of 5.5 W, by a meter of 33 W.
    assert_eq!(power["PowerControl"][0]["PowerConsumedWatts"], 495);
    assert_eq!(RECORDED.done("redfish-stranger"), "401");
}

#[test]
#[ignore = "needs the guest: tests/run served"]
fn a_file_system_lives_through_a_controller_reset() {
    for step in ["mkfs", "mount", "reset", "unmount"] {
        assert_eq!(RECORDED.done(step), "", "{step}");
    }
    let files: u64 = RECORDED.done("fill").trim().parse().expect("a number");
    assert!(files > 20, "{files} files filled the drive");
    // Each file's sum and that of what it is a copy of.
    let sums = RECORDED.done("sums");
    let mut words = sums.split_whitespace();
    assert_eq!(words.next(), Some((files + 1).to_string().as_str()));
    assert_eq!(words.count(), 1, "all the same: {sums}");
    assert_eq!(RECORDED.run("fsck").status, 0);
}

#[test]
#[ignore = "needs the guest: tests/run served"]
fn hwmon_shows_the_temperature_and_a_crossing_is_an_event() {
    let hwmon = |name: &str| RECORDED.file(name).trim().parse::<i64>().expect("a number");
    let before = hwmon("hwmon-before");
    // The kernel's zero is 273.15 K.
    assert_eq!(before, i64::try_from(number(&of("smart-before")["temperature"])).unwrap() * 1000 - 273_150);
    let limit = hwmon("hwmon-max");
    assert!((before..before + 4000).contains(&limit), "{limit}");
    assert_eq!((hwmon("hwmon-alarm-before"), hwmon("hwmon-alarm-after")), (0, 1));
    assert!(hwmon("hwmon-after") >= limit);
    // Type SMART (1), temperature threshold (1), log page 02h.
    let events = RECORDED.file("uevents");
    assert!(events.lines().any(|line| line == "NVME_AEN=0x020101"), "{events}");
}

/// For each drive what the kernel wrote, read back from it, against the policy `linux`, in both modes of the module.
#[test]
#[ignore = "needs the guest: tests/run served"]
fn the_kernels_tables_are_the_policys() {
    let two_tier = linux::Parameters::TWO_TIER;
    let two_percent = linux::Parameters::TWO_PERCENT;
    let at_most = |micros| Tolerance::AtMost(Microseconds::new(micros));
    let moments = [
        ("two-tier-default", two_tier, linux::DEFAULT_TOLERANCE),
        ("two-tier-25000", two_tier, at_most(25_000)),
        ("two-percent-24999", two_percent, at_most(24_999)),
        ("two-percent-5000000", two_percent, at_most(5_000_000)),
    ];
    let mut pages = std::collections::BTreeSet::new();
    let mut differing = std::collections::BTreeSet::new();
    for drive in 0..42 {
        let page = RECORDED.bytes(&format!("tables/identify-{drive}"));
        let identity = IdentifyController::decode(&page.as_slice().try_into().expect("a page")).expect("states");
        pages.insert(page[2048..3072].to_vec());
        for (name, parameters, tolerance) in moments {
            let drive_of = Drive { states: &identity.power_states, supported: Some(identity.apst_supported) };
            let plan = linux::build(&drive_of, tolerance, Effects::NONE, &parameters);
            let table = RECORDED.bytes(&format!("tables/{name}-{drive}"));
            assert_eq!(table, plan.table.encode(), "drive {drive}, {name}: {}", identity.model.as_str());
            differing.insert(table);
        }
    }
    println!("{} power tables, {} tables of transitions", pages.len(), differing.len());
    assert!(pages.len() >= 40 && differing.len() > 20);
}
