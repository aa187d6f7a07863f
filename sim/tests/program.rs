//! The program as its users run it: exit status, streams, files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn run(directory: &Path, arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_wattline-sim"));
    program.current_dir(directory).args(arguments).output().expect("the program starts")
}

/// A governed scenario.
const GOOD: &str = "name = \"good\"\nduration_s = 5\n[governor]\ncap_w = 900\nmargin_w = 21\n";

/// An empty directory of this test's own.
fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a directory under the target directory");
    path
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_demo_prints_both_tables_and_writes_the_report_that_it_names() {
    let here = directory("demo");
    let output = run(&here, &[]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("sequential-write PS1") && said.contains("first shedding ms"), "{said}");
    let named = said.lines().find_map(|line| line.strip_prefix("Report: ")).expect("it names the report");
    assert!(fs::read_to_string(named).expect("it is there").contains("</html>"));
}

#[test]
fn what_does_not_hold_is_status_1_and_said_on_standard_error() {
    let output = run(&directory("floor"), &["run", "r760-write-cap", "--cap", "740W", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("0.0 W missing to the cap") && said.contains("7.0 W to the margin"), "{said}");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON all the same");
    assert_eq!(json["checks"][0]["ok"], false);
    assert!(json["optimum"]["gb_s"].is_null() && json["uniform"].is_null());
}

#[test]
fn wrong_input_is_status_2_with_words_and_nothing_on_standard_output() {
    let here = directory("wrong");
    fs::write(here.join("good.toml"), GOOD).expect("written");
    fs::write(here.join("long.toml"), "# é\n".repeat(300_000)).expect("written");
    fs::write(here.join("empty.toml"), "").expect("written");
    fs::write(here.join("cut.toml"), "name = \"cut\"\nduration_s = 10\n[gover").expect("written");
    fs::write(here.join("key.toml"), "name = \"key\"\nduraton_s = 10\n").expect("written");
    fs::write(here.join("binary.toml"), [0xFF, 0xFE, 0x00]).expect("written");
    fs::write(here.join("idle.toml"), "name = \"idle\"\nduration_s = 5\n").expect("written");
    fs::write(here.join("drives.json"), "{}").expect("written");
    for (arguments, said) in [
        (&["run", "r760"][..], "no scenario `r760`"),
        (&["run", "missing.toml"], "cannot read scenario missing.toml"),
        (&["idle-study", "missing.json"], "cannot read missing.json"),
        (&["idle-study", "drives.json"], "drives.json: no list of power tables"),
        (&["idle-study", "drives.json", "--gaps", "0"], "0 is not in 1..=1000000"),
        (&["run", "empty.toml"], "0 bytes"),
        (&["run", "idle.toml"], "nothing is to happen"),
        (&["run", "cut.toml"], "cut.toml, line 3"),
        (&["run", "key.toml"], "did you mean `duration_s`?"),
        (&["run", "binary.toml"], "cannot read scenario binary.toml"),
        (&["run", "r760-write-cap", "--cap", "0"], "a cap of 0 W"),
        (&["run", "r760-write-cap", "--cap", "-1"], "watts cannot be negative"),
        (&["run", "r760-write-cap", "--cap", "abc"], "not a number of watts"),
        (&["run", "r760-write-cap", "--cap", "1000000"], "more than 100 kW"),
        (&["run", "r760-article", "--cap", "900"], "has no `[governor]`"),
        (&["run", "r760-cap-drop", "--report", "no/such/place.html"], "cannot write the report"),
        (&["run", "good.toml", "--journal", "same", "--report", "./same"], "named twice, as report and as journal"),
        (&["run", "good.toml", "--journal", "good.toml"], "named twice, as scenario and as journal"),
        (&["run", "/dev/zero"], "is a device"),
        (&["run", "long.toml"], "more than 1 MiB"),
        (&["fly"], "unrecognized subcommand"),
    ] {
        let output = run(&here, arguments);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(said), "{arguments:?}: {error}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
    assert_eq!(fs::read_to_string(here.join("good.toml")).expect("it is still there"), GOOD);
}

/// The report and the journal are wanted most where a run fails, and then nobody may be reading the complaints.
#[test]
fn a_failing_run_leaves_its_files_where_standard_error_cannot_be_written() {
    let here = directory("deaf");
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let arguments = ["run", "r760-write-cap", "--cap", "740W", "--report", "page.html", "--journal", "journal"];
    let mut program = Command::new(env!("CARGO_BIN_EXE_wattline-sim"));
    let output = program.current_dir(&here).args(arguments).stderr(full).output().expect("the program starts");
    assert_eq!(output.status.code(), Some(1));
    assert!(fs::read_to_string(here.join("page.html")).expect("it is there").contains("</html>"));
    assert!(!fs::read(here.join("journal")).expect("it is there").is_empty());
}

/// Where no drive is, there is none to know.
#[test]
fn an_empty_slot_is_no_stranger_to_a_new_governor() {
    let here = directory("pulled");
    let text = "name = \"pulled\"\nduration_s = 60\n[drives]\ncount = 4\n[[job]]\nwork = \"sequential-write\"\n\
        [governor]\ncap_w = 600\nmargin_w = 21\ntrust_measured = true\n\
        [[removal]]\nat_s = 5\ndrives = \"1\"\n[[restart]]\nat_s = 8\n[expect]\nall_managed = true\n";
    fs::write(here.join("pulled.toml"), text).expect("written");
    let output = run(&here, &["run", "pulled.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", self::text(&output.stderr));
}

#[test]
fn the_same_seed_writes_the_same_bytes() {
    let here = directory("twice");
    let once = |journal: &str| {
        let output = run(&here, &["run", "r760-cap-drop", "--seed", "7", "--json", "--journal", journal]);
        (output.stdout, fs::read(here.join(journal)).expect("it was written"))
    };
    assert!(once("a") == once("b"));
}

#[test]
fn the_list_and_the_calibration_are_printed() {
    let here = directory("words");
    let list = text(&run(&here, &["list"]).stdout);
    assert!(list.contains("r760-article") && list.contains("r760-cap-drop"), "{list}");
    let calibration = text(&run(&here, &["calibrate"]).stdout);
    assert!(calibration.contains("35.08 GB/s against 34.40 (+2.0 %)"), "{calibration}");
}
