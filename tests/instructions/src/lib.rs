//! What is counted, on the page that a real drive wrote (WD Blue SN550: five states, two of them non-operational).

use wattline_core::nvme::feature::autonomous_transitions::Table;
use wattline_core::nvme::{IdentifyController, PowerStateDescriptor};

/// A page as bytes.
pub type Page = [u8; IdentifyController::LENGTH];

/// The page of the drive.
pub fn page() -> Box<Page> {
    let mut page = Box::new([0; IdentifyController::LENGTH]);
    let text = include_str!("../../data/hex/wdc-wds250g2b0c-211070wd.id-ctrl.hex");
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (offset, bytes) = line.split_once(':').expect("an offset");
        let offset = usize::from_str_radix(offset, 16).expect("a number");
        for (at, byte) in bytes.split_whitespace().enumerate() {
            page[offset + at] = u8::from_str_radix(byte, 16).expect("a byte");
        }
    }
    page
}

/// The same page with 32 states, each like one of the drive's.
pub fn page_of_32_states() -> Box<Page> {
    let mut page = page();
    page[263] = 31;
    for state in 5..32 {
        page.copy_within(2048 + state % 5 * 32..2048 + state % 5 * 32 + 32, 2048 + state * 32);
    }
    page
}

/// A page as a value.
pub fn controller(page: Box<Page>) -> IdentifyController {
    IdentifyController::decode(&page).expect("a page of a real drive")
}

/// The drive's table: to PS3 after 100 ms, to PS4 after 2 s.
pub fn table() -> [u8; Table::LENGTH] {
    let mut table = [0; Table::LENGTH];
    for (source, entry) in [0x6418_u64, 0x6418, 0x6418, 0x7_D020].into_iter().enumerate() {
        table[source * 8..][..8].copy_from_slice(&entry.to_le_bytes());
    }
    table
}

/// The bytes of the drive's first state.
pub fn descriptor() -> [u8; PowerStateDescriptor::LENGTH] {
    page()[2048..2080].try_into().expect("32 bytes")
}
