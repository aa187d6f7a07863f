//! Profiles from files: the documented ones are read, wrong ones are refused with file, line and what was meant.

use std::path::PathBuf;

use serde_json::json;
use wattline::input::Input;
use wattline::profile::parse;
use wattline_core::profile::d5_p5336;

use super::{plan, planned, refused};

/// What `PROFILES.md` shows.
fn documented() -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "PROFILES.md"].iter().collect();
    let page = std::fs::read_to_string(path).unwrap();
    let (_, block) = page.split_once("```toml\n").unwrap();
    block.split_once("```").unwrap().0.to_owned()
}

/// Answers of a run that reads the profile from standard input.
fn planned_with(profile: &str, question: &str) -> serde_json::Value {
    let run = plan(&format!("--profile - {question} --json")).write_stdin(profile).assert().success().stderr("");
    serde_json::from_slice(&run.get_output().stdout).unwrap()
}

fn refused_with(profile: &str) -> String {
    refused(plan("--profile - --work random-read --drives 2 --cap 100").write_stdin(profile))
}

const RANDOM: &str = "\
name = 'r'

[[states]]
[states.measured]
random-read = { power_mw = 20000, bytes_per_second = 4000000000 }

[[states]]
max_power_mw = 15000

[[states]]
[states.measured.random-read]
power_mw = 10000
bytes_per_second = 3000000000

[[states]]
non_operational = true
";

#[test]
fn the_documented_file_is_the_built_in_profile() {
    assert_eq!(parse(&Input::Stdin, documented().as_bytes()).unwrap(), d5_p5336());
}

#[test]
fn the_file_in_the_help_is_read() {
    let help = planned("--help");
    let (_, rest) = help.split_once("A profile file").unwrap();
    let (_, rest) = rest.split_once('\n').unwrap();
    let (example, _) = rest.split_once("\n\nExit status").unwrap();
    let plan = planned_with(example, "--work sequential-write --drives 2 --cap 500");
    assert_eq!((&plan["profile"], &plan["base_w"], &plan["total_w"]), (&json!("my-drive"), &json!(310), &json!(359)));
}

#[test]
fn states_that_were_not_measured_are_left_out_and_named() {
    let question = "--work random-read --drives 3 --cap 100 --base 60";
    let plan_json = planned_with(RANDOM, question);
    assert_eq!(plan_json["assignment"], json!({"ps0": 1, "ps2": 2}));
    assert_eq!(plan_json["not_measured"], json!([1]));
    let text = plan(&format!("--profile - {question}")).write_stdin(RANDOM).assert().success();
    let text = String::from_utf8(text.get_output().stdout.clone()).unwrap();
    assert!(text.contains("\nPS1: left out, because the profile has no measurement of random-read there.\n"), "{text}");
}

#[test]
fn without_a_reference_server_the_base_has_to_be_said() {
    let error = refused_with(RANDOM);
    assert!(error.contains("profile r has no reference server") && error.contains("--base W"), "{error}");
}

#[test]
fn without_a_capacity_there_are_no_terabytes() {
    let plan_json = planned_with(RANDOM, "--work random-read --spare 100 --drives 1");
    assert_eq!((&plan_json["tb"], &plan_json["states"][0]["w_per_tb"]), (&json!(null), &json!(null)));
    assert_eq!(plan_json["states"][0]["drives_in_all"], json!(6));
    let text = plan("--profile - --work random-read --spare 100 --drives 1").write_stdin(RANDOM).assert().success();
    insta::assert_snapshot!(String::from_utf8(text.get_output().stdout.clone()).unwrap());
}

#[test]
fn a_misspelt_key_is_named_with_its_line_and_the_key_that_was_meant() {
    for (right, wrong, line, meant) in [
        ("max_power_mw = 15000", "max_power = 15000", 8, "max_power_mw"),
        ("power_mw = 10000", "power_w = 10", 12, "power_mw"),
        ("bytes_per_second = 4", "byte_per_second = 4", 5, "bytes_per_second"),
        ("non_operational", "nonoperational", 16, "non_operational"),
        ("random-read = {", "random_read = {", 5, "random-read"),
        ("name = 'r'", "name = 'r'\ncapacity_tb = 61", 2, "capacity_gb"),
    ] {
        let error = refused_with(&RANDOM.replacen(right, wrong, 1));
        let words = ["standard input", &format!("line {line}: unknown field"), &format!("did you mean `{meant}`?")];
        for word in words {
            assert!(error.contains(word), "{word:?} is not in {error}");
        }
    }
    let error = refused_with("name = 'r'\nstates = []\ncolour = 'red'");
    assert!(error.contains("unknown field `colour`, expected one of `name`") && !error.contains("mean"), "{error}");
}

#[test]
fn a_wrong_value_is_named_with_its_line() {
    for (right, wrong, line, words) in [
        ("power_mw = 10000", "power_mw = 10.5", 12, &["floating point `10.5`", "16.5 W is `power_mw = 16500`"][..]),
        ("power_mw = 10000", "power_mw = -1", 12, &["`-1`"]),
        ("power_mw = 10000", "power_mw = '10 W'", 12, &["string \"10 W\""]),
        ("power_mw = 10000", "", 11, &["missing field `power_mw`"]),
        ("name = 'r'", "", 1, &["missing field `name`"]),
        ("power_mw = 10000", "power_mw = 0", 12, &["`states[2].measured.random-read.power_mw` is 0", "1 to 1000000"]),
        ("= 4000000000", "= 4000000000000", 5, &["`states[0].measured.random-read.bytes_per_second`"]),
        ("name = 'r'", "name = 'r'\ncapacity_gb = 0", 2, &["`capacity_gb` is 0", "leave the key out"]),
        ("name = 'r'", "name = 'r'\nreference_base_mw = 100000001", 2, &["`reference_base_mw` is 100000001"]),
        ("name = 'r'", "name = \"\\u001b[31mr\"", 1, &["`name` has a character that cannot be printed"]),
        ("name = 'r'", "name = 'r", 1, &["no profile in standard input"]),
        ("name = 'r'", "name = 'a name of more than forty bytes is refused'", 1, &["no more than 40 bytes"]),
    ] {
        let error = refused_with(&RANDOM.replacen(right, wrong, 1));
        assert!(error.contains(&format!("line {line}: ")), "line {line}: {error}");
        for word in words {
            assert!(error.contains(word), "{word:?} is not in {error}");
        }
    }
    let error = refused_with(&format!("name = 'r'\n{}", "[[states]]\n".repeat(33)));
    assert!(error.contains("line 2: `states` has 33 power states, but a drive has 1 to 32"), "{error}");
    assert!(refused_with("name = 'r'\n\nstates = []").contains("line 3: `states` has 0 power states"));
    assert!(refused_with("name = 'r'\n[[states]]").contains("no measurements at all"));
}

#[test]
fn what_is_no_file_is_named() {
    let question = "--work random-read --spare 100";
    let error = refused(&mut plan(&format!("--profile d5-p5363 {question}")));
    assert!(error.contains("'d5-p5363'") && error.contains("did you mean `d5-p5336`?"), "{error}");
    let error = refused(&mut plan(&format!("--profile pm1743 {question}")));
    assert!(error.contains("built in: d5-p5336") && !error.contains("mean"), "{error}");
    let error = refused(&mut plan(&format!("--profile no/such.toml {question}")));
    assert!(error.starts_with("error: cannot read 'no/such.toml': No such file or directory"), "{error}");
    assert!(refused(&mut plan(&format!("--profile /dev/null {question}"))).contains("is a device"));
    assert!(refused_with("").contains("standard input: 0 bytes came, none of them content"));
    assert!(refused_with(" \n\n").contains("3 bytes came"));
    let error = refused(plan(&format!("--profile - {question}")).write_stdin(&b"name = 'r'\n# \xff\n"[..]));
    assert!(error.contains("line 2 is not text in UTF-8"), "{error}");
}

#[test]
fn a_file_is_named_by_its_path() {
    let path = std::env::temp_dir().join(format!("wattline-profile-{}.toml", std::process::id()));
    std::fs::write(&path, documented()).unwrap();
    let question = "--work sequential-write --drives 24 --cap 1050";
    let from_file = planned(&format!("--profile {} {question}", path.display()));
    std::fs::write(&path, documented().replace("idle_mw", "idle_w")).unwrap();
    let error = refused(&mut plan(&format!("--profile {} {question}", path.display())));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(from_file, planned(&format!("--profile d5-p5336 {question}")));
    assert!(error.contains(&format!("'{}': line 4", path.display())), "{error}");
}
