//! What a search is about: drives, caps, and what may happen to them.

use wattline_core::governor::{Config, DriveConfig, MeterConfig, ProfileIndex};
use wattline_core::nvme::PowerState;
use wattline_core::profile::{Measured, Profile, StateProfile, Work, WorkSet};
use wattline_core::units::{BytesPerSecond, Microseconds, Milliwatts};

/// Slots of every world; those beyond a world's drives stay empty.
pub const SLOTS: usize = 3;

/// The governor that is searched.
pub type Governor = wattline_core::governor::Governor<SLOTS, 1>;

/// The span over which the cap is averaged; power follows a change within it.
pub const WINDOW: u64 = 1_000_000;
/// How long plans stand, and a lowered drive before it may be raised.
pub const DWELL: u64 = 2_000_000;
/// How often equals take turns.
pub const INTERVAL: u64 = 4_000_000;
/// A meter that has been silent for so long is lost.
pub const METER_TIMEOUT: u64 = 3_000_000;
/// Failures without a verified set between them, until a drive is given up.
pub const PATIENCE: u8 = 2;
/// What the system takes without its drives, in milliwatts.
pub const BASE: u64 = 100_000;
/// What is left unused, in milliwatts.
pub const MARGIN: u64 = 1_000;

/// A power state of all drives of a world, in milliwatts.
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// The most that the drive says.
    pub nameplate: u32,
    /// What was measured while it wrote.
    pub writing: u32,
    /// What was measured while it read.
    pub reading: u32,
    /// It does no work.
    pub sleeping: bool,
}

/// States of which nothing is measured.
const PLAIN: [State; 3] = [plain(25), plain(15), plain(10)];
/// States that take less than they say: the user's word counts while there is a meter.
const MEASURED: [State; 3] = [measured(25, 20, 20), measured(15, 12, 12), measured(10, 9, 9)];
/// States in which reading takes more than writing, the work that is declared.
const READING: [State; 3] = [measured(25, 25, 28), measured(15, 15, 20), measured(10, 10, 14)];
/// Two states that do work, and one that does not.
const SLEEPING: [State; 3] =
    [plain(25), plain(10), State { nameplate: 3_000, writing: 3_000, reading: 3_000, sleeping: true }];

const fn plain(watts: u32) -> State {
    measured(watts, watts, watts)
}

const fn measured(nameplate: u32, writing: u32, reading: u32) -> State {
    State { nameplate: nameplate * 1000, writing: writing * 1000, reading: reading * 1000, sleeping: false }
}

/// How a world begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Without a drive.
    Empty,
    /// With all drives known, where the plan for the first cap puts them.
    AtRest,
}

/// What may happen besides time, and answers as they should be.
#[derive(Clone, Copy, Debug)]
pub enum May {
    /// The cap changes.
    Cap,
    /// Drives come and go.
    ComeAndGo,
    /// Drives are reset.
    Reset,
    /// Commands are lost.
    Lose,
    /// Commands are refused, or answered with what was not asked.
    Refuse,
    /// Drives name states in which they should not be.
    Stray,
    /// Answers come again.
    Again,
    /// The meter reads what was promised, more, nonsense, or nothing.
    Meter,
    /// Drives do work that was not declared, and stop.
    Work,
    /// The governor is told late what time it is.
    Stall,
}

/// What a search is about.
#[derive(Clone, Copy, Debug)]
pub struct World {
    /// A word for it.
    pub name: &'static str,
    /// Drives.
    pub drives: u8,
    /// Their states.
    pub states: &'static [State; 3],
    /// The state into which a reset takes them.
    pub fallback: u8,
    /// What the drives may take, in watts: the caps less base load and margin. The first is in force at the start.
    pub caps: &'static [u32],
    /// How it begins.
    pub start: Start,
    /// What may happen.
    pub may: &'static [May],
    /// How often.
    pub incidents: u8,
    /// Drives answer before anything else happens.
    pub prompt: bool,
    /// Every drive has the best state at least once in so many turns.
    pub turns: Option<u64>,
    /// Steps of a short search, and of a full one.
    pub depth: [usize; 2],
}

const ALL: &[May] = &[May::Cap, May::ComeAndGo, May::Reset, May::Lose, May::Refuse, May::Stray, May::Again, May::Stall];

/// All worlds.
pub const WORLDS: &[World] = &[
    World {
        name: "two from nothing",
        drives: 2,
        states: &PLAIN,
        fallback: 0,
        caps: &[35, 20, 50],
        start: Start::Empty,
        may: ALL,
        incidents: u8::MAX,
        prompt: false,
        turns: None,
        depth: [6, 8],
    },
    World {
        name: "two at rest",
        drives: 2,
        states: &PLAIN,
        fallback: 0,
        caps: &[35, 19, 50],
        start: Start::AtRest,
        may: ALL,
        incidents: 3,
        prompt: false,
        turns: None,
        depth: [7, 12],
    },
    World {
        name: "three at rest",
        drives: 3,
        states: &PLAIN,
        fallback: 0,
        caps: &[45, 30, 60],
        start: Start::AtRest,
        may: ALL,
        incidents: 2,
        prompt: false,
        turns: None,
        depth: [6, 10],
    },
    World {
        name: "low fallback",
        drives: 2,
        states: &PLAIN,
        fallback: 2,
        caps: &[35, 25],
        start: Start::AtRest,
        may: &[May::Cap, May::Reset, May::Lose, May::Stray, May::Again, May::Stall],
        incidents: 3,
        prompt: false,
        turns: None,
        depth: [7, 12],
    },
    World {
        name: "sleepers",
        drives: 2,
        states: &SLEEPING,
        fallback: 0,
        caps: &[35, 20],
        start: Start::AtRest,
        may: &[May::Cap, May::Reset, May::Lose, May::Refuse, May::Stray, May::Stall],
        incidents: 3,
        prompt: false,
        turns: None,
        depth: [7, 12],
    },
    World {
        name: "meter",
        drives: 2,
        states: &MEASURED,
        fallback: 0,
        caps: &[33, 24],
        start: Start::AtRest,
        may: &[May::Cap, May::Reset, May::Lose, May::Meter, May::Stall],
        incidents: 4,
        prompt: false,
        turns: None,
        depth: [6, 8],
    },
    World {
        name: "work",
        drives: 2,
        states: &READING,
        fallback: 0,
        caps: &[40, 25],
        start: Start::AtRest,
        may: &[May::Cap, May::Work, May::Reset, May::Lose, May::Stall],
        incidents: 4,
        prompt: false,
        turns: None,
        depth: [6, 9],
    },
    World {
        name: "turns of three",
        drives: 3,
        states: &PLAIN,
        fallback: 0,
        caps: &[45],
        start: Start::AtRest,
        may: &[],
        incidents: 0,
        prompt: true,
        turns: Some(4),
        depth: [60, 600],
    },
    World {
        name: "turns of three, caps",
        drives: 3,
        states: &PLAIN,
        fallback: 0,
        caps: &[45, 50],
        start: Start::AtRest,
        may: &[May::Cap],
        incidents: 3,
        prompt: true,
        turns: Some(8),
        depth: [30, 120],
    },
];

impl World {
    /// Whether something may happen here.
    #[must_use]
    pub fn may(&self, what: May) -> bool {
        self.may.iter().any(|may| std::mem::discriminant(may) == std::mem::discriminant(&what))
    }

    /// A cap that leaves the drives so many watts.
    #[must_use]
    pub fn cap(watts: u32) -> Milliwatts {
        let cap = BASE + MARGIN + u64::from(watts) * 1000;
        Milliwatts::new(u32::try_from(cap).unwrap_or(u32::MAX))
    }

    /// A governor of this world, without drives, whose equals take turns at this interval.
    #[must_use]
    pub fn governor(&self, interval: u64) -> Governor {
        let mut config = Config::new(Self::cap(self.caps[0]), milliwatts(BASE));
        config.margin = milliwatts(MARGIN);
        config.window = Microseconds::new(WINDOW);
        config.dwell = Microseconds::new(DWELL);
        config.rotation_interval = Microseconds::new(interval);
        config.patience = PATIENCE;
        config.trust_measured = self.may(May::Meter);
        config.meter = self.may(May::Meter).then(|| MeterConfig {
            quantum: Milliwatts::ZERO,
            noise: Milliwatts::ZERO,
            full_scale: Milliwatts::from_watts(300),
            timeout: Microseconds::new(METER_TIMEOUT),
            stuck_after: None,
        });
        let mut governor = Governor::new(config);
        governor.add_profile(self.profile()).expect("room for one profile");
        governor
    }

    /// A drive of this world.
    #[must_use]
    pub fn drive(&self) -> DriveConfig {
        let mut drive = DriveConfig::new(ProfileIndex(0), Milliwatts::from_watts(30));
        drive.fallback = power_state(self.fallback);
        if self.may(May::Work) {
            drive.declared = WorkSet::of(Work::SequentialWrite);
        }
        drive
    }

    fn profile(&self) -> Profile {
        let mut profile = Profile::default();
        for state in self.states {
            let mut known = StateProfile {
                max_power: Some(Milliwatts::new(state.nameplate)),
                non_operational: state.sleeping,
                entry_latency: Some(Microseconds::ZERO),
                exit_latency: Some(Microseconds::ZERO),
                ..StateProfile::default()
            };
            for work in Work::ALL {
                let reads = matches!(work, Work::SequentialRead | Work::RandomRead);
                let power = Milliwatts::new(if reads { state.reading } else { state.writing });
                // Worth as much as it takes.
                let throughput = BytesPerSecond::new(u64::from(state.nameplate) * 100_000);
                known.measured[work] = Some(Measured { power, throughput, limited_by_fabric: false });
            }
            profile.states.push(known).expect("room for three states");
        }
        profile
    }
}

/// A power state by its number.
///
/// # Panics
/// Where there is no such state.
#[must_use]
pub fn power_state(number: u8) -> PowerState {
    PowerState::new(number).expect("a power state")
}

fn milliwatts(count: u64) -> Milliwatts {
    Milliwatts::new(u32::try_from(count).unwrap_or(u32::MAX))
}
