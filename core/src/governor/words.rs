//! Alarms and reasons in words, for whoever operates the system.

use core::fmt;

use super::event::{Alarm, Reason};
use crate::drive::{Cause, Lever};

impl fmt::Display for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CannotHold { missing } => write!(f, "the cap cannot be held, {missing} are missing"),
            Self::ShelfCannotHold { shelf, missing } => {
                write!(f, "the limit of shelf {shelf} cannot be held, {missing} are missing")
            }
            Self::GuaranteeUnmet { slot, missing } => {
                write!(f, "drive {slot} has less than its guarantee, by {} MB/s", missing.get().div_ceil(1_000_000))
            }
            Self::MeterLost => f.write_str("the meter is lost, nameplate figures count"),
            Self::MeterAbovePrediction { surplus } => write!(f, "the meter reads {surplus} more than was promised"),
            Self::ClockBackwards => f.write_str("the clock ran backwards"),
            Self::Unmanaged { slot, cause } => write!(f, "drive {slot} is not managed: {cause}"),
            Self::UndeclaredWork { slot, work } => {
                write!(f, "drive {slot} does undeclared work: {work} all in all")
            }
            Self::TemperatureLost { slot } => write!(f, "drive {slot}: its temperature is lost"),
            Self::LeverRefused { slot, lever } => {
                write!(f, "drive {slot} does not obey the preferred lever, and is held with {lever}")
            }
            Self::BackstopRefused { slot, status: Some(status) } => {
                write!(f, "drive {slot} refused its own heat protection, {status}")
            }
            Self::BackstopRefused { slot, status: None } => {
                write!(f, "drive {slot}: its own heat protection could not be verified")
            }
            Self::RecordDamaged { slot } => {
                write!(f, "drive {slot}: its record in memory was damaged, it is read again")
            }
            Self::CannotWake { slot } => write!(f, "drive {slot} is waited for, and there are no watts for its power"),
            Self::NoAnswer { slot, id } => {
                write!(f, "drive {slot} has not answered #{}, nor was that declared lost", id.0)
            }
            Self::TemperatureFrozen { slot } => {
                write!(f, "drive {slot}: its temperature does not move while its load does")
            }
            Self::Throttled { slot, lowered } => {
                write!(f, "drive {slot} slows itself down, its limits are {} K lower", lowered.get())
            }
            Self::CoolingReduced { missing } => {
                write!(f, "the chassis removes {missing} less heat than it is designed for")
            }
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CommandsLost => f.write_str("too many commands were lost"),
            Self::Rejected(status) => write!(f, "it refused, {status}"),
            Self::Disobedient => f.write_str("it accepts states and does not go there"),
            Self::NoUsableState => f.write_str("it has no usable profile"),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Discovery => "its state is not known",
            Self::ReadBack => "what was set is read back",
            Self::Shed => "the promises must come down",
            Self::Yield => "another drive gets its watts",
            Self::Raise => "the plan gives it more",
            Self::Heat => "it is too warm for its state",
            Self::Backstop => "its own heat protection, behind ours",
            Self::Sleep => "it goes without power while nobody needs it",
            Self::Cooling => "the chassis removes less heat than was promised",
        })
    }
}

impl fmt::Display for Lever {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PowerState => "power states (02h)",
            Self::OcpPowerState => "DSSD power states (C7h)",
        })
    }
}
