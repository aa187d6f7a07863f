//! What befalls the server, its meter and the governor.

use wattline_core::governor::Event;

use super::{Happening, World, wire_slot};
use crate::host::Host;
use crate::model::firmware::{Firmware, Stubbornness};
use crate::model::meter::MeterFault;
use crate::scenario::Scenario;
use crate::time::{Micros, Queue};
use crate::trace::Wire;

/// Something that goes wrong, or is done to the server while it runs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fault {
    /// A drive is put into this slot.
    Insertion(usize),
    /// From now on this drive accepts every state and enters none.
    Stubborn(usize, Stubbornness),
    /// From now on this is wrong with the meter, and it shows the truth times this.
    Meter(Option<MeterFault>, f64),
    /// The host's clock is set back.
    Clock(Micros),
    /// The governor stops.
    Stop,
    /// A new governor starts.
    Start,
    /// A bit of what the governor remembers flips.
    Flip,
}

/// Puts everything that is to befall into the queue.
pub(super) fn announce(scenario: &Scenario, queue: &mut Queue<Happening>) {
    let mut push = |at, fault| queue.push(at, Happening::Fault(fault));
    for slot in 0..scenario.drives.count {
        for insertion in scenario.insertion.iter().filter(|insertion| insertion.drives.contains(slot)) {
            push(insertion.at_s.micros(), Fault::Insertion(slot));
        }
        for stubborn in scenario.stubborn.iter().filter(|stubborn| stubborn.drives.contains(slot)) {
            push(stubborn.at_s.micros(), Fault::Stubborn(slot, stubborn.how));
        }
    }
    for meter in &scenario.meter {
        push(meter.at_s.micros(), Fault::Meter(meter.fault, meter.scale));
    }
    for clock in &scenario.clock {
        push(clock.at_s.micros(), Fault::Clock(clock.back_s.micros()));
    }
    for restart in &scenario.restart {
        push(restart.at_s.micros(), Fault::Stop);
        push(restart.at_s.micros() + restart.down_s.micros(), Fault::Start);
    }
    if let Some(flips) = scenario.flips {
        let end = flips.stop_s.unwrap_or(scenario.duration_s).micros();
        for number in 0..u64::from(flips.count) {
            push(end * number / u64::from(flips.count), Fault::Flip);
        }
    }
}

impl World<'_> {
    pub(super) fn befall(&mut self, fault: Fault) {
        match fault {
            Fault::Insertion(slot) => {
                self.wires.cut(slot);
                (self.firmware[slot], self.told[slot], self.broken[slot]) = (Firmware::default(), None, None);
                self.chassis.drive_mut(slot).insert(self.now);
                self.moved = true;
                self.disturb(format!("a drive is put into slot {slot}"));
                self.note(slot, Wire::Inserted);
                self.attach(slot);
            }
            Fault::Stubborn(slot, how) => self.firmware[slot].grow_stubborn(how),
            Fault::Meter(fault, scale) => self.meter.turn(fault, scale),
            Fault::Clock(span) => {
                self.ahead = self.ahead.saturating_sub(span);
                if let Some(host) = &mut self.host {
                    host.set_back(span);
                }
            }
            Fault::Stop => {
                if let Some(host) = self.host.take() {
                    host.leave(&mut self.trace);
                }
            }
            Fault::Start => self.start_again(),
            Fault::Flip => {
                let slot = pick(self.flips.unit(), self.chassis.drives().len());
                let bit = pick(self.flips.unit(), 1 << 16);
                if self.host.is_some() && self.chassis.drives().get(slot).is_some_and(|drive| drive.is_present()) {
                    self.trace.flips.push((self.now, slot));
                    let (slot, bit) = (wire_slot(slot), u16::try_from(bit).unwrap_or(u16::MAX));
                    self.tell(Event::BitFlip { slot, bit });
                }
            }
        }
    }

    /// A governor that has been told nothing.
    pub(super) fn new_host(&self) -> Option<Host> {
        let section = self.scenario.governor.as_ref()?;
        let base_w = self.chassis.base_w();
        Some(Host::new(self.scenario, section, self.cap, base_w, self.meter_model, self.ahead, self.wrong))
    }

    pub(super) fn attach_all(&mut self) {
        for slot in 0..self.chassis.drives().len() {
            if self.chassis.drives()[slot].is_present() {
                self.attach(slot);
            }
        }
    }

    fn attach(&mut self, slot: usize) {
        let commands = self.host.as_mut().map(|host| host.attach(self.now, wire_slot(slot))).unwrap_or_default();
        self.send_all(commands);
    }

    /// The drives have kept their states; the new governor knows none of them.
    fn start_again(&mut self) {
        self.disturb("the governor is restarted".into());
        self.wires.listen(self.now);
        self.told.fill(None);
        for slot in 0..self.chassis.drives().len() {
            self.note(slot, Wire::Started);
        }
        self.host = self.new_host();
        self.attach_all();
    }
}

/// One of so many, by a number in [0, 1).
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, and the result is clamped"
)]
fn pick(unit: f64, many: usize) -> usize {
    ((unit * many as f64) as usize).min(many.saturating_sub(1))
}
