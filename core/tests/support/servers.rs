//! Servers to test with, and what to ask of them.

use wattline_core::governor::{Alarm, Cause, Command, Config, Reason, Request, Slot};
use wattline_core::profile::{Profile, d5_p5336};
use wattline_core::units::Milliwatts;

use super::{SECOND, World, article_drive, drive, nameplate};

pub(crate) fn watts(watts: u32) -> Milliwatts {
    Milliwatts::from_watts(watts)
}

/// The article's server: 462 W without drives.
pub(crate) fn server(cap: u32) -> Config {
    Config { trust_measured: true, ..Config::new(watts(cap), watts(462)) }
}

/// The article's server with its 24 drives, all in PS0, settled.
pub(crate) fn article(config: Config) -> World {
    let mut world = World::new(config, &[d5_p5336()]);
    for slot in 0..24 {
        world.attach(slot, article_drive(), 0);
    }
    world.calm();
    world
}

/// A few drives of 25, 15 and 10 W, with nothing but them under the cap; settled.
pub(crate) fn few(drives: u8, cap: u32) -> World {
    let mut world = World::new(Config::new(watts(cap), watts(0)), &[plain()]);
    for slot in 0..drives {
        world.attach(slot, drive(), 0);
    }
    world.calm();
    world
}

pub(crate) fn plain() -> Profile {
    nameplate(&[(25, true), (15, true), (10, true)])
}

/// The sets among some commands: to whom, to where, why.
pub(crate) fn sets(commands: &[Command]) -> Vec<(Slot, u8, Reason)> {
    let set = |command: &Command| match command {
        Command::Drive { slot, request: Request::SetPowerState(state), reason, .. } => {
            Some((*slot, state.number(), *reason))
        }
        _ => None,
    };
    commands.iter().filter_map(set).collect()
}

pub(crate) fn raised(world: &World, matches: impl Fn(&Alarm) -> bool) -> bool {
    world.alarms().iter().any(matches)
}

pub(crate) fn unmanaged(world: &World, slot: Slot) -> Option<Cause> {
    world.alarms().iter().find_map(|alarm| match alarm {
        Alarm::Unmanaged { slot: other, cause } if *other == slot => Some(*cause),
        _ => None,
    })
}

pub(crate) fn missing(world: &World) -> Option<u32> {
    world.alarms().iter().find_map(|alarm| match alarm {
        Alarm::CannotHold { missing } => Some(missing.get()),
        _ => None,
    })
}
