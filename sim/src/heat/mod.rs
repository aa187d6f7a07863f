//! What heat policies do in the same few places: peak temperatures, time over the limits, throughput, transitions.
//!
//! Judged by the true temperatures, which no policy sees: those have whole kelvins, once a second. Whether ours keeps
//! what it promises is a comparison of its runs with others', so nothing here knows how the governor decides.
//!
//! | room | what it knows |
//! |---|---|
//! | [`study`] | the places, the policies, and what a run of each comes to |
//! | [`markdown`] | the study as a document |

pub mod markdown;
pub mod study;
