//! The PCIe registers that say which states a link may go to.
//!
//! Offsets are from the start of the capability. The layouts are those of the PCI Express Base Specification 4.0,
//! sections 7.5.3.6 (Link Capabilities, 0Ch in the PCI Express capability), 7.5.3.7 (Link Control, 10h), 7.5.3.16
//! (Device Control 2, 28h) and 7.8.3 (L1 PM Substates extended capability, ID 001Eh: Capabilities 04h, Control 1 08h,
//! Control 2 0Ch). Every field used here was compared with `linux/pci_regs.h` and with what `lspci` 3.9.0 makes of the
//! same bytes; the section numbers are from memory and **unverified**.
//!
//! Decoded only: links are set by firmware or the operating system.

use crate::units::Microseconds;

/// Link Capabilities (0Ch).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LinkCapabilities {
    /// Maximum Link Width (bits 9:4), in lanes.
    pub lanes: u8,
    /// ASPM L0s is supported (bit 10).
    pub l0s: bool,
    /// ASPM L1 is supported (bit 11).
    pub l1: bool,
    /// L0s Exit Latency (bits 14:12).
    pub l0s_exit: ExitLatency,
    /// L1 Exit Latency (bits 17:15).
    pub l1_exit: ExitLatency,
}

/// An exit latency, by an upper bound in nanoseconds. `None`: more than the last bound that the field has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ExitLatency(Option<u32>);

impl ExitLatency {
    /// A three-bit code, each standing for twice the time of the one before; the largest has no bound.
    const fn decode(code: u32, shortest_ns: u32) -> Self {
        match code & 7 {
            7 => Self(None),
            code => Self(Some(shortest_ns << code)),
        }
    }

    /// The bound, in nanoseconds.
    #[must_use]
    pub const fn bound_ns(self) -> Option<u32> {
        self.0
    }

    /// The bound, rounded up.
    #[must_use]
    pub const fn bound(self) -> Option<Microseconds> {
        match self.0 {
            Some(nanoseconds) => Some(Microseconds::new(nanoseconds.div_ceil(1000) as u64)),
            None => None,
        }
    }
}

impl LinkCapabilities {
    /// The register's meaning.
    #[must_use]
    pub const fn decode(register: u32) -> Self {
        Self {
            lanes: (register >> 4 & 0x3F) as u8,
            l0s: register & 1 << 10 != 0,
            l1: register & 1 << 11 != 0,
            l0s_exit: ExitLatency::decode(register >> 12, 64),
            l1_exit: ExitLatency::decode(register >> 15, 1000),
        }
    }
}

/// Link Control (10h): what ASPM may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LinkControl {
    /// L0s (bit 0).
    pub l0s: bool,
    /// L1 (bit 1).
    pub l1: bool,
}

impl LinkControl {
    /// The register's meaning.
    #[must_use]
    pub const fn decode(register: u16) -> Self {
        Self { l0s: register & 1 != 0, l1: register & 1 << 1 != 0 }
    }
}

/// Whether Device Control 2 (28h) enables Latency Tolerance Reporting (bit 10), without which ASPM never enters L1.2.
#[must_use]
pub const fn reports_latency_tolerance(device_control_2: u16) -> bool {
    device_control_2 & 1 << 10 != 0
}

/// L1 PM Substates, by what moves a link into them: ASPM does while the drive is in D0, where NVMe's idle states are;
/// PCI-PM does in D1 to D3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Substates {
    /// PCI-PM L1.2 (bit 0).
    pub pci_pm_l1_2: bool,
    /// PCI-PM L1.1 (bit 1).
    pub pci_pm_l1_1: bool,
    /// ASPM L1.2 (bit 2).
    pub aspm_l1_2: bool,
    /// ASPM L1.1 (bit 3).
    pub aspm_l1_1: bool,
}

impl Substates {
    /// The low four bits of Capabilities, or of Control 1.
    const fn decode(register: u32) -> Self {
        Self {
            pci_pm_l1_2: register & 1 != 0,
            pci_pm_l1_1: register & 1 << 1 != 0,
            aspm_l1_2: register & 1 << 2 != 0,
            aspm_l1_1: register & 1 << 3 != 0,
        }
    }
}

/// L1 PM Substates Capabilities (04h).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SubstatesCapabilities {
    /// What is supported. Where L1 PM Substates are not supported at all (bit 4), nothing.
    pub supported: Substates,
    /// Port `Common_Mode_Restore_Time` (bits 15:8).
    pub common_mode_restore: Microseconds,
    /// Port `T_POWER_ON` (scale in bits 17:16, value in bits 23:19). `None`: a reserved scale.
    pub power_on: Option<Microseconds>,
}

impl SubstatesCapabilities {
    /// The register's meaning.
    #[must_use]
    pub const fn decode(register: u32) -> Self {
        let supported = if register & 1 << 4 == 0 { 0 } else { register };
        Self {
            supported: Substates::decode(supported),
            common_mode_restore: Microseconds::new((register >> 8 & 0xFF) as u64),
            power_on: power_on(register >> 16, register >> 19),
        }
    }
}

/// L1 PM Substates Control 1 (08h) and Control 2 (0Ch).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SubstatesControl {
    /// What is enabled.
    pub enabled: Substates,
    /// `Common_Mode_Restore_Time` (Control 1, bits 15:8): what the upper end of the link waits.
    pub common_mode_restore: Microseconds,
    /// `LTR_L1.2_THRESHOLD` in nanoseconds (Control 1, value in bits 25:16, scale in bits 31:29): ASPM enters L1.2 only
    /// where the drive tolerates at least this. `None`: a reserved scale.
    pub threshold_ns: Option<u64>,
    /// `T_POWER_ON` (Control 2, scale in bits 1:0, value in bits 7:3). `None`: a reserved scale.
    pub power_on: Option<Microseconds>,
}

impl SubstatesControl {
    /// The registers' meaning.
    #[must_use]
    pub const fn decode(control_1: u32, control_2: u32) -> Self {
        let value = (control_1 >> 16 & 0x3FF) as u64;
        let threshold_ns = match control_1 >> 29 {
            scale @ 0..=5 => Some(value << (5 * scale)),
            _ => None,
        };
        Self {
            enabled: Substates::decode(control_1),
            common_mode_restore: Microseconds::new((control_1 >> 8 & 0xFF) as u64),
            threshold_ns,
            power_on: power_on(control_2, control_2 >> 3),
        }
    }
}

/// `T_POWER_ON`: a scale of two bits and a value of five.
const fn power_on(scale: u32, value: u32) -> Option<Microseconds> {
    let step = match scale & 3 {
        0 => 2,
        1 => 10,
        2 => 100,
        _ => return None,
    };
    Some(Microseconds::new(step * (value & 0x1F) as u64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: Substates = Substates { pci_pm_l1_2: true, pci_pm_l1_1: true, aspm_l1_2: true, aspm_l1_1: true };

    /// Registers of two real devices, and what `lspci` says of them: the PCI ID is the device's.
    #[test]
    fn real_registers() {
        // 8086:095a: "Width x1, ASPM L1, Exit Latency L0s <4us, L1 <32us"; "ASPM L1 Enabled"; "LTR+"; "PortCommonMode-
        // RestoreTime=30us PortTPowerOnTime=60us"; "T_CommonMode=0us LTR1.2_Threshold=163840ns"; "T_PwrOn=60us".
        let link = LinkCapabilities::decode(u32::from_le_bytes([0x11, 0xE8, 0x46, 0x00]));
        assert_eq!((link.lanes, link.l0s, link.l1), (1, false, true));
        assert_eq!((link.l0s_exit.bound_ns(), link.l1_exit.bound_ns()), (Some(4_096), Some(32_000)));
        let control = LinkControl::decode(u16::from_le_bytes([0x42, 0x01]));
        assert_eq!(control, LinkControl { l0s: false, l1: true });
        assert!(reports_latency_tolerance(u16::from_le_bytes([0x05, 0x04])));
        let substates = SubstatesCapabilities::decode(u32::from_le_bytes([0x1F, 0x1E, 0xF0, 0x00]));
        assert_eq!(substates.supported, ALL);
        assert_eq!(substates.common_mode_restore, Microseconds::new(30));
        assert_eq!(substates.power_on, Some(Microseconds::new(60)));
        let control = SubstatesControl::decode(u32::from_le_bytes([0x0F, 0x00, 0xA0, 0x40]), 0xF0);
        assert_eq!((control.enabled, control.common_mode_restore), (ALL, Microseconds::ZERO));
        assert_eq!((control.threshold_ns, control.power_on), (Some(163_840), Some(Microseconds::new(60))));

        // 8086:9d10: "Width x1, ASPM L1, Exit Latency L1 <16us"; "PortCommonModeRestoreTime=40us PortTPowerOnTime=
        // 10us"; "T_CommonMode=60us LTR1.2_Threshold=163840ns"; "T_PwrOn=60us".
        let link = LinkCapabilities::decode(u32::from_le_bytes([0x13, 0x48, 0x72, 0x01]));
        assert_eq!((link.lanes, link.l0s, link.l1, link.l1_exit.bound_ns()), (1, false, true, Some(16_000)));
        let substates = SubstatesCapabilities::decode(u32::from_le_bytes([0x1F, 0x28, 0x28, 0x00]));
        assert_eq!(substates.common_mode_restore, Microseconds::new(40));
        assert_eq!(substates.power_on, Some(Microseconds::new(10)));
        let control = SubstatesControl::decode(u32::from_le_bytes([0x0F, 0x3C, 0xA0, 0x40]), 0x31);
        assert_eq!(control.common_mode_restore, Microseconds::new(60));
        assert_eq!((control.threshold_ns, control.power_on), (Some(163_840), Some(Microseconds::new(60))));
    }

    /// Every code of every scale, as `lspci` prints it. It says 1, 2 and 4 µs where the field's bounds go on in powers
    /// of two: the larger is taken.
    #[test]
    fn every_code() {
        let l0s = [Some(64), Some(128), Some(256), Some(512), Some(1_024), Some(2_048), Some(4_096), None];
        let l1 = [1, 2, 4, 8, 16, 32, 64].map(|micros| Some(micros * 1_000));
        for (code, l0s) in (0..).zip(l0s) {
            let link = LinkCapabilities::decode(code << 12 | (7 - code) << 15);
            assert_eq!(link.l0s_exit.bound_ns(), l0s);
            assert_eq!(link.l1_exit.bound_ns(), l1.get(7 - code as usize).copied().flatten());
        }
        // (Capabilities, T_POWER_ON), and (Control 2, T_POWER_ON).
        for (register, micros) in [
            (0x0018_001F, Some(6)),
            (0x0021_011F, Some(40)),
            (0x002A_021F, Some(500)),
            (0x0033_031F, None),
            (0x0038_041F, Some(14)),
            (0x0041_051F, Some(80)),
            (0x004A_061F, Some(900)),
        ] {
            assert_eq!(SubstatesCapabilities::decode(register).power_on, micros.map(Microseconds::new), "{register:x}");
        }
        for (control_2, micros) in [(0x18, 6), (0x39, 70), (0x5A, 1_100), (0x98, 38), (0xB9, 230), (0xDA, 2_700)] {
            assert_eq!(SubstatesControl::decode(0, control_2).power_on, Some(Microseconds::new(micros)));
        }
        for (control_1, nanoseconds) in [
            (0x0001_000F, Some(1)),
            (0x2002_010F, Some(64)),
            (0x4003_020F, Some(3_072)),
            (0x6004_030F, Some(131_072)),
            (0x8005_040F, Some(5_242_880)),
            (0xA006_050F, Some(201_326_592)),
            (0xC007_060F, None),
            (0xE008_070F, None),
        ] {
            assert_eq!(SubstatesControl::decode(control_1, 0).threshold_ns, nanoseconds, "{control_1:x}");
        }
    }

    #[test]
    fn a_latency_is_rounded_up() {
        let bound = |code| ExitLatency::decode(code, 64).bound();
        assert_eq!((bound(0), bound(5)), (Some(Microseconds::new(1)), Some(Microseconds::new(3))));
    }

    proptest! {
        /// Only bits that have a meaning change what is read: those of the specification's tables.
        #[test]
        fn other_bits_mean_nothing(register: u32, other: u32) {
            let mixed = |mask: u32| register & mask | other & !mask;
            let masks = [0x0003_FFF0, 0xE3FF_FF0F, 0xFB];
            prop_assert_eq!(LinkCapabilities::decode(register), LinkCapabilities::decode(mixed(masks[0])));
            prop_assert_eq!(
                SubstatesControl::decode(register, other),
                SubstatesControl::decode(mixed(masks[1]), other & masks[2])
            );
            prop_assert_eq!(
                SubstatesCapabilities::decode(register | 0x10),
                SubstatesCapabilities::decode(mixed(0x00FB_FF1F) | 0x10)
            );
            prop_assert_eq!(SubstatesCapabilities::decode(register & !0x10).supported, Substates::default());
        }
    }
}
