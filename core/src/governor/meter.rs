//! Whether the meter can be believed.

use super::config::MeterConfig;
use crate::units::{Instant, Microseconds, Milliwatts};

/// Watches one meter.
#[derive(Clone, Debug)]
pub(super) struct Meter {
    pub(super) config: MeterConfig,
    /// The last valid reading's time; before the first, since when one is waited for.
    pub(super) last_valid: Option<Instant>,
    /// The value that it shows, and since when.
    pub(super) value: Option<(Milliwatts, Instant)>,
    pub(super) lost: bool,
}

/// A reading that may be used.
pub(super) struct Reading {
    pub(super) value: Milliwatts,
    /// How far the truth may lie below it.
    pub(super) uncertainty: Milliwatts,
    pub(super) since_last: Microseconds,
}

impl Meter {
    pub(super) const fn new(config: MeterConfig) -> Self {
        Self { config, last_valid: None, value: None, lost: false }
    }

    pub(super) const fn is_lost(&self) -> bool {
        self.lost
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.last_valid.filter(|_| !self.lost).map(|valid| valid.after(self.config.timeout))
    }

    /// A reading came; returns it where it can be believed. It cannot be where it is less than half of the load that is
    /// always there (a guess), or more than the meter can show, or where it never moves.
    pub(super) fn reads(&mut self, value: Milliwatts, now: Instant, base_load: Milliwatts) -> Option<Reading> {
        if value.get() < base_load.get() / 2 || value > self.config.full_scale {
            return None;
        }
        let since = self.value.filter(|(shown, _)| *shown == value).map_or(now, |(_, since)| since);
        self.value = Some((value, since));
        let still = now.since(since).unwrap_or_default();
        if self.config.stuck_after.is_some_and(|limit| still >= limit) {
            return None;
        }
        let since_last = self.last_valid.and_then(|valid| now.since(valid)).unwrap_or_default();
        self.last_valid = Some(now);
        self.lost = false;
        let uncertainty = Milliwatts::new(self.config.quantum.get().div_ceil(2)).saturating_add(self.config.noise);
        Some(Reading { value, uncertainty, since_last })
    }

    /// Time passes.
    pub(super) fn advance(&mut self, now: Instant) {
        let silent = now.since(*self.last_valid.get_or_insert(now)).unwrap_or_default();
        self.lost |= silent >= self.config.timeout;
    }
}
