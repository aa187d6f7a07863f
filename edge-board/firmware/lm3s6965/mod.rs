//! As much of the Stellaris LM3S6965 as the board needs. Offsets and bits are those of its data sheet, DS-LM3S6965.
//!
//! | line | pins | carries |
//! |---|---|---|
//! | UART 0 | PA0, PA1 | the drives |
//! | UART 1 | PD2, PD3 | journal and telemetry |
//! | UART 2 | PG0, PG1 | the log |
//! | I²C 0 | PB2, PB3 | power monitor and temperature sensor |

mod i2c;
mod registers;
mod uart;
mod watchdog;

pub(crate) use self::i2c::I2c;
use self::registers::{
    GPIO_A, GPIO_B, GPIO_D, GPIO_G, I2C_0, Peripheral, SYSTEM_CONTROL, UART_0, UART_1, UART_2, WATCHDOG,
};
pub(crate) use self::uart::Uart;
pub(crate) use self::watchdog::Watchdog;

/// The system clock: the PLL's 200 MHz divided by 4.
const CLOCK_HZ: u32 = 50_000_000;

/// The chip's peripherals, running.
pub(crate) struct Chip {
    pub(crate) drives: Uart,
    pub(crate) journal: Uart,
    pub(crate) log: Uart,
    pub(crate) i2c: I2c,
    pub(crate) watchdog: Watchdog,
    /// Why the chip was reset: the RESC register as it was.
    pub(crate) reset_cause: u32,
}

impl Chip {
    /// Starts clock, lines and watchdog.
    pub(crate) fn start() -> Self {
        let reset_cause = take_reset_cause();
        start_clock();
        power_peripherals();
        for (port, pins) in [(GPIO_A, 0b0011), (GPIO_B, 0b1100), (GPIO_D, 0b1100), (GPIO_G, 0b0011)] {
            connect(port, pins);
        }
        GPIO_B.register(0x50C).set_bits(0b1100); // GPIOODR: I²C lines are open drain
        Self {
            drives: Uart::start(UART_0),
            journal: Uart::start(UART_1),
            log: Uart::start(UART_2),
            i2c: I2c::start(I2C_0),
            watchdog: Watchdog::start(WATCHDOG),
            reset_cause,
        }
    }
}

/// Reads RESC and clears it: its bits stay until they are cleared.
fn take_reset_cause() -> u32 {
    let resc = SYSTEM_CONTROL.register(0x05C);
    let cause = resc.read();
    resc.write(0);
    cause
}

/// 8 MHz crystal → PLL → 50 MHz, in the steps of section 5.3, "Initialization and Configuration".
fn start_clock() {
    const SYSDIV: u32 = 0xF << 23;
    const USESYSDIV: u32 = 1 << 22;
    const PWRDN: u32 = 1 << 13;
    const BYPASS: u32 = 1 << 11;
    const XTAL: u32 = 0xF << 6;
    const OSCSRC: u32 = 0b11 << 4;
    const MOSCDIS: u32 = 1 << 0;
    const XTAL_8_MHZ: u32 = 0xE << 6;
    const DIVIDE_BY_4: u32 = 3 << 23;
    const PLL_LOCKED: u32 = 1 << 6;

    let rcc = SYSTEM_CONTROL.register(0x060);
    let interrupts = SYSTEM_CONTROL.register(0x050);
    rcc.write(rcc.read() & !USESYSDIV | BYPASS);
    rcc.write(rcc.read() & !(XTAL | OSCSRC | PWRDN | MOSCDIS) | XTAL_8_MHZ);
    rcc.write(rcc.read() & !SYSDIV | USESYSDIV | DIVIDE_BY_4);
    while interrupts.read() & PLL_LOCKED == 0 {}
    rcc.write(rcc.read() & !BYPASS);
}

fn power_peripherals() {
    const WDT: u32 = 1 << 3;
    const I2C0_AND_UARTS: u32 = 1 << 12 | 0b111;
    const GPIO_A_B_D_G: u32 = 1 << 0 | 1 << 1 | 1 << 3 | 1 << 6;
    SYSTEM_CONTROL.register(0x100).set_bits(WDT); // RCGC0
    SYSTEM_CONTROL.register(0x104).set_bits(I2C0_AND_UARTS); // RCGC1
    SYSTEM_CONTROL.register(0x108).set_bits(GPIO_A_B_D_G); // RCGC2
    // The clock of a peripheral needs three cycles before its registers may be touched; this read takes longer.
    SYSTEM_CONTROL.register(0x108).read();
}

/// Gives pins to their peripheral.
fn connect(port: Peripheral, pins: u32) {
    port.register(0x420).set_bits(pins); // GPIOAFSEL
    port.register(0x51C).set_bits(pins); // GPIODEN
}
