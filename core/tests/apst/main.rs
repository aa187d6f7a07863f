//! Tables of autonomous transitions, from outside: against a second, naive implementation, against what others computed
//! by hand or with the kernel's own function, and the traps that real drives set.

mod golden;
mod naive;
mod traps;
mod windows;

use wattline_core::nvme::{PowerState, PowerStateDescriptor};
use wattline_core::units::Microseconds;

/// A state that transfers data, with latencies in microseconds.
fn operational(entry: u32, exit: u32) -> PowerStateDescriptor {
    state(false, entry, exit)
}

/// A non-operational state, with latencies in microseconds.
fn idle(entry: u32, exit: u32) -> PowerStateDescriptor {
    state(true, entry, exit)
}

fn state(non_operational: bool, entry: u32, exit: u32) -> PowerStateDescriptor {
    let mut bytes = [0; PowerStateDescriptor::LENGTH];
    bytes[3] = u8::from(non_operational) << 1;
    bytes[4..8].copy_from_slice(&entry.to_le_bytes());
    bytes[8..12].copy_from_slice(&exit.to_le_bytes());
    PowerStateDescriptor::decode(&bytes)
}

fn ps(number: u8) -> PowerState {
    PowerState::new(number).unwrap()
}

fn micros(count: u64) -> Microseconds {
    Microseconds::new(count)
}
