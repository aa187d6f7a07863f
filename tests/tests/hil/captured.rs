//! What a run left on the board's lines.

use std::io::Write;
use std::process::{Command, Stdio};

use wattline_core::journal::Record;
use wattline_edge::report::{Report, Telemetry};

use super::machine::firmware;

/// What was written on the lines.
pub(crate) struct Captured {
    /// UART 1: journal and telemetry.
    pub(crate) reports: Vec<u8>,
    /// UART 2: the log, in defmt's encoding.
    pub(crate) log: Vec<u8>,
}

impl Captured {
    /// Every frame of UART 1, with its zero byte, and what it holds.
    pub(crate) fn frames(&self) -> impl Iterator<Item = (&[u8], Report)> {
        self.reports.split_inclusive(|byte| *byte == 0).map(|frame| {
            let (_, body) = frame.split_last().expect("a piece has a byte");
            let report = Report::decode(body);
            (frame, report.unwrap_or_else(|error| panic!("{error} in {frame:02x?}")))
        })
    }

    /// The journal alone, byte for byte.
    pub(crate) fn journal(&self) -> Vec<u8> {
        let of_journal = self.frames().filter(|(_, report)| matches!(report, Report::Journal(_)));
        of_journal.flat_map(|(frame, _)| frame.iter().copied()).collect()
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = Record> {
        self.frames().filter_map(|(_, report)| match report {
            Report::Journal(record) => Some(record),
            Report::Telemetry(_) => None,
        })
    }

    pub(crate) fn telemetry(&self) -> impl Iterator<Item = Telemetry> {
        self.frames().filter_map(|(_, report)| match report {
            Report::Telemetry(telemetry) => Some(telemetry),
            Report::Journal(_) => None,
        })
    }

    /// For each start, the panic before it.
    pub(crate) fn starts(&self) -> Vec<Option<String>> {
        let started = self.telemetry().filter_map(|telemetry| match telemetry {
            Telemetry::Started { panic, .. } => Some(panic.map(|message| message.as_str().to_owned())),
            _ => None,
        });
        started.collect()
    }

    /// The log as text, by defmt-print, with the firmware's own table of texts.
    pub(crate) fn log(&self) -> String {
        let program = std::env::var_os("WATTLINE_DEFMT_PRINT");
        let mut decoder = Command::new(program.expect("WATTLINE_DEFMT_PRINT names defmt-print; tests/run hil sets it"));
        decoder.arg("-e").arg(firmware()).arg("--show-skipped-frames").arg("stdin");
        let mut decoder = decoder.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("defmt-print runs");
        // The log of a run is far shorter than what a pipe holds.
        decoder.stdin.take().expect("a pipe").write_all(&self.log).expect("defmt-print reads");
        let output = decoder.wait_with_output().expect("defmt-print ends");
        assert!(output.status.success());
        String::from_utf8(output.stdout).expect("text")
    }
}
