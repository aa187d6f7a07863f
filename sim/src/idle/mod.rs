//! What idle drives cost: energy and waiting under a table of autonomous transitions (APST), on sequences of idle gaps.
//!
//! Exact, not stepped: a drive's power is constant between what happens to it. Active energy is left out. The walk is
//! written from what the specification says that a drive does, and shares no code with the policies that it judges;
//! only the figures that drives do not report (idle powers, power on the way) are the policies' own estimates, and the
//! study says what becomes of it when the true energy of transitions is a third or three times the assumed one.
//!
//! | room | what it knows |
//! |---|---|
//! | [`drive`] | a drive as a sleeper, and what it does in a stretch without commands |
//! | [`walk`] | a sequence of gaps under a table, with polls; and under somebody who knows the gaps |
//! | [`families`] | five families of gaps |
//! | [`catalogue`] | real drives' power tables, from a file |
//! | [`study`] | every policy on every family and drive |
//! | [`markdown`] | the study as a document |

pub mod catalogue;
pub mod drive;
pub mod families;
pub mod markdown;
pub mod study;
pub mod walk;
