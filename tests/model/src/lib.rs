//! Model checking of the governor: every order in which things can happen to two or three drives, to a stated depth.
//!
//! The governor is the real one. What surrounds it is a [`World`]: drives that answer, are lost, refuse, come again,
//! are reset, removed and inserted, caps that change, a meter. In every situation everything happens that can, and
//! after each event an [`observer`], who sees only the wires, judges by the [`rules`].
//!
//! **What is abstracted.** Time stays, or jumps to the governor's next deadline. Situations that differ only in what
//! time it is or in numbers of commands are one; what drives have had counts by its order
//! ([`Governor::situation`](wattline_core::governor::Governor::situation)). That makes the search skip something, never
//! report something: each way it reports is one that the governor goes. A world says how many incidents (things that
//! should not happen, and changes of caps) a way has.
#![forbid(unsafe_code)]

pub mod explore;
pub mod observer;
pub mod plant;
pub mod rules;
pub mod situation;
pub mod world;

pub use explore::{Broken, Limits, Model, Search, explore, stroll};
pub use plant::Plant;
pub use situation::{Checked, Step};
pub use world::{WORLDS, World};
