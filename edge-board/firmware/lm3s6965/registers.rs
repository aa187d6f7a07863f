//! Access to the chip's registers: the only unsafe code of the board.

use core::ptr::with_exposed_provenance_mut;

use ::lm3s6965::Interrupt;
use cortex_m::peripheral::NVIC;

/// A peripheral: a page of registers.
#[derive(Clone, Copy)]
pub(crate) struct Peripheral(usize);

// Data sheet DS-LM3S6965, table "Memory Map".
pub(crate) const WATCHDOG: Peripheral = Peripheral(0x4000_0000);
pub(crate) const GPIO_A: Peripheral = Peripheral(0x4000_4000);
pub(crate) const GPIO_B: Peripheral = Peripheral(0x4000_5000);
pub(crate) const GPIO_D: Peripheral = Peripheral(0x4000_7000);
pub(crate) const GPIO_G: Peripheral = Peripheral(0x4002_6000);
pub(crate) const UART_0: Peripheral = Peripheral(0x4000_C000);
pub(crate) const UART_1: Peripheral = Peripheral(0x4000_D000);
pub(crate) const UART_2: Peripheral = Peripheral(0x4000_E000);
pub(crate) const I2C_0: Peripheral = Peripheral(0x4002_0000);
pub(crate) const SYSTEM_CONTROL: Peripheral = Peripheral(0x400F_E000);

impl Peripheral {
    /// The register at this offset.
    pub(crate) const fn register(self, offset: usize) -> Register {
        assert!(offset < 0x1000 && offset.is_multiple_of(4), "a peripheral is a page of words");
        Register(self.0 + offset)
    }
}

/// One register.
#[derive(Clone, Copy)]
pub(crate) struct Register(usize);

impl Register {
    pub(crate) fn read(self) -> u32 {
        // SAFETY: the address is a word in a peripheral's page, which holds registers and nothing of Rust's.
        unsafe { with_exposed_provenance_mut::<u32>(self.0).read_volatile() }
    }

    pub(crate) fn write(self, value: u32) {
        // SAFETY: as above; and no peripheral that is named here writes to memory by itself.
        unsafe { with_exposed_provenance_mut::<u32>(self.0).write_volatile(value) }
    }

    pub(crate) fn set_bits(self, bits: u32) {
        self.write(self.read() | bits);
    }
}

/// Lets the watchdog interrupt.
pub(crate) fn enable_watchdog_interrupt() {
    // SAFETY: no critical section relies on this interrupt being masked: its handler only panics.
    unsafe { NVIC::unmask(Interrupt::WATCHDOG_TIMER_0) }
}
