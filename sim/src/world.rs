//! One run: virtual time, the server, the governor, and everything that happens to them.
//!
//! One loop. It goes to the next moment at which something is due, in the queue, in the physics or with the governor,
//! lets time pass up to it, does what is due, and records what has changed.

mod faults;

use wattline_core::governor::{Command, Event, Outcome, Request, Slot};
use wattline_core::nvme::Status;
use wattline_core::profile::WorkSet;
use wattline_core::thermal::{Cooling, Fans, ThrottleCounters};
use wattline_core::units::{Kelvin, Milliwatts, Minutes, Seconds};

use crate::calibration::Calibration;
use crate::host::{self, Host};
use crate::idle::walk::Cause;
use crate::model::chassis::Chassis;
use crate::model::firmware::Firmware;
use crate::model::meter::{Meter, MeterModel};
use crate::model::ssd::Ssd;
use crate::policy::Wrong;
use crate::random::{Purpose, Random};
use crate::scenario::Scenario;
use crate::scenario::schema::{CoolingSection, SensorFault, ThrottleSection};
use crate::scenario::value::watts;
use crate::setup;
use crate::time::{Micros, Queue, SECOND, micros, seconds};
use crate::trace::{Sample, Trace, Wire, WireRecord, record, settled_from};
use crate::wire::{Answer, Fate, Order, Wires};
use faults::Fault;

/// Something that is to happen.
#[derive(Debug)]
enum Happening {
    /// Jobs start or end.
    Jobs,
    /// A second is over.
    Second,
    /// The last four fifths begin.
    Settled,
    /// The cap changes.
    Cap(Milliwatts),
    /// The host looks at what the drives do: at its own counters of their I/O, which costs them nothing.
    Look,
    /// A drive answers with its temperature.
    Temperature(usize),
    /// The chassis is cooled otherwise.
    Cooling(CoolingSection),
    /// This drive's temperature sensor breaks.
    Sensor(usize, SensorFault),
    /// This drive resets by itself.
    Reset(usize),
    /// This drive is pulled.
    Removal(usize),
    /// What befalls the server, its meter or the governor.
    Fault(Fault),
    /// A drive acts on a command.
    Act(Order),
    /// An answer arrives.
    Arrive(Answer),
    /// The host's patience with a command ends.
    GiveUp(Order),
}

/// A run on its way.
#[derive(Debug)]
pub struct World<'a> {
    scenario: &'a Scenario,
    now: Micros,
    queue: Queue<Happening>,
    chassis: Chassis,
    /// The drives or their work have changed: flows must be shared anew.
    moved: bool,
    meter: Meter,
    meter_model: MeterModel,
    metered_j: f64,
    sampled_gb: (f64, f64),
    /// Nobody governs where the scenario has no governor, and while it is restarted.
    host: Option<Host>,
    /// How far the host's clock is ahead of the virtual time.
    ahead: Micros,
    wrong: Option<Wrong>,
    /// The cap in force.
    cap: Milliwatts,
    firmware: Vec<Firmware>,
    flips: Random,
    wires: Wires,
    /// What the governor was last told of each drive's work, and when; `None`: nothing yet.
    told: Vec<Option<(WorkSet, Micros)>>,
    /// What each broken temperature sensor shows.
    broken: Vec<Option<Option<Kelvin>>>,
    trace: Trace,
}

impl<'a> World<'a> {
    /// A run of this scenario with this seed, at its start.
    #[must_use]
    pub fn new(scenario: &'a Scenario, calibration: &Calibration, seed: u64) -> Self {
        Self::under(scenario, calibration, seed, None)
    }

    /// The same, under a governor that is wrong in this way.
    #[must_use]
    pub fn under(scenario: &'a Scenario, calibration: &Calibration, seed: u64, wrong: Option<Wrong>) -> Self {
        let chassis = setup::chassis(scenario, calibration, seed);
        let drives = chassis.drives().len();
        let meter_model = setup::meter(scenario, calibration);
        let mut world = Self {
            scenario,
            now: 0,
            queue: agenda(scenario),
            chassis,
            moved: true,
            meter: Meter::new(meter_model, Random::stream(seed, Purpose::Meter, 0)),
            meter_model,
            metered_j: 0.0,
            sampled_gb: (0.0, 0.0),
            host: None,
            ahead: setup::ahead(scenario),
            wrong,
            cap: scenario.governor.as_ref().map_or(Milliwatts::ZERO, |section| section.cap_w.0),
            firmware: vec![Firmware::default(); drives],
            flips: Random::stream(seed, Purpose::Flips, 0),
            wires: Wires::new(scenario.faults, seed, drives),
            told: vec![None; drives],
            broken: vec![None; drives],
            trace: Trace::new(scenario.duration_s.micros(), drives),
        };
        world.host = world.new_host();
        world
    }

    /// Runs to the end; `progress` hears of each second.
    #[must_use]
    pub fn run(mut self, mut progress: impl FnMut(Micros)) -> Trace {
        self.start();
        let mut second = 0;
        while self.step() {
            if self.now / SECOND > second {
                second = self.now / SECOND;
                progress(self.now);
            }
        }
        self.trace.moved_gb = self.chassis.drives().iter().map(Ssd::moved_gb).collect();
        self.trace.wakes = self.chassis.drives().iter().map(|drive| drive.wakes().to_vec()).collect();
        let transitions = self.chassis.drives().iter().flat_map(|drive| drive.management().transitions);
        self.trace.throttlings = transitions.map(u64::from).sum();
        if let Some(host) = self.host {
            host.leave(&mut self.trace);
        }
        self.trace
    }

    /// The drives work before the governor hears of them.
    fn start(&mut self) {
        self.assign_jobs();
        self.chassis.rebalance();
        self.record();
        let Some(section) = &self.scenario.governor else { return };
        self.trace.cap_w.push((0, watts(section.cap_w.0)));
        self.trace.disturbances.push((0, "start".into()));
        self.attach_all();
    }

    /// Goes to the next moment at which something is due; false at the end.
    fn step(&mut self) -> bool {
        let end = self.trace.duration;
        let of_governor = self.host.as_ref().and_then(Host::next_deadline);
        let due = [self.chassis.next_change(), self.queue.next_time(), of_governor].into_iter().flatten().min();
        self.now = due.unwrap_or(end).max(self.now).min(end);
        self.chassis.advance(self.now);
        while let Some(happening) = self.queue.pop_due(self.now) {
            self.happen(happening);
        }
        let commands = self.host.as_mut().map(|host| host.tick(self.now)).unwrap_or_default();
        self.send_all(commands);
        if std::mem::take(&mut self.moved) {
            self.chassis.rebalance();
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
            Happening::Cap(cap) => self.change_cap(cap),
            Happening::Look => self.look(),
            Happening::Temperature(slot) => self.tell_temperature(slot),
            Happening::Cooling(section) => self.cool(section),
            Happening::Sensor(slot, fault) => {
                self.broken[slot] = Some(self.reading(slot).filter(|_| fault == SensorFault::Frozen));
            }
            Happening::Reset(slot) => {
                self.reset(slot, format!("drive {slot} resets"));
                self.note(slot, Wire::Reset);
                self.tell(Event::Reset { slot: wire_slot(slot) });
            }
            Happening::Removal(slot) => {
                self.wires.cut(slot);
                self.chassis.drive_mut(slot).remove();
                self.moved = true;
                self.note(slot, Wire::Removed);
                self.tell(Event::Removed { slot: wire_slot(slot) });
            }
            Happening::Fault(fault) => self.befall(fault),
            Happening::Act(order) if self.wires.carries(order) => self.act(order),
            Happening::Arrive(answer) if self.wires.hears(answer.order) => self.arrive(answer),
            Happening::GiveUp(order) if self.wires.hears(order) => {
                self.reset(order.slot, format!("the host gives up on drive {} and resets it", order.slot));
                self.note(order.slot, Wire::GivenUp { id: order.id.0 });
                self.tell(Event::Lost { slot: wire_slot(order.slot), id: order.id });
            }
            // From before a reset, a removal or a restart.
            Happening::Act(_) | Happening::Arrive(_) | Happening::GiveUp(_) => {}
        }
    }

    /// Gives each drive the job that started last.
    fn assign_jobs(&mut self) {
        let mut turned = 0;
        for slot in 0..self.chassis.drives().len() {
            let running = self.scenario.job.iter().filter(|job| {
                let started = job.start_s.micros() <= self.now;
                let ended = job.stop_s.is_some_and(|stop| stop.micros() <= self.now);
                job.drives.contains(slot) && started && !ended
            });
            let demand = running.max_by_key(|job| job.start_s.micros()).map(setup::demand);
            let before = self.chassis.drives()[slot].demand().map(|demand| demand.work);
            turned += usize::from(before != demand.map(|demand| demand.work));
            self.chassis.drive_mut(slot).set_demand(self.now, demand);
        }
        self.moved = true;
        if self.now > 0 && turned > 0 {
            self.disturb(format!("{turned} drives turn to other work"));
        }
    }

    fn change_cap(&mut self, cap: Milliwatts) {
        let cap_w = watts(cap);
        if self.trace.cap_w.last().is_some_and(|(_, before_w)| cap_w < *before_w) {
            self.disturb(format!("the cap drops to {cap_w} W"));
        }
        self.cap = cap;
        record(&mut self.trace.cap_w, self.now, cap_w);
        self.tell(Event::Cap(cap));
    }

    fn reset(&mut self, slot: usize, cause: String) {
        self.wires.cut(slot);
        self.firmware[slot].reset();
        self.chassis.drive_mut(slot).reset(self.now);
        self.moved = true;
        self.disturb(cause);
    }

    /// The drive obeys or refuses; its answer leaves, if it is not lost.
    fn act(&mut self, order: Order) {
        let drive = &self.chassis.drives()[order.slot];
        if drive.is_resetting() {
            // What was sent during a reset is taken up after it.
            let after = self.now + micros(drive.model().reset_s);
            self.queue.push(after, Happening::Act(order));
            return;
        }
        let outcome = match (order.fate, order.request) {
            (Fate::Refused, _) => Outcome::Rejected(self.wires.refusal()),
            (_, Request::SetPowerState(state)) => {
                if self.firmware[order.slot].sets(state.index()) {
                    self.chassis.drive_mut(order.slot).enter(self.now, state.index());
                    self.moved = true;
                }
                Outcome::Done
            }
            (_, Request::ReadPowerState) => {
                Outcome::Is(host::power_state(self.firmware[order.slot].names(drive.held().unwrap_or(0))))
            }
            // No scenario allows another lever.
            _ => Outcome::Rejected(Status::INVALID_FIELD),
        };
        if let Some(arrival) = self.wires.arrival(self.now, order.fate) {
            self.queue.push(arrival, Happening::Arrive(Answer { order, outcome }));
        }
    }

    fn arrive(&mut self, Answer { order, outcome }: Answer) {
        // Nothing else is in flight to this drive, so this ends the host's wait for the command as well.
        self.wires.cut(order.slot);
        let id = order.id.0;
        self.note(
            order.slot,
            match (outcome, order.request) {
                (Outcome::Is(state), _) => Wire::Read { id, state: state.index() },
                (Outcome::Done, Request::SetPowerState(state)) => Wire::Answered { id, set: state.index() },
                _ => Wire::Refused { id },
            },
        );
        self.tell(Event::Completed { slot: wire_slot(order.slot), id: order.id, outcome });
    }

    fn second(&mut self) {
        self.chassis.second();
        let mean_w = (self.chassis.energy_j() - self.metered_j) / seconds(SECOND);
        self.metered_j = self.chassis.energy_j();
        let reading_w = self.meter.read(mean_w);
        self.trace.meter_w.extend(reading_w.map(|reading_w| (self.now, reading_w)));
        self.sample();
        if self.scenario.governor.as_ref().is_some_and(|section| section.meter) {
            self.tell(Event::Meter(reading_w.map(host::milliwatts)));
        }
        if self.host.as_ref().is_some_and(Host::wants_temperatures) {
            for slot in 0..self.chassis.drives().len() {
                let served = self.serve(slot, 0.0, Cause::Poll);
                self.queue.push(served, Happening::Temperature(slot));
            }
        }
        if self.host.as_ref().is_some_and(Host::wants_cooling) {
            self.tell(Event::Cooling(self.cooling()));
        }
        if let Some(throttle) = self.scenario.throttle {
            self.throttle(throttle);
        }
        self.queue.push(self.now + SECOND, Happening::Second);
    }

    /// What a drive's temperature sensor shows.
    fn reading(&self, slot: usize) -> Option<Kelvin> {
        let drive = &self.chassis.drives()[slot];
        self.broken[slot].unwrap_or_else(|| drive.held().and_then(|_| host::kelvin(drive.heat().composite_c)))
    }

    /// What a SMART log has: the temperature, and where the drive's own management is on, its counters.
    fn tell_temperature(&mut self, index: usize) {
        let (slot, reading) = (wire_slot(index), self.reading(index));
        self.tell(Event::Temperature { slot, reading });
        let drive = &self.chassis.drives()[index];
        let management = *drive.management();
        if drive.held().is_some() && management.is_on() {
            let ([light_transitions, heavy_transitions], time_s) = (management.transitions, management.time_s);
            let [light_time, heavy_time] = time_s.map(Seconds::new);
            let (warning_time, critical_time) = (Minutes::ZERO, Minutes::ZERO);
            let counters = ThrottleCounters {
                light_transitions,
                heavy_transitions,
                light_time,
                heavy_time,
                warning_time,
                critical_time,
            };
            self.tell(Event::Throttling { slot, counters });
        }
    }

    /// What a board's management would say of the cooling.
    fn cooling(&self) -> Cooling {
        let air = self.chassis.air();
        let fans = match (air.fans_run(), air.fans_at_limit()) {
            (false, _) => Fans::Failed,
            (true, true) => Fans::AtLimit,
            (true, false) => Fans::Regulating,
        };
        Cooling { inlet: host::kelvin(air.drives_c()), fans, coolant_lost: !air.coolant() }
    }

    fn cool(&mut self, section: CoolingSection) {
        let now = self.now;
        let air = self.chassis.air_mut();
        if let Some(inlet_c) = section.inlet_c {
            air.set_inlet(now, inlet_c, section.over_s.micros());
        }
        if let Some(share) = section.fans {
            air.set_running(share.0);
        }
        if let Some(flows) = section.coolant {
            air.set_coolant(flows);
        }
    }

    /// A bare on/off throttle: no more than what it says.
    fn throttle(&mut self, ThrottleSection { at_c, hysteresis_k }: ThrottleSection) {
        for slot in 0..self.chassis.drives().len() {
            let drive = &self.chassis.drives()[slot];
            let lowest = drive.model().states.len().saturating_sub(1);
            let Some(celsius) = self.reading(slot).map(|reading| f64::from(reading.celsius())) else { continue };
            let wanted = if celsius >= at_c {
                lowest
            } else if celsius <= at_c - hysteresis_k {
                self.scenario.drives.initial_ps
            } else {
                continue;
            };
            if drive.held().is_some_and(|held| held != wanted) {
                self.chassis.drive_mut(slot).enter(self.now, wanted);
                self.moved = true;
            }
        }
    }

    /// Tells the governor what each drive has been doing: at once where that is something else than before, and work
    /// again every second.
    fn look(&mut self) {
        for slot in 0..self.chassis.drives().len() {
            let seen: WorkSet = self.chassis.drives()[slot].flow().work.into_iter().collect();
            let before = self.told[slot];
            let is_old = before.is_some_and(|(work, at)| work == seen && (seen.is_empty() || self.now < at + SECOND));
            if !is_old {
                self.told[slot] = Some((seen, self.now));
                if before.map_or(WorkSet::NONE, |(work, _)| work) != seen {
                    self.note(slot, Wire::Seen(seen));
                }
                self.tell(Event::Work { slot: wire_slot(slot), seen });
            }
        }
        if let Some(section) = &self.scenario.governor {
            self.queue.push(self.now + section.poll_s.micros().max(1000), Happening::Look);
        }
    }

    fn tell(&mut self, event: Event) {
        let commands = self.host.as_mut().map(|host| host.tell(self.now, event)).unwrap_or_default();
        self.send_all(commands);
    }

    fn send_all(&mut self, commands: Vec<Command>) {
        for command in commands {
            let Command::Drive { slot, id, request, .. } = command else { continue };
            let slot = usize::from(slot);
            let set = match request {
                Request::SetPowerState(state) => Some(state.index()),
                _ => None,
            };
            self.note(slot, Wire::Sent { id: id.0, set });
            let order = self.wires.send(self.now, slot, id, request);
            let entry_s = set.map_or(0.0, |state| self.chassis.drives()[slot].model().states[state].entry_s);
            let served = self.serve(slot, entry_s, Cause::Governor);
            self.queue.push(served, Happening::Act(order));
            self.queue.push(self.wires.gives_up(self.now), Happening::GiveUp(order));
        }
    }

    /// A drive takes up an admin command that takes this much longer than others. Returns when it is served.
    fn serve(&mut self, slot: usize, more_s: f64, cause: Cause) -> Micros {
        self.moved = true;
        let drive = self.chassis.drive_mut(slot);
        let busy = micros(drive.model().admin_s + more_s);
        drive.serve(self.now, busy, cause)
    }

    fn note(&mut self, slot: usize, what: Wire) {
        self.trace.wire.push(WireRecord { at: self.now, slot, what });
    }

    fn disturb(&mut self, cause: String) {
        if self.scenario.governor.is_some() {
            self.trace.disturbances.push((self.now, cause));
        }
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
        for (slot, drive) in self.chassis.drives().iter().enumerate() {
            record(&mut self.trace.states[slot], self.now, drive.held());
            record(&mut self.trace.settled[slot], self.now, drive.is_settled());
        }
    }
}

/// A slot as the governor counts them; there are at most [`crate::MAX_DRIVES`].
fn wire_slot(slot: usize) -> Slot {
    Slot::try_from(slot).unwrap_or(Slot::MAX)
}

/// Everything that is known at the start.
fn agenda(scenario: &Scenario) -> Queue<Happening> {
    let mut queue = Queue::default();
    for job in &scenario.job {
        for moment in job.stop_s.into_iter().chain([job.start_s]).filter(|moment| moment.micros() > 0) {
            queue.push(moment.micros(), Happening::Jobs);
        }
    }
    queue.push(SECOND, Happening::Second);
    queue.push(settled_from(scenario.duration_s.micros()), Happening::Settled);
    for change in &scenario.cap {
        queue.push(change.at_s.micros(), Happening::Cap(change.cap_w.0));
    }
    if let Some(section) = &scenario.governor {
        queue.push(section.poll_s.micros().max(1000), Happening::Look);
    }
    faults::announce(scenario, &mut queue);
    for section in &scenario.cooling {
        queue.push(section.at_s.micros(), Happening::Cooling(*section));
    }
    for slot in 0..scenario.drives.count {
        for sensor in scenario.sensor.iter().filter(|sensor| sensor.drives.contains(slot)) {
            queue.push(sensor.at_s.micros(), Happening::Sensor(slot, sensor.fault));
        }
        for reset in scenario.reset.iter().filter(|reset| reset.drives.contains(slot)) {
            queue.push(reset.at_s.micros(), Happening::Reset(slot));
        }
        for removal in scenario.removal.iter().filter(|removal| removal.drives.contains(slot)) {
            queue.push(removal.at_s.micros(), Happening::Removal(slot));
        }
    }
    queue
}
