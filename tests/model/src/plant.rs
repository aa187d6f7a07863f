//! Errors planted around the governor, to show that each would be found.

use std::hash::Hasher;

use wattline_core::budget::Ledger;
use wattline_core::governor::{Alarm, Command, CommandId, Event, Outcome, Reason, Request, Slot};
use wattline_core::nvme::PowerState;
use wattline_core::units::{Instant, Milliwatts};

use crate::world::{Governor, SLOTS, World};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plant {
    /// A lowering counts as done and read back when it is sent.
    TrustsLowerings,
    /// A reset is not noticed.
    OverlooksResets,
    /// A removal is not noticed.
    OverlooksRemovals,
    /// A raise is sent twice.
    RaisesTwice,
    /// An answer to any command counts for the one in flight.
    TakesAnyAnswer,
    /// A set counts as read back when it is done.
    SkipsReadBacks,
    /// A cap that rises is taken for fifteen watts more than it is, and nobody is told so.
    PromisesMore,
    /// A lower cap is noticed one event too late.
    ShedsLater,
    /// Nobody is told that the cap cannot be held.
    KeepsQuiet,
    /// Nobody takes turns.
    NeverTurns,
}

impl Plant {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::TrustsLowerings,
        Self::OverlooksResets,
        Self::OverlooksRemovals,
        Self::RaisesTwice,
        Self::TakesAnyAnswer,
        Self::SkipsReadBacks,
        Self::PromisesMore,
        Self::ShedsLater,
        Self::KeepsQuiet,
        Self::NeverTurns,
    ];
}

/// A governor, and what is wrong with it.
#[derive(Clone, Debug)]
pub struct Planted {
    governor: Governor,
    plant: Option<Plant>,
    /// The command that was sent to each slot last.
    sent: [Option<CommandId>; SLOTS],
    /// A cap that was not noticed yet.
    held: Option<Milliwatts>,
    /// What is promised and is not there.
    promised: Milliwatts,
    /// Lowerings that were sent and count as done, each with the read that is still to come.
    trusted: Vec<(CommandId, Command)>,
}

impl Planted {
    /// The governor of a world.
    #[must_use]
    pub fn new(world: &World, plant: Option<Plant>) -> Self {
        let governor = match plant {
            Some(Plant::NeverTurns) => world.governor(0),
            _ => world.governor(crate::world::INTERVAL),
        };
        Self { governor, plant, sent: [None; SLOTS], held: None, promised: Milliwatts::ZERO, trusted: Vec::new() }
    }

    /// Tells it something, and returns all that comes out.
    pub fn handle(&mut self, now: Instant, event: Event) -> Vec<Command> {
        if let Some(cap) = self.held.take() {
            self.governor.handle(now, Event::Cap(cap));
        }
        let answered = match &event {
            Event::Completed { id, outcome: Outcome::Done, .. } => Some(*id),
            _ => None,
        };
        let event = self.misheard(event);
        self.governor.handle(now, event);
        let commands: Vec<_> = std::iter::from_fn(|| self.governor.poll()).collect();
        let mut said = Vec::new();
        for command in commands {
            self.say(now, command, &mut said);
        }
        said.extend(self.trusted.extract_if(.., |(id, _)| Some(*id) == answered).map(|(_, read)| read));
        said
    }

    fn misheard(&mut self, event: Event) -> Event {
        match (self.plant, event) {
            (Some(Plant::OverlooksResets), Event::Reset { .. })
            | (Some(Plant::OverlooksRemovals), Event::Removed { .. }) => Event::Tick,
            (Some(Plant::TakesAnyAnswer), Event::Completed { slot, id, outcome }) => {
                Event::Completed { slot, id: self.sent[usize::from(slot)].unwrap_or(id), outcome }
            }
            (Some(Plant::PromisesMore), Event::Cap(cap)) => {
                let rises = cap > self.governor.ledger().cap();
                self.promised = if rises { Milliwatts::from_watts(15) } else { Milliwatts::ZERO };
                Event::Cap(cap.saturating_add(self.promised))
            }
            (Some(Plant::ShedsLater), Event::Cap(cap)) if cap < self.governor.ledger().cap() => {
                self.held = Some(cap);
                Event::Tick
            }
            (_, event) => event,
        }
    }

    fn say(&mut self, now: Instant, command: Command, said: &mut Vec<Command>) {
        let Command::Drive { slot, id, request, reason } = command else {
            let is_hushed = matches!(command, Command::Alarm { alarm: Alarm::CannotHold { .. }, .. });
            if self.plant != Some(Plant::KeepsQuiet) || !is_hushed {
                said.push(command);
            }
            return;
        };
        self.sent[usize::from(slot)] = Some(id);
        match (self.plant, request, reason) {
            (Some(Plant::RaisesTwice), _, Reason::Raise) => said.extend([command, command]),
            (Some(Plant::TrustsLowerings), Request::SetPowerState(state), reason) if reason != Reason::Raise => {
                said.push(command);
                self.governor.handle(now, Event::Completed { slot, id, outcome: Outcome::Done });
                if let Some(read @ Command::Drive { id: reading, .. }) = self.governor.poll() {
                    self.trusted.push((id, read));
                    let outcome = Outcome::Is(state);
                    self.governor.handle(now, Event::Completed { slot, id: reading, outcome });
                }
                said.extend(std::iter::from_fn(|| self.governor.poll()));
            }
            (Some(Plant::SkipsReadBacks), Request::ReadPowerState, Reason::ReadBack) => {
                if let Some(state) = self.governor.target(slot) {
                    self.governor.handle(now, Event::Completed { slot, id, outcome: Outcome::Is(state) });
                    said.extend(std::iter::from_fn(|| self.governor.poll()));
                }
            }
            _ => said.push(command),
        }
    }

    /// What it says that the drives may take together.
    #[must_use]
    pub fn allowance(&self) -> Milliwatts {
        self.governor.ledger().allowance().saturating_sub(self.promised)
    }

    /// The governor's ledger.
    #[must_use]
    pub fn ledger(&self) -> &Ledger<SLOTS> {
        self.governor.ledger()
    }

    /// The state that the plan gives a drive.
    #[must_use]
    pub fn target(&self, slot: Slot) -> Option<PowerState> {
        self.governor.target(slot)
    }

    /// When the governor wants to be called again.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.governor.next_deadline()
    }

    /// Feeds a hasher with how it stands.
    pub fn situation(&self, hasher: &mut impl Hasher) {
        self.governor.situation(hasher);
    }
}
