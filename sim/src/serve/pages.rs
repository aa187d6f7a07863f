//! The data structures that Identify and Get Log Page return.
//!
//! The fields about power and heat are encoded by the core; here are those that a drive on a fabric has besides (Base
//! Specification, "Identify Controller data structure", "I/O Command Set Independent", and NVM Command Set
//! Specification, "Identify Namespace data structure"). Byte offsets as there.

use wattline_core::nvme::Status;
use wattline_core::nvme::identify::IdentifyController;
use wattline_core::nvme::log::smart_health::{CriticalWarning, SmartHealth, ThermalManagementCounters};
use wattline_core::units::{Kelvin, Minutes};

use super::command::{Submission, admin, nvm};
use super::media::BLOCK;
use super::pdu::IN_CAPSULE_BYTES;

/// Bytes of an Identify data structure.
pub(super) const IDENTIFY_LENGTH: usize = 4096;
/// The one namespace of each drive.
pub(super) const NAMESPACE: u32 = 1;
/// Commands that may be in flight on one queue.
pub(super) const QUEUE_ENTRIES: u16 = 128;
/// Asynchronous Event Requests that may be outstanding.
pub(super) const EVENT_REQUESTS: usize = 4;
/// The most data of one command, as a power of two of 4 KiB (MDTS): 512 KiB.
const MAX_TRANSFER: u8 = 7;
/// The most data of one command, in bytes.
pub(super) const MAX_TRANSFER_BYTES: u32 = 4096 << MAX_TRANSFER;
/// Entries of the error log.
pub(super) const ERROR_ENTRIES: usize = 64;
/// Bytes of one entry.
const ERROR_LENGTH: usize = 64;

type Page = Box<[u8; IDENTIFY_LENGTH]>;

fn page() -> Page {
    Box::new([0; IDENTIFY_LENGTH])
}

fn put<const FIELD: usize>(page: &mut [u8], at: usize, field: [u8; FIELD]) {
    if let Some(into) = page.get_mut(at..at + FIELD) {
        into.copy_from_slice(&field);
    }
}

fn text(page: &mut [u8], at: usize, width: usize, text: &str) {
    if let Some(into) = page.get_mut(at..at + width) {
        into.fill(b' ');
        for (byte, letter) in into.iter_mut().zip(text.bytes()) {
            *byte = letter;
        }
    }
}

/// Identify Controller (CNS 01h).
pub(super) fn controller(identity: &IdentifyController, serial: &str, name: &str, controller: u16) -> Page {
    let mut page = page();
    identity.encode(&mut page);
    text(&mut page[..], 4, 20, serial);
    page[77] = MAX_TRANSFER;
    put(&mut page[..], 78, controller.to_le_bytes());
    page[111] = 1; // CNTRLTYPE: an I/O controller
    page[259] = u8::try_from(EVENT_REQUESTS - 1).unwrap_or(0); // AERL, less one
    page[261] = 0b110; // LPA: commands-supported log, offsets
    page[262] = u8::try_from(ERROR_ENTRIES - 1).unwrap_or(0); // ELPE, less one
    put(&mut page[..], 320, 10u16.to_le_bytes()); // KAS: Keep Alive in steps of 1 s
    page[512] = 0x66; // SQES: 64 bytes
    page[513] = 0x44; // CQES: 16 bytes
    put(&mut page[..], 514, QUEUE_ENTRIES.to_le_bytes()); // MAXCMD
    put(&mut page[..], 516, NAMESPACE.to_le_bytes()); // NN
    put(&mut page[..], 520, (1u16 << 3).to_le_bytes()); // ONCS: Write Zeroes
    page[525] = 1; // VWC: Flush means something
    put(&mut page[..], 536, (1u32 | 1 << 20).to_le_bytes()); // SGLS: SGLs, and transport data blocks
    for (byte, letter) in page[768..1023].iter_mut().zip(name.bytes()) {
        *byte = letter; // SUBNQN, ends with a zero
    }
    let capsule = u32::try_from((IN_CAPSULE_BYTES + 64) / 16).unwrap_or(4);
    put(&mut page[..], 1792, capsule.to_le_bytes()); // IOCCSZ: a command and its data, in steps of 16 bytes
    put(&mut page[..], 1796, 1u32.to_le_bytes()); // IORCSZ: a completion
    page[1803] = 1; // MSDBD: one descriptor
    page
}

/// Identify Namespace (CNS 00h).
pub(super) fn namespace(blocks: u64) -> Page {
    let mut page = page();
    for at in [0, 8] {
        put(&mut page[..], at, blocks.to_le_bytes()); // NSZE, NCAP
    }
    page[130] = u8::try_from(BLOCK.trailing_zeros()).unwrap_or(9); // LBA format 0: bytes of a block, as a power of two
    page
}

/// Active namespaces above `after` (CNS 02h).
pub(super) fn namespace_list(after: u32) -> Page {
    let mut page = page();
    if after < NAMESPACE {
        put(&mut page[..], 0, NAMESPACE.to_le_bytes());
    }
    page
}

/// Namespace identification descriptors (CNS 03h): a UUID that is made of the drive's number.
pub(super) fn namespace_descriptors(slot: usize) -> Page {
    let mut page = page();
    page[0] = 3; // NIDT: UUID
    page[1] = 16;
    page[4..20].copy_from_slice(&uuid(slot));
    page
}

/// A UUID of version 8, which is free to whoever makes it.
fn uuid(slot: usize) -> [u8; 16] {
    let mut uuid = *b"wattline\x80virtual";
    uuid[6] = 0x80;
    uuid[8] = 0x80;
    uuid[15] = u8::try_from(slot).unwrap_or(u8::MAX);
    uuid
}

/// Whatever has nothing to say (other command-set-specific structures).
pub(super) fn nothing() -> Page {
    page()
}

/// What a drive has counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counters {
    pub(super) read_bytes: u64,
    pub(super) written_bytes: u64,
    pub(super) reads: u64,
    pub(super) writes: u64,
    pub(super) busy_seconds: u64,
    pub(super) seconds: u64,
    pub(super) warning_seconds: u32,
    pub(super) critical_seconds: u32,
    pub(super) unsafe_shutdowns: u32,
    pub(super) light: ThermalManagementCounters,
    pub(super) heavy: ThermalManagementCounters,
    pub(super) errors: u64,
}

/// SMART / Health Information (LID 02h).
pub(super) fn smart(counters: &Counters, temperature: Option<Kelvin>, warns: bool) -> [u8; SmartHealth::LENGTH] {
    let mut sensors = [None; 8];
    sensors[0] = temperature;
    let health = SmartHealth {
        critical_warning: CriticalWarning::from_bits(u8::from(warns) << 1),
        composite_temperature: temperature,
        power_cycles: 1,
        power_on_hours: (counters.seconds / 3600).into(),
        unsafe_shutdowns: counters.unsafe_shutdowns.into(),
        warning_time: Minutes::new(counters.warning_seconds / 60),
        critical_time: Minutes::new(counters.critical_seconds / 60),
        sensors,
        light_management: counters.light,
        heavy_management: counters.heavy,
        ..SmartHealth::default()
    };
    let mut page = health.encode();
    page[3] = 100; // available spare, in percent
    page[4] = 10; // its threshold
    let units = |bytes: u64| u128::from(bytes.div_ceil(512_000)).to_le_bytes(); // thousands of 512 bytes, rounded up
    put(&mut page, 32, units(counters.read_bytes));
    put(&mut page, 48, units(counters.written_bytes));
    put(&mut page, 64, u128::from(counters.reads).to_le_bytes());
    put(&mut page, 80, u128::from(counters.writes).to_le_bytes());
    put(&mut page, 96, u128::from(counters.busy_seconds / 60).to_le_bytes());
    put(&mut page, 176, u128::from(counters.errors).to_le_bytes());
    page
}

/// What went wrong, newest first (LID 01h).
#[derive(Clone, Debug, Default)]
pub(super) struct ErrorLog {
    entries: std::collections::VecDeque<[u8; ERROR_LENGTH]>,
}

impl ErrorLog {
    /// Adds a command that failed; `count` is its number.
    pub(super) fn add(&mut self, count: u64, queue: u16, command: &Submission, status: Status) {
        let mut entry = [0; ERROR_LENGTH];
        put(&mut entry, 0, count.to_le_bytes());
        put(&mut entry, 8, queue.to_le_bytes());
        put(&mut entry, 10, command.id().to_le_bytes());
        put(&mut entry, 12, (status.bits() << 1).to_le_bytes());
        put(&mut entry, 14, u16::MAX.to_le_bytes()); // no particular byte of the command
        if queue != 0 {
            put(&mut entry, 16, command.dwords(10).to_le_bytes());
        }
        put(&mut entry, 24, command.namespace().to_le_bytes());
        self.entries.truncate(ERROR_ENTRIES - 1);
        self.entries.push_front(entry);
    }

    /// The log page.
    pub(super) fn page(&self) -> Vec<u8> {
        let mut page: Vec<u8> = self.entries.iter().flatten().copied().collect();
        page.resize(ERROR_ENTRIES * ERROR_LENGTH, 0);
        page
    }
}

/// Commands Supported and Effects (LID 05h).
pub(super) fn effects() -> Vec<u8> {
    use wattline_core::nvme::{feature, identify, log};
    /// Bit 0: supported.
    const SUPPORTED: u32 = 1;
    /// Bit 1: it changes what is on the drive.
    const CONTENT: u32 = 1 << 1;
    let admin = [
        log::GET_LOG_PAGE,
        identify::IDENTIFY,
        admin::ABORT,
        feature::SET_FEATURES,
        feature::GET_FEATURES,
        admin::ASYNCHRONOUS_EVENT_REQUEST,
        admin::KEEP_ALIVE,
    ];
    let io = [
        (nvm::FLUSH, SUPPORTED),
        (nvm::WRITE, SUPPORTED | CONTENT),
        (nvm::READ, SUPPORTED),
        (nvm::WRITE_ZEROES, SUPPORTED | CONTENT),
    ];
    let mut page = vec![0; 4096];
    for opcode in admin {
        put(&mut page, usize::from(opcode) * 4, SUPPORTED.to_le_bytes());
    }
    for (opcode, effects) in io {
        put(&mut page, 1024 + usize::from(opcode) * 4, effects.to_le_bytes());
    }
    page
}
