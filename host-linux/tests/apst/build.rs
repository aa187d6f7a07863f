//! `wattline apst build`.

use serde_json::{Value, json};

use crate::{XG4, data, entries, fixture, json, output, refused, text, wattline};

const WD_BLUE: &str = "hex/wdc-wds250g2b0c-211070wd.id-ctrl.hex";

fn built(arguments: &[&str]) -> Value {
    json(&[&["apst", "build", "--json"], arguments].concat())
}

#[test]
fn a_table_reads_at_a_glance() {
    insta::assert_snapshot!(output(&["apst", "build", &data(WD_BLUE)]));
}

#[test]
fn the_document_has_its_keys_and_no_others() {
    let mut document = built(&["--drive", XG4]);
    assert_eq!(entries(&document), [(0, 3, 2000), (1, 3, 2000), (2, 3, 2000)]);
    document["entries"].as_array_mut().unwrap().truncate(1);
    document["states"] = document["states"].as_array().unwrap()[3..].into();
    let slow = "dropped: entering and leaving it takes 170 ms (ENLAT + EXLAT), more than the kernel's 100 ms; \
                the kernel enters it at no tolerance";
    assert_eq!(
        document,
        json!({
            "drive": XG4, "policy": "linux", "tolerance_us": 100_000, "apsta": null, "apste": 1,
            "entries": [{ "ps": 0, "itps": 3, "itpt_ms": 2000 }],
            "states": [
                {
                    "ps": 3, "chosen": true, "admitted_from_us": 25_000,
                    "reason": "entered after 2000 ms in PS0, PS1, PS2; a tolerance of 25 ms is enough",
                },
                { "ps": 4, "chosen": false, "admitted_from_us": null, "reason": slow },
            ],
        })
    );
}

/// The real drive's page, and the table that it returned when a real kernel had written it.
#[test]
fn the_kernels_table_of_a_real_drive_is_the_one_that_the_drive_held() {
    let held = json(&["apst", "decode", "--json", &data("hex/wdc-wds250g2b0c-211070wd.apst.hex")]);
    let would_be = built(&[&data(WD_BLUE)]);
    assert_eq!(held["entries"], would_be["entries"]);
    assert_eq!((&would_be["apsta"], &would_be["drive"]), (&json!(1), &json!("WDC WDS250G2B0C-00PXH0")));
}

#[test]
fn every_policy_has_its_table() {
    let table = |policy, more: &[&str]| entries(&built(&[&["--drive", XG4, "--policy", policy], more].concat()));
    let old = [(0, 3, 1500), (1, 3, 1500), (2, 3, 1500), (3, 4, 8500)];
    assert_eq!(table("linux-two-percent", &[]), old);
    assert_eq!(table("linux-two-percent", &["--tolerance-us", "any"]), old);
    assert_eq!(table("linux-two-percent", &["--tolerance-us", "25000"]), old[..3]);
    assert_eq!(table("linux", &["--tolerance-us", "24999"]), []);
    assert_eq!(table("windows:balanced", &[]), [(0, 3, 2000), (1, 3, 2000), (2, 3, 2000)]);
    assert_eq!(table("windows:power-saver:dc", &[]), [(0, 4, 100), (1, 4, 100), (2, 4, 100), (3, 4, 100)]);
    let rare = table("windows:power-saver:dc", &["--transitions-per-day", "1000"]);
    assert_eq!(rare, [(0, 4, 86_400), (1, 4, 86_400), (2, 4, 86_400), (3, 4, 86_400)]);
    // Whatever its times are, no target is slower than the tolerance.
    assert!(table("energy", &[]).iter().all(|&(_, itps, _)| itps == 3));
    assert!(table("energy", &["--tolerance-us", "170000"]).iter().any(|&(_, itps, _)| itps == 4));
    assert_eq!(table("energy", &["--tolerance-us", "29999"]), []);
    assert!(table("energy", &["--transitions-per-day", "10"]).iter().all(|&(_, _, itpt)| itpt >= 8_640_000));
    assert_eq!(table("windows:high-performance", &[]), []);
}

#[test]
fn four_empty_tables_are_told_apart() {
    let page = fixture("qemu-nvme-cli-2.3.id-ctrl.bin");
    for (arguments, apsta, apste, words) in [
        (&["--drive", XG4, "--tolerance-us", "0"][..], Value::Null, 0, "off: the tolerance is 0"),
        (&["--drive", XG4, "--tolerance-us", "1000"], Value::Null, 1, "the tolerance admits no state"),
        (&["--drive", &without_idle_states()], Value::Null, 1, "no tolerance would give it one"),
        (&[&page], json!(0), 0, "not supported by the drive (APSTA is 0)"),
    ] {
        let document = built(arguments);
        assert_eq!(entries(&document), [], "{arguments:?}");
        assert_eq!((&document["apsta"], &document["apste"]), (&apsta, &json!(apste)), "{arguments:?}");
        let text = output(&[&["apst", "build"], arguments].concat());
        assert!(text.contains(words), "{text}");
    }
}

fn without_idle_states() -> String {
    let drives = json(&["drives", "--json"]);
    let one = |drive: &&Value| drive["states"] == 3 && drive["non_operational"] == 0;
    drives.as_array().unwrap().iter().find(one).unwrap()["name"].as_str().unwrap().to_owned()
}

#[test]
fn a_table_is_written_as_bytes_and_read_back() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("table.bin");
    let path = path.to_str().unwrap();
    let document = built(&["--drive", XG4, "--policy", "linux-two-percent", "--bin", path]);
    let bytes = std::fs::read(path).unwrap();
    assert_eq!((bytes.len(), &bytes[..8]), (256, &0x5dc18_u64.to_le_bytes()[..]));
    assert_eq!(json(&["apst", "decode", "--json", path])["entries"], document["entries"]);

    let no_apst = fixture("qemu-nvme-cli-2.3.id-ctrl.bin");
    let unwritten = directory.path().join("none.bin");
    let unwritten = unwritten.to_str().unwrap();
    let run = wattline().args(["apst", "build", &no_apst, "--bin", unwritten]).assert().code(1);
    assert!(text(&run.get_output().stderr).contains("the drive has no autonomous transitions"));
    assert!(!std::path::Path::new(unwritten).exists());
    let nowhere = directory.path().join("no/such/directory");
    let run = wattline().args(["apst", "build", "--drive", XG4, "--bin", nowhere.to_str().unwrap()]).assert().code(1);
    assert!(text(&run.get_output().stderr).contains("No such file or directory"));
}

#[test]
fn a_quirk_applies_and_is_overridden_with_its_reason() {
    const A2000: &str = "kingston-sa2000m8500g-s5z42105";
    let deepest = |more: &[&str]| {
        let document = built(&[&["--drive", A2000], more].concat());
        document["states"].as_array().unwrap().last().unwrap()["chosen"].as_bool().unwrap()
    };
    assert!(deepest(&[]), "without the PCI device nobody knows");
    assert!(output(&["apst", "build", "--drive", A2000]).contains("quirks not decided"));
    assert!(!deepest(&["--pci", "2646:2263"]));
    assert!(deepest(&["--pci", "2646:2263", "--no-quirks"]));

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mine.toml");
    let file = "[[override]]\nname = \"mine\"\nmodel = \"KINGSTON SA2000*\"\neffects = [\"no-deepest-state\"]\n\
                reason = \"a year without trouble\"\n";
    std::fs::write(&path, file).unwrap();
    let with_file = ["--pci", "2646:2263", "--quirks", path.to_str().unwrap()];
    assert!(deepest(&with_file));
    let text = output(&[&["apst", "build", "--drive", A2000][..], &with_file].concat());
    assert!(text.contains("quirk overridden: no-deepest-state, mine: a year without trouble"), "{text}");

    std::fs::write(&path, file.replace("effects", "effect")).unwrap();
    let error = refused(&[&["apst", "build", "--drive", A2000][..], &with_file].concat());
    assert!(error.contains("line 4: unknown field `effect`"), "{error}");
}

#[test]
fn what_does_not_go_together_is_refused_with_the_reason() {
    let refused = |arguments: &[&str]| refused(&[&["apst", "build"], arguments].concat());
    for (arguments, words) in [
        (&["--drive", XG4, "--policy", "windows:balanced", "--tolerance-us", "1"][..], "tolerances of their own"),
        (&["--drive", XG4, "--transitions-per-day", "5"], "it would not be the kernel's table"),
        (&["-", "--quirks", "-"], "standard input is to be read 2 times, but can be read only once"),
        (&["--drive", XG4, "--policy", "macos"], "linux-two-percent, energy and windows:SCHEME"),
        (&["--drive", XG4, "--policy", "windows:best"], "high-performance, balanced, power-saver, modern-standby"),
        (&["--drive", XG4, "--tolerance-us", "25ms"], "a number of microseconds, or `any`"),
        (&["--drive", XG4, "--pci", "2646"], "such as 144d:a808"),
        (&["--drive", XG4, "drive.txt"], "cannot be used with"),
        (&["--drive", XG4, "--no-quirks", "--quirks", "x"], "cannot be used with"),
        (&[], "<DEVICE|FILE|--drive <NAME>>"),
        (&["no-such-file"], "cannot read 'no-such-file': No such file or directory"),
        (&["/dev/null"], "/dev/null is no NVMe controller"),
        (&["/dev/no-such-drive"], "/dev/no-such-drive is absent"),
        (&["--drive", "no such drive"], "no drive in the catalogue is called 'no such drive'"),
    ] {
        let error = refused(arguments);
        assert!(error.contains(words), "{arguments:?}: {error}");
    }
}

#[test]
fn help_teaches_with_examples() {
    for command in ["build", "decode"] {
        insta::assert_snapshot!(output(&["apst", command, "--help"]));
    }
}
