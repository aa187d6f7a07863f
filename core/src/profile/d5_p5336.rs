//! The built-in profile: 24 Solidigm D5-P5336 61.44 TB in a Dell PowerEdge R760, as published by StorageReview
//! ("Pairing liquid cooling and efficient SSD management"): fio, 128 KiB sequential, power from the iDRAC9.
//! Every total there is a multiple of 33 W, so each figure is good to about 16.5 W in all, 0.7 W for one drive.
//! The 24 bays hang on a PCIe switch, whose lanes limited reading in PS0, and at least nearly so in PS1.

use heapless::String;

use super::{Measured, PerWork, Profile, StateProfile};
use crate::units::{BytesPerSecond, Milliwatts};

/// Figures of one power state: nameplate, then (watts over base, throughput) of all 24 drives.
struct Row {
    max_power_w: u32,
    read: (u32, u64),
    read_limited_by_switch: bool,
    write: (u32, u64),
}

const DRIVES: u32 = 24;

/// Watts over the 462 W of the server without drives, and megabytes per second, both for all drives together.
const ROWS: [Row; 3] = [
    Row { max_power_w: 25, read: (396, 109_000), read_limited_by_switch: true, write: (627, 82_500) },
    Row { max_power_w: 15, read: (396, 105_000), read_limited_by_switch: true, write: (363, 34_400) },
    Row { max_power_w: 10, read: (297, 79_800), read_limited_by_switch: false, write: (264, 17_300) },
];

/// Solidigm D5-P5336 61.44 TB, measured in the watts of a Dell R760's own meter.
#[must_use]
pub fn d5_p5336() -> Profile {
    let mut profile = Profile {
        name: String::try_from("d5-p5336").unwrap_or_default(),
        capacity_gb: Some(61_440),
        reference_base: Some(Milliwatts::from_watts(462)),
        idle: Some(Milliwatts::new(5_500)),
        ..Profile::default()
    };
    profile.states.extend(ROWS.iter().map(|row| StateProfile {
        max_power: Some(Milliwatts::from_watts(row.max_power_w)),
        measured: PerWork {
            sequential_read: Some(per_drive(row.read, row.read_limited_by_switch)),
            sequential_write: Some(per_drive(row.write, false)),
            ..PerWork::default()
        },
        ..StateProfile::default()
    }));
    profile
}

fn per_drive((watts, megabytes_per_second): (u32, u64), limited_by_fabric: bool) -> Measured {
    Measured {
        power: Milliwatts::new(watts * 1000 / DRIVES),
        throughput: BytesPerSecond::new(megabytes_per_second * 1_000_000 / u64::from(DRIVES)),
        limited_by_fabric,
    }
}
