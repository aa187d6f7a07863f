//! The adapter around the governor: it translates, and decides nothing.

use wattline_core::governor::{Alarm, Command, Config, DriveConfig, Event, MeterConfig, ProfileIndex, Slot};
use wattline_core::journal::{self, MAX_FRAME, Record};
use wattline_core::nvme::PowerState;
use wattline_core::profile::{Profile, Work, WorkSet, d5_p5336};
use wattline_core::thermal::{CoolingConfig, ThermalLimits};
use wattline_core::units::{Instant, Kelvin, Microseconds, Milliwatts};

use crate::model::meter::MeterModel;
use crate::policy::{self, Policy, Real, Wrong};
use crate::scenario::Scenario;
use crate::scenario::schema::GovernorSection;
use crate::time::Micros;
use crate::trace::Trace;

/// A governor, its journal, the alarms that it raised, and its clock.
#[derive(Debug)]
pub struct Host {
    policy: Box<dyn Policy>,
    drive: DriveConfig,
    /// How far its clock is ahead of the virtual time.
    ahead: Micros,
    /// Whether it is to be told how the chassis is cooled.
    cooling: bool,
    journal: Vec<u8>,
    alarms: Vec<(Micros, Alarm, bool)>,
}

impl Host {
    /// A governor for this scenario, or one that is wrong in this way, which has been told nothing yet. Its clock is
    /// ahead of the virtual time, so that it can be set back.
    #[must_use]
    pub fn new(
        scenario: &Scenario,
        section: &GovernorSection,
        cap: Milliwatts,
        base_w: f64,
        meter: MeterModel,
        ahead: Micros,
        wrong: Option<Wrong>,
    ) -> Self {
        let config = config(section, cap, base_w, meter);
        let settling = section.settling_s.map(|settling| Microseconds::new(settling.micros()));
        let profile = Profile { settling, ..d5_p5336() };
        let mut journal = Vec::new();
        write(&mut journal, &Record::<&Profile>::start(Real::SLOTS, 0));
        write(&mut journal, &Record::<&Profile>::Config(config.clone()));
        write(&mut journal, &Record::Profile(&profile));
        let mut governor = Real::new(config);
        let profile = governor.add_profile(profile).unwrap_or(ProfileIndex(0));
        let drive = DriveConfig {
            declared: declared(section),
            fallback: power_state(scenario.drives.fallback_ps),
            thermal: section.warning_c.map(|warning_c| {
                ThermalLimits::from_thresholds(kelvin(warning_c), section.critical_c.and_then(kelvin))
            }),
            ..DriveConfig::new(profile, section.slot_limit_w.0)
        };
        let (policy, cooling) = (policy::of(governor, wrong), section.cooling.is_some());
        Self { policy, drive, ahead, cooling, journal, alarms: Vec::new() }
    }

    /// Tells the governor that a drive is there.
    pub fn attach(&mut self, now: Micros, slot: Slot) -> Vec<Command> {
        let drive = self.drive.clone();
        self.tell(now, Event::Attached { slot, drive })
    }

    /// Tells the governor what happened, and returns what it wants done.
    pub fn tell(&mut self, now: Micros, event: Event) -> Vec<Command> {
        let at = Instant::from_micros(now + self.ahead);
        write(&mut self.journal, &Record::<&Profile>::Event { at, event: event.clone() });
        self.policy.handle(at, event);
        let mut commands = Vec::new();
        while let Some(command) = self.policy.poll() {
            write(&mut self.journal, &Record::<&Profile>::Command { at, command });
            match command {
                Command::Alarm { alarm, raised } => self.alarms.push((now, alarm, raised)),
                Command::Drive { .. } => commands.push(command),
            }
        }
        commands
    }

    /// Tells the governor that time has passed, if it asked to be told.
    ///
    /// # Panics
    ///
    /// Where the governor wants to be told again at the same moment: it would never let time pass.
    pub fn tick(&mut self, now: Micros) -> Vec<Command> {
        if self.next_deadline().is_none_or(|due| due > now) {
            return Vec::new();
        }
        let commands = self.tell(now, Event::Tick);
        let next = self.next_deadline();
        assert!(next.is_none_or(|due| due > now), "told the time, {now} µs, the governor asks for {next:?}");
        commands
    }

    /// When the governor wants to be told that time has passed.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Micros> {
        Some(self.policy.next_deadline()?.as_micros().saturating_sub(self.ahead))
    }

    /// Whether drives' temperatures are to be reported.
    #[must_use]
    pub fn wants_temperatures(&self) -> bool {
        self.drive.thermal.is_some()
    }

    /// Its clock is set back, at most to the virtual time.
    pub fn set_back(&mut self, span: Micros) {
        self.ahead = self.ahead.saturating_sub(span);
    }

    /// What it leaves behind, in a trace.
    pub fn leave(mut self, trace: &mut Trace) {
        trace.journal.append(&mut self.journal);
        trace.alarms.append(&mut self.alarms);
        trace.damaged += self.policy.damaged_records();
    }

    /// Whether it is to be reported how the chassis is cooled.
    #[must_use]
    pub fn wants_cooling(&self) -> bool {
        self.cooling
    }
}

fn write<P: serde::Serialize>(journal: &mut Vec<u8>, record: &Record<P>) {
    let mut buffer = [0; MAX_FRAME];
    // The buffer is as large as the core says that any frame can be.
    if let Ok(frame) = journal::encode(record, &mut buffer) {
        journal.extend_from_slice(frame);
    }
}

fn config(section: &GovernorSection, cap: Milliwatts, base_w: f64, meter: MeterModel) -> Config {
    /// How many standard deviations of the meter's noise a reading may be off.
    const DEVIATIONS: f64 = 3.0;
    let meter = section.meter.then(|| MeterConfig {
        quantum: milliwatts(meter.quantum_w),
        noise: milliwatts(DEVIATIONS * meter.noise_w),
        // Guess: two power supplies of 1400 W.
        full_scale: Milliwatts::from_watts(2_800),
        timeout: Microseconds::from_secs(5),
        stuck_after: section.meter_stuck_s.map(|limit| Microseconds::new(limit.micros())),
    });
    let defaults = Config::new(cap, milliwatts(base_w));
    let cooling = section.cooling.as_ref().map(|figures| CoolingConfig {
        fans_at_limit: figures.fans_at_limit_w.0,
        fans_failed: figures.fans_failed_w.0,
        coolant_lost: figures.coolant_lost_w.0,
        design_inlet: kelvin(figures.design_inlet_c).unwrap_or_default(),
        hottest_inlet: kelvin(figures.hottest_inlet_c).unwrap_or_default(),
        // Guesses: a chassis answers within minutes, and its management is asked once a second.
        dwell: Microseconds::from_secs(60),
        timeout: Microseconds::from_secs(30),
    });
    Config {
        cooling,
        margin: section.margin_w.0,
        overhead: section.overhead_w.0,
        trust_measured: section.trust_measured,
        meter,
        dwell: section.dwell_s.map_or(defaults.dwell, |dwell| Microseconds::new(dwell.micros())),
        rotation_interval: section
            .rotation_s
            .map_or(defaults.rotation_interval, |interval| Microseconds::new(interval.micros())),
        ..defaults
    }
}

/// What every drive is declared to do: everything, where nothing is said.
#[must_use]
pub fn declared(section: &GovernorSection) -> WorkSet {
    let all = || Work::ALL.to_vec();
    section.declared.clone().unwrap_or_else(all).into_iter().collect()
}

/// A power state by its number; scenarios name only states that the drive has.
#[must_use]
pub fn power_state(number: usize) -> PowerState {
    u8::try_from(number).ok().and_then(PowerState::new).unwrap_or(PowerState::PS0)
}

/// Degrees Celsius as whole kelvins, as the SMART log has them.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "`as` saturates, and the core refuses what no temperature is")]
pub fn kelvin(celsius: f64) -> Option<Kelvin> {
    Kelvin::from_celsius(libm::round(celsius) as i32)
}

/// Watts as whole milliwatts, rounded.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates, which is what is meant")]
pub fn milliwatts(watts: f64) -> Milliwatts {
    Milliwatts::new(libm::round(watts * 1000.0) as u32)
}
