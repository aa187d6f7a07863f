//! The board's sensors, and what their readings mean for the governor.

use embedded_hal::i2c::{Error as _, I2c};
use lm75::Lm75;
use lm75::ic;
use wattline_core::governor::{Event, Slot};
use wattline_core::units::{Kelvin, Milliwatts};

use crate::adm1272::Adm1272;
use crate::report::BusError;

/// A power monitor and a board temperature sensor, each with its own handle to the bus.
pub struct Sensors<I> {
    meter: Adm1272<I>,
    /// A TMP105 or any other LM75: both give half degrees after their start.
    board: Lm75<I, ic::Lm75>,
    /// How much warmer a drive is taken to be than the board: an estimate.
    drives_above_board: Kelvin,
}

/// One reading of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Input power of the whole appliance.
    pub power: Result<Milliwatts, BusError>,
    /// Temperature of the board.
    pub board: Result<Kelvin, BusError>,
    drives_above_board: Kelvin,
}

impl<I: I2c> Sensors<I> {
    /// These sensors; drives are taken to be `drives_above_board` warmer than the board.
    pub const fn new(meter: Adm1272<I>, board: Lm75<I, ic::Lm75>, drives_above_board: Kelvin) -> Self {
        Self { meter, board, drives_above_board }
    }

    /// Reads both.
    pub fn sample(&mut self) -> Sample {
        Sample {
            power: self.meter.power().map_err(|error| error.kind().into()),
            board: self.board_temperature(),
            drives_above_board: self.drives_above_board,
        }
    }

    /// Rounded up to whole degrees.
    fn board_temperature(&mut self) -> Result<Kelvin, BusError> {
        match self.board.read_temperature() {
            Ok(celsius) => {
                #[expect(clippy::cast_possible_truncation, reason = "a sensor of nine bits gives whole half degrees")]
                let half_degrees = (celsius * 2.0) as i32;
                Kelvin::from_celsius((half_degrees + 1).div_euclid(2)).ok_or(BusError::Other)
            }
            Err(lm75::Error::I2C(error)) => Err(error.kind().into()),
            Err(lm75::Error::InvalidInputData) => Err(BusError::Other),
        }
    }
}

impl Sample {
    /// What there is to tell the governor of `drives` drives.
    pub fn events(self, drives: u8) -> impl Iterator<Item = Event> {
        let reading = self.board.ok().map(|board| board.saturating_add(self.drives_above_board));
        let temperatures = (0..drives).map(move |slot: Slot| Event::Temperature { slot, reading });
        core::iter::once(Event::Meter(self.power.ok())).chain(temperatures)
    }
}

#[cfg(test)]
mod tests {
    use core::num::NonZeroU32;

    use embedded_hal::i2c::ErrorKind;
    use embedded_hal_mock::eh1::i2c::{Mock, Transaction};

    use super::*;

    fn sample(transactions: &[Transaction]) -> Sample {
        let mut bus = Mock::new(transactions);
        let meter = Adm1272::new(bus.clone(), 0x10, NonZeroU32::MIN);
        let mut sensors = Sensors::new(meter, Lm75::new(bus.clone(), 0x48), Kelvin::new(15));
        let sample = sensors.sample();
        bus.done();
        sample
    }

    fn unplugged(address: u8, command: u8) -> Transaction {
        Transaction::write_read(address, vec![command], vec![0, 0]).with_error(ErrorKind::Bus)
    }

    #[test]
    fn half_degrees_are_rounded_up_and_the_drives_are_warmer() {
        for (bytes, celsius) in [([0x2D, 0x00], 45), ([0x2D, 0x80], 46), ([0xFF, 0x80], 0), ([0xE7, 0x00], -25)] {
            let sample = sample(&[unplugged(0x10, 0xD4), Transaction::write_read(0x48, vec![0], bytes.to_vec())]);
            let board = Kelvin::from_celsius(celsius).unwrap();
            assert_eq!((sample.power, sample.board), (Err(BusError::Bus), Ok(board)));
            let reading = Some(board.saturating_add(Kelvin::new(15)));
            let told: Vec<_> = sample.events(2).collect();
            let temperature = |slot| Event::Temperature { slot, reading };
            assert_eq!(told, [Event::Meter(None), temperature(0), temperature(1)]);
        }
    }

    #[test]
    fn a_sensor_that_fails_is_told_as_missing() {
        let told: Vec<_> = sample(&[unplugged(0x10, 0xD4), unplugged(0x48, 0)]).events(1).collect();
        assert_eq!(told, [Event::Meter(None), Event::Temperature { slot: 0, reading: None }]);
    }
}
