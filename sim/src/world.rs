//! One run: virtual time, the server, and everything that happens to it.
//!
//! One loop. It goes to the next moment at which something is due, in the queue or in the physics, lets time pass
//! up to it, does what is due, and records what has changed.

use crate::calibration::Calibration;
use crate::model::chassis::Chassis;
use crate::model::meter::MeterModel;
use crate::model::ssd::Ssd;
use crate::random::{Purpose, Random};
use crate::scenario::Scenario;
use crate::setup;
use crate::time::{Micros, Queue, SECOND, seconds};
use crate::trace::{Sample, Trace, record, settled_from};

/// Something that is to happen.
#[derive(Debug)]
enum Happening {
    /// Jobs start or end.
    Jobs,
    /// A second is over.
    Second,
    /// The last four fifths begin.
    Settled,
    /// These drives reset by themselves.
    Reset(usize),
    /// This drive is pulled.
    Removal(usize),
}

/// A run on its way.
#[derive(Debug)]
pub struct World<'a> {
    scenario: &'a Scenario,
    now: Micros,
    queue: Queue<Happening>,
    chassis: Chassis,
    meter: MeterModel,
    meter_noise: Random,
    metered_j: f64,
    sampled_gb: (f64, f64),
    trace: Trace,
}

impl<'a> World<'a> {
    /// A run of this scenario with this seed, at its start.
    #[must_use]
    pub fn new(scenario: &'a Scenario, calibration: &Calibration, seed: u64) -> Self {
        let chassis = setup::chassis(scenario, calibration, seed);
        let duration = scenario.duration_s.micros();
        let trace = Trace { duration, states: vec![Vec::new(); chassis.drives().len()], ..Trace::default() };
        Self {
            scenario,
            now: 0,
            queue: agenda(scenario),
            chassis,
            meter: setup::meter(scenario, calibration),
            meter_noise: Random::stream(seed, Purpose::Meter, 0),
            metered_j: 0.0,
            sampled_gb: (0.0, 0.0),
            trace,
        }
    }

    /// Runs to the end; `progress` hears of each second.
    #[must_use]
    pub fn run(mut self, mut progress: impl FnMut(Micros)) -> Trace {
        let mut second = 0;
        while self.step() {
            if self.now / SECOND > second {
                second = self.now / SECOND;
                progress(self.now);
            }
        }
        self.trace.moved_gb = self.chassis.drives().iter().map(Ssd::moved_gb).collect();
        self.trace
    }

    /// Goes to the next moment at which something is due; false at the end.
    fn step(&mut self) -> bool {
        let end = self.trace.duration;
        let due = self.chassis.next_change().into_iter().chain(self.queue.next_time()).min();
        self.now = due.unwrap_or(end).min(end);
        self.chassis.advance(self.now);
        while let Some(happening) = self.queue.pop_due(self.now) {
            self.happen(happening);
        }
        self.record();
        self.now < end
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Jobs => self.assign_jobs(),
            Happening::Second => self.second(),
            Happening::Settled => {
                self.trace.moved_before_gb = self.chassis.drives().iter().map(Ssd::moved_gb).collect();
            }
            Happening::Reset(slot) => self.chassis.drive_mut(slot).reset(self.now),
            Happening::Removal(slot) => self.chassis.drive_mut(slot).remove(),
        }
        self.chassis.rebalance();
    }

    /// Gives each drive the job that started last.
    fn assign_jobs(&mut self) {
        for slot in 0..self.chassis.drives().len() {
            let running = self.scenario.job.iter().filter(|job| {
                let started = job.start_s.micros() <= self.now;
                let ended = job.stop_s.is_some_and(|stop| stop.micros() <= self.now);
                job.drives.contains(slot) && started && !ended
            });
            let demand = running.max_by_key(|job| job.start_s.micros()).map(setup::demand);
            self.chassis.drive_mut(slot).set_demand(self.now, demand);
        }
    }

    fn second(&mut self) {
        self.chassis.second();
        let mean_w = (self.chassis.energy_j() - self.metered_j) / seconds(SECOND);
        self.metered_j = self.chassis.energy_j();
        let reading_w = self.meter.read(mean_w, &mut self.meter_noise);
        self.trace.meter_w.push((self.now, reading_w));
        self.sample();
        self.queue.push(self.now + SECOND, Happening::Second);
    }

    fn sample(&mut self) {
        let (read_gb, write_gb) = self.chassis.moved_gb();
        let hottest = |temperature: fn(&Ssd) -> f64| {
            let present = self.chassis.drives().iter().filter(|drive| drive.is_present());
            present.map(temperature).fold(f64::NEG_INFINITY, f64::max)
        };
        self.trace.samples.push(Sample {
            at: self.now,
            read_gb_s: read_gb - self.sampled_gb.0,
            write_gb_s: write_gb - self.sampled_gb.1,
            composite_c: hottest(|drive| drive.heat().composite_c),
            case_c: hottest(|drive| drive.heat().case_c),
        });
        self.sampled_gb = (read_gb, write_gb);
    }

    fn record(&mut self) {
        record(&mut self.trace.power_w, self.now, self.chassis.wall_w());
        for (steps, drive) in self.trace.states.iter_mut().zip(self.chassis.drives()) {
            record(steps, self.now, drive.held());
        }
    }
}

/// Everything that is known at the start.
fn agenda(scenario: &Scenario) -> Queue<Happening> {
    let mut queue = Queue::default();
    queue.push(0, Happening::Jobs);
    for job in &scenario.job {
        for moment in job.stop_s.into_iter().chain([job.start_s]) {
            queue.push(moment.micros(), Happening::Jobs);
        }
    }
    queue.push(SECOND, Happening::Second);
    queue.push(settled_from(scenario.duration_s.micros()), Happening::Settled);
    for slot in 0..scenario.drives.count {
        for reset in scenario.reset.iter().filter(|reset| reset.drives.contains(slot)) {
            queue.push(reset.at_s.micros(), Happening::Reset(slot));
        }
        for removal in scenario.removal.iter().filter(|removal| removal.drives.contains(slot)) {
            queue.push(removal.at_s.micros(), Happening::Removal(slot));
        }
    }
    queue
}
