//! A table, and why, for programs.

use std::fmt;

use serde::Serialize;
use wattline_core::apst::{Fate, Tolerance};
use wattline_core::nvme::PowerState;
use wattline_core::units::Microseconds;

use super::question::Built;
use super::sentence::reason;

/// The document that `apst build --json` writes. `None` is `null`: not known, or without a limit.
#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    drive: Option<&'a str>,
    policy: String,
    tolerance_us: Option<Microseconds>,
    apsta: Option<u8>,
    apste: u8,
    entries: Vec<Entry>,
    states: Vec<State>,
}

/// One of the 32 entries; `apst decode` writes the same, so that both can be compared.
#[derive(Debug, Serialize)]
pub(super) struct Entry {
    ps: u8,
    itps: u64,
    itpt_ms: u64,
}

#[derive(Debug, Serialize)]
struct State {
    ps: u8,
    chosen: bool,
    reason: String,
    admitted_from_us: Option<Microseconds>,
}

impl Entry {
    /// All 32 as they are written, with what has no effect.
    pub(super) fn all(entries: &[u64; PowerState::COUNT]) -> Vec<Self> {
        let entry = |(ps, entry): (u8, &u64)| Self { ps, itps: entry >> 3 & 0x1F, itpt_ms: entry >> 8 & 0xFF_FFFF };
        (0..).zip(entries).map(entry).collect()
    }
}

impl<'a> From<&'a Built> for Document<'a> {
    fn from(built: &'a Built) -> Self {
        Self {
            drive: built.name.as_deref(),
            policy: built.policy.to_string(),
            tolerance_us: match built.tolerance {
                Some(Tolerance::AtMost(limit)) => Some(limit),
                Some(Tolerance::Unlimited) | None => None,
            },
            apsta: built.inventory.apst_supported.map(u8::from),
            apste: u8::from(built.plan.enabled),
            entries: Entry::all(&built.entries),
            states: built
                .plan
                .states
                .iter()
                .map(|verdict| State {
                    ps: verdict.state.number(),
                    chosen: matches!(verdict.fate, Fate::Chosen { .. }),
                    reason: reason(built, verdict),
                    admitted_from_us: verdict.admitted_from,
                })
                .collect(),
        }
    }
}

/// Indented, and with a line end.
impl fmt::Display for Document<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string_pretty(self).map_err(|_| fmt::Error)?;
        writeln!(f, "{text}")
    }
}
