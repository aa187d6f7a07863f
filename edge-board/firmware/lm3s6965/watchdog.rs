//! The hardware watchdog: two stages of [`PERIOD_S`] each. The first interrupts, and the interrupt's panic is recorded;
//! the second resets the chip even where that did not work.

use ::lm3s6965::interrupt;

use super::CLOCK_HZ;
use super::registers::{Peripheral, Register, enable_watchdog_interrupt};

/// Longer than any step can take, also on an emulated chip on a busy machine; shorter than the governor's own patience
/// with a sensor (30 s).
const PERIOD_S: u32 = 5;

/// Written to WDTLOCK, it opens the other registers; any other value closes them.
const KEY: u32 = 0x1ACC_E551;

/// The running watchdog. Nothing can stop it but a reset.
pub(crate) struct Watchdog {
    clear: Register,
    lock: Register,
}

impl Watchdog {
    pub(super) fn start(watchdog: Peripheral) -> Self {
        const INTERRUPT_THEN_RESET: u32 = 0b11;
        let watched = Self { clear: watchdog.register(0x00C), lock: watchdog.register(0xC00) };
        watched.lock.write(KEY);
        watchdog.register(0x000).write(PERIOD_S * CLOCK_HZ); // WDTLOAD
        watchdog.register(0x008).write(INTERRUPT_THEN_RESET); // WDTCTL
        watched.lock.write(0);
        enable_watchdog_interrupt();
        watched
    }

    /// Gives the loop another period.
    pub(crate) fn feed(&mut self) {
        self.lock.write(KEY);
        self.clear.write(0); // WDTICR: any value reloads the counter
        self.lock.write(0);
    }
}

#[interrupt]
fn WATCHDOG_TIMER_0() {
    panic!("the loop has stood still for {PERIOD_S} s");
}
