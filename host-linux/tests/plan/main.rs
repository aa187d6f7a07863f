//! `wattline plan` from outside: what it answers, what it refuses, and how near to the optimum it comes.

mod article;
mod optimum;
mod profiles;
mod wrong_input;

use assert_cmd::Command;
use serde_json::Value;

fn plan(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wattline"));
    command.arg("plan").args(arguments.split_whitespace()).env("COLUMNS", "100");
    command
}

/// Standard output of a run that succeeds and complains about nothing.
fn planned(arguments: &str) -> String {
    let run = plan(arguments).assert().success().stderr("");
    String::from_utf8(run.get_output().stdout.clone()).unwrap()
}

fn planned_json(arguments: &str) -> Value {
    serde_json::from_str(&planned(&format!("{arguments} --json"))).unwrap()
}

/// Standard error of a run that fails with exit status 2 and writes nothing else.
fn refused(command: &mut Command) -> String {
    let run = command.assert().code(2).stdout("");
    String::from_utf8(run.get_output().stderr.clone()).unwrap()
}
