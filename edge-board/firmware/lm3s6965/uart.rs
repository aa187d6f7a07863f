//! A UART at 115200 baud, polled. Its FIFO of 16 bytes gives the loop 1.4 ms to come back.

use embedded_io::{ErrorType, Read, ReadReady, Write};

use super::CLOCK_HZ;
use super::registers::{Peripheral, Register};

const BAUD: u32 = 115_200;

/// One UART.
pub(crate) struct Uart {
    data: Register,
    flags: Register,
}

/// What the receiver found wrong with a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, defmt::Format)]
pub(crate) enum UartError {
    /// A byte came before the FIFO had room.
    Overrun,
    /// The line was held low.
    Break,
    /// Wrong parity.
    Parity,
    /// No stop bit.
    Framing,
}

impl core::fmt::Display for UartError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Overrun => "receiver overrun",
            Self::Break => "line break",
            Self::Parity => "parity error",
            Self::Framing => "no stop bit",
        })
    }
}

impl core::error::Error for UartError {}

impl embedded_io::Error for UartError {
    fn kind(&self) -> embedded_io::ErrorKind {
        embedded_io::ErrorKind::InvalidData
    }
}

impl Uart {
    const RECEIVE_EMPTY: u32 = 1 << 4;
    const TRANSMIT_FULL: u32 = 1 << 5;
    const BUSY: u32 = 1 << 3;

    /// Eight data bits, no parity, one stop bit, FIFOs on.
    pub(super) fn start(uart: Peripheral) -> Self {
        /// Divisor in 64ths: clock / (16 × baud), rounded.
        const DIVISOR: u32 = (CLOCK_HZ * 8 / BAUD).div_ceil(2);
        const EIGHT_BITS_AND_FIFO: u32 = 0x70;
        const ENABLE_BOTH_WAYS: u32 = 0x301;
        uart.register(0x030).write(0); // UARTCTL
        uart.register(0x024).write(DIVISOR / 64); // UARTIBRD
        uart.register(0x028).write(DIVISOR % 64); // UARTFBRD
        uart.register(0x02C).write(EIGHT_BITS_AND_FIFO); // UARTLCRH
        uart.register(0x030).write(ENABLE_BOTH_WAYS);
        Self { data: uart.register(0x000), flags: uart.register(0x018) }
    }

    fn is(&self, flag: u32) -> bool {
        self.flags.read() & flag != 0
    }
}

impl ErrorType for Uart {
    type Error = UartError;
}

impl ReadReady for Uart {
    fn read_ready(&mut self) -> Result<bool, UartError> {
        Ok(!self.is(Self::RECEIVE_EMPTY))
    }
}

impl Read for Uart {
    /// Waits for one byte, and takes what else is there.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, UartError> {
        let mut length = 0;
        for place in buffer {
            while length == 0 && self.is(Self::RECEIVE_EMPTY) {}
            if self.is(Self::RECEIVE_EMPTY) {
                break;
            }
            let [byte, errors, ..] = self.data.read().to_le_bytes();
            let error = [UartError::Framing, UartError::Parity, UartError::Break, UartError::Overrun];
            if let Some(error) =
                error.into_iter().zip(0..).find_map(|(error, bit)| (errors >> bit & 1 != 0).then_some(error))
            {
                return Err(error);
            }
            *place = byte;
            length += 1;
        }
        Ok(length)
    }
}

impl Write for Uart {
    /// Waits for room for one byte, and writes what else fits.
    fn write(&mut self, bytes: &[u8]) -> Result<usize, UartError> {
        let mut length = 0;
        for byte in bytes {
            while length == 0 && self.is(Self::TRANSMIT_FULL) {}
            if self.is(Self::TRANSMIT_FULL) {
                break;
            }
            self.data.write(u32::from(*byte));
            length += 1;
        }
        Ok(length)
    }

    fn flush(&mut self) -> Result<(), UartError> {
        while self.is(Self::BUSY) {}
        Ok(())
    }
}
