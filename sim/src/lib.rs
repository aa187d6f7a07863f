//! Wattline simulator.
