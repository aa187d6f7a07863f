//! `wattline apst decode`.

use serde_json::Value;

use crate::{data, entries, fixture, json, output, refused, text, wattline};

#[test]
fn tables_that_drives_returned() {
    for (name, expected) in [
        ("corsair-mp500-e7fm04c", &[(0, 3, 60), (1, 3, 60), (2, 3, 60)][..]),
        ("wdc-wds250g2b0c-211070wd", &[(0, 3, 100), (1, 3, 100), (2, 3, 100), (3, 4, 2000)]),
        ("unnamed-notes-2021", &[(0, 3, 100), (1, 3, 100), (2, 3, 100), (3, 4, 24_500), (4, 4, 0)]),
    ] {
        let document = json(&["apst", "decode", "--json", &data(&format!("hex/{name}.apst.hex"))]);
        assert_eq!((entries(&document), &document["apste"]), (expected.to_vec(), &Value::Null), "{name}");
    }
}

#[test]
fn an_odd_table_is_shown_as_it_is() {
    insta::assert_snapshot!(output(&["apst", "decode", &data("hex/unnamed-notes-2021.apst.hex")]));
}

/// As somebody posted it, up to the last entry that says something.
#[test]
fn the_text_of_nvme_cli_says_whether_the_feature_is_on() {
    let path = data("hex/toshiba-xg4.get-feature-0c.txt");
    let document = json(&["apst", "decode", "--json", &path]);
    assert_eq!(entries(&document), [(0, 3, 1500), (1, 3, 1500), (2, 3, 1500), (3, 4, 8500)]);
    assert_eq!(document["apste"], 1);
    assert!(
        output(&["apst", "decode", &path]).starts_with("autonomous transitions: on (APSTE)\nPS0 → PS3 after 1500 ms\n")
    );
    // The older rule's table of this drive, as a kernel wrote it then.
    let old = json(&["apst", "build", "--json", "--drive", crate::XG4, "--policy", "linux-two-percent"]);
    assert_eq!(old["entries"], document["entries"]);
}

#[test]
fn an_enabled_table_of_zeros_is_said_to_do_nothing() {
    let text_of = |input: Vec<u8>| {
        let run = wattline().args(["apst", "decode", "-"]).write_stdin(input).assert().success();
        text(&run.get_output().stdout)
    };
    assert!(text_of(vec![0; 256]).contains("no transition: whether on or off"));
    let enabled = "Autonomous Power State Transition Enable (APSTE): Enabled\nEntry[ 0]\n(ITPT): 0 ms\n(ITPS): 0\n";
    let shown = text_of(enabled.into());
    assert!(shown.starts_with("autonomous transitions: on (APSTE)\nno transition"), "{shown}");
}

#[test]
fn what_is_no_table_is_named() {
    let page = fixture("qemu-nvme-cli-2.3.id-ctrl.bin");
    let error = refused(&["apst", "decode", &page]);
    assert!(
        error.contains("a table has 256 bytes, but 4096 came") && error.contains("\n help: give the 256"),
        "{error}"
    );
    let error = refused(&["apst", "decode", &fixture("qemu-nvme-cli-2.3.list.json")]);
    assert!(error.contains("its first line is"), "{error}");
}
