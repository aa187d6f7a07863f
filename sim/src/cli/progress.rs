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
            if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} simulated seconds, {msg}") {
                bar.set_style(style);
            }
            self.bar = Some(bar);
        }
        if let Some(bar) = &self.bar {
            bar.set_position(now / SECOND);
            bar.set_message(words(left(self.started.elapsed(), now / SECOND, self.seconds)));
        }
    }

    pub(crate) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// How long it takes for the rest at the pace so far; `None` before anything is done.
fn left(elapsed: Duration, done: u64, all: u64) -> Option<Duration> {
    let rest = u32::try_from(all.saturating_sub(done)).ok()?;
    let done = u32::try_from(done).ok().filter(|done| *done > 0)?;
    Some(elapsed.checked_mul(rest)? / done)
}

/// Whole seconds, rounded up, so that only nothing is 0 s.
fn words(left: Option<Duration>) -> String {
    left.map_or_else(String::new, |left| {
        let seconds = left.as_millis().div_ceil(1000);
        if seconds < 60 { format!("{seconds} s left") } else { format!("{} min {} s left", seconds / 60, seconds % 60) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_follows_the_pace_and_is_nothing_only_at_the_end() {
        let after = |seconds: u64, done, all| words(left(Duration::from_millis(seconds * 1000), done, all));
        assert_eq!(after(2, 100, 600), "10 s left");
        assert_eq!(after(2, 599, 600), "1 s left");
        assert_eq!(after(2, 600, 600), "0 s left");
        assert_eq!(after(2, 10, 604_800), "2015 min 58 s left");
        assert_eq!(after(2, 0, 600), "");
    }
}
