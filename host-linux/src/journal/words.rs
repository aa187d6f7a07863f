//! Events and commands in words.

use wattline_core::governor::{Alarm, Cause, Command, Config, Event, Outcome, Reason, Request};
use wattline_core::profile::WorkSet;
use wattline_core::units::{Instant, Milliwatts};

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
            drive.profile.0,
            drive.slot_limit,
            work(drive.declared)
        ),
        Event::Removed { slot } => format!("drive {slot} is removed"),
        Event::Reset { slot } => format!("drive {slot} was reset"),
        Event::Work { slot, seen } => format!("drive {slot} is seen doing {}", work(*seen)),
        Event::Temperature { slot, reading: Some(reading) } => format!("drive {slot} has {reading}"),
        Event::Temperature { slot, reading: None } => format!("drive {slot}: its temperature could not be read"),
        Event::Completed { slot, id, outcome } => format!("drive {slot} answers #{}: {}", id.0, answer(*outcome)),
        Event::Lost { slot, id } => format!("drive {slot} lost #{}", id.0),
        Event::Meter(Some(reading)) => format!("the meter reads {reading}"),
        Event::Meter(None) => "the meter could not be read".into(),
    }
}

pub(super) fn command(command: &Command) -> String {
    match command {
        Command::Drive { slot, id, request, reason } => {
            let request = match request {
                Request::SetPowerState(state) => format!("set {state}"),
                Request::ReadPowerState => "read the power state".into(),
            };
            format!("drive {slot}, #{}: {request} ({})", id.0, because(*reason))
        }
        Command::Alarm { alarm, raised } => {
            let verb = if *raised { "ALARM" } else { "over" };
            format!("{verb}: {}", alarm_words(alarm))
        }
    }
}

fn answer(outcome: Outcome) -> String {
    match outcome {
        Outcome::Done => "done".into(),
        Outcome::Is(state) => format!("it is in {state}"),
        Outcome::Rejected(status) => format!("refused, {status}"),
    }
}

const fn because(reason: Reason) -> &'static str {
    match reason {
        Reason::Discovery => "its state is not known",
        Reason::ReadBack => "what was set is read back",
        Reason::Shed => "the promises must come down",
        Reason::Yield => "another drive gets its watts",
        Reason::Raise => "the plan gives it more",
        Reason::Heat => "it is too warm for its state",
    }
}

fn alarm_words(alarm: &Alarm) -> String {
    match alarm {
        Alarm::CannotHold { missing } => format!("the cap cannot be held, {missing} are missing"),
        Alarm::MeterLost => "the meter is lost, nameplate figures count".into(),
        Alarm::MeterAbovePrediction { surplus } => format!("the meter reads {surplus} more than was promised"),
        Alarm::ClockBackwards => "the clock ran backwards".into(),
        Alarm::Unmanaged { slot, cause } => format!("drive {slot} is not managed: {}", cause_words(*cause)),
        Alarm::UndeclaredWork { slot, work: seen } => {
            format!("drive {slot} does undeclared work: {} all in all", work(*seen))
        }
        Alarm::TemperatureLost { slot } => format!("drive {slot}: its temperature is lost"),
    }
}

fn cause_words(cause: Cause) -> String {
    match cause {
        Cause::CommandsLost => "too many commands were lost".into(),
        Cause::Rejected(status) => format!("it refused, {status}"),
        Cause::Disobedient => "it accepts states and does not go there".into(),
        Cause::NoUsableState => "it has no usable profile".into(),
    }
}

fn work(set: WorkSet) -> String {
    if set == WorkSet::ALL {
        return "any work".into();
    }
    let kinds: Vec<_> = set.kinds().map(|work| work.name()).collect();
    if kinds.is_empty() { "no work".into() } else { kinds.join(", ") }
}

/// What is promised of what is allowed.
pub(super) fn balance(promised: Milliwatts, allowed: Milliwatts) -> String {
    format!("{promised} of {allowed}")
}
