//! Virtual NVMe drives in a virtual chassis, in virtual time, governed by `wattline-core`.
//!
//! The same seed gives the same bytes on every machine: functions come from `libm`, random numbers from one named
//! generator at a pinned version, sums are made in order, and no clock but the virtual one is looked at (but by
//! `serve`).
//!
//! Rooms, in the order in which data passes through them:
//!
//! | room | what it knows |
//! |---|---|
//! | [`scenario`] | what is to be simulated, as TOML |
//! | [`calibration`] | from the reference experiment's figures to the model's constants |
//! | [`setup`] | from a scenario's sections to the things that they describe |
//! | [`model`] | the physics of drives, chassis and meter |
//! | [`time`], [`random`] | virtual time, repeatable chance |
//! | [`wire`] | commands on their way to drives and back |
//! | [`policy`] | the real governor, or one that does one thing wrong |
//! | [`host`] | the adapter around the governor |
//! | [`world`] | one run |
//! | [`trace`] | what was recorded of it |
//! | [`check`] | what had to hold, judged by the true watts and the wire |
//! | [`faults`] | scenarios of faults, each with the wrong policy that it is there to find |
//! | [`heat`] | what heat policies do in the same few places |
//! | [`idle`] | what idle drives cost under a table of autonomous transitions |
//! | [`optimum`] | the best that could be had, exactly |
//! | [`outcome`] | the result: what was measured, what was expected, whether it held |
//! | [`report`] | the result as one HTML page |
//! | [`rows`] | the reference experiment's rows, repeated |
//! | `serve` (a feature of the crate) | the drives on the network, in real time: the only room with a clock and sockets |
#![forbid(unsafe_code)]

pub mod calibration;
pub mod check;
pub mod faults;
pub mod heat;
pub mod host;
pub mod idle;
pub mod model;
pub mod optimum;
pub mod outcome;
pub mod policy;
pub mod random;
pub mod report;
pub mod rows;
pub mod scenario;
#[cfg(feature = "serve")]
pub mod serve;
pub mod setup;
pub mod time;
pub mod trace;
pub mod wire;
pub mod world;

/// The most drives that one simulated server has.
pub const MAX_DRIVES: usize = 32;
