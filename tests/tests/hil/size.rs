//! What the firmware takes of the chip, and what it may take; and rooms of the core by themselves.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use object::{Object, ObjectSection, SectionFlags};
use serde::Deserialize;

use super::cost::Cost;

/// Bytes.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Size {
    /// Code and constants, and the initial values of variables.
    flash: u64,
    /// Variables, and where a panic is kept.
    ram: u64,
    /// The most that the stack ever took.
    stack: u64,
}

/// As committed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Budget {
    pub(crate) firmware: Size,
    /// Flash of rooms of the core, by name.
    pub(crate) rooms: BTreeMap<String, u64>,
    /// What a governor of 24 drives takes.
    pub(crate) governor: Cost,
}

impl Budget {
    pub(crate) fn committed() -> Self {
        toml::from_str(include_str!("../../../edge-board/budget.toml")).expect("edge-board/budget.toml has numbers")
    }
}

/// Flash of each of these rooms: of a program that uses it, without that of a program that uses nothing.
pub(crate) fn of_rooms<'a>(directory: &Path, rooms: impl Iterator<Item = &'a String>) -> BTreeMap<&'a str, u64> {
    let flash = |program: &str| Size::of_firmware(&directory.join(program), 0).flash;
    let nothing = flash("nothing");
    rooms.map(|room| (room.as_str(), flash(room) - nothing)).collect()
}

/// What the chip has; the stack has what the variables leave.
const FLASH: u64 = 256 * 1024;
const RAM: u64 = 64 * 1024;

impl Size {
    /// Of this ELF file, with the stack as the board reported it.
    pub(crate) fn of_firmware(path: &Path, stack: u32) -> Self {
        /// What the board's linker script keeps free for a panic's message.
        const PANIC: u64 = 1024;
        let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let elf = object::File::parse(bytes.as_slice()).expect("an ELF file");
        let mut size = Self { flash: 0, ram: PANIC, stack: stack.into() };
        for section in elf.sections() {
            let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
            if sh_flags & u64::from(object::elf::SHF_ALLOC) == 0 {
                continue;
            }
            let (_, in_file) = section.file_range().unwrap_or_default();
            size.flash += in_file;
            if sh_flags & u64::from(object::elf::SHF_WRITE) != 0 {
                size.ram += section.size();
            }
        }
        size
    }

    pub(crate) fn is_within(self, budget: Self) -> bool {
        self.flash <= budget.flash && self.ram <= budget.ram && self.stack <= budget.stack
    }
}

pub(crate) fn table(used: Size, budget: Size) -> String {
    let mut table = format!("{:<8}{:>8}{:>8}{:>8}\n", "bytes", "used", "budget", "chip");
    for (name, used, budget, chip) in [
        ("flash", used.flash, budget.flash, FLASH),
        ("RAM", used.ram, budget.ram, RAM),
        ("stack", used.stack, budget.stack, RAM - used.ram),
    ] {
        writeln!(table, "{name:<8}{used:>8}{budget:>8}{chip:>8}").expect("a string takes it");
    }
    table
}
