//! The physics: what drives, chassis and meter do, whoever governs them.
//!
//! Power is piecewise constant between moments at which something changes, and those moments are computed, not
//! searched for, so there is no step size, and a window's mean is exact.
//!
//! | room | what it knows |
//! |---|---|
//! | [`power`] | watts for gigabytes per second, and back |
//! | [`ssd`] | one drive: states, settling, credit, sleep, reset |
//! | [`thermal`] | heat of one drive |
//! | [`management`] | what a drive does against its heat by itself |
//! | [`air`] | the air at the drives, fans and coolant |
//! | [`chassis`] | base load, switch, fans: the drives together |
//! | [`firmware`] | what a drive makes of Set and Get Features |
//! | [`meter`] | what the server's own meter makes of the true watts |
//! | [`job`] | what the host asks of a drive |

pub mod air;
pub mod chassis;
pub mod firmware;
pub mod job;
pub mod management;
pub mod meter;
pub mod power;
pub mod ssd;
pub mod thermal;
