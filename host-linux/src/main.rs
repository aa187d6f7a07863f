//! Offline tools.
fn main() {}
