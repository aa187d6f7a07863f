//! What a governor is told before it starts.

use heapless::Vec;
use serde::{Deserialize, Serialize};

use crate::budget::{SHELVES, Shelf};
use crate::drive::Levers;
use crate::nvme::PowerState;
use crate::nvme::feature::thermal_management::ThermalManagement;
use crate::profile::WorkSet;
use crate::thermal::{CoolingConfig, ThermalLimits};
use crate::units::{BytesPerSecond, Microseconds, Milliwatts};

/// The whole system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Config {
    /// What the system may take, as its meter would show it, averaged over `window`.
    pub cap: Milliwatts,
    /// What the system takes without its drives, at worst.
    pub base_load: Milliwatts,
    /// What is left unused because figures and meter are not exact.
    pub margin: Milliwatts,
    /// What the chassis adds for each drive on top of the drive's own maximum power.
    pub overhead: Milliwatts,
    /// The span over which the cap is averaged.
    pub window: Microseconds,
    /// A measured figure below a drive's nameplate counts. While the meter is lost it does not.
    pub trust_measured: bool,
    /// The meter, where there is one.
    pub meter: Option<MeterConfig>,
    /// How long a plan stands before a better one may replace it, and a lowered drive before it may be raised.
    /// Lowering is never delayed.
    pub dwell: Microseconds,
    /// How often equal drives take turns, so that each gets its share of the better state. Zero: never.
    pub rotation_interval: Microseconds,
    /// How many lost, refused or ignored commands in a row leave a drive unmanaged.
    pub patience: u8,
    /// What the drives of each shelf may draw together, in the watts of draws; a shelf beyond the last has no limit.
    pub shelves: Vec<Milliwatts, SHELVES>,
    /// How often a drive may be set to another state in any 24 hours, for whatever reason but to hold a limit; `None`:
    /// as often as it is worth it. Lowering counts and never waits.
    pub transitions_per_day: Option<u16>,
    /// What the cooling is good for, where all drives together are to stay within it. How it stands must then be
    /// reported.
    pub cooling: Option<CoolingConfig>,
}

/// How good the meter is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct MeterConfig {
    /// The step in which it shows watts: a reading may be half of it off.
    pub quantum: Milliwatts,
    /// How far a reading may be off on top of that.
    pub noise: Milliwatts,
    /// The most that it can show, or that the system's supply can deliver: a higher reading is absurd.
    pub full_scale: Milliwatts,
    /// After this long without a valid reading it counts as lost.
    pub timeout: Microseconds,
    /// After this long with one and the same reading it counts as stuck; `None`: it may stand still for ever.
    pub stuck_after: Option<Microseconds>,
}

/// Which of a governor's profiles a drive has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(transparent)]
pub struct ProfileIndex(pub u8);

/// One drive.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct DriveConfig {
    /// Its kind.
    pub profile: ProfileIndex,
    /// The most that the slot can deliver, in the drive's own watts: what a drive counts for that does not report its
    /// maximum. States whose reported maximum is higher are not used, except the lowest.
    pub slot_limit: Milliwatts,
    /// The kinds of work that it is going to do. None declared: it may do anything.
    pub declared: WorkSet,
    /// The state that it falls back to when it is reset: the saved value where there is one, else the default.
    pub fallback: PowerState,
    /// Where its heat is to be managed, by what limits. Its temperature must then be reported.
    pub thermal: Option<ThermalLimits>,
    /// What it may claim of the watts.
    pub share: Share,
    /// What it may be held with, besides its power states.
    pub levers: Levers,
    /// Its own thermal management, where that is to be set behind ours.
    pub backstop: Option<BackstopConfig>,
}

/// What a drive may claim of the watts, in comparison with the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Share {
    /// How much a byte of this drive counts for among drives of its priority: 1 to [`Share::MAX_WEIGHT`]; anything else
    /// counts as the nearer of the two.
    pub weight: u8,
    /// Classes are served in this order, 0 first: a later one gets what the earlier ones cannot use.
    pub priority: u8,
    /// The throughput that it is to have at least, before any drive gets more than its own guarantee; zero: none.
    pub guarantee: BytesPerSecond,
    /// Drives that stripe together have one number: together they give as many times what the slowest gives as they
    /// are. `None`: it stands for itself. A group lies within one shelf (members in another are another group), and has
    /// the weight, the priority and the guarantee of its first drive.
    pub group: Option<u8>,
    /// The shelf that it is in, below [`SHELVES`]; `None`, or any other number: no shelf limits it.
    pub shelf: Option<Shelf>,
}

impl Share {
    /// The largest weight.
    pub const MAX_WEIGHT: u8 = 16;
}

impl Default for Share {
    /// A drive like any other: of weight 1 in the first class, with no guarantee, no group, and no shelf.
    fn default() -> Self {
        Self { weight: 1, priority: 0, guarantee: BytesPerSecond::ZERO, group: None, shelf: None }
    }
}

impl DriveConfig {
    /// A drive of which nothing else is said: it may do any work, falls back to PS0 when it is reset, has no limits of
    /// heat, and shares the watts with the others as an equal.
    #[must_use]
    pub fn new(profile: ProfileIndex, slot_limit: Milliwatts) -> Self {
        Self {
            profile,
            slot_limit,
            declared: WorkSet::ALL,
            fallback: PowerState::PS0,
            thermal: None,
            share: Share::default(),
            levers: Levers::default(),
            backstop: None,
        }
    }
}

/// What a drive's own thermal management (HCTM, feature 10h) is to be set to. It is read back, and set again after a
/// reset.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BackstopConfig {
    /// As a rule: above our own limits, inside the drive's range (MNTMT to MXTMT).
    pub thresholds: ThermalManagement,
    /// While the drive cannot be controlled: the lowest that it takes, so that it slows itself down as soon as it is
    /// warm. Only on the user's word, since nobody can say how slow. It frees no watt: the drive counts as before.
    pub last_resort: Option<ThermalManagement>,
}

impl Config {
    /// A configuration for a cap and a base load, with the defaults of everything else: no meter, a margin of zero, the
    /// cap averaged over one second, plans that stand two seconds, a rotation every ten seconds, three strikes.
    #[must_use]
    pub const fn new(cap: Milliwatts, base_load: Milliwatts) -> Self {
        Self {
            cap,
            base_load,
            margin: Milliwatts::ZERO,
            overhead: Milliwatts::ZERO,
            window: Microseconds::from_secs(1),
            trust_measured: false,
            meter: None,
            dwell: Microseconds::from_secs(2),
            rotation_interval: Microseconds::from_secs(10),
            patience: 3,
            shelves: Vec::new(),
            transitions_per_day: None,
            cooling: None,
        }
    }
}
