//! The ADM1272, a hot-swap controller with a power monitor, over PMBus.
//!
//! PMBus sends a word with its low byte first. Power is in the *direct* format (PMBus Specification Part II, 8.3):
//!
//! ```text
//! X = (Y · 10⁻ᴿ − b) / m        Y: the word, X: watts
//! ```
//!
//! For power b is 0, and m depends on the shunt and on two ranges that the device itself reports (data sheet of the
//! ADM1272, table "PMBus Conversion to Real-World Coefficients"; the Linux driver adm1275 has the same figures).
//!
//! What it leaves out: packet error codes (the device can, the emulated one cannot), energy, limits, and the switch
//! itself.

use core::num::NonZeroU32;

use embedded_hal::i2c::I2c;
use wattline_core::units::Milliwatts;

/// READ_PIN: input power, averaged by the device.
const READ_PIN: u8 = 0x97;
/// PMON_CONFIG: the ranges, among others.
const PMON_CONFIG: u8 = 0xD4;

/// In PMON_CONFIG: full scale of the voltage is 100 V, else 60 V.
const VRANGE_100_V: u16 = 1 << 5;
/// In PMON_CONFIG: full scale of the shunt is 30 mV, else 15 mV.
const IRANGE_30_MV: u16 = 1 << 0;

/// One ADM1272.
#[derive(Debug)]
pub struct Adm1272<I> {
    i2c: I,
    address: u8,
    shunt_micro_ohms: NonZeroU32,
}

impl<I: I2c> Adm1272<I> {
    /// The device at this address, with this shunt.
    pub const fn new(i2c: I, address: u8, shunt_micro_ohms: NonZeroU32) -> Self {
        Self { i2c, address, shunt_micro_ohms }
    }

    /// Reads the input power, rounded up to the next milliwatt.
    ///
    /// # Errors
    /// What the bus came back with.
    pub fn power(&mut self) -> Result<Milliwatts, I::Error> {
        let config = self.word(PMON_CONFIG)?;
        let word = self.word(READ_PIN)?;
        Ok(power(word, config, self.shunt_micro_ohms))
    }

    fn word(&mut self, command: u8) -> Result<u16, I::Error> {
        let mut word = [0; 2];
        self.i2c.write_read(self.address, &[command], &mut word)?;
        Ok(u16::from_le_bytes(word))
    }
}

/// Power from the word in READ_PIN. `m` counts watts and milliohms, so two factors of 1000 lead to milliwatts and
/// microohms.
fn power(word: u16, config: u16, shunt_micro_ohms: NonZeroU32) -> Milliwatts {
    let (m, ten_to_minus_r): (u64, u64) = match (config & VRANGE_100_V != 0, config & IRANGE_30_MV != 0) {
        (false, false) => (3_512, 100),
        (true, false) => (21_071, 1_000),
        (false, true) => (17_561, 1_000),
        (true, true) => (10_535, 1_000),
    };
    let milliwatts = (u64::from(word) * ten_to_minus_r * 1_000_000).div_ceil(m * u64::from(shunt_micro_ohms.get()));
    Milliwatts::new(u32::try_from(milliwatts).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use embedded_hal::i2c::ErrorKind;
    use embedded_hal_mock::eh1::i2c::{Mock, Transaction};

    use super::*;

    const SHUNT: NonZeroU32 = NonZeroU32::new(300).unwrap();

    /// The words that QEMU's device gave for 300 W and 250 W.
    #[test]
    fn power_is_read_as_qemu_means_it() {
        let reads = [
            Transaction::write_read(0x10, vec![PMON_CONFIG], vec![0x35, 0x3F]),
            Transaction::write_read(0x10, vec![READ_PIN], vec![0xB4, 0x03]),
            Transaction::write_read(0x10, vec![PMON_CONFIG], vec![0x35, 0x3F]),
            Transaction::write_read(0x10, vec![READ_PIN], vec![0x16, 0x03]),
        ];
        let mut bus = Mock::new(&reads);
        let mut meter = Adm1272::new(bus.clone(), 0x10, SHUNT);
        let near = |power: Milliwatts, watts: u32| power.get().abs_diff(watts * 1000) < 317;
        assert!(near(meter.power().unwrap(), 300));
        assert!(near(meter.power().unwrap(), 250));
        bus.done();
    }

    #[test]
    fn what_the_bus_says_is_kept() {
        let refused =
            Transaction::write_read(0x10, vec![PMON_CONFIG], vec![0, 0]).with_error(ErrorKind::ArbitrationLoss);
        let mut bus = Mock::new(&[refused]);
        assert_eq!(Adm1272::new(bus.clone(), 0x10, SHUNT).power(), Err(ErrorKind::ArbitrationLoss));
        bus.done();
    }

    /// The direct format in floating point, with the coefficients as Linux writes them: m, b, R.
    #[test]
    fn every_range_follows_the_direct_format() {
        for (config, m, r) in [(0, 3512.0, -2), (1 << 5, 21071.0, -3), (1, 17561.0, -3), (1 << 5 | 1, 10535.0, -3)] {
            for word in [0, 1, 79, 948, 4095, u16::MAX] {
                let watts = f64::from(word) * 10f64.powi(-r) / (m * 0.3);
                let read = f64::from(power(word, config, SHUNT).get()) / 1000.0;
                assert!((0.0..=0.001).contains(&(read - watts)), "{word} {config:#x}: {read} {watts}");
            }
        }
    }

    #[test]
    fn the_largest_word_over_the_smallest_shunt_saturates() {
        assert_eq!(power(u16::MAX, 0, NonZeroU32::MIN), Milliwatts::new(1_866_030_752));
        assert_eq!(power(u16::MAX, 1 << 5, NonZeroU32::MIN), Milliwatts::new(3_110_198_852));
        assert_eq!(power(u16::MAX, 1 << 5 | 1, NonZeroU32::MIN), Milliwatts::MAX);
    }
}
