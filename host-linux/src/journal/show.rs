//! The subcommand `journal show`: what happened, what was decided, why, and the watts promised and allowed.

use std::fmt::Write;

use wattline_core::governor::Event;
use wattline_core::journal::{Frame, Record};

use super::{AnyReplay, JournalError, frames, words};
use crate::input::Input;

/// Show a journal as a timeline: events, and under each the decisions that it led to.
///
/// The watts are those that the governor had promised after the event, of those that it could promise; they come from
/// deciding again, so behind a damaged frame they are marked `?`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A journal; `-` is standard input
    file: Input,
    /// Show everything: without it, events that led to no decision are left out
    #[arg(long)]
    all: bool,
}

const EXAMPLES: &str = "\
Examples:
  wattline-sim run r760-cap-drop --journal drop.journal
  wattline journal show drop.journal | less
  wattline journal show --all drop.journal | grep 'drive 7'

Exit status: 0 where there was a journal to show, even a damaged one: damage is shown where it is, and
`wattline replay` answers 1 to it. 2 where the file cannot be read or is no journal.";

/// Reads the journal and renders it.
///
/// # Errors
/// Where the input cannot be read or is no journal.
pub fn show(arguments: &Arguments) -> Result<String, JournalError> {
    Ok(timeline(frames(&arguments.file)?.0, arguments.all))
}

fn timeline(frames: Vec<Frame>, all: bool) -> String {
    let mut replay = Box::new(AnyReplay::new());
    let mut whole = true;
    let mut text = String::new();
    let mut frames = frames.into_iter().peekable();
    while let Some(Frame { offset, content }) = frames.next() {
        let line = match &content {
            Ok(Record::Start { format, decisions, slots, .. }) => {
                whole = true;
                Some(format!("start: format {format}, decisions {decisions}, {slots} slots"))
            }
            Ok(Record::Config(config)) => Some(format!("configuration: {}", words::config(config))),
            Ok(Record::Profile(profile)) => {
                Some(format!("profile '{}': {} power states", profile.name, profile.states.len()))
            }
            Ok(Record::Event { at, event }) => {
                let decided = matches!(frames.peek(), Some(Frame { content: Ok(Record::Command { .. }), .. }));
                let shown = all || decided || !is_routine(event);
                shown.then(|| format!("{}  {}", words::time(*at), words::event(event)))
            }
            Ok(Record::Command { command, .. }) => Some(format!("{:15}→ {}", "", words::command(command))),
            Err(error) => {
                whole = false;
                Some(format!("at byte {offset}: {error}"))
            }
        };
        let is_event = matches!(content, Ok(Record::Event { .. }));
        if let Ok(record) = content {
            // Divergences are for `replay` to tell.
            let _ = replay.take(record);
        }
        if let Some(line) = line {
            // Writing to a string cannot fail.
            let _ = match replay.governor().filter(|_| is_event) {
                Some(governor) => {
                    let ledger = governor.ledger();
                    let balance = words::balance(ledger.promised(), ledger.allowance());
                    writeln!(text, "{line:<78} {balance}{}", if whole { "" } else { " ?" })
                }
                None => writeln!(text, "{line}"),
            };
        }
    }
    text
}

/// Whether an event is of interest only where it led to a decision.
const fn is_routine(event: &Event) -> bool {
    matches!(
        event,
        Event::Tick
            | Event::Temperature { .. }
            | Event::Throttling { .. }
            | Event::Cooling(_)
            | Event::Meter(_)
            | Event::Completed { .. }
            | Event::Work { .. }
    )
}
