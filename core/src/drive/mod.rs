//! One drive: what it is asked for, where it may be, and what it is held with.
//!
//! | module | what it knows |
//! |---|---|
//! | `request` | what a drive is asked for, and what it answers |
//! | `states` | sets of power states |
//! | `transitions` | the machine: unknown, settling, held, changing, to be verified, given up |
//! | `lever` | by which feature a drive is held under its watts |
//! | `backstop` | the drive's own thermal management, set behind ours |
//! | `sealed` | a drive's record and its checksum: flipped bits are noticed |

mod backstop;
mod lever;
mod request;
mod sealed;
mod states;
mod transitions;

pub use self::backstop::{Backstop, BackstopPhase};
pub use self::lever::{Lever, Levers};
pub use self::request::{Cause, CommandId, Outcome, Request};
pub use self::sealed::Sealed;
pub use self::states::{KnownStates, StateSet};
pub use self::transitions::{Circumstances, Drive, Phase};
