//! The subcommand `replay`: the recorded events must lead to the recorded commands.

use std::fmt::Write;

use serde::Serialize;
use wattline_core::governor::DECISION_VERSION;
use wattline_core::journal::{Divergence, Frame, Record};

use super::{AnyReplay, JournalError, frames, words};
use crate::input::Input;

/// Decide again: run the core over a journal's events, and compare its commands with the recorded ones.
///
/// Exit status: 0 where they are the same, 1 where they differ or a frame is damaged, 2 where there is no journal to
/// read. A journal of another decision version is expected to differ: then the differences are shown, and the status is
/// 0.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A journal; `-` is standard input
    file: Input,
    /// Write JSON instead of text
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  wattline-sim run r760-cap-drop --journal drop.journal
  wattline replay drop.journal
  wattline replay --json drop.journal | jq .same";

/// What a replay came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Every frame was whole, and every command the same.
    pub same: bool,
    /// The decision version of the journal's writer; `None` where its first frame is damaged.
    pub decisions: Option<u16>,
    /// This program's decision version.
    pub replayed_with_decisions: u16,
    /// Events that were replayed.
    pub events: usize,
    /// Commands that were the same.
    pub commands: usize,
    /// Frames that could not be read. Nothing is compared behind the first of them.
    pub damaged: Vec<Finding>,
    /// Records that differ; the first ten.
    pub differences: Vec<Finding>,
}

/// Something found in a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Where its frame begins, in bytes from the start of the journal.
    pub offset: usize,
    /// What it is.
    pub what: String,
}

/// After so many differences there is nothing more to learn.
const MOST_DIFFERENCES: usize = 10;

/// Reads the journal, decides again, and renders what came of it.
///
/// # Errors
/// Where the input cannot be read or is no journal.
pub fn replay(arguments: &Arguments) -> Result<(String, Verdict), JournalError> {
    let (frames, length) = frames(&arguments.file)?;
    let verdict = judge(frames, length);
    let text = if arguments.json { json(&verdict) } else { text(&verdict) };
    Ok((text, verdict))
}

impl Verdict {
    /// Whether a journal of this decision version must come out the same, and did not.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        !self.damaged.is_empty() || (!self.same && self.decisions.is_none_or(|version| version == DECISION_VERSION))
    }
}

/// Judges the frames of a journal of this length.
fn judge(frames: Vec<Frame>, length: usize) -> Verdict {
    let mut replay = Box::new(AnyReplay::new());
    let mut verdict = Verdict { replayed_with_decisions: DECISION_VERSION, ..Verdict::default() };
    for Frame { offset, content } in frames {
        let record = match content {
            Ok(record) => record,
            Err(error) => {
                verdict.damaged.push(Finding { offset, what: error.to_string() });
                continue;
            }
        };
        if !verdict.damaged.is_empty() || verdict.differences.len() >= MOST_DIFFERENCES {
            continue;
        }
        if let Record::Start { decisions, .. } = &record {
            verdict.decisions = Some(*decisions);
        }
        let counter = match &record {
            Record::Event { .. } => Some(&mut verdict.events),
            Record::Command { .. } => Some(&mut verdict.commands),
            _ => None,
        };
        match replay.take(record) {
            Ok(()) => {
                if let Some(count) = counter {
                    *count += 1;
                }
            }
            Err(divergence) => verdict.differences.push(Finding { offset, what: words_of(divergence) }),
        }
    }
    if verdict.damaged.is_empty() && verdict.differences.is_empty() {
        let end = replay.finish().err();
        verdict.differences.extend(end.map(|divergence| Finding { offset: length, what: words_of(divergence) }));
    }
    verdict.same = verdict.damaged.is_empty() && verdict.differences.is_empty();
    verdict
}

fn words_of(divergence: Divergence) -> String {
    match divergence {
        Divergence::Format(format) => format!("format version {format} is not known"),
        Divergence::OutOfOrder => "a record before the one that it needs".into(),
        Divergence::TooManySlots(slots) => format!("a governor of {slots} slots, more than there is room for"),
        Divergence::TooManyProfiles => "more profiles than there is room for".into(),
        Divergence::Command { recorded, replayed } => {
            let said = |command: Option<_>| command.map_or("nothing".into(), |command| words::command(&command));
            format!("recorded: {}; replayed: {}", said(recorded), said(replayed))
        }
    }
}

fn json(verdict: &Verdict) -> String {
    // Numbers and strings always serialise.
    let mut text = serde_json::to_string_pretty(verdict).unwrap_or_default();
    text.push('\n');
    text
}

fn text(verdict: &Verdict) -> String {
    let mut text = String::new();
    let mut line = |line: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{line}");
    };
    for Finding { offset, what } in &verdict.damaged {
        line(format!("at byte {offset}: {what}"));
    }
    for Finding { offset, what } in &verdict.differences {
        line(format!("at byte {offset}: {what}"));
    }
    let Verdict { events, commands, replayed_with_decisions, .. } = verdict;
    line(match (verdict.same, verdict.damaged.first()) {
        (true, _) => format!("{events} events lead to the same {commands} commands"),
        (false, Some(first)) => {
            format!("{events} events and {commands} commands before the damage at byte {} were compared", first.offset)
        }
        (false, None) => format!("{events} events, {commands} commands the same, the rest differ"),
    });
    if let Some(version) = verdict.decisions.filter(|version| version != replayed_with_decisions) {
        line(format!(
            "written with decision version {version}, replayed with {replayed_with_decisions}: they may differ"
        ));
    }
    text
}
