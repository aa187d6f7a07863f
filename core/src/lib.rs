//! Wattline's core: every decision about the power states of a set of NVMe drives, and nothing else.
//!
//! It has no clock, no wires and no memory of its own making: an adapter passes in what happened and when,
//! and takes out the commands that follow. The same events give the same commands on every target.
//!
//! Rooms, in the order in which data passes through them:
//!
//! | room | what it knows |
//! |---|---|
//! | [`units`] | watts, seconds, degrees and bytes per second as integers |
//! | [`nvme`] | what the bytes mean: Identify, power state descriptors, features, logs, status codes |
//! | [`profile`] | what a kind of drive costs and gives in each power state and kind of work |
//! | [`apst`] | idle: into which state, after how long, and why not the others |
//! | [`thermal`] | how many watts a drive may turn into heat now |
//! | [`budget`] | who should get how much (the allocator), and who has been promised how much (the ledger) |
//! | [`drive`] | one drive's transitions: wanted, in flight, settling, held, lost, unmanaged |
//! | [`sleep`] | Runtime D3 and PCIe link states: is it worth it, is it allowed |
//! | [`governor`] | the composition: events in, commands out |
//! | [`journal`] | every event and command as a checked record |
//! | [`history`] | what is kept of a drive's past over a restart |
//!
//! `examples/embed.rs` is the smallest loop around a [`governor::Governor`].
#![no_std]
#![forbid(unsafe_code)]

pub mod apst;
pub mod budget;
pub mod drive;
pub mod governor;
pub mod history;
pub mod journal;
pub mod nvme;
pub mod profile;
pub mod sleep;
pub mod thermal;
pub mod units;
