//! Counts instructions.
//!
//! Under QEMU's `-icount shift=8` every instruction takes 256 ns of the emulated time, and the chip's timer counts once
//! in 80 ns (12.5 MHz, with which the chip starts): 3.2 counts an instruction, so rounding gives their exact number.

use cortex_m::peripheral::syst::SystClkSource;
use cortex_m::peripheral::{Peripherals, SYST};

/// The chip's timer, which counts downwards and goes on for ever.
pub(crate) struct Counter {
    /// What measuring nothing comes to.
    overhead: u32,
}

/// The timer has so many counts: 5.2 million instructions.
const COUNTS: u32 = 1 << 24;
const NANOSECONDS_PER_COUNT: u32 = 80;
const NANOSECONDS_PER_INSTRUCTION: u32 = 256;

impl Counter {
    pub(crate) fn start() -> Self {
        let Some(peripherals) = Peripherals::take() else { unreachable!("nobody else takes them") };
        let mut timer = peripherals.SYST;
        timer.set_clock_source(SystClkSource::Core);
        timer.set_reload(COUNTS - 1);
        timer.clear_current();
        timer.enable_counter();
        let mut counter = Self { overhead: 0 };
        counter.overhead = counter.instructions(|| ()).1;
        counter
    }

    /// The instructions of a call. One of more than the timer can count ends the program.
    #[inline(never)]
    pub(crate) fn instructions<T>(&mut self, call: impl FnOnce() -> T) -> (T, u32) {
        let before = SYST::get_current();
        let result = call();
        let after = SYST::get_current();
        let counts = (before + COUNTS - after) % COUNTS;
        let nanoseconds = u64::from(counts) * u64::from(NANOSECONDS_PER_COUNT);
        let half = u64::from(NANOSECONDS_PER_INSTRUCTION / 2);
        let instructions = (nanoseconds + half) / u64::from(NANOSECONDS_PER_INSTRUCTION);
        (result, u32::try_from(instructions).unwrap_or(u32::MAX).saturating_sub(self.overhead))
    }

    /// Counts loops of known lengths.
    pub(crate) fn check(&mut self) {
        for rounds in [10, 100, 1_000, 10_000, 100_000, 1_000_000] {
            let more = rounds + 500;
            let ((), one) = self.instructions(|| spin(rounds));
            let ((), other) = self.instructions(|| spin(more));
            assert_eq!(other - one, 1_000, "the counter is wrong, or QEMU runs without -icount shift=8");
        }
    }
}

/// Takes two instructions a round, and a few around the loop.
#[inline(never)]
fn spin(rounds: u32) {
    cortex_m::asm::delay(rounds);
}
