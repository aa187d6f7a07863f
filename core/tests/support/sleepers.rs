//! Drives that may go without power.

use std::num::NonZeroU16;

use wattline_core::apst::Tolerance;
use wattline_core::governor::{Event, Slot};
use wattline_core::sleep::{Conditions, Costs, CyclesPerDay, Slot as SlotAbilities};
use wattline_core::units::{Microseconds, Millijoules, Milliwatts};

/// What a slot takes while its power is off.
pub(crate) const OFF: Milliwatts = Milliwatts::new(300);

/// On conditions that are worth it after some seconds, up to four times at once.
pub(crate) fn may_sleep(slot: Slot) -> Event {
    let conditions = Conditions {
        wanted: true,
        slot: SlotAbilities { power_can_be_switched: true, can_shut_down: true },
        entry: Some(Microseconds::from_secs(2)),
        resume: Some(Microseconds::from_secs(4)),
        costs: Costs {
            idle: Milliwatts::from_watts(5),
            moving: Milliwatts::from_watts(10),
            off: OFF,
            cycle: Millijoules::new(20_000),
        },
        tolerance: Tolerance::Unlimited,
    };
    let (most, at_once) = (NonZeroU16::new(24).expect("not 0"), NonZeroU16::new(4).expect("not 0"));
    Event::MaySleep { slot, conditions, limit: CyclesPerDay::new(most, at_once).expect("four of 24") }
}
