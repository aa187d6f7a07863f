//! What goes into a governor and what comes out of it.

use serde::{Deserialize, Serialize};

use super::config::DriveConfig;
use crate::budget::Shelf;
use crate::drive::{Cause, CommandId, Lever, Outcome, Request};
use crate::history::Counters;
use crate::nvme::Status;
use crate::profile::WorkSet;
use crate::sleep::{Conditions, CyclesPerDay};
use crate::thermal::{Cooling, ThrottleCounters};
use crate::units::{BytesPerSecond, Kelvin, Milliwatts};

/// The place of a drive: 0 up to the governor's `DRIVES`, not included.
pub type Slot = u8;

/// Something that happened. A slot that the governor does not have is ignored.
///
/// Variants are only ever added at the end: the number of a variant is part of the journal's format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Event {
    /// Time has passed. The same tick twice changes nothing.
    Tick,
    /// The cap is this from now on.
    Cap(Milliwatts),
    /// A drive is there. It counts at the worst of all its states until it has been read.
    Attached {
        /// Where.
        slot: Slot,
        /// What it is.
        drive: DriveConfig,
    },
    /// The drive is gone, with whatever was in flight to it.
    Removed {
        /// From where.
        slot: Slot,
    },
    /// The drive was reset, with whatever was in flight to it: it should be in its fallback state now. What it counted
    /// for before goes on counting until it has been read.
    Reset {
        /// Which.
        slot: Slot,
    },
    /// The kinds of work that the drive has been doing since the last such event. Work that was not declared counts
    /// until some time after the first report without it: silence says nothing.
    Work {
        /// Which drive.
        slot: Slot,
        /// What it does.
        seen: WorkSet,
    },
    /// A reading of the drive's composite temperature, or that it could not be read.
    Temperature {
        /// Which drive.
        slot: Slot,
        /// The reading; `None` where there was none.
        reading: Option<Kelvin>,
    },
    /// A command came back.
    Completed {
        /// From which drive.
        slot: Slot,
        /// Which command.
        id: CommandId,
        /// With what.
        outcome: Outcome,
    },
    /// The adapter gave a command up: no answer to it will come. Only the adapter can know.
    Lost {
        /// To which drive.
        slot: Slot,
        /// Which command.
        id: CommandId,
    },
    /// A reading of the power meter, or that it could not be read.
    Meter(Option<Milliwatts>),
    /// What was counted of the drive before the governor was restarted.
    Restored {
        /// Which drive.
        slot: Slot,
        /// What was counted.
        counters: Counters,
    },
    /// What would be asked of a drive now if nothing held it back. It counts for some seconds; a drive of which none is
    /// known may be asked for anything. What a drive in a slow state moves is not what is wanted of it.
    Demand {
        /// Which drive.
        slot: Slot,
        /// How much; `None`: not known.
        wanted: Option<BytesPerSecond>,
    },
    /// The drive may be put to sleep without power, on these conditions. A governor without room for the sleep of this
    /// slot (its `SLEEPERS`) ignores that.
    MaySleep {
        /// Which.
        slot: Slot,
        /// What decides whether it is worth it.
        conditions: Conditions,
        /// How often.
        limit: CyclesPerDay,
    },
    /// The power of a slot is seen to be on or off, by whomever it was switched.
    Power {
        /// Which.
        slot: Slot,
        /// On, or off.
        on: bool,
    },
    /// A bit of the drive's record in memory flips, as radiation would flip it: for fault injection, so that a journal
    /// of it can be run again. See [`Sealed::flip`](crate::drive::Sealed::flip).
    BitFlip {
        /// Which drive's.
        slot: Slot,
        /// Which bit of its encoded record, modulo their number.
        bit: u16,
    },
    /// The limit of a shelf is this from now on, in the watts of draws. A shelf that does not exist is ignored.
    ShelfLimit {
        /// Which.
        shelf: Shelf,
        /// What its drives may draw together.
        limit: Milliwatts,
    },
    /// The counters of the drive's own thermal management were read. What they have come to since the last such event
    /// says whether the drive was given too much.
    Throttling {
        /// Which drive.
        slot: Slot,
        /// The counters of its SMART log.
        counters: ThrottleCounters,
    },
    /// How the chassis is being cooled. Ignored where the configuration says nothing about cooling.
    Cooling(Cooling),
}

impl Event {
    /// Whether it only reports how things stand: where that is as before, and no deadline is over, it changes no
    /// decision.
    pub(super) const fn is_report(&self) -> bool {
        matches!(self, Self::Tick | Self::Meter(_) | Self::Work { .. } | Self::Temperature { .. } | Self::Demand { .. })
    }

    /// The slot that it is about; `None` where it is about the whole system.
    #[must_use]
    pub const fn slot(&self) -> Option<Slot> {
        match self {
            Self::Tick | Self::Cap(_) | Self::Meter(_) | Self::ShelfLimit { .. } | Self::Cooling(_) => None,
            Self::Attached { slot, .. }
            | Self::Removed { slot }
            | Self::Reset { slot }
            | Self::Work { slot, .. }
            | Self::Demand { slot, .. }
            | Self::Temperature { slot, .. }
            | Self::Restored { slot, .. }
            | Self::MaySleep { slot, .. }
            | Self::Power { slot, .. }
            | Self::BitFlip { slot, .. }
            | Self::Completed { slot, .. }
            | Self::Lost { slot, .. }
            | Self::Throttling { slot, .. } => Some(*slot),
        }
    }
}

/// Something to be done, or to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Command {
    /// Send this to a drive. Its answer is an [`Event::Completed`] or [`Event::Lost`] with the same id.
    Drive {
        /// To which drive.
        slot: Slot,
        /// The name of this command.
        id: CommandId,
        /// What to send.
        request: Request,
        /// Why.
        reason: Reason,
    },
    /// Tell whoever operates the system.
    Alarm {
        /// What about.
        alarm: Alarm,
        /// It began, or got worse; `false`: it is over.
        raised: bool,
    },
}

/// Why a command is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Reason {
    /// The drive's state is not known.
    Discovery,
    /// What was set is read back.
    ReadBack,
    /// The promises must come down.
    Shed,
    /// The plan gives this drive less, so that another can have more.
    Yield,
    /// The plan gives this drive more.
    Raise,
    /// The drive is too warm for its state.
    Heat,
    /// The drive's own thermal thresholds are set behind ours.
    Backstop,
    /// Nobody needs the drive, or somebody does again.
    Sleep,
    /// The chassis removes less heat than was promised.
    Cooling,
}

/// Why somebody should look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Alarm {
    /// Even with every drive in its lowest operational state the promises exceed the allowance.
    CannotHold {
        /// By this much.
        missing: Milliwatts,
    },
    /// The meter is silent, stuck or absurd: nameplate figures count.
    MeterLost,
    /// The meter reads more than was promised, and the allowance was lowered.
    MeterAbovePrediction {
        /// By this much.
        surplus: Milliwatts,
    },
    /// The adapter's clock ran backwards.
    ClockBackwards,
    /// The drive is not controlled any more. It counts for the state in which it refused, where that could be read,
    /// else for its highest draw.
    Unmanaged {
        /// Which.
        slot: Slot,
        /// Why.
        cause: Cause,
    },
    /// The drive does work that it was not declared to do.
    UndeclaredWork {
        /// Which.
        slot: Slot,
        /// All that it may be doing.
        work: WorkSet,
    },
    /// The drive's temperature has not been readable for too long: it is held in its lowest operational state.
    TemperatureLost {
        /// Which.
        slot: Slot,
    },
    /// The drive does not obey the lever that is preferred, and is held with another.
    LeverRefused {
        /// Which.
        slot: Slot,
        /// What it is held with instead.
        lever: Lever,
    },
    /// The drive's own thermal management could not be set: only ours is there.
    BackstopRefused {
        /// Which.
        slot: Slot,
        /// What it refused with; `None`: it named other thresholds, or its answers were lost.
        status: Option<Status>,
    },
    /// The memory that holds the drive's record was damaged: the drive is read again.
    RecordDamaged {
        /// Which.
        slot: Slot,
    },
    /// A command has been neither answered nor declared lost for longer than the cap's averaging window: the drive
    /// counts for all that it may take, and nothing else is sent to it.
    NoAnswer {
        /// Which.
        slot: Slot,
        /// The command.
        id: CommandId,
    },
    /// Even with every drive of a shelf in its lowest operational state the promises exceed the shelf's limit.
    ShelfCannotHold {
        /// Which.
        shelf: Shelf,
        /// By this much.
        missing: Milliwatts,
    },
    /// The plan gives the drive less than its guarantee, since the watts do not go further; or what it gives is not
    /// known.
    GuaranteeUnmet {
        /// Which.
        slot: Slot,
        /// By this much.
        missing: BytesPerSecond,
    },
    /// The drive's temperature does not move although its load does: it counts as rising, and after a while the drive
    /// is held in its lowest operational state.
    TemperatureFrozen {
        /// Which.
        slot: Slot,
    },
    /// The drive slowed itself down, or was warmer than it should be: its limits are lowered.
    Throttled {
        /// Which.
        slot: Slot,
        /// By so much.
        lowered: Kelvin,
    },
    /// The chassis removes less heat than it is designed for.
    CoolingReduced {
        /// By this much.
        missing: Milliwatts,
    },
    /// Somebody waits for a drive that has no power, and there are no watts for it, not even with every other drive in
    /// its lowest operational state.
    CannotWake {
        /// Which.
        slot: Slot,
    },
}

impl Alarm {
    /// The slot that it is about; `None` where it is about the whole system.
    #[must_use]
    pub const fn slot(&self) -> Option<Slot> {
        match self {
            Self::CannotHold { .. }
            | Self::ShelfCannotHold { .. }
            | Self::CoolingReduced { .. }
            | Self::MeterLost
            | Self::MeterAbovePrediction { .. }
            | Self::ClockBackwards => None,
            Self::Unmanaged { slot, .. }
            | Self::UndeclaredWork { slot, .. }
            | Self::TemperatureLost { slot }
            | Self::GuaranteeUnmet { slot, .. }
            | Self::LeverRefused { slot, .. }
            | Self::BackstopRefused { slot, .. }
            | Self::RecordDamaged { slot }
            | Self::CannotWake { slot }
            | Self::NoAnswer { slot, .. }
            | Self::TemperatureFrozen { slot }
            | Self::Throttled { slot, .. } => Some(*slot),
        }
    }
}
