//! Autonomous Power State Transition (APST, FID 0Ch): into which state a controller goes by itself, from which
//! state, and after how long without a command (Base Specification, Autonomous Power State Transition feature).
//!
//! The feature is one bit of command dword 11 ([`AutonomousTransitions`]) and a data buffer of 256 bytes, the [`Table`]:
//! one little-endian 64-bit entry for each *source* state.
//!
//! | bits of an entry | name | meaning |
//! |---|---|---|
//! | 2:0 | – | reserved |
//! | 7:3 | ITPS, Idle Transition Power State | the state to go to, a non-operational one |
//! | 31:8 | ITPT, Idle Time Prior to Transition | ms without a command; **0: no transition, whatever ITPS says** |
//! | 63:32 | – | reserved |
//!
//! The bits agree in nvme-cli, the Linux kernel and Microsoft's documentation, and with tables that drives returned.

use core::num::NonZeroU32;

use crate::nvme::PowerState;
use crate::units::Microseconds;

/// Command dword 11 of Set Features, dword 0 of Get Features' completion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct AutonomousTransitions {
    /// Autonomous Power State Transition Enable (APSTE, bit 0). A controller may have it set beside a table
    /// without a single transition.
    pub enabled: bool,
}

impl AutonomousTransitions {
    /// Reads the dword. Bits 31:1 are reserved and ignored.
    #[must_use]
    pub const fn decode(dword: u32) -> Self {
        Self { enabled: dword & 1 != 0 }
    }

    /// Writes the dword.
    #[must_use]
    pub const fn encode(self) -> u32 {
        self.enabled as u32
    }
}

/// One entry that says something: where to, after how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Transition {
    target: PowerState,
    idle_time: NonZeroU32,
}

impl Transition {
    /// The longest time that ITPT holds, in milliseconds: 24 bits, 4 hours and 39 minutes.
    pub const LONGEST_IDLE_TIME: u32 = 0xFF_FFFF;

    /// A transition to `target` after this many milliseconds without a command. `None` for a time of 0, which would mean
    /// that there is no transition, and above [`Self::LONGEST_IDLE_TIME`].
    #[must_use]
    pub const fn new(target: PowerState, idle_milliseconds: u32) -> Option<Self> {
        match NonZeroU32::new(idle_milliseconds) {
            Some(idle_time) if idle_milliseconds <= Self::LONGEST_IDLE_TIME => Some(Self { target, idle_time }),
            _ => None,
        }
    }

    /// The state that the controller goes to (ITPS).
    #[must_use]
    pub const fn target(self) -> PowerState {
        self.target
    }

    /// Milliseconds without a command before it goes (ITPT), 1 to [`Self::LONGEST_IDLE_TIME`].
    #[must_use]
    pub const fn idle_milliseconds(self) -> u32 {
        self.idle_time.get()
    }

    /// The same time in microseconds.
    #[must_use]
    pub const fn idle_time(self) -> Microseconds {
        Microseconds::from_millis(self.idle_time.get() as u64)
    }

    /// Reads an entry; reserved bits are ignored. `None`: no transition, since ITPT is 0. Drives exist whose entry then
    /// names a state all the same, mostly their own; [`raw_entry`] shows it.
    #[must_use]
    pub const fn decode(entry: u64) -> Option<Self> {
        let [low, time_0, time_1, time_2, ..] = entry.to_le_bytes();
        Self::new(PowerState::of_low_bits(low >> 3), u32::from_le_bytes([time_0, time_1, time_2, 0]))
    }

    /// Writes the entry.
    #[must_use]
    pub const fn encode(self) -> u64 {
        (self.target.number() as u64) << 3 | (self.idle_time.get() as u64) << 8
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Transition {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{} after {=u32} ms", self.target, self.idle_time.get());
    }
}

/// The data buffer: for each source state a transition, or none. Which states a controller has is not known here;
/// entries of others are to have no transition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Table([Option<Transition>; PowerState::COUNT]);

impl Table {
    /// Bytes of the data buffer.
    pub const LENGTH: usize = 256;
    /// The table without a transition.
    pub const EMPTY: Self = Self([None; PowerState::COUNT]);

    /// The transition from `source`, where there is one.
    #[must_use]
    pub const fn transition(&self, source: PowerState) -> Option<Transition> {
        self.0[source.index()]
    }

    /// Makes `transition` the one from `source`.
    pub const fn set(&mut self, source: PowerState, transition: Option<Transition>) {
        self.0[source.index()] = transition;
    }

    /// Whether there is no transition at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.transitions().next().is_none()
    }

    /// All transitions with their source states, by the number of the source.
    pub fn transitions(&self) -> impl DoubleEndedIterator<Item = (PowerState, Transition)> {
        PowerState::up_to(PowerState::PS31).filter_map(|source| Some((source, self.transition(source)?)))
    }

    /// Reads the buffer. Every buffer is a table; reserved bits, and the ITPS of entries without a time, are dropped.
    #[must_use]
    pub fn decode(buffer: &[u8; Self::LENGTH]) -> Self {
        let mut table = Self::EMPTY;
        for source in PowerState::up_to(PowerState::PS31) {
            table.set(source, Transition::decode(raw_entry(buffer, source)));
        }
        table
    }

    /// Writes the buffer. Entries without a transition are 0.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::LENGTH] {
        let mut buffer = [0; Self::LENGTH];
        for (source, transition) in self.transitions() {
            buffer[offset(source)..][..ENTRY].copy_from_slice(&transition.encode().to_le_bytes());
        }
        buffer
    }
}

/// All 64 bits of the entry of `source`, with what has no meaning: so that an odd table can be shown as it is.
#[must_use]
pub fn raw_entry(buffer: &[u8; Table::LENGTH], source: PowerState) -> u64 {
    let mut entry = [0; ENTRY];
    entry.copy_from_slice(&buffer[offset(source)..][..ENTRY]);
    u64::from_le_bytes(entry)
}

/// Bytes of an entry.
const ENTRY: usize = 8;

const fn offset(source: PowerState) -> usize {
    source.index() * ENTRY
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The bits of an entry that have a meaning: ITPS and ITPT.
    const DEFINED: u64 = 0xFFFF_FFF8;

    fn ps(number: u8) -> PowerState {
        PowerState::new(number).unwrap()
    }

    fn buffer(entries: &[u64]) -> [u8; Table::LENGTH] {
        let mut buffer = [0; Table::LENGTH];
        for (bytes, entry) in buffer.chunks_mut(ENTRY).zip(entries) {
            bytes.copy_from_slice(&entry.to_le_bytes());
        }
        buffer
    }

    /// WD Blue SN550 (firmware 211070WD), as the drive returned it: 100 ms to PS3, 2 s to PS4.
    #[test]
    fn a_real_table_reads_as_documented() {
        let mut real = [0; Table::LENGTH];
        for (at, bytes) in [(0, [0x18, 0x64, 0]), (8, [0x18, 0x64, 0]), (16, [0x18, 0x64, 0]), (24, [0x20, 0xd0, 0x07])]
        {
            real[at..at + 3].copy_from_slice(&bytes);
        }
        let table = Table::decode(&real);
        assert_eq!(table.transition(ps(0)), Transition::new(ps(3), 100));
        assert_eq!(table.transition(ps(3)), Transition::new(ps(4), 2000));
        assert_eq!(table.transition(ps(4)), None);
        assert_eq!(table.transitions().count(), 4);
        assert_eq!(table.encode(), real);
    }

    /// A drive echoes its own number with a zero time. That is no transition, and what it wrote can still be shown.
    #[test]
    fn a_state_without_a_time_is_no_transition() {
        let odd = buffer(&[0x6418, 0x6418, 0x6418, 0x005F_B420, 0x20]);
        let table = Table::decode(&odd);
        assert_eq!(table.transition(ps(3)), Transition::new(ps(4), 24_500));
        assert_eq!(table.transition(ps(4)), None);
        assert_eq!(raw_entry(&odd, ps(4)), 0x20);
        assert_eq!(raw_entry(&table.encode(), ps(4)), 0);
        assert!(Table::decode(&buffer(&[0xF8; 32])).is_empty());
    }

    #[test]
    fn an_empty_table_is_256_zeros_whatever_the_enable_bit_says() {
        assert!(Table::EMPTY.is_empty());
        assert_eq!(Table::EMPTY.encode(), [0; Table::LENGTH]);
        assert_eq!(Table::decode(&[0; Table::LENGTH]), Table::EMPTY);
        assert!(AutonomousTransitions::decode(1).enabled);
        assert!(!AutonomousTransitions::decode(0xFFFF_FFFE).enabled);
        assert_eq!(AutonomousTransitions { enabled: true }.encode(), 1);
    }

    #[test]
    fn idle_times_have_24_bits_and_are_never_zero() {
        assert_eq!(Transition::new(PowerState::PS31, 0), None);
        assert_eq!(Transition::new(PowerState::PS31, 0x100_0000), None);
        let longest = Transition::new(PowerState::PS31, Transition::LONGEST_IDLE_TIME).unwrap();
        assert_eq!(longest.encode(), 0xFFFF_FFF8);
        assert_eq!(longest.idle_time(), Microseconds::new(16_777_215_000));
    }

    fn table() -> impl Strategy<Value = Table> {
        let transition = (0u8..32, 0..=Transition::LONGEST_IDLE_TIME).prop_map(|(to, ms)| Transition::new(ps(to), ms));
        prop::array::uniform32(prop_oneof![Just(None), transition]).prop_map(Table)
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(table in table()) {
            prop_assert_eq!(Table::decode(&table.encode()), table);
        }

        /// Whatever a drive sends decodes, and every defined bit of an entry with a time survives.
        #[test]
        fn every_defined_bit_survives(entries in prop::array::uniform32(any::<u64>())) {
            let written = Table::decode(&buffer(&entries)).encode();
            for (source, entry) in PowerState::up_to(PowerState::PS31).zip(entries) {
                let expected = if entry & 0xFFFF_FF00 == 0 { 0 } else { entry & DEFINED };
                prop_assert_eq!(raw_entry(&written, source), expected);
            }
        }
    }
}
