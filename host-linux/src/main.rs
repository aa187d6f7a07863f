//! The program `wattline`: arguments in, exit status out.
#![forbid(unsafe_code)]

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use wattline::journal::{self, JournalError};
use wattline::outcome::{Complaint, Exit, Outcome};
use wattline::{apst, drives, list, plan, set, show};

/// Look at the power states of NVMe drives, and choose them.
#[derive(Parser)]
#[command(version, arg_required_else_help = true, after_help = EXIT_STATUS)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    List(list::Arguments),
    Show(show::Arguments),
    Set(set::Arguments),
    Plan(plan::Arguments),
    /// Tables of autonomous power state transitions (APST): which idle state after how long, and why
    #[command(subcommand)]
    Apst(ApstCommand),
    Drives(drives::Arguments),
    /// Read a journal, the flight recorder of a governor
    #[command(subcommand)]
    Journal(JournalCommand),
    Replay(journal::ReplayArguments),
}

#[derive(Subcommand)]
enum ApstCommand {
    Build(apst::BuildArguments),
    Explain(apst::ExplainArguments),
    Decode(apst::DecodeArguments),
}

#[derive(Subcommand)]
enum JournalCommand {
    Show(journal::ShowArguments),
}

const EXIT_STATUS: &str = "\
Exit status: 0 where it was done or holds, 1 where a drive or the system refused or did not obey, or
what was asked for does not hold, 2 where the input or the arguments are wrong.";

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::List(arguments) => list::run(&arguments),
        Command::Show(arguments) => show::run(&arguments),
        Command::Set(arguments) => set::run(&arguments),
        Command::Plan(arguments) => plan::run(&arguments),
        Command::Apst(ApstCommand::Build(arguments)) => apst::build(&arguments),
        Command::Apst(ApstCommand::Explain(arguments)) => apst::explain(&arguments),
        Command::Apst(ApstCommand::Decode(arguments)) => apst::decode(&arguments),
        Command::Drives(arguments) => drives::run(&arguments),
        Command::Journal(JournalCommand::Show(arguments)) => {
            offline(journal::show(&arguments).map(|output| (output, true)), JournalError::help)
        }
        Command::Replay(arguments) => {
            let holds = |(output, verdict): (String, journal::Verdict)| (output, !verdict.is_failure());
            offline(journal::replay(&arguments).map(holds), JournalError::help)
        }
    };
    let printed = print(&outcome.output);
    eprint!("{}", outcome.complained());
    if printed == ExitCode::SUCCESS { ExitCode::from(outcome.exit as u8) } else { printed }
}

/// What comes of a subcommand that only reads files: an output and whether it holds, or wrong input.
fn offline<E: Display>(result: Result<(String, bool), E>, help: impl FnOnce(&E) -> &'static str) -> Outcome {
    match result {
        Ok((output, holds)) => {
            Outcome { output, exit: if holds { Exit::Done } else { Exit::NotDone }, ..Outcome::default() }
        }
        Err(error) => Outcome::failed(Complaint::error(&error, help(&error)), Exit::WrongInput),
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
