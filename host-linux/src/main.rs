//! The program `wattline`: arguments in, exit status out.
#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use wattline::show;

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
}

const EXIT_STATUS: &str = "Exit status: 0 on success, 2 where the input or the arguments are wrong.";

/// The input or the arguments are wrong; clap uses the same for arguments.
const WRONG_INPUT: u8 = 2;

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Show(arguments) => show::run(&arguments).map_err(|error| (error.to_string(), error.help())),
    };
    match outcome {
        Ok(output) => print(&output),
        Err((error, help)) => {
            eprintln!("error: {error}\n help: {help}");
            ExitCode::from(WRONG_INPUT)
        }
    }
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
