//! The I²C controller as a master at 100 kHz, polled.

use embedded_hal::i2c::{Error, ErrorKind, ErrorType, I2c as Bus, NoAcknowledgeSource, Operation};

use super::CLOCK_HZ;
use super::registers::{Peripheral, Register};

const SPEED_HZ: u32 = 100_000;

/// The controller.
pub(crate) struct I2c {
    address: Register,
    control: Register,
    data: Register,
}

/// What went wrong on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, defmt::Format)]
pub(crate) enum I2cError {
    /// Nobody answered to the address.
    AddressNotAcknowledged,
    /// The device did not take a byte.
    DataNotAcknowledged,
    /// Another master was faster. QEMU's controller also says so where nobody answered to the address.
    ArbitrationLost,
    /// The controller did not finish in time: somebody holds the clock.
    Stuck,
}

impl Error for I2cError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::AddressNotAcknowledged => ErrorKind::NoAcknowledge(NoAcknowledgeSource::Address),
            Self::DataNotAcknowledged => ErrorKind::NoAcknowledge(NoAcknowledgeSource::Data),
            Self::ArbitrationLost => ErrorKind::ArbitrationLoss,
            Self::Stuck => ErrorKind::Bus,
        }
    }
}

impl I2c {
    // I2CMCS, written.
    const RUN: u32 = 1 << 0;
    const START: u32 = 1 << 1;
    const STOP: u32 = 1 << 2;
    const ACK: u32 = 1 << 3;
    // I2CMCS, read.
    const BUSY: u32 = 1 << 0;
    const ERROR: u32 = 1 << 1;
    const ADDRESS_NOT_ACKNOWLEDGED: u32 = 1 << 2;
    const DATA_NOT_ACKNOWLEDGED: u32 = 1 << 3;
    const ARBITRATION_LOST: u32 = 1 << 4;

    pub(super) fn start(i2c: Peripheral) -> Self {
        const MASTER: u32 = 1 << 4;
        /// SCL has a period of 20 × (1 + TPR) clocks.
        const PERIOD: u32 = CLOCK_HZ / (20 * SPEED_HZ) - 1;
        i2c.register(0x020).write(MASTER); // I2CMCR
        i2c.register(0x00C).write(PERIOD); // I2CMTPR
        Self { address: i2c.register(0x000), control: i2c.register(0x004), data: i2c.register(0x008) }
    }

    fn read(&mut self, address: u8, bytes: &mut [u8]) -> Result<(), I2cError> {
        self.address.write(u32::from(address) << 1 | 1);
        let last = bytes.len().saturating_sub(1);
        for (index, byte) in bytes.iter_mut().enumerate() {
            let acknowledge = if index == last { Self::STOP } else { Self::ACK };
            self.run(index, acknowledge)?;
            [*byte, ..] = self.data.read().to_le_bytes();
        }
        Ok(())
    }

    /// Ends with STOP, also where a read follows.
    fn write(&mut self, address: u8, bytes: &[u8]) -> Result<(), I2cError> {
        self.address.write(u32::from(address) << 1);
        let last = bytes.len().saturating_sub(1);
        for (index, byte) in bytes.iter().enumerate() {
            self.data.write(u32::from(*byte));
            self.run(index, if index == last { Self::STOP } else { 0 })?;
        }
        Ok(())
    }

    /// Moves one byte, the first with START.
    fn run(&mut self, index: usize, with: u32) -> Result<(), I2cError> {
        /// A byte takes 90 µs, and this many reads of a register at least 40 ms: longer than any device may hold the
        /// clock (SMBus: 25 ms).
        const PATIENCE: u32 = 500_000;
        let start = if index == 0 { Self::START } else { 0 };
        self.control.write(Self::RUN | start | with);
        let status = (0..PATIENCE).map(|_| self.control.read()).find(|status| status & Self::BUSY == 0);
        let status = status.ok_or(I2cError::Stuck)?;
        if status & Self::ERROR == 0 {
            return Ok(());
        }
        if status & Self::ARBITRATION_LOST != 0 {
            return Err(I2cError::ArbitrationLost);
        }
        self.control.write(Self::STOP);
        if status & Self::ADDRESS_NOT_ACKNOWLEDGED != 0 {
            Err(I2cError::AddressNotAcknowledged)
        } else if status & Self::DATA_NOT_ACKNOWLEDGED != 0 {
            Err(I2cError::DataNotAcknowledged)
        } else {
            Err(I2cError::Stuck)
        }
    }
}

impl ErrorType for I2c {
    type Error = I2cError;
}

impl Bus for I2c {
    /// Against the trait's contract, every operation ends with STOP: QEMU's controller has no repeated start. The
    /// devices here keep the register pointer over a STOP, and there is no second master to come in between. Hardware
    /// with either of these otherwise needs the repeated start: leave STOP out of all operations but the last.
    fn transaction(&mut self, address: u8, operations: &mut [Operation<'_>]) -> Result<(), I2cError> {
        operations.iter_mut().try_for_each(|operation| match operation {
            Operation::Read(bytes) => self.read(address, bytes),
            Operation::Write(bytes) => self.write(address, bytes),
        })
    }
}
