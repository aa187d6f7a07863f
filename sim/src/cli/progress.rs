//! A progress bar, where a person watches and it takes longer than a second.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use wattline_sim::time::{Micros, SECOND};

/// Runs shorter than this show no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// How far a run is.
pub(crate) struct Progress {
    started: Instant,
    seconds: u64,
    watched: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new(duration: Micros) -> Self {
        Self { started: Instant::now(), seconds: duration / SECOND, watched: io::stderr().is_terminal(), bar: None }
    }

    pub(crate) fn reach(&mut self, now: Micros) {
        if self.bar.is_none() && self.watched && self.started.elapsed() > PATIENCE {
            let bar = ProgressBar::new(self.seconds);
            if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} simulated seconds, {eta} left") {
                bar.set_style(style);
            }
            self.bar = Some(bar);
        }
        if let Some(bar) = &self.bar {
            bar.set_position(now / SECOND);
        }
    }

    pub(crate) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
