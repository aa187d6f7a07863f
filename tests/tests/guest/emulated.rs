//! What `wattline` says in a guest with two emulated NVMe drives, compared with what nvme-cli says there.
//!
//! What was recorded is that of `tests/guest/checks`.

use serde_json::{Value, json};

use crate::recorded::{Recorded, Run, json};

const DRIVES: [&str; 2] = ["nvme0", "nvme1"];

const RECORDED: Recorded = Recorded("WATTLINE_GUEST_RESULTS");

fn file(name: &str) -> String {
    RECORDED.file(name)
}

fn run(name: &str) -> Run {
    RECORDED.run(name)
}

fn done(name: &str) -> String {
    RECORDED.done(name)
}

fn power_management(name: &str) -> u32 {
    RECORDED.feature(name)
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is not a number"))
}

fn trimmed(value: &Value) -> Value {
    json!(value.as_str().expect("a string").trim())
}

/// A number that is `null` where nvme-cli has 0.
fn reported(value: &Value) -> Value {
    if value == 0 { Value::Null } else { value.clone() }
}

#[test]
#[ignore = "needs the guest: tests/run guest"]
fn list_agrees_with_nvme_cli() {
    let ours = json(&done("wattline-list-json"));
    let theirs = json(&done("nvme-list"));
    let subsystems = theirs["Devices"][0]["Subsystems"].as_array().expect("subsystems");
    let ours = ours["controllers"].as_array().expect("controllers");
    assert_eq!((ours.len(), subsystems.len()), (DRIVES.len(), DRIVES.len()));
    for (ours, drive) in ours.iter().zip(DRIVES) {
        let controllers = subsystems.iter().map(|subsystem| &subsystem["Controllers"][0]);
        let theirs = controllers.clone().find(|theirs| theirs["Controller"] == drive).expect("the same controllers");
        let page = json(&done(&format!("{drive}-nvme-identify")));
        let feature = power_management(&format!("{drive}-nvme-before"));
        assert_eq!(ours["device"], json!(format!("/dev/{drive}")));
        assert_eq!(ours["model"], theirs["ModelNumber"]);
        assert_eq!(ours["serial"], theirs["SerialNumber"]);
        assert_eq!(ours["firmware"], theirs["Firmware"]);
        assert_eq!(ours["transport"], theirs["Transport"]);
        assert_eq!(ours["state"], "live");
        assert_eq!(ours["ps"], json!(feature & 0x1F));
        assert_eq!(ours["workload_hint"], json!(feature >> 5 & 0x7));
        assert_eq!(ours["npss"], page["npss"]);
        assert_eq!(ours["states"], json(&done(&format!("{drive}-show-json")))["states"]);
        assert_eq!(ours["error"], Value::Null);
    }
    let text = done("wattline-list");
    for (line, drive) in text.lines().skip(1).zip(DRIVES) {
        assert!(line.starts_with(&format!(" /dev/{drive}  QEMU NVMe Ctrl ")), "{line}");
    }
}

#[test]
#[ignore = "needs the guest: tests/run guest"]
fn show_agrees_with_nvme_cli() {
    for drive in DRIVES {
        let ours = json(&done(&format!("{drive}-show-json")));
        let theirs = json(&done(&format!("{drive}-nvme-identify")));
        assert_eq!(ours["model"], trimmed(&theirs["mn"]));
        assert_eq!(ours["firmware"], trimmed(&theirs["fr"]));
        for (ours, theirs) in [
            (&ours["wctemp_k"], &theirs["wctemp"]),
            (&ours["cctemp_k"], &theirs["cctemp"]),
            (&ours["mntmt_k"], &theirs["mntmt"]),
            (&ours["mxtmt_k"], &theirs["mxtmt"]),
            (&ours["rtd3r_us"], &theirs["rtd3r"]),
            (&ours["rtd3e_us"], &theirs["rtd3e"]),
        ] {
            assert_eq!(*ours, reported(theirs));
        }
        for (ours, theirs) in
            [("npss", "npss"), ("apsta", "apsta"), ("hctma", "hctma")].map(|(a, b)| (&ours[a], &theirs[b]))
        {
            assert_eq!(ours, theirs);
        }
        let states = ours["states"].as_array().expect("states");
        let descriptors = theirs["psds"].as_array().expect("descriptors");
        assert_eq!(states.len(), descriptors.len());
        for (number, (state, descriptor)) in states.iter().zip(descriptors).enumerate() {
            assert_eq!(*state, expected_state(number, descriptor));
        }
    }
}

/// What `show` says where nvme-cli 2.3 says this. Both drives use the scale of 0.01 W.
fn expected_state(ps: usize, descriptor: &Value) -> Value {
    let flags = number(&descriptor["flags"]);
    assert_eq!(flags & 0b01, 0, "a drive with MXPS 1 needs another factor");
    let centiwatts = |value: &Value| number(value) * 10;
    let scaled = |value: &Value, scale: &Value| match number(scale) {
        0 => Value::Null,
        2 => json!(centiwatts(value)),
        scale => panic!("a drive with scale {scale} needs another factor"),
    };
    json!({
        "ps": ps,
        "max_power_mw": centiwatts(&descriptor["max_power"]),
        "operational": flags & 0b10 == 0,
        "entry_us": reported(&descriptor["entry_lat"]), "exit_us": reported(&descriptor["exit_lat"]),
        "rrt": descriptor["read_tput"], "rrl": descriptor["read_lat"],
        "rwt": descriptor["write_tput"], "rwl": descriptor["write_lat"],
        "idle_mw": scaled(&descriptor["idle_power"], &descriptor["idle_scale"]),
        "active_mw": scaled(&descriptor["active_power"], &descriptor["active_scale"]),
    })
}

#[test]
#[ignore = "needs the guest: tests/run guest"]
fn show_says_the_same_of_a_drive_and_of_its_page() {
    for drive in DRIVES {
        assert_eq!(done(&format!("{drive}-show")), done(&format!("{drive}-show-page")));
        assert_eq!(done(&format!("{drive}-show-json")), done(&format!("{drive}-show-page-json")));
    }
}

/// Of a controller, what quirks go by is known without being told.
#[test]
#[ignore = "needs the guest: tests/run guest"]
fn apst_says_the_same_of_a_drive_and_of_its_page_with_what_sysfs_knows() {
    for drive in DRIVES {
        let of_drive = done(&format!("{drive}-apst"));
        assert_eq!(of_drive, done(&format!("{drive}-apst-page")));
        assert!(of_drive.contains("not supported by the drive (APSTA is 0)"), "{of_drive}");
    }
}

#[test]
#[ignore = "needs the guest: tests/run guest"]
fn an_absent_drive_is_said_to_be_absent() {
    for name in ["absent-show", "absent-apst"] {
        let run = run(name);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{name}");
        let expected = "error: /dev/nvme7 is absent: there is no such device\n help: `wattline list` shows";
        assert!(run.stderr.starts_with(expected), "{}", run.stderr);
    }
}

/// QEMU's drives refuse every Set Features of the power state, and nvme-cli says how.
#[test]
#[ignore = "needs the guest: tests/run guest"]
fn set_ps_shows_what_the_drive_answers_and_claims_nothing() {
    for drive in DRIVES {
        for state in [0, 1] {
            let theirs = run(&format!("{drive}-nvme-set-{state}"));
            assert_eq!(theirs.status, 1);
            assert!(theirs.stderr.contains("Feature Not Changeable") && theirs.stderr.contains("(0x410e)"));

            let ours = run(&format!("{drive}-set-{state}"));
            assert_eq!(ours.status, 1);
            let answer = "Feature Not Changeable (SCT 1h, SC 0Eh, do not retry)";
            let error =
                format!("error: cannot set the power state of /dev/{drive}: the drive answered {answer}\n help: ");
            assert!(ours.stderr.contains(&error), "{}", ours.stderr);
            assert!(ours.stdout.starts_with(&format!("/dev/{drive}: PS0 → PS0, as read back\n")), "{}", ours.stdout);
            let warned = ours.stderr.starts_with(&format!("warning: /dev/{drive} lists no PS1: its highest is PS0\n"));
            assert_eq!(warned, state == 1, "{}", ours.stderr);

            let ours = run(&format!("{drive}-set-{state}-json"));
            assert_eq!(ours.status, 1);
            let report = json(&ours.stdout);
            assert_eq!(report["status"], json!({"name": "Feature Not Changeable", "sct": 1, "sc": 14, "dnr": true}));
            assert_eq!((&report["before"], &report["obeyed"]), (&report["after"], &json!(false)));
            assert_eq!(report["asked"]["ps"], state);
        }
        assert_eq!(power_management(&format!("{drive}-nvme-before")), power_management(&format!("{drive}-nvme-after")));
    }
}

/// QEMU writes down every Set Features that reaches a drive. For each drive and power state there is one of
/// nvme-cli, which names all namespaces, and two of `set ps`; `--dry-run` and a user without rights have none.
#[test]
#[ignore = "needs the guest: tests/run guest"]
fn nothing_reaches_the_drives_but_what_was_asked() {
    let trace = file("set-features");
    let seen: Vec<&str> = trace.lines().filter(|line| line.contains(" fid 0x2 ")).collect();
    let sent: Vec<&str> = seen.iter().filter_map(|line| line.split_once(" nsid ")).map(|(_, sent)| sent).collect();
    let of = |namespace, state| format!("{namespace} fid 0x2 save 0x0 cdw11 {state}");
    let expected = ["0x0", "0x1"].map(|state| [of("0xffffffff", state), of("0x0", state), of("0x0", state)]);
    assert_eq!(sent, [expected.as_flattened(), expected.as_flattened()].concat());

    for drive in DRIVES {
        let dry = run(&format!("{drive}-dry-run"));
        assert_eq!(dry.status, 0);
        let words = [
            "PS0, and nothing was changed (dry run)\n",
            "Set Features, Power Management: opcode 09h, CDW10 00000002h, CDW11 00000001h, other dwords 0, no data",
        ];
        assert!(words.iter().all(|word| dry.stdout.contains(word)), "{}", dry.stdout);
    }
}

#[test]
#[ignore = "needs the guest: tests/run guest"]
fn a_namespace_is_refused_with_its_controllers_name() {
    let mut names: Vec<_> =
        DRIVES.map(|drive| (format!("{drive}-show-namespace"), format!("/dev/{drive}n1"), drive)).into();
    names.push(("set-namespace".into(), "/dev/nvme0n1".into(), "nvme0"));
    names.push(("set-generic".into(), "/dev/ng0n1".into(), "nvme0"));
    for (name, device, controller) in names {
        let run = run(&name);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{name}");
        let error = format!(
            "error: {device} is a namespace; power states belong to its controller\n help: use /dev/{controller}\n"
        );
        assert_eq!(run.stderr, error);
    }
}

#[test]
#[ignore = "needs the guest: tests/run guest"]
fn without_rights_the_error_says_what_is_missing() {
    let help = " help: asking a drive needs root (the capability CAP_SYS_ADMIN): try it with sudo\n";
    let cannot =
        |tried| format!("error: cannot {tried} /dev/nvme0: the operating system answered EACCES: Permission denied\n");
    // The device's mode refuses the first two. It lets the third open the device; then the kernel refuses.
    for (name, tried) in [("nobody-show", "open"), ("nobody-set", "open"), ("nobody-open-set", "identify")] {
        let run = run(name);
        assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{name}");
        assert_eq!(run.stderr, cannot(tried) + help, "{name}");
    }

    let list = run("nobody-list-json");
    assert_eq!(list.status, 1);
    assert!(list.stderr.starts_with(&cannot("open")) && list.stderr.ends_with(help), "{}", list.stderr);
    let known = json(&done("wattline-list-json"));
    let (ours, known) = (&json(&list.stdout)["controllers"][1], &known["controllers"][1]);
    for key in ["device", "model", "serial", "firmware", "transport", "state"] {
        assert_eq!(ours[key], known[key]);
    }
    for key in ["ps", "workload_hint", "npss", "states"] {
        assert_eq!(ours[key], Value::Null);
    }
}
