//! Commands on their way to drives and back, and what goes wrong there.
//!
//! ```text
//!   send ──▶ act (the drive obeys or refuses) ──▶ answer, at once or late
//!                        └──▶ nothing: the host gives up after its timeout and resets the controller
//! ```
//!
//! Whatever was in flight when the governor stopped takes effect, and nobody hears of it.
//!
//! A reset or a removal starts a new *era* of its slot; whatever is on its way from an older one is dropped.

use wattline_core::governor::{CommandId, Outcome, Request};
use wattline_core::nvme::Status;

use crate::random::{Purpose, Random};
use crate::scenario::schema::FaultsSection;
use crate::time::Micros;

/// A command on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// To which drive.
    pub slot: usize,
    /// Of which era.
    pub era: u32,
    /// Its name.
    pub id: CommandId,
    /// What it asks for.
    pub request: Request,
    /// When it was sent.
    pub sent: Micros,
    /// What becomes of it.
    pub fate: Fate,
}

/// What becomes of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It takes effect and is answered.
    Answered,
    /// It takes effect and is answered late.
    Late,
    /// It takes effect and is never answered.
    Lost,
    /// The drive refuses it.
    Refused,
}

/// An answer on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// To which command.
    pub order: Order,
    /// What it says.
    pub outcome: Outcome,
}

/// The wires of all slots.
#[derive(Debug)]
pub struct Wires {
    faults: FaultsSection,
    eras: Vec<u32>,
    /// Since when somebody listens.
    heard_from: Micros,
    chance: Vec<Random>,
}

impl Wires {
    /// Wires for so many slots.
    #[must_use]
    pub fn new(faults: FaultsSection, seed: u64, slots: usize) -> Self {
        let chance = (0u64..).take(slots).map(|slot| Random::stream(seed, Purpose::Wire, slot)).collect();
        Self { faults, eras: vec![0; slots], heard_from: 0, chance }
    }

    /// Puts a command on its way, and draws what becomes of it.
    pub fn send(&mut self, now: Micros, slot: usize, id: CommandId, request: Request) -> Order {
        let fate = self.fate(slot);
        Order { slot, era: self.eras[slot], id, request, sent: now, fate }
    }

    /// Draws what becomes of the next command to a slot.
    pub fn fate(&mut self, slot: usize) -> Fate {
        let draw = self.chance[slot].unit();
        let (lost, late, refused) = (self.faults.lost.0, self.faults.late.0, self.faults.failed.0);
        if draw < lost {
            Fate::Lost
        } else if draw < lost + late {
            Fate::Late
        } else if draw < lost + late + refused {
            Fate::Refused
        } else {
            Fate::Answered
        }
    }

    /// Drops whatever is on its way to or from a slot.
    pub fn cut(&mut self, slot: usize) {
        self.eras[slot] += 1;
    }

    /// Whether a command has not been dropped.
    #[must_use]
    pub fn carries(&self, order: Order) -> bool {
        self.eras[order.slot] == order.era
    }

    /// Somebody listens from now on, to nothing that was sent before.
    pub fn listen(&mut self, now: Micros) {
        self.heard_from = now;
    }

    /// Whether there is still somebody who waits for what becomes of a command.
    #[must_use]
    pub fn hears(&self, order: Order) -> bool {
        self.carries(order) && order.sent >= self.heard_from
    }

    /// When an answer that leaves the drive now arrives; `None`: never.
    #[must_use]
    pub fn arrival(&self, now: Micros, fate: Fate) -> Option<Micros> {
        match fate {
            Fate::Answered | Fate::Refused => Some(now),
            Fate::Late => Some(now + self.faults.late_by_s.micros()),
            Fate::Lost => None,
        }
    }

    /// When the host gives a command up.
    #[must_use]
    pub fn gives_up(&self, sent: Micros) -> Micros {
        sent + self.faults.host_timeout_s.micros()
    }

    /// The status of a refusal.
    #[must_use]
    pub fn refusal(&self) -> Status {
        Status::from_bits(self.faults.failed_status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::value::Share;

    #[test]
    fn every_fate_comes_as_often_as_asked_for() {
        let faults =
            FaultsSection { lost: Share(0.1), late: Share(0.2), failed: Share(0.3), ..FaultsSection::default() };
        let mut wires = Wires::new(faults, 1, 1);
        let fates: Vec<Fate> =
            (0..10_000).map(|_| wires.send(0, 0, CommandId(0), Request::ReadPowerState).fate).collect();
        let share = |fate| fates.iter().filter(|drawn| **drawn == fate).count() as f64 / 10_000.0;
        for (fate, expected) in [(Fate::Lost, 0.1), (Fate::Late, 0.2), (Fate::Refused, 0.3), (Fate::Answered, 0.4)] {
            assert!((share(fate) - expected).abs() < 0.02, "{fate:?} {}", share(fate));
        }
    }

    #[test]
    fn what_was_sent_before_somebody_listens_takes_effect_unheard() {
        let mut wires = Wires::new(FaultsSection::default(), 1, 1);
        let old = wires.send(5, 0, CommandId(7), Request::ReadPowerState);
        assert!(wires.hears(old));
        wires.listen(6);
        let new = wires.send(6, 0, CommandId(7), Request::ReadPowerState);
        assert!(wires.carries(old) && !wires.hears(old) && wires.hears(new));
    }

    #[test]
    fn a_cut_drops_what_is_on_its_way_to_that_slot_only() {
        let mut wires = Wires::new(FaultsSection::default(), 1, 2);
        let [one, other] = [0, 1].map(|slot| wires.send(0, slot, CommandId(7), Request::ReadPowerState));
        wires.cut(0);
        assert!(!wires.carries(one) && wires.carries(other));
    }
}
