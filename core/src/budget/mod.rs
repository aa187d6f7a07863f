//! Sharing watts: who should get how much ([`allocator`]), and who has been promised how much ([`ledger`]).

pub mod allocator;
pub mod ledger;

pub use allocator::{Allocation, Offers, Point, allocate};
pub use ledger::Ledger;
