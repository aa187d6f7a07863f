//! Tests that need more than one Wattline crate.
