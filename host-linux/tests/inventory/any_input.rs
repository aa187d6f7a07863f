//! Whatever comes in, the answer is an inventory or an error, never a panic.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;
use wattline::inventory::Inventory;
use wattline::show::{Document, text};

use crate::formats::{self, NvmeFlags, drives};

/// Reads and renders; an error has to say something, too.
fn show(input: &[u8]) {
    match Inventory::parse(input) {
        Ok(inventory) => {
            assert!(!text(&inventory).is_empty());
            assert!(serde_json::from_str::<serde_json::Value>(&Document::from(&inventory).to_string()).is_ok());
        }
        Err(error) => assert!(!error.to_string().is_empty() && !error.help().is_empty()),
    }
}

/// A drive in each text format, to be damaged.
static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let drives = drives();
    let drive = drives.iter().find(|drive| drive.states.len() == 5).unwrap();
    let page = formats::page(drive).unwrap();
    vec![
        formats::nvme_json(drive, NvmeFlags::Byte),
        formats::nvme_json(drive, NvmeFlags::Keys),
        formats::smartctl_json(drive),
        formats::smartctl_json_with_output(&formats::smartctl_capabilities(drive)),
        formats::smartctl_all(drive),
        formats::hex_dump(&page),
    ]
});

proptest! {
    #[test]
    fn any_bytes(input in prop::collection::vec(any::<u8>(), 0..8192)) {
        show(&input);
    }

    #[test]
    fn any_page(mut input in prop::collection::vec(any::<u8>(), 4096), npss in 0_u8..34) {
        input[263] = npss;
        show(&input);
    }

    #[test]
    fn any_text(input: String) {
        show(input.as_bytes());
    }

    /// Text of the right kind with one thing wrong: a number replaced, a piece cut out, the end lost.
    #[test]
    fn damaged_text(
        which in any::<Index>(), from in any::<Index>(), length in 0_usize..40,
        with in prop_oneof!["", "-?[0-9]{1,25}", "[0-9.]{1,8}W?", "\\PC{0,8}", "[\\[\\]{}\",:# \n]{1,4}"],
        keep in any::<Index>(), cut: bool,
    ) {
        let mut text: Vec<char> = which.get(&TEXTS).chars().collect();
        let start = from.index(text.len());
        let end = (start + length).min(text.len());
        text.splice(start..end, with.chars());
        if cut {
            text.truncate(keep.index(text.len() + 1));
        }
        show(text.into_iter().collect::<String>().as_bytes());
    }
}
