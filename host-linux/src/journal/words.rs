//! Events and commands in words.

use wattline_core::governor::{Command, Config, Event, Outcome, Request};
use wattline_core::nvme::feature::thermal_management::ThermalManagement;
use wattline_core::thermal::{Cooling, Fans};
use wattline_core::units::{Instant, Kelvin, Milliwatts};

/// Seconds since the start of the journal's clock.
pub(super) fn time(at: Instant) -> String {
    let micros = at.as_micros();
    format!("{:>7}.{:06} s", micros / 1_000_000, micros % 1_000_000)
}

pub(super) fn config(config: &Config) -> String {
    let meter = if config.meter.is_some() { "with a meter" } else { "without a meter" };
    let trust = if config.trust_measured { "measured figures count" } else { "nameplate figures count" };
    format!("cap {}, base load {}, margin {}, {meter}; {trust}", config.cap, config.base_load, config.margin)
}

pub(super) fn event(event: &Event) -> String {
    match event {
        Event::Tick => "time passes".into(),
        Event::Cap(cap) => format!("the cap is {cap}"),
        Event::Attached { slot, drive } => format!(
            "drive {slot} is attached: profile {}, slot limit {}, declared {}",
            drive.profile.0, drive.slot_limit, drive.declared
        ),
        Event::Removed { slot } => format!("drive {slot} is removed"),
        Event::Reset { slot } => format!("drive {slot} was reset"),
        Event::Work { slot, seen } => format!("drive {slot} is seen doing {}", seen),
        Event::Temperature { slot, reading: Some(reading) } => format!("drive {slot} has {reading}"),
        Event::Temperature { slot, reading: None } => format!("drive {slot}: its temperature could not be read"),
        Event::Completed { slot, id, outcome } => format!("drive {slot} answers #{}: {}", id.0, answer(*outcome)),
        Event::Lost { slot, id } => format!("drive {slot} lost #{}", id.0),
        Event::Meter(Some(reading)) => format!("the meter reads {reading}"),
        Event::Meter(None) => "the meter could not be read".into(),
        Event::Demand { slot, wanted: Some(wanted) } => {
            format!("drive {slot} is asked for {} MB/s", wanted.get().div_ceil(1_000_000))
        }
        Event::Demand { slot, wanted: None } => format!("drive {slot} may be asked for anything"),
        Event::ShelfLimit { shelf, limit } => format!("the limit of shelf {shelf} is {limit}"),
        Event::MaySleep { slot, .. } => format!("drive {slot} may sleep without power"),
        Event::Power { slot, on } => format!("the power of slot {slot} is {}", if *on { "on" } else { "off" }),
        Event::BitFlip { slot, bit } => format!("bit {bit} of the record of drive {slot} flips"),
        Event::Restored { slot, counters } => format!(
            "drive {slot} so far: {} transitions, {} refused, {} lost, {} resets",
            counters.transitions, counters.refused, counters.lost, counters.resets
        ),
        Event::Throttling { slot, counters } => format!(
            "drive {slot} has slowed itself down {} times a little, {} times as much as it took",
            counters.light_transitions, counters.heavy_transitions
        ),
        Event::Cooling(cooling) => format!("the cooling: {}", cooling_words(cooling)),
    }
}

pub(super) fn command(command: &Command) -> String {
    match command {
        Command::Drive { slot, id, request, reason } => {
            let request = match request {
                Request::SetPowerState(state) => format!("set {state}"),
                Request::ReadPowerState => "read the power state".into(),
                Request::SetOcpPowerState(state) => format!("set the DSSD power state {}", state.power()),
                Request::ReadOcpPowerState => "read the DSSD power state".into(),
                Request::SetThermalManagement(thresholds) => format!("set its {}", thresholds_words(*thresholds)),
                Request::ReadThermalManagement => "read its thermal thresholds".into(),
                Request::ShutDown => "shut down cleanly".into(),
                Request::PowerOff => "cut the slot's power".into(),
                Request::PowerOn => "switch the slot's power on".into(),
                Request::Restart => "reset the controller".into(),
            };
            format!("drive {slot}, #{}: {request} ({})", id.0, reason)
        }
        Command::Alarm { alarm, raised } => {
            let verb = if *raised { "ALARM" } else { "over" };
            format!("{verb}: {}", alarm)
        }
    }
}

fn answer(outcome: Outcome) -> String {
    match outcome {
        Outcome::Done => "done".into(),
        Outcome::Is(state) => format!("it is in {state}"),
        Outcome::Rejected(status) => format!("refused, {status}"),
        Outcome::OcpPowerState(state) => format!("its DSSD power state is {}", state.power()),
        Outcome::ThermalManagement(thresholds) => format!("its {}", thresholds_words(thresholds)),
    }
}

fn thresholds_words(thresholds: ThermalManagement) -> String {
    let word = |threshold: Option<Kelvin>| threshold.map_or("off".into(), |threshold| threshold.to_string());
    format!("thermal thresholds: light {}, heavy {}", word(thresholds.light), word(thresholds.heavy))
}

fn cooling_words(cooling: &Cooling) -> String {
    let inlet = cooling.inlet.map_or_else(|| "inlet unknown".into(), |inlet| format!("inlet {inlet}"));
    let fans = match cooling.fans {
        Fans::Regulating => "the fans regulate",
        Fans::AtLimit => "the fans are at their limit",
        Fans::Failed => "fans have failed",
    };
    let coolant = if cooling.coolant_lost { ", the coolant is lost" } else { "" };
    format!("{inlet}, {fans}{coolant}")
}

/// What is promised of what is allowed.
pub(super) fn balance(promised: Milliwatts, allowed: Milliwatts) -> String {
    format!("{promised} of {allowed}")
}
