//! Bytes that real drives and real tools wrote, as the core reads them. What is expected is from the text that the
//! tools wrote beside them, or from a second look at the bytes by hand.

use std::fs;
use std::path::{Path, PathBuf};

use wattline_core::nvme::feature::autonomous_transitions::{Table, raw_entry};
use wattline_core::nvme::feature::temperature_threshold::Hysteresis;
use wattline_core::nvme::identify::HostMemory;
use wattline_core::nvme::log::SmartHealth;
use wattline_core::nvme::{IdentifyController, PowerState};
use wattline_core::units::{Kelvin, Microseconds};

#[test]
fn a_page_of_qemu_reads_as_its_text_says() {
    let page = fs::read(fixture("qemu-nvme-cli-2.3.id-ctrl.bin")).unwrap();
    let controller = controller(&page);
    assert_eq!((controller.vendor, controller.version), (0x1B36, 0x0001_0400));
    assert_eq!(controller.model.as_str(), "QEMU NVMe Ctrl");
    assert_eq!((controller.events.bits(), controller.attributes.bits()), (0x100, 0x8000));
    assert_eq!(controller.warning_temperature, Some(Kelvin::new(343)));
    assert_eq!(controller.critical_temperature, Some(Kelvin::new(373)));
    assert!(!controller.apst_supported && !controller.hctm_supported);
    assert_eq!((controller.rtd3_entry_latency, controller.host_memory_preferred), (None, None));
    assert_eq!((controller.command_quiesce_time, controller.max_unlimited_power.power()), (None, None));
    let [state] = &controller.power_states[..] else { panic!("one state") };
    assert_eq!(state.max_power.map(|power| power.milliwatts().get()), Some(25_000));
    assert_eq!(state.round_trip_latency(), Some(Microseconds::new(20)));
}

#[test]
fn a_page_of_a_drive_reads_as_documented() {
    let page = dump("wdc-wds250g2b0c-211070wd.id-ctrl.hex", IdentifyController::LENGTH);
    let controller = controller(&page);
    assert_eq!(controller.firmware.as_str(), "211070WD");
    assert_eq!(controller.rtd3_resume_latency, Some(Microseconds::from_millis(500)));
    assert_eq!(controller.rtd3_entry_latency, Some(Microseconds::from_secs(1)));
    assert!(controller.events.firmware_activation() && !controller.events.temperature_hysteresis_recovery());
    assert!(controller.attributes.non_operational_permissive_mode() && !controller.attributes.power_limit());
    assert!(controller.apst_supported && controller.hctm_supported);
    assert_eq!(controller.warning_temperature, Some(Kelvin::new(353)));
    assert_eq!(controller.critical_temperature, Some(Kelvin::new(358)));
    assert_eq!(controller.min_thermal_management_temperature, Some(Kelvin::new(273)));
    assert_eq!(controller.max_thermal_management_temperature, Some(Kelvin::new(358)));
    assert_eq!(controller.host_memory_preferred, HostMemory::new(51_200));
    assert_eq!(controller.max_temperature_hysteresis, Hysteresis::default());
    let sleeping = controller.power_states.iter().map(|state| state.non_operational);
    assert!(sleeping.eq([false, false, false, true, true]));
}

/// The controller in a page; what it writes is what the page says, wherever it says something.
fn controller(page: &[u8]) -> IdentifyController {
    let page = page.try_into().unwrap();
    let controller = IdentifyController::decode(page).unwrap();
    let mut written = [0; IdentifyController::LENGTH];
    controller.encode(&mut written);
    for (name, at) in [
        ("identity", 24..72),
        ("version to attributes", 80..100),
        ("temperatures", 266..270),
        ("host memory", 272..280),
        ("thermal management", 322..328),
        ("revision 2.1 to 2.3", 384..396),
        ("states", 2048..3072),
    ] {
        assert_eq!(written[at.clone()], page[at], "{name}");
    }
    controller
}

#[test]
fn a_health_log_of_qemu_reads_as_its_text_says() {
    let page = fs::read(fixture("qemu-nvme-cli-2.3.smart-log.bin")).unwrap();
    let log = SmartHealth::decode(page[..].try_into().unwrap());
    // 323 K, and nothing else about power and heat; all that remains are two counters of commands and data.
    let expected = SmartHealth { composite_temperature: Some(Kelvin::new(323)), ..SmartHealth::default() };
    assert_eq!(log, expected);
    let mut rest = page.clone();
    rest[32] = 0;
    rest[64] = 0;
    assert_eq!(log.encode()[..], rest);
}

/// Tables that drives returned: to PS3 after 60 ms and no further; to PS3 and PS4; and one that names its own state
/// without a time, which is no transition and is not written back.
#[test]
fn tables_of_drives_read_as_documented() {
    type Row = (u8, u8, u32);
    let cases: [(&str, &[Row]); 3] = [
        ("corsair-mp500-e7fm04c.apst.hex", &[(0, 3, 60), (1, 3, 60), (2, 3, 60)]),
        ("wdc-wds250g2b0c-211070wd.apst.hex", &[(0, 3, 100), (1, 3, 100), (2, 3, 100), (3, 4, 2000)]),
        ("unnamed-notes-2021.apst.hex", &[(0, 3, 100), (1, 3, 100), (2, 3, 100), (3, 4, 24_500)]),
    ];
    for (name, expected) in cases {
        let bytes = dump(name, Table::LENGTH);
        let buffer = bytes[..].try_into().unwrap();
        let table = Table::decode(buffer);
        let rows: Vec<Row> = table
            .transitions()
            .map(|(source, to)| (source.number(), to.target().number(), to.idle_milliseconds()))
            .collect();
        assert_eq!(rows, expected, "{name}");
        let mut without_oddities = *buffer;
        let ps4 = PowerState::new(4).unwrap();
        if name.starts_with("unnamed") {
            assert_eq!(raw_entry(buffer, ps4), 0x20, "{name}");
            without_oddities[32] = 0;
        }
        assert_eq!(table.encode(), without_oddities, "{name}");
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn fixture(name: &str) -> PathBuf {
    root().join("host-linux/tests/fixtures").join(name)
}

/// The bytes of a hex dump in `tests/data/hex`, with zeros where it says nothing.
fn dump(name: &str, length: usize) -> Vec<u8> {
    let mut page = vec![0; length];
    let text = fs::read_to_string(root().join("tests/data/hex").join(name)).unwrap();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (offset, bytes) = line.split_once(':').unwrap();
        let offset = usize::from_str_radix(offset, 16).unwrap();
        for (at, byte) in bytes.split_whitespace().enumerate() {
            page[offset + at] = u8::from_str_radix(byte, 16).unwrap();
        }
    }
    page
}
