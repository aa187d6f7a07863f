//! The loop's body: what happened goes into the governor and the journal, what was decided goes to the drives.

use embedded_hal::i2c::I2c;
use embedded_io::Write;
use heapless::Vec;
use wattline_core::governor::{Command, CommandId, Config, DriveConfig, Event, Governor, ProfileIndex, Slot};
use wattline_core::journal::Record;
use wattline_core::profile::Profile;
use wattline_core::units::{Instant, Microseconds};

use crate::drive_port::DrivePort;
use crate::report::{Reporter, Telemetry};
use crate::sensors::Sensors;

/// A governor with its wires.
pub struct App<P, I, W, const DRIVES: usize, const PROFILES: usize> {
    governor: Governor<DRIVES, PROFILES>,
    port: P,
    sensors: Sensors<I>,
    reporter: Reporter<W>,
    sampling_period: Microseconds,
    next_sample: Instant,
}

impl<P: DrivePort, I: I2c, W: Write, const DRIVES: usize, const PROFILES: usize> App<P, I, W, DRIVES, PROFILES> {
    /// A governor with this configuration, without drives. The journal begins.
    pub fn new(
        config: Config,
        port: P,
        sensors: Sensors<I>,
        mut reporter: Reporter<W>,
        sampling_period: Microseconds,
    ) -> Self {
        reporter.record(Record::start());
        reporter.record(Record::Config(config.clone()));
        let governor = Governor::new(config);
        Self { governor, port, sensors, reporter, sampling_period, next_sample: Instant::START }
    }

    /// Adds a kind of drive. `None` where there are `PROFILES` already.
    pub fn add_profile(&mut self, profile: Profile) -> Option<ProfileIndex> {
        self.reporter.record(Record::Profile(&profile));
        self.governor.add_profile(profile)
    }

    /// A drive is there.
    pub fn attach(&mut self, now: Instant, slot: Slot, drive: DriveConfig) {
        self.tell(now, Event::Attached { slot, drive });
    }

    /// Does everything that is due at `now`; returns when to come back at the latest.
    pub fn step(&mut self, now: Instant) -> Option<Instant> {
        while let Some(event) = self.port.next_event() {
            self.tell(now, event);
        }
        if self.next_sample <= now {
            self.sample(now);
            self.next_sample = now.after(self.sampling_period);
        }
        if self.governor.next_deadline().is_some_and(|deadline| deadline <= now) {
            self.tell(now, Event::Tick);
        }
        self.governor.next_deadline().into_iter().chain([self.next_sample]).min()
    }

    /// The way to the drives.
    pub const fn port(&mut self) -> &mut P {
        &mut self.port
    }

    /// The way to whoever reads the journal.
    pub const fn reporter(&mut self) -> &mut Reporter<W> {
        &mut self.reporter
    }

    fn sample(&mut self, now: Instant) {
        let sample = self.sensors.sample();
        self.reporter.telemetry(Telemetry::Sampled { at: now, power: sample.power, board: sample.board });
        let drives = u8::try_from(DRIVES).unwrap_or(u8::MAX);
        for event in sample.events(drives) {
            self.tell(now, event);
        }
    }

    /// Tells the governor, and does what it decides. A request that cannot be sent is lost, and told as that: after a few of
    /// these the governor gives the drive up, so this ends.
    fn tell(&mut self, now: Instant, event: Event) {
        let mut unsent = self.tell_once(now, event);
        while let Some((slot, id)) = unsent.pop() {
            for request in self.tell_once(now, Event::Lost { slot, id }) {
                let _ = unsent.push(request);
            }
        }
    }

    /// Returns what could not be sent: at most one request for each drive, since no more are in flight.
    fn tell_once(&mut self, at: Instant, event: Event) -> Vec<(Slot, CommandId), DRIVES> {
        let mut unsent = Vec::new();
        self.reporter.record(Record::Event { at, event: event.clone() });
        self.governor.handle(at, event);
        while let Some(command) = self.governor.poll() {
            self.reporter.record(Record::Command { at, command });
            match command {
                Command::Drive { slot, id, request, reason } => {
                    log!(debug, "drive {}: {} ({})", slot, request, reason);
                    if self.port.send(slot, id, request).is_err() {
                        log!(error, "drive {}: not sent", slot);
                        let _ = unsent.push((slot, id));
                    }
                }
                Command::Alarm { alarm, raised } => {
                    log!(warn, "alarm {} raised: {}", alarm, raised);
                }
            }
        }
        unsent
    }
}
