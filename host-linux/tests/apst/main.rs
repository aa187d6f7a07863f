//! `wattline apst`, `wattline drives` and `--drive` from outside.

mod build;
mod decode;
mod drives;
mod explain;

use assert_cmd::Command;
use serde_json::Value;

/// The drive whose deepest state the kernel never enters.
const XG4: &str = "toshiba-xg4-512gb-xps13";

fn wattline() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wattline"));
    command.env("COLUMNS", "100");
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Standard output of a run that succeeds and complains about nothing.
fn output(arguments: &[&str]) -> String {
    text(&wattline().args(arguments).assert().success().stderr("").get_output().stdout)
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&output(arguments)).unwrap()
}

/// Standard error of a run that fails with exit status 2 and writes nothing else.
fn refused(arguments: &[&str]) -> String {
    text(&wattline().args(arguments).assert().code(2).stdout("").get_output().stderr)
}

fn data(name: &str) -> String {
    format!("{}/../tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn fixture(name: &str) -> String {
    format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The entries that are not all zero: state, target, milliseconds.
fn entries(document: &Value) -> Vec<(u64, u64, u64)> {
    let number = |entry: &Value, key: &str| entry[key].as_u64().unwrap();
    let all = document["entries"].as_array().unwrap();
    assert_eq!(all.len(), 32);
    let entries = all.iter().map(|entry| (number(entry, "ps"), number(entry, "itps"), number(entry, "itpt_ms")));
    entries.filter(|&(_, itps, itpt)| (itps, itpt) != (0, 0)).collect()
}
