//! What governs: the real governor, or one that does one thing wrong.
//!
//! A wrong policy is the real governor behind a wrapper that keeps something from it, or believes something for it. It
//! exists so that checkers can be seen to fail: each scenario of a fault names the wrong policy that it is there to
//! find ([`crate::faults`]).

use std::collections::BTreeSet;
use std::fmt;

use wattline_core::governor::{Command, DriveConfig, Event, Governor, Outcome, Reason, Request, Slot};
use wattline_core::nvme::PowerState;
use wattline_core::units::{Instant, Milliwatts};

use crate::MAX_DRIVES;

/// The real governor of a simulated server.
pub type Real = Governor<MAX_DRIVES, 1>;

/// What the host asks for decisions: the contract of [`Governor`].
pub trait Policy: fmt::Debug {
    /// Takes note of what happened.
    fn handle(&mut self, now: Instant, event: Event);
    /// The next thing to do or to tell.
    fn poll(&mut self) -> Option<Command>;
    /// When to tell it that time has passed.
    fn next_deadline(&self) -> Option<Instant>;
    /// How many records it found damaged.
    fn damaged_records(&self) -> u32;
}

impl Policy for Real {
    fn handle(&mut self, now: Instant, event: Event) {
        Self::handle(self, now, event);
    }

    fn poll(&mut self) -> Option<Command> {
        Self::poll(self)
    }

    fn next_deadline(&self) -> Option<Instant> {
        Self::next_deadline(self)
    }

    fn damaged_records(&self) -> u32 {
        Self::damaged_records(self)
    }
}

/// The one thing that a wrong policy does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// It does not hear of caps that change.
    IgnoresCaps,
    /// It does not hear of caps that rise.
    KeepsTheLowestCap,
    /// It does not hear of resets.
    IgnoresResets,
    /// It believes its own books and not the meter.
    IgnoresMeter,
    /// What the last reading shows to be unused, it gives away.
    TrustsMeter,
    /// Of all readings the highest counts for ever.
    BelievesTheHighestReading,
    /// A command that was sent is done: it waits for no answer and reads nothing back.
    TakesSentForDone,
    /// A drive that comes into a slot is the one that was there.
    TakesNewForOld,
    /// What happens before the latest time that its clock has shown is old.
    WaitsForItsClock,
    /// A drive that it meets later than at the start of the run is in its lowest state.
    AssumesTheLowest,
    /// It believes what it remembers, whatever has become of it.
    BelievesItsMemory,
    /// It manages no drive's heat, whatever is read of temperatures.
    IgnoresTemperatures,
    /// It does not hear of how drives are cooled.
    IgnoresCooling,
    /// A temperature that is read is the drive's, however long it has been the same.
    BelievesFrozenSensors,
}

impl Wrong {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::IgnoresCaps,
        Self::KeepsTheLowestCap,
        Self::IgnoresResets,
        Self::IgnoresMeter,
        Self::TrustsMeter,
        Self::BelievesTheHighestReading,
        Self::TakesSentForDone,
        Self::TakesNewForOld,
        Self::WaitsForItsClock,
        Self::AssumesTheLowest,
        Self::BelievesItsMemory,
        Self::IgnoresTemperatures,
        Self::IgnoresCooling,
        Self::BelievesFrozenSensors,
    ];

    /// Its name, as on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::IgnoresCaps => "ignores-caps",
            Self::KeepsTheLowestCap => "keeps-the-lowest-cap",
            Self::IgnoresResets => "ignores-resets",
            Self::IgnoresMeter => "ignores-meter",
            Self::TrustsMeter => "trusts-meter",
            Self::BelievesTheHighestReading => "believes-the-highest-reading",
            Self::TakesSentForDone => "takes-sent-for-done",
            Self::TakesNewForOld => "takes-new-for-old",
            Self::WaitsForItsClock => "waits-for-its-clock",
            Self::AssumesTheLowest => "assumes-the-lowest",
            Self::BelievesItsMemory => "believes-its-memory",
            Self::IgnoresTemperatures => "ignores-temperatures",
            Self::IgnoresCooling => "ignores-cooling",
            Self::BelievesFrozenSensors => "believes-frozen-sensors",
        }
    }

    /// The wrong policy of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wrong| wrong.name() == name)
    }
}

/// The real governor, or one that is wrong in this way.
#[must_use]
pub fn of(governor: Real, wrong: Option<Wrong>) -> Box<dyn Policy> {
    match wrong {
        None => Box::new(governor),
        Some(wrong) => Box::new(Mistaken {
            wrong,
            cap: governor.ledger().cap(),
            governor,
            now: Instant::START,
            highest: Milliwatts::ZERO,
            drives: core::array::from_fn(|_| None),
            believed: [PowerState::PS0; MAX_DRIVES],
            assumed: BTreeSet::new(),
        }),
    }
}

/// The real governor, with one thing done wrong for it.
#[derive(Debug)]
struct Mistaken {
    wrong: Wrong,
    governor: Real,
    /// The latest time that it has heard of.
    now: Instant,
    /// The cap that it was given.
    cap: Milliwatts,
    /// The highest reading of the meter.
    highest: Milliwatts,
    /// What it was told of each drive.
    drives: [Option<DriveConfig>; MAX_DRIVES],
    /// What it believes of each drive's state where it does not look.
    believed: [PowerState; MAX_DRIVES],
    /// Drives that are not going to be looked at when they should be.
    assumed: BTreeSet<Slot>,
}

impl Policy for Mistaken {
    fn handle(&mut self, now: Instant, event: Event) {
        let is_old = now < self.now;
        if self.wrong == Wrong::WaitsForItsClock && is_old {
            return;
        }
        self.now = now;
        if let Some(event) = self.heard(event) {
            self.governor.handle(now, event);
        }
    }

    fn poll(&mut self) -> Option<Command> {
        loop {
            let command = self.governor.poll()?;
            let Command::Drive { slot, id, request, reason } = command else { return Some(command) };
            let outcome = match (self.wrong, request, reason) {
                (Wrong::TakesSentForDone, Request::SetPowerState(state), _) => {
                    self.believed[usize::from(slot)] = state;
                    self.governor.handle(self.now, Event::Completed { slot, id, outcome: Outcome::Done });
                    return Some(command);
                }
                (Wrong::TakesSentForDone, Request::ReadPowerState, Reason::ReadBack) => {
                    Outcome::Is(self.believed[usize::from(slot)])
                }
                (_, Request::ReadPowerState, Reason::Discovery) if self.assumed.remove(&slot) => {
                    Outcome::Is(self.believed[usize::from(slot)])
                }
                _ => return Some(command),
            };
            self.governor.handle(self.now, Event::Completed { slot, id, outcome });
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.governor.next_deadline()
    }

    fn damaged_records(&self) -> u32 {
        self.governor.damaged_records()
    }
}

/// States of the reference drive.
const STATES: u16 = 3;

/// The one of them that takes least.
const LOWEST: PowerState = PowerState::new(2).unwrap();

impl Mistaken {
    /// What the governor hears of an event, if anything.
    fn heard(&mut self, mut event: Event) -> Option<Event> {
        let known = event.slot().is_some_and(|slot| self.drives[usize::from(slot)].is_some());
        match (self.wrong, &mut event) {
            (Wrong::IgnoresCaps, Event::Cap(_)) | (Wrong::IgnoresResets, Event::Reset { .. }) => return None,
            (Wrong::KeepsTheLowestCap, Event::Cap(cap)) => {
                self.cap = self.cap.min(*cap);
                return Some(Event::Cap(self.cap));
            }
            (Wrong::IgnoresMeter, Event::Meter(_)) => {
                return Some(Event::Meter(Some(self.governor.ledger().prediction())));
            }
            (Wrong::TrustsMeter, Event::Cap(cap)) => self.cap = *cap,
            (Wrong::TrustsMeter, Event::Meter(Some(reading))) => {
                let unused = self.governor.ledger().prediction().saturating_sub(*reading);
                self.governor.handle(self.now, Event::Cap(self.cap.saturating_add(unused)));
            }
            (Wrong::BelievesTheHighestReading, Event::Meter(Some(reading))) => {
                self.highest = self.highest.max(*reading);
                return Some(Event::Meter(Some(self.highest)));
            }
            // The record says that the drive is in another state, and nobody notices.
            (Wrong::BelievesItsMemory, Event::BitFlip { slot, bit }) => {
                let (slot, flipped) = (*slot, PowerState::new(u8::try_from(*bit % STATES).unwrap_or(0)));
                let drive = self.drives[usize::from(slot)].clone()?;
                self.assume(slot, flipped.unwrap_or(PowerState::PS0));
                return Some(Event::Attached { slot, drive });
            }
            (Wrong::TakesNewForOld, Event::Removed { .. }) => return None,
            (Wrong::TakesNewForOld, Event::Attached { .. }) if known => return None,
            (Wrong::AssumesTheLowest, Event::Attached { slot, .. }) if self.now > Instant::START => {
                self.assume(*slot, LOWEST);
            }
            (Wrong::IgnoresCooling, Event::Cooling(_)) => return None,
            (Wrong::IgnoresTemperatures, Event::Attached { drive, .. }) => drive.thermal = None,
            (Wrong::BelievesFrozenSensors, Event::Attached { drive, .. }) => {
                if let Some(limits) = &mut drive.thermal {
                    limits.frozen_after = None;
                }
            }
            _ => {}
        }
        match &event {
            Event::Attached { slot, drive } => self.drives[usize::from(*slot)] = Some(drive.clone()),
            Event::Removed { slot } => self.drives[usize::from(*slot)] = None,
            _ => {}
        }
        Some(event)
    }

    fn assume(&mut self, slot: Slot, state: PowerState) {
        self.believed[usize::from(slot)] = state;
        self.assumed.insert(slot);
    }
}
