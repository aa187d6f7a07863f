//! `list` in a recorded sysfs, with fakes for drives.

use std::fs;
use std::path::Path;

use nix::errno::Errno;
use serde_json::{Value, json};
use wattline::device::{DeviceError, Drive};
use wattline::list::{Entry, entries, outcome};
use wattline::outcome::Exit;
use wattline_core::nvme::Status;

use super::fake::FakeDrive;
use super::set::page;
use super::tree::{QEMU, Tree};

/// What QEMU's drive wrote when nvme-cli asked it.
const QEMU_PAGE: &[u8] = include_bytes!("../fixtures/qemu-nvme-cli-2.3.id-ctrl.bin");

fn qemu() -> FakeDrive {
    FakeDrive::default().identify(QEMU_PAGE)
}

fn refused(device: &Path) -> DeviceError {
    DeviceError::Failed { tried: "open", device: device.to_owned(), cause: Errno::EACCES.into() }
}

fn json(entries: &[Entry]) -> Value {
    serde_json::from_str(&outcome(entries, true).output).unwrap()
}

#[test]
fn drives_that_answer_are_listed() {
    let tree = Tree::unpack(QEMU, "answer");
    let entries = entries(&tree.sysfs(), |device| {
        Ok(if device.ends_with("nvme0") {
            qemu().get(Ok(0)).drive(device)
        } else {
            FakeDrive::default().identify(&page()).get(Ok(0x21)).drive(device)
        })
    })
    .unwrap();
    let outcome = outcome(&entries, false);
    assert_eq!((outcome.exit, &outcome.complaints[..]), (Exit::Done, &[][..]));
    insta::assert_snapshot!(outcome.output);

    let controllers = &json(&entries)["controllers"];
    assert_eq!(
        controllers[0],
        json!({
            "device": "/dev/nvme0", "model": "QEMU NVMe Ctrl", "serial": "PLAIN-0001", "firmware": "7.2.22",
            "transport": "pcie", "state": "live", "ps": 0, "workload_hint": 0, "npss": 0,
            "states": [{
                "ps": 0, "max_power_mw": 25000, "operational": true, "entry_us": 16, "exit_us": 4,
                "rrt": 0, "rrl": 0, "rwt": 0, "rwl": 0, "idle_mw": null, "active_mw": null,
            }],
            "error": null,
        })
    );
    assert_eq!((&controllers[1]["ps"], &controllers[1]["workload_hint"]), (&json!(1), &json!(1)));
}

#[test]
fn a_drive_that_cannot_be_asked_hides_no_other() {
    let tree = Tree::unpack(QEMU, "hides");
    // More, with hardly anything in sysfs.
    for name in ["nvme2", "nvme3", "nvme4", "nvme10"] {
        fs::create_dir_all(tree.path(&format!("class/nvme/{name}"))).unwrap();
    }
    fs::write(tree.path("class/nvme/nvme10/state"), "resetting\n").unwrap();
    fs::remove_file(tree.path("class/nvme/nvme1/model")).unwrap();

    let entries = entries(&tree.sysfs(), |device| match device.to_str().unwrap() {
        "/dev/nvme0" | "/dev/nvme4" => Err(refused(device)),
        "/dev/nvme1" => Ok(qemu().get(Ok(0)).drive(device)),
        "/dev/nvme2" => Ok(qemu().get(Err(Status::INVALID_FIELD.into())).drive(device)),
        "/dev/nvme3" => Ok(qemu().get(Ok(7)).drive(device)),
        other => panic!("{other} is not to be asked"),
    })
    .unwrap();
    let outcome = outcome(&entries, false);
    assert_eq!(outcome.exit, Exit::NotDone);
    insta::assert_snapshot!(outcome.output);
    insta::assert_snapshot!(outcome.complained());
}

#[test]
fn no_driver_and_no_drive_are_no_failure() {
    let tree = Tree::unpack("class/block/sda/size = 0", "empty");
    let none = entries(&tree.sysfs(), |_| -> Result<Drive<FakeDrive>, _> { unreachable!() }).unwrap();
    assert_eq!(json(&none), json!({"controllers": []}));
    let outcome = outcome(&none, false);
    assert_eq!((outcome.exit, outcome.output.as_str()), (Exit::Done, "no NVMe controllers\n"));
}

/// A drive chooses the bytes of its names, and a terminal obeys some of them.
#[test]
fn a_name_cannot_command_the_terminal() {
    let tree = Tree::unpack("class/nvme/nvme0/model = bad\u{1b}[31m drive  ", "name");
    let entries = entries(&tree.sysfs(), |device| -> Result<Drive<FakeDrive>, _> { Err(refused(device)) }).unwrap();
    assert_eq!(entries[0].controller.model.as_deref(), Some("bad[31m drive"));
}
