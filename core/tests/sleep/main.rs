//! One drive's way out of its power and back: every state with every event, and what must never be.

mod explore;
mod table;

use std::num::NonZeroU16;

use wattline_core::apst::Tolerance;
use wattline_core::sleep::{Conditions, Costs, CyclesPerDay, Event, Sleeper, Slot, State, Wish};
use wattline_core::units::{Instant, Microseconds, Millijoules, Milliwatts};

/// Every event.
pub(crate) const EVENTS: [Event; 16] = [
    Event::Work,
    Event::Idle,
    Event::Demand,
    Event::Sent(Wish::ShutDown),
    Event::Sent(Wish::PowerOff),
    Event::Sent(Wish::PowerOn),
    Event::Sent(Wish::Restart),
    Event::Sent(Wish::Attach),
    Event::ShutdownDone,
    Event::Failed,
    Event::Lost,
    Event::PoweredOff,
    Event::PoweredOn,
    Event::Attached,
    Event::Removed,
    Event::Tick,
];

/// A drive that takes 5.5 W idle, 0.5 W without power, and 25 s for its way: worth it from 57.5 s on.
pub(crate) fn conditions() -> Conditions {
    Conditions {
        wanted: true,
        slot: Slot { power_can_be_switched: true, can_shut_down: true },
        entry: Some(Microseconds::from_secs(10)),
        resume: Some(Microseconds::from_secs(15)),
        costs: Costs {
            idle: Milliwatts::new(5_500),
            moving: Milliwatts::from_watts(10),
            off: Milliwatts::new(500),
            cycle: Millijoules::new(50_000),
        },
        tolerance: Tolerance::Unlimited,
    }
}

pub(crate) fn limit(most: u16, at_once: u16) -> CyclesPerDay {
    CyclesPerDay::new(NonZeroU16::new(most).unwrap(), NonZeroU16::new(at_once).unwrap()).unwrap()
}

pub(crate) fn seconds(seconds: u64) -> Instant {
    Instant::from_micros(seconds * 1_000_000)
}

/// A day after its start, so with cycles to spend.
pub(crate) const MORNING: u64 = 86_400;

pub(crate) fn sleeper() -> Sleeper {
    Sleeper::new(conditions(), limit(4, 2), Instant::START)
}

/// A state without its times.
pub(crate) fn name(state: State) -> &'static str {
    match state {
        State::Working => "working",
        State::Idle { .. } => "idle",
        State::ShuttingDown { wanted: false, .. } => "shutting down",
        State::ShuttingDown { wanted: true, .. } => "shutting down, wanted",
        State::ShutDown => "shut down",
        State::CuttingPower { wanted: false } => "cutting power",
        State::CuttingPower { wanted: true } => "cutting power, wanted",
        State::Off { wanted: false } => "off",
        State::Off { wanted: true } => "off, wanted",
        State::PoweringOn => "powering on",
        State::Resuming { ready: Some(_) } => "resuming",
        State::Resuming { ready: None } => "resuming, sent",
        State::Restarting { from: Some(_) } => "restarting",
        State::Restarting { from: None } => "restarting, sent",
        State::Absent => "absent",
    }
}
