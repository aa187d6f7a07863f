//! The adapter between `wattline-core` and a microcontroller that sits beside the drives.
//!
//! It reads a power monitor and a temperature sensor, carries commands to drives and their answers back, and keeps a
//! journal. It decides nothing.
//!
//! | room | what it knows |
//! |---|---|
//! | [`adm1272`] | the power monitor, over PMBus |
//! | [`sensors`] | both sensors, and what a reading means for the governor |
//! | [`drive_port`] | how commands get to drives and what comes back |
//! | [`link`] | a drive port over a serial line, where a bench plays the drives and gives the time |
//! | [`report`] | what goes out on the second serial line: journal and telemetry |
//! | [`app`] | the loop's body |
//! | [`appliance`] | the board that is built here: four M.2 drives, 25 W |
//!
//! Everything is over the traits of `embedded-hal` and `embedded-io`. The firmware in `firmware/` puts it onto a
//! Stellaris LM3S6965, which QEMU emulates.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

/// Logs where there is a logger.
#[cfg(feature = "defmt")]
macro_rules! log {
    ($level:ident, $($argument:tt)*) => { defmt::$level!($($argument)*) };
}
#[cfg(not(feature = "defmt"))]
macro_rules! log {
    ($level:ident, $text:literal $(, $argument:expr)*) => {{ $(let _ = &$argument;)* }};
}

pub mod adm1272;
pub mod app;
pub mod appliance;
pub mod drive_port;
pub mod link;
pub mod report;
pub mod sensors;
