//! The program from outside: what it writes, where, and with which exit status.

use std::path::PathBuf;

use assert_cmd::Command;
use serde_json::{Value, json};

fn wattline() -> Command {
    Command::new(env!("CARGO_BIN_EXE_wattline"))
}

fn fixture(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/fixtures", name].iter().collect()
}

const WD_BLUE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/hex/wdc-wds250g2b0c-211070wd.id-ctrl.hex");

/// Standard output of a run that succeeds and complains about nothing.
fn shown(arguments: &[&str], stdin: Vec<u8>) -> String {
    let run = wattline().arg("show").args(arguments).write_stdin(stdin).assert().success().stderr("");
    String::from_utf8(run.get_output().stdout.clone()).unwrap()
}

fn shown_fixture(name: &str) -> Value {
    let path = fixture(name);
    serde_json::from_str(&shown(&[path.to_str().unwrap(), "--json"], vec![])).unwrap()
}

/// Standard error of a run that fails with exit status 2 and writes nothing else.
fn refused(arguments: &[&str], stdin: &[u8]) -> String {
    let run = wattline().arg("show").args(arguments).write_stdin(stdin).assert().code(2).stdout("");
    String::from_utf8(run.get_output().stderr.clone()).unwrap()
}

#[test]
fn a_real_page_reads_at_a_glance() {
    insta::assert_snapshot!(shown(&[WD_BLUE], vec![]));
}

#[test]
fn a_real_page_as_json() {
    insta::assert_snapshot!(shown(&[WD_BLUE, "--json"], vec![]));
}

#[test]
fn a_report_of_smartctl_shows_what_it_does_not_say() {
    insta::assert_snapshot!(shown(&["-"], std::fs::read(fixture("qemu-smartctl-7.3.c.txt")).unwrap()));
}

#[test]
fn help_teaches_with_examples() {
    for arguments in [&["show"][..], &["list"], &["set", "ps"]] {
        let run = wattline().args(arguments).arg("--help").env("COLUMNS", "100").assert().success();
        insta::assert_snapshot!(String::from_utf8(run.get_output().stdout.clone()).unwrap());
    }
}

#[test]
fn a_page_and_its_hex_dump_and_its_json_say_the_same() {
    for drive in ["qemu", "qemu-intel-id"] {
        let from_page = shown_fixture(&format!("{drive}-nvme-cli-2.3.id-ctrl.bin"));
        assert_eq!(from_page, shown_fixture(&format!("{drive}-nvme-cli-2.3.id-ctrl.json")));
        assert_eq!(
            from_page,
            json!({
                "model": "QEMU NVMe Ctrl", "firmware": "7.2.22", "npss": 0, "apsta": 0, "wctemp_k": 343, "cctemp_k": 373,
                "hctma": 0, "mntmt_k": null, "mxtmt_k": null, "rtd3r_us": null, "rtd3e_us": null,
                "states": [{
                    "ps": 0, "max_power_mw": 25000, "operational": true, "entry_us": 16, "exit_us": 4,
                    "rrt": 0, "rrl": 0, "rwt": 0, "rwl": 0, "idle_mw": null, "active_mw": null,
                }],
            })
        );
    }
}

#[test]
fn smartctl_says_the_same_as_far_as_it_goes() {
    let mut expected = shown_fixture("qemu-nvme-cli-2.3.id-ctrl.bin");
    for unsaid in ["apsta", "hctma"] {
        expected[unsaid] = Value::Null;
    }
    for name in ["qemu-smartctl-7.3.a.txt", "qemu-smartctl-7.3.a-namespace.txt", "qemu-intel-id-smartctl-7.3.a.txt"] {
        assert_eq!(shown_fixture(name), expected, "{name}");
    }
    expected["model"] = Value::Null;
    expected["firmware"] = Value::Null;
    for name in ["qemu-smartctl-7.3.c.txt", "qemu-smartctl-7.3.c-json-o.json"] {
        assert_eq!(shown_fixture(name), expected, "{name}");
    }
}

#[test]
fn standard_input_and_a_file_give_the_same() {
    let page = std::fs::read(fixture("qemu-nvme-cli-2.3.id-ctrl.bin")).unwrap();
    let from_file = shown(&[fixture("qemu-nvme-cli-2.3.id-ctrl.bin").to_str().unwrap()], vec![]);
    assert_eq!(shown(&["-"], page), from_file);
}

#[test]
fn what_a_tool_wrote_about_something_else_is_named() {
    for (name, words) in [
        ("qemu-nvme-cli-2.3.smart-log.bin", &["4096 bytes, but 512 came", "nvme id-ctrl DEVICE --raw-binary"][..]),
        ("qemu-nvme-cli-2.3.smart-log.json", &["`psds`", "`nvme_power_states`", "it looks like `nvme smart-log`"]),
        ("qemu-nvme-cli-2.3.list.json", &["it looks like `nvme list`"]),
        ("qemu-nvme-cli-2.3.id-ctrl.txt", &["text of no known format", "NVME Identify Controller:"]),
        ("qemu-smartctl-7.3.a.json", &["it looks like smartctl before 7.5", "smartctl --json=o --all DEVICE"]),
        ("qemu-smartctl-7.3.no-such-device.json", &["/dev/nvme9 failed: No such device"]),
    ] {
        let path = fixture(name);
        let error = refused(&[path.to_str().unwrap()], b"");
        assert!(error.starts_with("error: cannot read power states from ") && error.contains("\n help: "), "{error}");
        for word in [name].iter().chain(words) {
            assert!(error.contains(word), "{word:?} is not in {error}");
        }
    }
}

/// What a failed command leaves, in each form in which it comes, is not shown as a drive that can do nothing.
#[test]
fn a_page_of_zeros_is_no_drive() {
    let hex: String = (0..256).map(|line| format!("{:04x}:{}\n", 16 * line, " 00".repeat(16))).collect();
    let state = json!({
        "max_power": 0, "flags": 0, "entry_lat": 0, "exit_lat": 0, "read_tput": 0, "read_lat": 0, "write_tput": 0,
        "write_lat": 0, "idle_power": 0, "idle_scale": 0, "active_power": 0, "active_power_work": 0, "active_scale": 0,
    });
    let document = json!({ "vid": 0, "mn": " ".repeat(40), "fr": "", "npss": 0, "apsta": 0, "psds": [state] });
    let zeros = vec![0; 4096];
    for blank in [&zeros[..], hex.as_bytes(), document.to_string().as_bytes()] {
        assert!(refused(&["-"], blank).contains("it says nothing"), "{}", String::from_utf8_lossy(blank));
    }
    // One bit of anything is something that a drive said.
    for (at, bit) in [(0, 1), (30, b'X'), (265, 1), (266, 1), (2048, 1), (2051, 2), (2063, 1)] {
        let mut page = zeros.clone();
        page[at] = bit;
        assert!(shown(&["-"], page).contains("PS"), "byte {at}");
    }
}

#[test]
fn what_cannot_be_read_is_named() {
    assert!(
        refused(&["no-such-file"], b"").starts_with("error: cannot read 'no-such-file': No such file or directory")
    );
    assert!(refused(&["-"], b"").contains("standard input: nothing to read: 0 bytes came"));
    let absent = "error: /dev/no-such-drive is absent: there is no such device\n help: `wattline list` shows";
    assert!(refused(&["/dev/no-such-drive"], b"").starts_with(absent));
    assert!(refused(&["nvme0"], b"").contains("a drive is named like /dev/nvme0"));
    assert!(refused(&["/dev/null"], b"").starts_with("error: /dev/null is no NVMe controller\n help: "));
    assert!(refused(&["-"], b"{").contains("it starts like JSON, but is not"));
    assert!(refused(&["-"], b"smartctl 7.3 ...\n").contains("without its table"));
    assert!(refused(&["-"], b"\n0000: 00\n0010: 00\n").contains("line 3 of the hex dump"));
    assert!(refused(&[], b"").contains("<DEVICE|FILE|--drive <NAME>>"));
    let mut page = std::fs::read(fixture("qemu-nvme-cli-2.3.id-ctrl.bin")).unwrap();
    page[263] = 32;
    assert!(refused(&["-", "--json"], &page).contains("NPSS is 32"));
}
