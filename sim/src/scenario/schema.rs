//! Every key of a scenario, its unit and its default. `SCENARIOS.md` is the same for users.
//!
//! ```toml
//! name = "half-and-half"
//! description = "Eight drives write, the others read, under 900 W."
//! duration_s = 120
//!
//! [[job]]
//! drives = "0-7"
//! work = "sequential-write"
//!
//! [[job]]
//! drives = "8-23"
//! work = "sequential-read"
//!
//! [governor]
//! cap_w = 900
//! margin_w = 21
//! ```
//!
//! Everything that is left out is the reference server's.

use serde::Deserialize;
use wattline_core::profile::Work;

use super::value::{Cap, Drives, Seconds, Share, Watts, of_key};
use crate::model::chassis::Cooling;
use crate::model::firmware::Stubbornness;
use crate::model::meter::MeterFault;

/// A scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A short name.
    pub name: String,
    /// What it shows, for people.
    #[serde(default)]
    pub description: String,
    /// Length of the run (of each row's run, where there are rows).
    #[serde(deserialize_with = "of_key::duration")]
    pub duration_s: Seconds,
    /// `[chassis]`: the server.
    #[serde(default)]
    pub chassis: ChassisSection,
    /// `[drives]`: what is in its bays.
    #[serde(default)]
    pub drives: DrivesSection,
    /// `[[job]]`: who does what, and when. Of two jobs on one drive the one that started last counts.
    #[serde(default)]
    pub job: Vec<JobSection>,
    /// `[[row]]`: rows of the reference experiment to repeat, each in an ungoverned run of its own.
    #[serde(default)]
    pub row: Vec<RowSection>,
    /// `[governor]`: without it nobody governs.
    pub governor: Option<GovernorSection>,
    /// `[[cap]]`: caps that change.
    #[serde(default)]
    pub cap: Vec<CapSection>,
    /// `[faults]`: what becomes of commands.
    #[serde(default)]
    pub faults: FaultsSection,
    /// `[[reset]]`: drives that reset by themselves.
    #[serde(default)]
    pub reset: Vec<MomentSection>,
    /// `[[removal]]`: drives that are pulled.
    #[serde(default)]
    pub removal: Vec<MomentSection>,
    /// `[[insertion]]`: drives that are put into slots from which others were pulled.
    #[serde(default)]
    pub insertion: Vec<MomentSection>,
    /// `[[stubborn]]`: drives that accept states and do not enter them.
    #[serde(default)]
    pub stubborn: Vec<StubbornSection>,
    /// `[[meter]]`: what is wrong with the meter.
    #[serde(default)]
    pub meter: Vec<MeterSection>,
    /// `[[clock]]`: clocks that are set back.
    #[serde(default)]
    pub clock: Vec<ClockSection>,
    /// `[[restart]]`: the governor stops, and a new one that knows nothing starts.
    #[serde(default)]
    pub restart: Vec<RestartSection>,
    /// `[flips]`: bits that flip in what the governor remembers of drives.
    pub flips: Option<FlipsSection>,
    /// `[[cooling]]`: how the chassis is cooled from a moment on.
    #[serde(default)]
    pub cooling: Vec<CoolingSection>,
    /// `[[sensor]]`: temperature sensors that break.
    #[serde(default)]
    pub sensor: Vec<SensorSection>,
    /// `[throttle]`: a bare on/off throttle in a governor's place.
    pub throttle: Option<ThrottleSection>,
    /// `[expect]`: what must hold beyond the rules that always hold.
    #[serde(default)]
    pub expect: ExpectSection,
}

/// `[chassis]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChassisSection {
    /// Watts without drives, cooled by liquid (462).
    pub base_w: Option<Watts>,
    /// `"liquid"` (default) or `"air"`, which takes 200 W more.
    pub cooling: Option<Cooling>,
    /// Air at the drives in °C, -60 to 100 (25).
    #[serde(deserialize_with = "of_key::inlet_c")]
    pub inlet_c: Option<f64>,
    /// Composite temperature of the hottest drive at which the fans begin to speed up, in °C, -60 to 120 (70).
    #[serde(deserialize_with = "of_key::fan_from_c")]
    pub fan_from_c: Option<f64>,
    /// The switch's ceiling for reading in GB/s (109).
    #[serde(deserialize_with = "of_key::read_ceiling")]
    pub read_ceiling_gb_s: Option<f64>,
    /// The switch's ceiling for writing in GB/s (109).
    #[serde(deserialize_with = "of_key::write_ceiling")]
    pub write_ceiling_gb_s: Option<f64>,
    /// Step of the meter's readings (33).
    pub meter_quantum_w: Option<Watts>,
    /// Standard deviation of the meter's noise (1).
    pub meter_noise_w: Option<Watts>,
}

/// `[drives]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DrivesSection {
    /// How many (24).
    pub count: usize,
    /// How far a drive may be from its profile, in percent of its watts and of its GB/s, evenly spread; 0 to 50 (2).
    #[serde(deserialize_with = "of_key::spread")]
    pub spread_percent: f64,
    /// Power state at the start (0).
    pub initial_ps: usize,
    /// Power state after a reset (0).
    pub fallback_ps: usize,
    /// Where each drive's own thermal management begins, in °C: a little, and as much as it takes; the second above the
    /// first (none: it is switched off).
    #[serde(deserialize_with = "of_key::management_c")]
    pub management_c: Option<[f64; 2]>,
    /// `[drives.sleep]`: a non-operational state into which idle drives go by themselves (the reference drive has
    /// none).
    pub sleep: Option<SleepSection>,
}

/// `[drives.sleep]`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SleepSection {
    /// Watts of a drive in it, 0.001 to 5.5.
    #[serde(deserialize_with = "of_key::asleep")]
    pub power_w: f64,
    /// Time to enter it.
    pub entry_s: Seconds,
    /// Time to leave it.
    pub exit_s: Seconds,
    /// Idle time before it is entered (ITPT), 0.001 to 16777.215, in whole milliseconds.
    #[serde(deserialize_with = "of_key::idle_time")]
    pub after_s: Seconds,
}

impl Default for DrivesSection {
    fn default() -> Self {
        Self { count: 24, spread_percent: 2.0, initial_ps: 0, fallback_ps: 0, management_c: None, sleep: None }
    }
}

/// `[[job]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobSection {
    /// Which drives (`"all"`).
    #[serde(default)]
    pub drives: Drives,
    /// Kind of work.
    pub work: Work,
    /// KiB in one command (128).
    #[serde(default = "default_block_kib")]
    pub block_kib: u32,
    /// Commands in flight (64).
    #[serde(default = "default_queue_depth")]
    pub queue_depth: u32,
    /// Start (0).
    #[serde(default)]
    pub start_s: Seconds,
    /// End (the end of the run).
    pub stop_s: Option<Seconds>,
    /// What the host asks of each drive at most, in GB/s (no limit).
    #[serde(default, deserialize_with = "of_key::rate_limit")]
    pub rate_limit_gb_s: Option<f64>,
}

const fn default_block_kib() -> u32 {
    128
}

const fn default_queue_depth() -> u32 {
    64
}

/// `[[row]]`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowSection {
    /// What the drives do.
    pub work: RowWork,
    /// Their power state; not in idle rows.
    pub ps: Option<usize>,
}

/// What the drives do in a row of the reference experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowWork {
    /// There are none.
    IdleNoDrives,
    /// Nothing.
    Idle,
    /// Reading in order of address.
    SequentialRead,
    /// Writing in order of address.
    SequentialWrite,
}

/// `[governor]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GovernorSection {
    /// The cap; `--cap` overrides it.
    pub cap_w: Cap,
    /// What stays free below the cap, for the meter's step and the drives' spread.
    pub margin_w: Watts,
    /// Watts of the chassis for each drive above its nameplate (1.125: the reference's 26.125 W of a 25 W drive).
    #[serde(default = "default_overhead")]
    pub overhead_w: Watts,
    /// The most that a drive in its slot may take by its own maximum, without the chassis's overhead (30, a guess):
    /// states whose maximum is higher are not used. Not below that of the lowest state, 10 W.
    #[serde(default = "default_slot_limit")]
    pub slot_limit_w: Watts,
    /// Measured figures below the nameplate count (false).
    #[serde(default)]
    pub trust_measured: bool,
    /// The governor sees the meter (true).
    #[serde(default = "default_true")]
    pub meter: bool,
    /// After this long with one and the same reading the meter counts as stuck (it may stand still for ever, as one
    /// with a wide step does).
    pub meter_stuck_s: Option<Seconds>,
    /// Kinds of work that every drive is declared to do (all of them).
    pub declared: Option<Vec<Work>>,
    /// Where the drives' heat is managed: their warning temperature in °C, 40 to 95 (none: it is not managed).
    #[serde(default, deserialize_with = "of_key::warning_c")]
    pub warning_c: Option<f64>,
    /// Their critical temperature in °C, 40 to 95 (not reported).
    #[serde(default, deserialize_with = "of_key::critical_c")]
    pub critical_c: Option<f64>,
    /// What the chassis's cooling is good for, where all drives are to stay within it together (nothing is known).
    pub cooling: Option<CoolingFigures>,
    /// What the profile says of the drives' settling after a change of state (nothing: the core waits for the cap's
    /// window). The simulated drives take 0.3 s, a guess.
    pub settling_s: Option<Seconds>,
    /// How long a plan stands and a lowered drive stays low, at least 0.1 s (the core's default).
    #[serde(default, deserialize_with = "of_key::dwell")]
    pub dwell_s: Option<Seconds>,
    /// How often a turn moves one drive of each state in use on, as in a ring: 0 for never, or at least 0.1 s (the
    /// core's default).
    #[serde(default, deserialize_with = "of_key::rotation")]
    pub rotation_s: Option<Seconds>,
    /// How often the host looks at what the drives do, at least 0.001 s (0.1).
    #[serde(default = "default_poll", deserialize_with = "of_key::poll")]
    pub poll_s: Seconds,
}

const fn default_overhead() -> Watts {
    Watts(wattline_core::units::Milliwatts::new(1_125))
}

const fn default_slot_limit() -> Watts {
    Watts(wattline_core::units::Milliwatts::from_watts(30))
}

const fn default_true() -> bool {
    true
}

const fn default_poll() -> Seconds {
    Seconds(0.1)
}

/// `[governor.cooling]`: heat of all drives that can be removed, in the watts that drives count for.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoolingFigures {
    /// With all fans at their limit.
    pub fans_at_limit_w: Watts,
    /// With fans that have failed.
    pub fans_failed_w: Watts,
    /// Without coolant.
    pub coolant_lost_w: Watts,
    /// The inlet temperature that these are meant for, in °C, -60 to 100.
    #[serde(deserialize_with = "of_key::design_inlet_c")]
    pub design_inlet_c: f64,
    /// The inlet temperature at which nothing is removed any more, in °C, -60 to 120.
    #[serde(deserialize_with = "of_key::hottest_inlet_c")]
    pub hottest_inlet_c: f64,
}

/// `[[cooling]]`: what is left out stays as it is.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoolingSection {
    /// When.
    pub at_s: Seconds,
    /// Air that comes in, in °C, -60 to 100.
    #[serde(default, deserialize_with = "of_key::inlet_c")]
    pub inlet_c: Option<f64>,
    /// How long it takes to get there (0: at once).
    #[serde(default)]
    pub over_s: Seconds,
    /// Share of the fans that runs.
    pub fans: Option<Share>,
    /// The coolant flows.
    pub coolant: Option<bool>,
}

/// `[[sensor]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SensorSection {
    /// When.
    pub at_s: Seconds,
    /// Which drives'.
    pub drives: Drives,
    /// What is wrong from then on.
    pub fault: SensorFault,
}

/// What is wrong with a temperature sensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SensorFault {
    /// It cannot be read.
    Absent,
    /// It shows for ever what it showed then.
    Frozen,
}

/// `[throttle]`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThrottleSection {
    /// A drive that reads so warm or warmer, in °C, goes to its lowest state; -60 to 120.
    #[serde(deserialize_with = "of_key::throttle_c")]
    pub at_c: f64,
    /// It goes back to its state at the start once it is so much cooler, 0 to 50 K.
    #[serde(deserialize_with = "of_key::hysteresis_k")]
    pub hysteresis_k: f64,
}

/// `[[cap]]`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapSection {
    /// When.
    pub at_s: Seconds,
    /// The new cap.
    pub cap_w: Cap,
}

/// `[faults]`: each command meets at most one of these.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FaultsSection {
    /// Share of commands that take effect but whose completion never comes.
    pub lost: Share,
    /// Share of commands whose completion comes late.
    pub late: Share,
    /// How late (1).
    pub late_by_s: Seconds,
    /// Share of commands that the drive rejects.
    pub failed: Share,
    /// With which status: the 15 bits of the completion (0x4002: Invalid Field in Command, do not retry).
    #[serde(deserialize_with = "of_key::failed_status")]
    pub failed_status: u16,
    /// When the host gives a command up and resets the controller (60, as Linux does with admin commands).
    pub host_timeout_s: Seconds,
}

impl Default for FaultsSection {
    fn default() -> Self {
        Self {
            lost: Share(0.0),
            late: Share(0.0),
            late_by_s: Seconds(1.0),
            failed: Share(0.0),
            failed_status: 0x4002,
            host_timeout_s: Seconds(60.0),
        }
    }
}

/// `[[reset]]`, `[[removal]]` and `[[insertion]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MomentSection {
    /// When.
    pub at_s: Seconds,
    /// Which drives.
    pub drives: Drives,
}

/// `[[stubborn]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StubbornSection {
    /// From when on (0).
    #[serde(default)]
    pub at_s: Seconds,
    /// Which drives.
    pub drives: Drives,
    /// What they name when they are asked.
    pub how: Stubbornness,
}

/// `[[meter]]`: with neither key but `at_s`, nothing is wrong with it any more.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeterSection {
    /// From when on.
    pub at_s: Seconds,
    /// What is wrong.
    pub fault: Option<MeterFault>,
    /// It shows the truth times this, 0 to 10 (1).
    #[serde(default = "default_scale", deserialize_with = "of_key::scale")]
    pub scale: f64,
}

const fn default_scale() -> f64 {
    1.0
}

/// `[[clock]]`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockSection {
    /// When.
    pub at_s: Seconds,
    /// By how much it is set back.
    pub back_s: Seconds,
}

/// `[[restart]]`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RestartSection {
    /// When it stops.
    pub at_s: Seconds,
    /// How long nobody governs, at least 0.1 s (1). What was in flight takes effect, and nobody hears of it.
    #[serde(default = "default_down", deserialize_with = "of_key::down")]
    pub down_s: Seconds,
}

const fn default_down() -> Seconds {
    Seconds(1.0)
}

/// `[flips]`: evenly over the time, in slots and bits that chance names.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlipsSection {
    /// How many, 1 to 100000.
    #[serde(deserialize_with = "of_key::count")]
    pub count: u32,
    /// Until when (the end of the run).
    pub stop_s: Option<Seconds>,
}

/// `[expect]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExpectSection {
    /// Each shedding is over within this time.
    pub shed_s: Option<Seconds>,
    /// Throughput of the last four fifths over the exact optimum's at cap − margin.
    pub optimum_share: Option<Share>,
    /// Each drive's throughput is this near to the others' mean.
    pub fair_within: Option<Share>,
    /// The margin is not wider than this.
    pub margin_at_most_w: Option<Watts>,
    /// No drive's true composite temperature reaches this, in °C, -60 to 120.
    #[serde(deserialize_with = "of_key::composite_below_c")]
    pub composite_below_c: Option<f64>,
    /// Alarms that are raised at some time.
    pub alarms: Vec<AlarmName>,
    /// At the end every drive is known and obeys, and no alarm stands.
    pub all_managed: bool,
    /// `[[expect.rate]]`: throughput in a part of the run.
    pub rate: Vec<RateSection>,
}

/// `[[expect.rate]]`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateSection {
    /// From when on.
    pub from_s: Seconds,
    /// Until when.
    pub to_s: Seconds,
    /// Throughput of all drives in every second of that time, in GB/s.
    #[serde(deserialize_with = "of_key::at_least")]
    pub at_least_gb_s: f64,
}

/// Alarms that can be expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlarmName {
    /// The cap cannot be held.
    CannotHold,
    /// The meter is silent, stuck or absurd.
    MeterLost,
    /// The meter reads more than was promised.
    MeterAbovePrediction,
    /// The clock ran backwards.
    ClockBackwards,
    /// A drive is not controlled any more.
    Unmanaged,
    /// The memory that holds a drive's record was damaged.
    RecordDamaged,
    /// A drive's temperature stands still while its load moves.
    TemperatureFrozen,
    /// The chassis is cooled less than it was designed for.
    CoolingReduced,
}
