//! Virtual NVMe drives in a virtual chassis, in virtual time, governed by `wattline-core`.
//!
//! The same seed gives the same bytes on every machine: functions come from `libm`, random numbers from one named
//! generator at a pinned version, sums are made in order, and no clock but the virtual one is looked at.
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
//! | [`world`] | one run |
//! | [`trace`] | what was recorded of it |
//! | [`rows`] | the reference experiment's rows, repeated |
#![forbid(unsafe_code)]

pub mod calibration;
pub mod model;
pub mod random;
pub mod rows;
pub mod scenario;
pub mod setup;
pub mod time;
pub mod trace;
pub mod world;

/// The most drives that one simulated server has.
pub const MAX_DRIVES: usize = 64;
