//! What happens once a second: meter, counters, and what a drive does about its heat.

use wattline_core::units::Kelvin;

use super::{Notice, READINGS, Shelf};
use crate::host;
use crate::serve::pages;
use crate::time::{SECOND, seconds};

use super::Happening;

impl Shelf {
    pub(super) fn second(&mut self) {
        self.chassis.second();
        let mean_w = (self.chassis.energy_j() - self.metered_j) / seconds(SECOND);
        self.metered_j = self.chassis.energy_j();
        self.read_meter(mean_w);
        for slot in 0..self.bays.len() {
            if self.is_present(slot) {
                // Nobody here asks for them, and a server runs for long.
                self.chassis.drive_mut(slot).take_wakes();
                self.count_second(slot);
                self.manage_heat(slot);
                self.watch_temperature(slot);
            }
        }
        self.queue.push(self.now + SECOND, Happening::Second);
    }

    pub(super) fn read_meter(&mut self, mean_w: f64) {
        if self.watts.len() == READINGS {
            self.watts.pop_front();
        }
        self.watts.push_back(self.meter.read(mean_w, &mut self.meter_noise));
    }

    fn count_second(&mut self, slot: usize) {
        let temperature = self.temperature(slot);
        let busy = self.chassis.drives()[slot].flow().work.is_some();
        let bay = &mut self.bays[slot];
        let counters = &mut bay.counters;
        let beyond = |threshold: Option<Kelvin>| threshold.is_some() && temperature >= threshold;
        counters.seconds += 1;
        counters.busy_seconds += u64::from(busy);
        if beyond(bay.kind.identity.critical_temperature) {
            counters.critical_seconds = counters.critical_seconds.saturating_add(1);
        } else if beyond(bay.kind.identity.warning_temperature) {
            counters.warning_seconds = counters.warning_seconds.saturating_add(1);
        }
        match bay.level {
            0 => {}
            1 => counters.light.time = pages::one_second_more(counters.light.time),
            _ => counters.heavy.time = pages::one_second_more(counters.heavy.time),
        }
    }

    /// Slows a hot drive down, or lets it run again.
    pub(super) fn manage_heat(&mut self, slot: usize) {
        let temperature = self.temperature(slot);
        let bay = &mut self.bays[slot];
        let managed = bay.features.thermal_management();
        let beyond = |threshold: Option<Kelvin>| threshold.is_some() && temperature >= threshold;
        let level = if beyond(managed.heavy) { 2 } else { u8::from(beyond(managed.light)) };
        if level > bay.level {
            let counters = if level == 1 { &mut bay.counters.light } else { &mut bay.counters.heavy };
            counters.transitions = counters.transitions.saturating_add(1);
        }
        bay.level = level;
        let (held, _) = bay.features.power_states();
        let lowest = bay.kind.operational().next_back();
        let throttle = if level == 2 || beyond(bay.kind.identity.critical_temperature) {
            lowest
        } else if level == 1 {
            bay.kind.operational().find(|state| *state > held).or(lowest)
        } else {
            None
        };
        self.chassis.drive_mut(slot).throttle(self.now, throttle);
        self.moved = true;
    }

    pub(super) fn watch_temperature(&mut self, slot: usize) {
        let Some(temperature) = self.temperature(slot) else { return };
        let bay = &mut self.bays[slot];
        let warns = bay.features.beyond_threshold(temperature);
        if warns && !bay.warns {
            self.notices.push(Notice::Temperature(slot));
        }
        bay.warns = warns;
    }

    pub(super) fn temperature(&self, slot: usize) -> Option<Kelvin> {
        host::kelvin(self.chassis.drives().get(slot)?.heat().composite_c)
    }
}
