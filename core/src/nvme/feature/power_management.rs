//! Power Management (FID 02h): the power state, and what work is to come.

use crate::nvme::PowerState;
use crate::nvme::power_state::Workload;

/// Command dword 11 of Set Features, dword 0 of Get Features' completion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PowerManagement {
    /// Power State (PS, bits 4:0).
    pub power_state: PowerState,
    /// Workload Hint (WH, bits 7:5): the work to come, in the codes of Active Power Workload.
    pub workload_hint: Workload,
}

impl PowerManagement {
    /// Reads the dword. Bits 31:8 are reserved and ignored.
    #[must_use]
    pub const fn decode(dword: u32) -> Self {
        let [low, ..] = dword.to_le_bytes();
        Self { power_state: PowerState::of_low_bits(low), workload_hint: Workload::new(low >> 5) }
    }

    /// Writes the dword.
    #[must_use]
    pub const fn encode(self) -> u32 {
        self.power_state.number() as u32 | (self.workload_hint.code() as u32) << 5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_management_survives_both_ways() {
        for dword in 0..=0xFF {
            assert_eq!(PowerManagement::decode(dword).encode(), dword);
            assert_eq!(PowerManagement::decode(dword | 0xFFFF_FF00).encode(), dword);
        }
    }
}
