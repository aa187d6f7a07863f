//! Wattline on Linux: the library behind the program `wattline`.
//!
//! It translates between what Linux tools say about NVMe drives and what `wattline-core` decides about them.
//! It decides nothing itself, and it leaves the bytes of NVMe structures to the core.
//!
//! | room | what it knows |
//! |---|---|
//! | [`apst`] | the subcommands `apst …`: tables of autonomous transitions, and why |
//! | [`catalogue`], [`drives`] | the power tables of real drives that the program carries, and their list |
//! | [`input`] | where bytes come from: a file or standard input |
//! | [`inventory`] | what a drive says about its power states, whichever tool wrote it down |
//! | [`journal`] | the subcommands `journal show` and `replay`: what a governor saw and decided |
//! | [`plan`] | the subcommand `plan`: power states under a cap, and drives for spare watts |
//! | [`profile`] | what a kind of drive costs and gives: built-in profiles and TOML files |
//! | [`quirks`] | drives that do not survive what they advertise: the built-in rules and the user's |
//! | [`sysfs`] | what the kernel says about controllers, without asking them |
//! | [`device`] | a drive itself: NVMe admin commands through the kernel |
//! | [`list`] | the subcommand `list`: this machine's controllers |
//! | [`source`] | which drive is meant: of this machine, of a file, of the catalogue |
//! | [`show`] | the subcommand `show`: an inventory for people and for programs |
//! | [`set`] | the subcommand `set`: changes a setting and reads it back |
//! | [`outcome`] | what a subcommand comes to: output, complaints, exit status |
#![deny(unsafe_code)]

pub mod apst;
pub mod catalogue;
mod decimal;
pub mod device;
pub mod drives;
pub mod input;
pub mod inventory;
pub mod journal;
pub mod list;
pub mod outcome;
pub mod plan;
pub mod profile;
mod quantity;
pub mod quirks;
pub mod set;
pub mod show;
pub mod source;
pub mod sysfs;
mod table;
