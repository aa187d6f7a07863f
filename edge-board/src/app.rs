//! The loop's body: what happened goes into the governor and the journal, what was decided goes to the drives.

use core::mem::MaybeUninit;

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
pub struct App<'a, P, I, W, const DRIVES: usize, const PROFILES: usize> {
    governor: &'a mut Governor<DRIVES, PROFILES>,
    port: P,
    sensors: Sensors<I>,
    reporter: Reporter<'a, W>,
    sampling_period: Microseconds,
    next_sample: Instant,
}

impl<'a, P: DrivePort, I: I2c, W: Write, const DRIVES: usize, const PROFILES: usize>
    App<'a, P, I, W, DRIVES, PROFILES>
{
    /// A governor with this configuration, without drives. The journal begins. The governor is built in `place`, since
    /// it takes kilobytes: in memory of its own they are not on the stack.
    pub fn new(
        place: &'a mut MaybeUninit<Governor<DRIVES, PROFILES>>,
        config: Config,
        port: P,
        sensors: Sensors<I>,
        mut reporter: Reporter<'a, W>,
        sampling_period: Microseconds,
    ) -> Self {
        reporter.record(&Record::start(Governor::<DRIVES, PROFILES>::SLOTS, 0));
        reporter.record(&Record::Config(config.clone()));
        let governor = place.write(Governor::new(config));
        Self { governor, port, sensors, reporter, sampling_period, next_sample: Instant::START }
    }

    /// Adds a kind of drive. `None` where there are `PROFILES` already.
    pub fn add_profile(&mut self, profile: Profile) -> Option<ProfileIndex> {
        self.reporter.record(&Record::Profile(&profile));
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
    pub const fn reporter(&mut self) -> &mut Reporter<'a, W> {
        &mut self.reporter
    }

    fn sample(&mut self, now: Instant) {
        let sample = self.sensors.sample();
        self.reporter.telemetry(&Telemetry::Sampled { at: now, power: sample.power, board: sample.board });
        let drives = u8::try_from(DRIVES).unwrap_or(u8::MAX);
        for event in sample.events(drives) {
            self.tell(now, event);
        }
    }

    /// Tells the governor, and does what it decides. A request that cannot be sent is lost, and told as that: after a
    /// few of these the governor gives the drive up, so this ends.
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
        self.reporter.record(&Record::Event { at, event: event.clone() });
        self.governor.handle(at, event);
        while let Some(command) = self.governor.poll() {
            self.reporter.record(&Record::Command { at, command });
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

#[cfg(test)]
mod tests {
    use core::cell::RefCell;
    use core::convert::Infallible;
    use std::collections::VecDeque;
    use std::rc::Rc;
    use std::vec::Vec;

    use embedded_hal::i2c::ErrorKind;
    use embedded_hal_mock::eh1::i2c::{Mock, Transaction};
    use lm75::Lm75;
    use wattline_core::governor::{Alarm, Cause, Outcome, Request};
    use wattline_core::journal::{MAX_FRAME, Replay};
    use wattline_core::nvme::PowerState;
    use wattline_core::units::{Kelvin, Milliwatts};

    use super::*;
    use crate::adm1272::Adm1272;
    use crate::appliance::{self, DRIVES, PROFILES};
    use crate::report::Report;

    /// Drives that take what they are told, at once; or a line to them that is cut.
    #[derive(Default)]
    struct Drives {
        cut: bool,
        states: [PowerState; DRIVES],
        answers: VecDeque<Event>,
        sent: u32,
    }

    impl DrivePort for Drives {
        type Error = ();

        fn send(&mut self, slot: Slot, id: CommandId, request: Request) -> Result<(), ()> {
            self.sent += 1;
            if self.cut {
                return Err(());
            }
            let state = &mut self.states[usize::from(slot)];
            let outcome = match request {
                Request::SetPowerState(wanted) => {
                    *state = wanted;
                    Outcome::Done
                }
                Request::ReadPowerState => Outcome::Is(*state),
                other => panic!("the board's configuration allows no {other:?}"),
            };
            self.answers.push_back(Event::Completed { slot, id, outcome });
            Ok(())
        }

        fn next_event(&mut self) -> Option<Event> {
            self.answers.pop_front()
        }
    }

    /// Keeps what is written.
    #[derive(Clone, Default)]
    struct Journal(Rc<RefCell<Vec<u8>>>);

    impl embedded_io::ErrorType for Journal {
        type Error = Infallible;
    }

    impl Write for Journal {
        fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
            self.0.borrow_mut().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> Result<(), Infallible> {
            Ok(())
        }
    }

    /// The appliance for so many steps of a second, on a bus without devices. Returns what the app recorded.
    fn run(drives: Drives, seconds: u64) -> (Drives, Vec<Report>) {
        let absent =
            |address, command| Transaction::write_read(address, vec![command], vec![0; 2]).with_error(ErrorKind::Other);
        let sample = [absent(appliance::METER_ADDRESS, 0xD4), absent(appliance::SENSOR_ADDRESS, 0)];
        let samples: Vec<_> = (0..seconds).flat_map(|_| sample.clone()).collect();
        let mut bus = Mock::new(&samples);
        let meter = Adm1272::new(bus.clone(), appliance::METER_ADDRESS, appliance::SHUNT_MICRO_OHMS);
        let sensors = Sensors::new(meter, Lm75::new(bus.clone(), appliance::SENSOR_ADDRESS), Kelvin::new(0));
        let journal = Journal::default();
        let mut buffer = [0; MAX_FRAME];
        let reporter = Reporter::new(journal.clone(), &mut buffer);
        let period = appliance::SAMPLING_PERIOD;
        let mut place = MaybeUninit::<Governor<DRIVES, PROFILES>>::uninit();
        let mut app = App::new(&mut place, appliance::config(), drives, sensors, reporter, period);
        let profile = app.add_profile(appliance::profile()).unwrap();
        for slot in 0..4 {
            app.attach(Instant::START, slot, appliance::drive(profile));
        }
        let end = Instant::from_micros(seconds * 1_000_000);
        let mut now = Instant::START;
        while now < end {
            let until = app.step(now).expect("the sensors are read again");
            assert!(until > now, "no step asks to be repeated at once");
            // An answer may come before.
            now = if app.port.answers.is_empty() { until } else { now.after(Microseconds::from_millis(1)) };
        }
        bus.done();
        let reports = journal.0.take();
        let frames = reports.split_inclusive(|byte| *byte == 0).map(|frame| frame.split_last().unwrap().1);
        (app.port, frames.map(|frame| Report::decode(frame).unwrap()).collect())
    }

    fn records(reports: Vec<Report>) -> impl Iterator<Item = Record> {
        reports.into_iter().filter_map(|report| match report {
            Report::Journal(record) => Some(record),
            Report::Telemetry(_) => None,
        })
    }

    #[test]
    fn four_drives_are_brought_under_the_cap_and_the_journal_replays() {
        let (drives, reports) = run(Drives::default(), 20);
        let mut replay = Replay::<DRIVES, PROFILES>::new();
        for record in records(reports) {
            replay.take(record).unwrap();
        }
        let ledger = replay.governor().unwrap().ledger();
        assert!(ledger.promised() <= ledger.allowance());
        assert!(ledger.promised() > Milliwatts::from_watts(15));
        assert_ne!(drives.states, [PowerState::PS0; DRIVES]);
    }

    #[test]
    fn what_cannot_be_sent_is_lost_until_the_governor_gives_up() {
        let (drives, reports) = run(Drives { cut: true, ..Drives::default() }, 3);
        let patience = u32::from(appliance::config().patience);
        assert_eq!(drives.sent, 4 * patience);
        let unmanaged = records(reports).filter(|record| {
            matches!(
                record,
                Record::Command {
                    command: Command::Alarm {
                        alarm: Alarm::Unmanaged { cause: Cause::CommandsLost, .. },
                        raised: true
                    },
                    ..
                }
            )
        });
        assert_eq!(unmanaged.count(), 4);
    }
}
