//! The board that is built here: a box with four M.2 drives behind a 25 W supply.
//!
//! The drives are Samsung SSD 970 EVO Plus 500 GB: of the drives with three different operational states in
//! `host-linux/data/drives.json`, the one that was posted most often (71 times). Four of them may take 31.2 W, and 13.6
//! W in their lowest operational state: 25 W does not do for all, and is more than enough for none.

use wattline_core::governor::{Config, DriveConfig, MeterConfig, ProfileIndex};
use wattline_core::profile::{Profile, StateProfile};
use wattline_core::thermal::ThermalLimits;
use wattline_core::units::{Kelvin, Microseconds, Milliwatts};

/// Slots.
pub const DRIVES: usize = 4;
/// Kinds of drives that there is room for: one, and another that a replacement may be of.
pub const PROFILES: usize = 2;

/// Where the power monitor is on the bus: a choice of the board's.
pub const METER_ADDRESS: u8 = 0x10;
/// Where the temperature sensor is on the bus: a choice of the board's.
pub const SENSOR_ADDRESS: u8 = 0x48;
/// The power monitor's shunt. QEMU's ADM1272 has this one.
pub const SHUNT_MICRO_OHMS: core::num::NonZeroU32 = core::num::NonZeroU32::new(300).unwrap();

/// How often the sensors are read: as often as the cap's window passes, and often enough against the meter's timeout.
pub const SAMPLING_PERIOD: Microseconds = Microseconds::from_secs(1);

/// A drive's composite temperature above the board's, at work. A guess: two thirds of what it is above the air.
pub const DRIVES_ABOVE_BOARD: Kelvin = Kelvin::new(15);

/// What the appliance may take, and how it is held there.
#[must_use]
pub fn config() -> Config {
    /// The whole supply.
    const CAP: Milliwatts = Milliwatts::from_watts(25);
    /// Processor, network and a fan, at worst. A guess.
    const BASE_LOAD: Milliwatts = Milliwatts::from_watts(4);
    /// Drives are not exactly what their nameplate says: 2 % of 25 W, and as much again. A guess.
    const MARGIN: Milliwatts = Milliwatts::from_watts(1);
    let meter = MeterConfig {
        // A step of the ADM1272 over this shunt is 316 mW. The bench sets whole watts only, which adds up to one more.
        quantum: Milliwatts::new(1_316),
        // The bench adds none.
        noise: Milliwatts::ZERO,
        // Guess: twice what the supply delivers.
        full_scale: Milliwatts::from_watts(50),
        // Five readings.
        timeout: Microseconds::from_secs(5),
        // In whole watts an idle appliance stands still for good.
        stuck_after: None,
    };
    Config { margin: MARGIN, meter: Some(meter), ..Config::new(CAP, BASE_LOAD) }
}

/// The kind of drive: its own power table.
#[must_use]
pub fn profile() -> Profile {
    let state = |milliwatts, non_operational, entry, exit| StateProfile {
        non_operational,
        max_power: Some(Milliwatts::new(milliwatts)),
        // A latency of 0 is one that is not reported.
        entry_latency: (entry > 0).then_some(Microseconds::new(entry)),
        exit_latency: (exit > 0).then_some(Microseconds::new(exit)),
        ..StateProfile::default()
    };
    let states = [
        state(7_800, false, 0, 0),
        state(6_000, false, 0, 0),
        state(3_400, false, 0, 0),
        state(70, true, 210, 1_200),
        state(10, true, 2_000, 8_000),
    ];
    // The name is shorter than its place.
    let name = "Samsung SSD 970 EVO Plus 500GB".try_into().unwrap_or_default();
    Profile { name, states: states.into_iter().collect(), ..Profile::default() }
}

/// One of the drives.
#[must_use]
pub fn drive(profile: ProfileIndex) -> DriveConfig {
    /// WCTEMP and CCTEMP of this drive: 85 °C.
    const WARNING: Kelvin = Kelvin::new(358);
    /// What an M.2 slot delivers: 3.3 V at 2.5 A (PCI Express M.2 Specification).
    const SLOT_LIMIT: Milliwatts = Milliwatts::new(8_250);
    DriveConfig {
        thermal: Some(ThermalLimits::from_thresholds(Some(WARNING), Some(WARNING))),
        ..DriveConfig::new(profile, SLOT_LIMIT)
    }
}
