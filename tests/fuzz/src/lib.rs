//! What every decoder of the core promises about any bytes at all: it does not panic, what it read is read again from
//! what it writes, and bits that have a meaning are not changed. And what the simulator's transport promises: it takes
//! no more than its limits allow.
//!
//! One function for each fuzz target. The tests run them over the corpus (`tests/tests/corpus.rs`). Which bits have a
//! meaning is written down here once more, from the specification's tables and not from the code.

use serde::ser::{Serialize, SerializeTuple, Serializer};
use wattline_core::journal::{self, Reader, Record};
use wattline_core::nvme::feature::PowerManagement;
use wattline_core::nvme::feature::autonomous_transitions::{AutonomousTransitions, Table, Transition, raw_entry};
use wattline_core::nvme::feature::non_operational::NonOperational;
use wattline_core::nvme::feature::ocp_power_state::OcpPowerState;
use wattline_core::nvme::feature::power_limit::PowerLimit;
use wattline_core::nvme::feature::power_measurement::PowerMeasurement;
use wattline_core::nvme::feature::temperature_threshold::TemperatureThreshold;
use wattline_core::nvme::feature::thermal_management::ThermalManagement;
use wattline_core::nvme::log::SmartHealth;
use wattline_core::nvme::log::power_measurement::{Bin, Header};
use wattline_core::nvme::{IdentifyController, PowerState, PowerStateDescriptor, Status};
use wattline_core::sleep::link::registers::{LinkCapabilities, LinkControl, SubstatesCapabilities, SubstatesControl};
use wattline_sim::serve::command::Submission;
use wattline_sim::serve::pdu::{self, FromHost, Limits};

/// An Identify Controller page, cut off or filled up with zeros, and each of its descriptors.
pub fn identify(data: &[u8]) {
    let page = padded::<{ IdentifyController::LENGTH }>(data);
    for bytes in page[2048..3072].as_chunks().0 {
        descriptor(bytes);
    }
    let Ok(controller) = IdentifyController::decode(&page) else {
        assert!(page[263] > 31, "a page with {} states was refused", page[263]);
        return;
    };
    assert_eq!(controller.power_states.len(), usize::from(page[263]) + 1);
    let mut written = Box::new([0xFF; IdentifyController::LENGTH]);
    controller.encode(&mut written);
    for (at, (&byte, &original)) in written.iter().zip(page.iter()).enumerate() {
        let mask = match at {
            0..4 | 24..72 | 80..100 | 110 | 263 | 266..270 | 272..280 | 324..328 | 386..388 | 390..396 => 0xFF,
            265 | 322 => 1,
            384 => 0b111,
            385 => 0b11,
            2048..3072 => continue,
            _ => 0,
        };
        assert_eq!(byte, original & mask, "byte {at}");
    }
    assert_eq!(IdentifyController::decode(&written).as_ref(), Ok(&controller));
    // Whoever shows a page asks for all of this.
    let _ = format!("{controller:?} {} {}", controller.model, controller.firmware);
    let unlimited = controller.max_unlimited_power.power();
    let _ = (unlimited, controller.power_sample_interval.time(), controller.attributes.idle_exit_latency_limit());
}

/// What a host sends on one connection to the simulator's served drives.
pub fn transport(data: &[u8]) {
    let mut left = data;
    let mut limits = Limits::Fresh;
    loop {
        let before = left.len();
        let received = pdu::read(&mut left, limits);
        let taken = before - left.len();
        let Ok(received) = received else { return };
        // What was read is what was there, and no more than the limits allow.
        match received {
            FromHost::Initialize(request) => {
                assert_eq!((taken, limits), (pdu::INITIALIZE_LENGTH, Limits::Fresh));
                assert!(request.format == 0 && request.alignment < 32);
            }
            FromHost::Command(submission, data) => {
                assert!(data.len() <= pdu::IN_CAPSULE_BYTES && taken >= 72 + data.len());
                let submission = Submission::new(submission);
                let _ = (submission.data(), submission.opcode(), submission.id(), submission.namespace());
                let dwords: Vec<u32> = (0..20).map(|number| submission.dword(number)).collect();
                assert_eq!(submission.dwords(14), u64::from(dwords[14]) | u64::from(dwords[15]) << 32);
            }
            FromHost::Data(piece) => {
                assert!(piece.data.len() <= pdu::MAX_H2C_BYTES && taken >= pdu::DATA_HEADER + piece.data.len());
                assert!(data[..data.len() - left.len()].ends_with(&piece.data));
            }
            FromHost::Terminate => return,
        }
        limits = Limits::Initialized;
    }
}

/// A power state descriptor.
fn descriptor(bytes: &[u8; PowerStateDescriptor::LENGTH]) {
    let state = PowerStateDescriptor::decode(bytes);
    let written = state.encode();
    for (at, (&byte, &original)) in written.iter().zip(bytes).enumerate() {
        let mask = match at {
            2 | 19 | 28.. => 0,
            // The scale says nothing beside a power that is not reported.
            3 => 0b10 | u8::from(state.max_power.is_some()),
            12..16 => 0x1F,
            18 => 0xC0,
            22 => 0xC7,
            27 => 0x0F,
            _ => 0xFF,
        };
        assert_eq!(byte, original & mask, "byte {at} of a descriptor");
    }
    assert_eq!(PowerStateDescriptor::decode(&written), state);
    for power in [state.max_power, state.idle_power.power(), state.active_power.power()].into_iter().flatten() {
        assert!(power.count() != 0 && power.milliwatts().get() != 0);
    }
    assert_eq!(state.round_trip_latency().is_some(), state.entry_latency.is_some() && state.exit_latency.is_some());
    let _ = state.emergency_power_fail_recovery_time.time();
}

/// An APST table, cut off or filled up with zeros.
pub fn apst(data: &[u8]) {
    let buffer = padded::<{ Table::LENGTH }>(data);
    let table = Table::decode(&buffer);
    let written = table.encode();
    let mut transitions = 0;
    for source in PowerState::up_to(PowerState::PS31) {
        let original = raw_entry(&buffer, source);
        let (time, target) = (original >> 8 & 0xFF_FFFF, original >> 3 & 0x1F);
        let expected = if time == 0 { 0 } else { time << 8 | target << 3 };
        assert_eq!(raw_entry(&written, source), expected, "{source}");
        let transition = table.transition(source);
        let shown = transition.map(|to| (u64::from(to.target().number()), u64::from(to.idle_milliseconds())));
        assert_eq!(shown, (time != 0).then_some((target, time)));
        transitions += usize::from(time != 0);
        let again = transition.and_then(|to| Transition::new(to.target(), to.idle_milliseconds()));
        assert_eq!(again, transition);
    }
    assert_eq!(table.transitions().count(), transitions);
    assert_eq!(table.is_empty(), transitions == 0);
    assert_eq!(Table::decode(&written), table);
}

/// Every dword as every feature, as a status, and as every register of a link.
pub fn features(data: &[u8]) {
    /// Reads, writes, reads again; the bits in `mask` are those that count.
    macro_rules! survives {
        ($feature:ident, $dword:expr, $mask:expr) => {
            let feature = $feature::decode($dword);
            assert_eq!(feature.encode(), $dword & $mask, stringify!($feature));
            assert_eq!($feature::decode(feature.encode()), feature);
        };
    }
    for &bytes in data.as_chunks().0 {
        let dword = u32::from_le_bytes(bytes);
        let low = u16::from_le_bytes([bytes[0], bytes[1]]);
        survives!(PowerManagement, dword, 0xFF);
        survives!(TemperatureThreshold, dword, 0x01FF_FFFF);
        survives!(AutonomousTransitions, dword, 1);
        survives!(ThermalManagement, dword, u32::MAX);
        survives!(NonOperational, dword, 1);
        survives!(PowerLimit, dword, 0x3_FFFF);
        survives!(PowerMeasurement, dword, 0xFFFF_00FF);
        survives!(OcpPowerState, dword, 0x7F);
        let threshold = TemperatureThreshold::decode(dword).threshold;
        assert_eq!(threshold.temperature().is_none(), low == 0 || low == u16::MAX);
        let bits = low & 0x7FFF;
        let status = Status::from_bits(bits);
        assert_eq!(status.bits(), bits);
        assert!(!status.to_string().is_empty());
        assert_eq!(status.is_success(), bits & 0x7FF == 0);
        link_registers(dword, low);
    }
}

/// The registers of a PCIe link, whose reserved codes have no meaning.
fn link_registers(dword: u32, word: u16) {
    let field = |low: u32, width: u32| dword >> low & ((1 << width) - 1);
    let link = LinkCapabilities::decode(dword);
    assert_eq!(u32::from(link.lanes), field(4, 6));
    assert_eq!((link.l0s, link.l1), (field(10, 1) == 1, field(11, 1) == 1));
    for (latency, code) in [(link.l0s_exit, field(12, 3)), (link.l1_exit, field(15, 3))] {
        assert_eq!(latency.bound().is_none(), code == 7);
        assert!(latency.bound_ns().is_none_or(|bound| bound.is_power_of_two() || bound % 1000 == 0));
    }
    let control = LinkControl::decode(word);
    assert_eq!(u16::from(control.l0s) | u16::from(control.l1) << 1, word & 3);
    let capabilities = SubstatesCapabilities::decode(dword);
    assert_eq!(capabilities.power_on.is_none(), field(16, 2) == 3);
    assert!(capabilities.power_on.is_none_or(|time| time.get() <= 3_100));
    assert_eq!(capabilities.common_mode_restore.get(), u64::from(field(8, 8)));
    let control = SubstatesControl::decode(dword, dword);
    assert_eq!(control.threshold_ns.is_none(), field(29, 3) > 5);
    assert_eq!(control.power_on.is_none(), field(0, 2) == 3);
}

/// A SMART / Health page and a Power Measurement page.
pub fn logs(data: &[u8]) {
    let page = padded::<{ SmartHealth::LENGTH }>(data);
    let log = SmartHealth::decode(&page);
    let written = log.encode();
    for (at, (&byte, &original)) in written.iter().zip(page.iter()).enumerate() {
        let mask = match at {
            0..3 | 112..160 | 192..242 => 0xFF,
            242 => 0xF3,
            243 => 0x03,
            _ => 0,
        };
        assert_eq!(byte, original & mask, "byte {at}");
    }
    assert_eq!(SmartHealth::decode(&written), log);
    let _ = (log.interval_power.scaled_power().power(), log.interval_power.measurement_type());

    let bytes = padded::<{ Header::LENGTH }>(data);
    let header = Header::decode(&bytes);
    let written = header.encode();
    for (at, (&byte, &original)) in written.iter().zip(bytes.iter()).enumerate() {
        let mask = match at {
            23 | 36..40 | 43 | 47 | 55 | 57.. => 0,
            22 | 54 => 0x0F,
            42 | 46 => 0x03,
            _ => 0xFF,
        };
        assert_eq!(byte, original & mask, "byte {at} of a measurement's header");
    }
    assert_eq!(Header::decode(&written), header);
    let mut bins = 0;
    for bin in header.histogram(data) {
        assert_eq!(Bin::decode(&bin.encode()), bin);
        bins += 1;
    }
    assert!(bins <= usize::from(header.bins) && bins * Bin::LENGTH <= data.len());
}

/// A journal; and the same bytes once more as the content of an undamaged frame.
pub fn journal(data: &[u8]) {
    let mut end = 0;
    for frame in Reader::new(data) {
        assert!(frame.offset >= end);
        end = frame.offset + 1;
        if let Ok(record) = frame.content {
            survives(&record);
        }
    }
    let mut buffer = [0; journal::MAX_FRAME];
    if let Ok(frame) = journal::encode(&Raw(data), &mut buffer) {
        let mut scratch = [0; journal::MAX_FRAME];
        if let Ok(record) = journal::decode(&frame[..frame.len() - 1], &mut scratch) {
            survives(&record);
        }
    }
}

fn survives(record: &Record) {
    let (mut buffer, mut scratch) = ([0; journal::MAX_FRAME], [0; journal::MAX_FRAME]);
    let frame = journal::encode(record, &mut buffer).expect("any record fits into the largest frame");
    assert_eq!(journal::decode::<Record>(&frame[..frame.len() - 1], &mut scratch).as_ref(), Ok(record));
}

/// Bytes that are their own serialised form.
struct Raw<'a>(&'a [u8]);

impl Serialize for Raw<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tuple = serializer.serialize_tuple(self.0.len())?;
        for byte in self.0 {
            tuple.serialize_element(byte)?;
        }
        tuple.end()
    }
}

/// The first bytes of `data`, and zeros after them.
fn padded<const LENGTH: usize>(data: &[u8]) -> Box<[u8; LENGTH]> {
    let mut page = Box::new([0; LENGTH]);
    let length = data.len().min(LENGTH);
    page[..length].copy_from_slice(&data[..length]);
    page
}
