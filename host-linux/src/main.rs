//! The program `wattline`: arguments in, exit status out.
#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use wattline::{journal, show};

/// Look at the power states of NVMe drives, away from the drives.
#[derive(Parser)]
#[command(version, arg_required_else_help = true, after_help = EXIT_STATUS)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
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
    let outcome = match Arguments::parse().command {
        Command::Show(arguments) => show::run(&arguments).map(holds).map_err(|error| (error.to_string(), error.help())),
        Command::Journal(JournalCommand::Show(arguments)) => {
            journal::show(&arguments).map(holds).map_err(|error| (error.to_string(), error.help()))
        }
        Command::Replay(arguments) => journal::replay(&arguments)
            .map(|(output, verdict)| (output, !verdict.is_failure()))
            .map_err(|error| (error.to_string(), error.help())),
    };
    match outcome {
        Ok((output, true)) => print(&output),
        Ok((output, false)) => {
            print(&output);
            ExitCode::from(DOES_NOT_HOLD)
        }
        Err((error, help)) => {
            eprintln!("error: {error}\n help: {help}");
            ExitCode::from(WRONG_INPUT)
        }
    }
}

/// An output that claims nothing which could fail to hold.
const fn holds(output: String) -> (String, bool) {
    (output, true)
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
