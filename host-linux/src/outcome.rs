//! What a subcommand comes to: what it writes, what it complains about, and the exit status.

use std::fmt::{self, Write};

/// What a subcommand comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// For standard output.
    pub output: String,
    /// For standard error, in this order.
    pub complaints: Vec<Complaint>,
    /// How it ended.
    pub exit: Exit,
}

/// The exit status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exit {
    /// What was asked for was done, and checked.
    #[default]
    Done = 0,
    /// A drive or the operating system refused or did not obey, or it is not known whether it did.
    NotDone = 1,
    /// The input or the arguments are wrong; clap uses the same for arguments.
    WrongInput = 2,
}

/// What went wrong, or may surprise, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// Whether it is the reason for the exit status.
    pub severity: Severity,
    /// What was tried, on what, and what came back.
    pub what: String,
    /// What to do next.
    pub help: String,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// It may surprise.
    Warning,
    /// It failed.
    Error,
}

impl Complaint {
    /// A failure.
    pub fn error(what: impl fmt::Display, help: impl Into<String>) -> Self {
        Self { severity: Severity::Error, what: what.to_string(), help: help.into() }
    }

    /// A surprise.
    pub fn warning(what: impl fmt::Display, help: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, what: what.to_string(), help: help.into() }
    }
}

impl Outcome {
    /// Only a complaint.
    #[must_use]
    pub fn failed(complaint: Complaint, exit: Exit) -> Self {
        Self { output: String::new(), complaints: vec![complaint], exit }
    }

    /// The text for standard error: `error: …`, with ` help: …` below it, once for complaints that share it.
    #[must_use]
    pub fn complained(&self) -> String {
        let mut text = String::new();
        for (index, complaint) in self.complaints.iter().enumerate() {
            let severity = match complaint.severity {
                Severity::Warning => "warning",
                Severity::Error => "error",
            };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{severity}: {}", complaint.what);
            if self.complaints.get(index + 1).is_none_or(|next| next.help != complaint.help) {
                let _ = writeln!(text, "{:>width$}: {}", "help", complaint.help, width = severity.len());
            }
        }
        text
    }
}
