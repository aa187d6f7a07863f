//! What the tests of the governor need: a small world of drives, and a ledger of what they may take that is kept from
//! the outside. Neither shares code with the core's ledger and transitions: both follow the design's words.
#![allow(dead_code, unused_imports, reason = "each test program uses its own part")]

mod ledger;
mod profiles;
mod servers;
mod sleepers;
mod world;

pub(crate) use ledger::Watched;
pub(crate) use profiles::{article_drive, drive, nameplate, writing};
pub(crate) use servers::{article, few, missing, plain, raised, server, sets, unmanaged, watts};
pub(crate) use sleepers::{OFF, may_sleep};
pub(crate) use world::{Dice, Fate, PROMPT, World};

use wattline_core::governor::Governor;

/// Slots of the governor under test.
pub(crate) const SLOTS: u8 = 32;

/// The governor under test.
pub(crate) type TestGovernor = Governor<{ SLOTS as usize }, 8>;

pub(crate) const MILLISECOND: u64 = 1_000;
pub(crate) const SECOND: u64 = 1_000_000;
pub(crate) const HOUR: u64 = 3600 * SECOND;
