//! Simulator program.
fn main() {}
