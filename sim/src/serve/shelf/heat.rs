//! What happens once a second: meter, counters, and what a drive does about its heat.

use wattline_core::units::Kelvin;

use super::{Notice, READINGS, Shelf};
use crate::host;
use crate::model::management::Thresholds;
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
    }

    /// Gives the drive the thresholds that the host has set, and takes its counters.
    pub(super) fn manage_heat(&mut self, slot: usize) {
        let bay = &mut self.bays[slot];
        let wanted = bay.features.thermal_management();
        let celsius = |threshold: Option<Kelvin>| threshold.map(|threshold| f64::from(threshold.celsius()));
        let thresholds = match (celsius(wanted.light), celsius(wanted.heavy)) {
            (None, None) => None,
            (light_c, heavy_c) => {
                let heavy_c = heavy_c.unwrap_or(f64::INFINITY);
                Some(Thresholds { light_c: light_c.unwrap_or(heavy_c), heavy_c })
            }
        };
        let drive = self.chassis.drive_mut(slot);
        drive.manage(thresholds);
        let [light, heavy] = drive.management().counted();
        (bay.counters.light, bay.counters.heavy) = (light, heavy);
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
