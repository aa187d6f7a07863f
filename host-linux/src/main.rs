//! The program `wattline`: arguments in, exit status out.
#![forbid(unsafe_code)]

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use wattline::{journal, plan, show};

/// Look at the power states of NVMe drives and plan with them, away from the drives.
#[derive(Parser)]
#[command(version, arg_required_else_help = true, after_help = EXIT_STATUS)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Plan(plan::Arguments),
    Show(show::Arguments),
    /// Read a journal, the flight recorder of a governor
    #[command(subcommand)]
    Journal(JournalCommand),
    Replay(journal::ReplayArguments),
}

#[derive(Subcommand)]
enum JournalCommand {
    Show(journal::ShowArguments),
}

const EXIT_STATUS: &str = "\
Exit status: 0 on success, 1 where what was asked for does not hold, 2 where the input or the arguments are wrong.";

/// What was asked for does not hold.
const DOES_NOT_HOLD: u8 = 1;

/// The input or the arguments are wrong; clap uses the same for arguments.
const WRONG_INPUT: u8 = 2;

fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Plan(arguments) => match plan::run(&arguments) {
            Ok(plan::Answer { output, shortfall: None }) => print(&output),
            Ok(plan::Answer { output, shortfall: Some(shortfall) }) => {
                complain(&shortfall, &shortfall.help());
                does_not_hold(&output)
            }
            Err(error) => refuse(&error, &error.help()),
        },
        Command::Show(arguments) => match show::run(&arguments) {
            Ok(output) => print(&output),
            Err(error) => refuse(&error, error.help()),
        },
        Command::Journal(JournalCommand::Show(arguments)) => match journal::show(&arguments) {
            Ok(output) => print(&output),
            Err(error) => refuse(&error, error.help()),
        },
        Command::Replay(arguments) => match journal::replay(&arguments) {
            Ok((output, verdict)) if verdict.is_failure() => does_not_hold(&output),
            Ok((output, _)) => print(&output),
            Err(error) => refuse(&error, error.help()),
        },
    }
}

fn refuse(error: &dyn fmt::Display, help: &str) -> ExitCode {
    complain(error, help);
    ExitCode::from(WRONG_INPUT)
}

fn complain(error: &dyn fmt::Display, help: &str) {
    eprintln!("error: {error}\n help: {help}");
}

fn does_not_hold(output: &str) -> ExitCode {
    print(output);
    ExitCode::from(DOES_NOT_HOLD)
}

/// Writes the output. A reader that went away, such as `head`, has what it wants: that is no failure.
fn print(output: &str) -> ExitCode {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(output.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: cannot write to standard output: {error}");
            ExitCode::FAILURE
        }
    }
}
