//! Sleep below the power states: a drive without power (Runtime D3), and the states of its PCIe link.
//!
//! **Runtime D3.** A drive that nobody needs for long can have its power taken away. That saves what it takes idle, and
//! costs a clean shutdown, a resume, a wait for whoever comes next, and a bit of the drive's life. [`worth`] says from
//! which gap on it pays, and why a drive may not; [`cycles`] bounds how often; [`machine`] is one drive's way down and
//! up.
//!
//! **Links.** A non-operational power state saves its watts only if the link can go low as well. [`link`] says which of
//! L0s, L1, L1.1 and L1.2 a drive's link can use under a latency tolerance, why not the others, and which watts of an
//! idle state stay out of reach.
//!
//! Linux has no Runtime D3 for NVMe: its driver shuts a drive down only when the system suspends. There this room can
//! only explain. It acts where the adapter owns the slot's power and can shut the drive down cleanly itself: a board
//! beside the drives, through NVMe-MI.
//!
//! Nothing here sends anything.

pub mod cycles;
pub mod link;
pub mod machine;
pub mod worth;

pub use cycles::{Cycles, CyclesPerDay};
pub use machine::{Counts, Event, Sleeper, State, Wish};
pub use worth::{Conditions, Costs, Slot, Terms, WhyNot};
