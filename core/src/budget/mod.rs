//! Sharing watts: who should get how much ([`allocator`]), and who has been promised how much ([`ledger`]), within
//! limits inside a limit ([`nested`]).

pub mod allocator;
mod exact;
pub mod ledger;
pub mod nested;
pub mod offer;

pub use allocator::{Allocation, allocate};
pub use ledger::{Band, Ledger};
pub use nested::{Limits, SHELVES, Shelf, Sums};
pub use offer::{Offer, Offers, POINTS, Point};
