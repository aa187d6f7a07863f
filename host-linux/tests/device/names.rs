//! Which names are accepted for a controller, and what is said about the others.

use std::fs;
use std::os::unix::fs::symlink;

use assert_cmd::Command;
use wattline::sysfs::{Node, Owner};

use super::tree::{QEMU, Tree};

fn character(major: u64, minor: u64) -> Node {
    Node { block: false, major, minor }
}

fn block(major: u64, minor: u64) -> Node {
    Node { block: true, major, minor }
}

fn controllers(names: &[&str]) -> Owner {
    Owner::Controllers(names.iter().map(|&name| name.to_owned()).collect())
}

#[test]
fn a_device_file_leads_to_its_controller() {
    let tree = Tree::unpack(QEMU, "owner");
    let sysfs = tree.sysfs();
    assert_eq!(sysfs.owner(character(246, 0)), Owner::Itself); // nvme0
    assert_eq!(sysfs.owner(character(245, 1)), controllers(&["nvme0"])); // ng0n1
    assert_eq!(sysfs.owner(block(259, 0)), controllers(&["nvme0"])); // nvme0n1
    assert_eq!(sysfs.owner(character(1, 3)), Owner::Other); // null
    assert_eq!(sysfs.owner(block(1, 3)), Owner::Other); // not there
}

/// Quirks go by these numbers. The recording does not have them: they are laid out as in Linux 6.1.
#[test]
fn a_controller_on_a_pci_bus_has_its_numbers() {
    let tree = Tree::unpack(QEMU, "pci");
    let function = tree.path("devices/pci0000:00/0000:00:01.0");
    let numbers = |node| tree.sysfs().pci(node).map(|pci| (pci.vendor, pci.device));
    assert_eq!(numbers(character(246, 0)), None, "a controller of a fabric has no such files");
    for (name, number) in [("vendor", "0x1b36\n"), ("device", "0x0010\n"), ("subsystem_device", "0x1100\n")] {
        fs::write(function.join(name), number).unwrap();
    }
    assert_eq!(numbers(character(246, 0)), Some((0x1b36, 0x0010)));
    let pci = tree.sysfs().pci(character(246, 0)).unwrap();
    assert_eq!((pci.subsystem_vendor, pci.subsystem_device), (None, Some(0x1100)));
    assert_eq!(numbers(character(1, 3)), None);
    for wrong in ["", "1b36", "0x1b36f", "0x"] {
        fs::write(function.join("vendor"), wrong).unwrap();
        assert_eq!(numbers(character(246, 0)), None, "{wrong}");
    }
}

/// In a shared namespace, `nvme0n1` is no part of `nvme0`: it hangs below the subsystem. Laid out as in Linux 6.1.
#[test]
fn a_shared_namespace_leads_to_all_its_controllers() {
    let tree = Tree::unpack(QEMU, "shared");
    let subsystem = tree.path("devices/virtual/nvme-subsystem/nvme-subsys0");
    fs::create_dir_all(subsystem.join("nvme0n1/nvme0n1p1")).unwrap();
    symlink("../../../../class/nvme-subsystem", subsystem.join("subsystem")).unwrap();
    symlink("../../../../../class/block", subsystem.join("nvme0n1/subsystem")).unwrap();
    for (name, address) in [("nvme1", "0000:00:02.0"), ("nvme0", "0000:00:01.0")] {
        let controller = format!("../../../pci0000:00/{address}/nvme/{name}");
        symlink(controller, subsystem.join(name)).unwrap();
    }
    let below = "../../devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1";
    symlink(below, tree.path("dev/block/259:9")).unwrap();
    symlink(format!("{below}/nvme0n1p1"), tree.path("dev/block/259:10")).unwrap();
    for minor in [9, 10] {
        assert_eq!(tree.sysfs().owner(block(259, minor)), controllers(&["nvme0", "nvme1"]));
    }
}

/// Standard error of `wattline set ps …`, which ends with exit status 2 and writes nothing else.
fn refused(arguments: &[&str]) -> String {
    let mut wattline = Command::new(env!("CARGO_BIN_EXE_wattline"));
    let run = wattline.args(["set", "ps"]).args(arguments).assert().code(2).stdout("");
    String::from_utf8(run.get_output().stderr.clone()).unwrap()
}

#[test]
fn what_is_no_controller_is_refused() {
    let absent = "error: /dev/no-such-drive is absent: there is no such device\n help: `wattline list` shows";
    assert!(refused(&["/dev/no-such-drive", "0"]).starts_with(absent));
    assert!(refused(&["/dev/null/nvme0", "0"]).contains("is absent"));
    assert!(refused(&["/dev/null", "0"]).starts_with("error: /dev/null is no NVMe controller\n help: "));
    assert!(refused(&["/", "0"]).starts_with("error: / is no device\n help: "));
}

#[test]
fn what_is_no_power_state_is_refused() {
    for number in ["32", "1.5", "", "PS1", "256"] {
        assert!(refused(&["/dev/null", number]).contains("a power state is a number from 0 to 31"), "{number}");
    }
}
