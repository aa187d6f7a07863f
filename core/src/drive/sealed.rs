//! A drive's record and its checksum.
//!
//! Where memory is not corrected and radiation is not shielded, bits flip. What a drive counts for hangs on its record,
//! so the record carries the checksum of its encoded form, renewed whenever the record changes on purpose. A record
//! that does not fit its checksum is worth nothing: the drive is to be forgotten and read again.

use super::Drive;

/// Bytes that are enough for an encoded [`Drive`].
const ENCODED: usize = 64;

/// A drive's record that notices when it has changed by itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sealed {
    drive: Drive,
    seal: u32,
}

impl Sealed {
    /// Seals a record.
    #[must_use]
    pub fn new(drive: Drive) -> Self {
        let seal = seal(&drive);
        Self { drive, seal }
    }

    /// Changes the record on purpose. One that was damaged before stays noticeable.
    pub fn change<T>(&mut self, change: impl FnOnce(&mut Drive) -> T) -> T {
        let before = self.drive.clone();
        let result = change(&mut self.drive);
        if self.drive != before {
            let was_intact = seal(&before) == self.seal;
            self.seal = if was_intact { seal(&self.drive) } else { !seal(&self.drive) };
        }
        result
    }

    /// Whether the record is as it was left.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        seal(&self.drive) == self.seal
    }

    /// Flips one bit of the encoded record and its checksum (counted modulo their length), as radiation would: for
    /// fault injection. A pattern that no record has is as noticeable as any other.
    pub fn flip(&mut self, bit: usize) {
        let mut buffer = [0; ENCODED];
        let length = postcard::to_slice(&self.drive, &mut buffer).map_or(0, |encoded| encoded.len());
        let bit = bit % (length * 8 + 32);
        let Some(byte) = buffer.get_mut(bit / 8).filter(|_| bit < length * 8) else {
            self.seal ^= 1 << (bit % 32);
            return;
        };
        *byte ^= 1 << (bit % 8);
        match postcard::from_bytes(&buffer) {
            Ok(drive) if drive != self.drive => self.drive = drive,
            _ => self.seal = !self.seal,
        }
    }
}

impl core::ops::Deref for Sealed {
    type Target = Drive;

    fn deref(&self) -> &Drive {
        &self.drive
    }
}

fn seal(drive: &Drive) -> u32 {
    let mut buffer = [0; ENCODED];
    // The encoding of a record never fails for want of room: see the tests.
    postcard::to_slice(drive, &mut buffer).map_or(0, |encoded| crc_32(encoded))
}

/// CRC-32/ISO-HDLC, four bits at a time: a table for eight takes a kilobyte of a microcontroller, no table four times
/// as long, and a record is looked at in every call.
fn crc_32(bytes: &[u8]) -> u32 {
    /// The polynomial with its bits in reverse, since the lowest bit comes first.
    const POLYNOMIAL: u32 = 0xEDB8_8320;
    /// What four bits at the low end come to.
    static TABLE: [u32; 16] = {
        let mut table = [0; 16];
        let mut nibble = 0u32;
        while nibble < 16 {
            let mut rest = nibble;
            let mut bit = 0;
            while bit < 4 {
                rest = (rest >> 1) ^ (POLYNOMIAL * (rest & 1));
                bit += 1;
            }
            table[nibble as usize] = rest;
            nibble += 1;
        }
        table
    };
    let step = |crc: u32| (crc >> 4) ^ TABLE[(crc & 0xF) as usize];
    !bytes.iter().fold(u32::MAX, |crc, byte| step(step(crc ^ u32::from(*byte))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::{Cause, CommandId, Request, StateSet};
    use crate::nvme::Status;

    #[test]
    fn the_checksum_is_the_one_that_everybody_means() {
        let named = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);
        let mut bytes: heapless::Vec<u8, 300> = heapless::Vec::new();
        for byte in (0..=u8::MAX).rev() {
            assert_eq!(crc_32(&bytes), named.checksum(&bytes));
            bytes.push(byte).unwrap();
        }
    }

    #[test]
    fn every_flipped_bit_is_noticed_and_stays_noticed() {
        let mut sealed = Sealed::new(Drive::attached());
        sealed.change(|drive| drive.sent(Request::ReadPowerState, CommandId(u32::MAX)));
        for bit in 0..ENCODED * 8 {
            let mut flipped = sealed.clone();
            assert!(flipped.is_intact());
            flipped.flip(bit);
            assert!(!flipped.is_intact(), "bit {bit}");
            flipped.change(|drive| drive.reset(StateSet::ALL));
            flipped.change(|drive| drive.give_up(Cause::Rejected(Status::INVALID_FIELD)));
            assert!(!flipped.is_intact(), "bit {bit}, after a change");
        }
    }
}
