//! A fixed set of alarms, each of which remembers what was told of it.

use super::event::{Alarm, Command, Slot};
use crate::budget::SHELVES;
use crate::drive::{Cause, CommandId, Lever};
use crate::nvme::Status;
use crate::profile::WorkSet;
use crate::units::{BytesPerSecond, Kelvin, Milliwatts};

/// One alarm: how it stands, and what was told last.
#[derive(Clone, Copy, Debug, Hash)]
pub(super) struct Latch<T> {
    now: Option<T>,
    told: Option<T>,
}

impl<T> Default for Latch<T> {
    fn default() -> Self {
        Self { now: None, told: None }
    }
}

impl<T: Copy> Latch<T> {
    /// The same latch, of what `change` makes of an alarm.
    pub(super) fn map<U>(self, change: impl Fn(T) -> U) -> Latch<U> {
        Latch { now: self.now.map(&change), told: self.told.map(&change) }
    }
}

impl<T: Copy + PartialEq> Latch<T> {
    pub(super) const fn set(&mut self, now: Option<T>) {
        self.now = now;
    }

    /// What there is to tell: the alarm, and whether it is raised; `None` where nothing has changed.
    fn change(&mut self) -> Option<(T, bool)> {
        if self.now == self.told {
            return None;
        }
        let told = core::mem::replace(&mut self.told, self.now);
        self.now.map(|now| (now, true)).or_else(|| told.map(|told| (told, false)))
    }
}

impl Latch<Milliwatts> {
    /// Sets an amount; a raised alarm is told again only where it gets worse.
    pub(super) fn worsen(&mut self, amount: Milliwatts) {
        self.now = (amount > Milliwatts::ZERO).then(|| self.told.map_or(amount, |told| told.max(amount)));
    }
}

/// The alarms of one drive.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DriveAlarms {
    pub(super) unmanaged: Latch<Cause>,
    pub(super) undeclared_work: Latch<WorkSet>,
    pub(super) temperature_lost: Latch<()>,
    pub(super) lever_refused: Latch<Lever>,
    pub(super) backstop_refused: Latch<Option<Status>>,
    pub(super) record_damaged: Latch<()>,
    pub(super) no_answer: Latch<CommandId>,
    pub(super) guarantee_unmet: Latch<BytesPerSecond>,
    pub(super) temperature_frozen: Latch<()>,
    pub(super) throttled: Latch<Kelvin>,
    pub(super) cannot_wake: Latch<()>,
}

/// All alarms.
#[derive(Clone, Debug)]
pub(super) struct Alarms<const DRIVES: usize> {
    pub(super) cannot_hold: Latch<Milliwatts>,
    pub(super) shelves: [Latch<Milliwatts>; SHELVES],
    pub(super) meter_lost: Latch<()>,
    pub(super) meter_above_prediction: Latch<Milliwatts>,
    pub(super) clock_backwards: Latch<()>,
    pub(super) cooling_reduced: Latch<Milliwatts>,
    /// To be set by way of [`of_drives`](Self::of_drives).
    pub(super) drives: [DriveAlarms; DRIVES],
    /// Nothing was set of the drives since all that there was to tell of them has been told.
    pub(super) told: bool,
}

impl<const DRIVES: usize> Alarms<DRIVES> {
    pub(super) fn new() -> Self {
        Self {
            cannot_hold: Latch::default(),
            shelves: [Latch::default(); SHELVES],
            meter_lost: Latch::default(),
            meter_above_prediction: Latch::default(),
            clock_backwards: Latch::default(),
            cooling_reduced: Latch::default(),
            drives: [DriveAlarms::default(); DRIVES],
            told: true,
        }
    }

    /// Those of the drives, to be set.
    pub(super) const fn of_drives(&mut self) -> &mut [DriveAlarms; DRIVES] {
        self.told = false;
        &mut self.drives
    }

    /// The next alarm to tell.
    pub(super) fn next(&mut self) -> Option<Command> {
        let (alarm, raised) = self.next_change()?;
        Some(Command::Alarm { alarm, raised })
    }

    fn next_change(&mut self) -> Option<(Alarm, bool)> {
        if let Some((missing, raised)) = self.cannot_hold.change() {
            return Some((Alarm::CannotHold { missing }, raised));
        }
        for (shelf, latch) in (0..).zip(&mut self.shelves) {
            if let Some((missing, raised)) = latch.change() {
                return Some((Alarm::ShelfCannotHold { shelf, missing }, raised));
            }
        }
        if let Some(((), raised)) = self.meter_lost.change() {
            return Some((Alarm::MeterLost, raised));
        }
        if let Some((surplus, raised)) = self.meter_above_prediction.change() {
            return Some((Alarm::MeterAbovePrediction { surplus }, raised));
        }
        if let Some(((), raised)) = self.clock_backwards.change() {
            return Some((Alarm::ClockBackwards, raised));
        }
        if let Some((missing, raised)) = self.cooling_reduced.change() {
            return Some((Alarm::CoolingReduced { missing }, raised));
        }
        if !self.told {
            let change = (0..=u8::MAX).zip(&mut self.drives).find_map(|(slot, drive)| drive.next_change(slot));
            self.told = change.is_none();
            return change;
        }
        None
    }
}

impl DriveAlarms {
    /// The drive is gone, and all that was to be said of it with it.
    pub(super) const fn clear(&mut self) {
        self.unmanaged.set(None);
        self.undeclared_work.set(None);
        self.temperature_lost.set(None);
        self.lever_refused.set(None);
        self.backstop_refused.set(None);
        self.record_damaged.set(None);
        self.no_answer.set(None);
        self.guarantee_unmet.set(None);
        self.temperature_frozen.set(None);
        self.throttled.set(None);
        self.cannot_wake.set(None);
    }

    fn next_change(&mut self, slot: Slot) -> Option<(Alarm, bool)> {
        if let Some((cause, raised)) = self.unmanaged.change() {
            return Some((Alarm::Unmanaged { slot, cause }, raised));
        }
        if let Some((work, raised)) = self.undeclared_work.change() {
            return Some((Alarm::UndeclaredWork { slot, work }, raised));
        }
        if let Some(((), raised)) = self.temperature_lost.change() {
            return Some((Alarm::TemperatureLost { slot }, raised));
        }
        if let Some((lever, raised)) = self.lever_refused.change() {
            return Some((Alarm::LeverRefused { slot, lever }, raised));
        }
        if let Some((status, raised)) = self.backstop_refused.change() {
            return Some((Alarm::BackstopRefused { slot, status }, raised));
        }
        if let Some((id, raised)) = self.no_answer.change() {
            return Some((Alarm::NoAnswer { slot, id }, raised));
        }
        if let Some(((), raised)) = self.record_damaged.change() {
            return Some((Alarm::RecordDamaged { slot }, raised));
        }
        if let Some((missing, raised)) = self.guarantee_unmet.change() {
            return Some((Alarm::GuaranteeUnmet { slot, missing }, raised));
        }
        if let Some(((), raised)) = self.temperature_frozen.change() {
            return Some((Alarm::TemperatureFrozen { slot }, raised));
        }
        if let Some((lowered, raised)) = self.throttled.change() {
            return Some((Alarm::Throttled { slot, lowered }, raised));
        }
        let ((), raised) = self.cannot_wake.change()?;
        Some((Alarm::CannotWake { slot }, raised))
    }
}
