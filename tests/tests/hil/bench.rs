//! The bench: plays the drives and the time, and sets what the board's sensors read.
//!
//! Virtual time jumps to whatever comes next: a change in the physics, a burst, an answer, a second, the board's
//! deadline. The board is asked at its deadline and told of every answer; it takes as long as it likes.

use std::collections::BTreeMap;
use std::time::{Duration, Instant as WallClock};

use wattline_core::governor::{CommandId, Event, Outcome, Request};
use wattline_core::nvme::PowerState;
use wattline_core::units::{Instant, Microseconds};
use wattline_edge::appliance;
use wattline_edge::link::{FromBoard, Order, ToBoard};
use wattline_sim::model::chassis::Chassis;
use wattline_sim::model::ssd::Ssd;
use wattline_sim::time::{Micros, Queue, SECOND, micros};
use wattline_sim::trace::{Trace, record};

use super::captured::Captured;
use super::machine::Machine;
use super::physics;

/// What comes of a run.
pub(crate) struct Run {
    /// The truth.
    pub(crate) trace: Trace,
    /// What the board said.
    pub(crate) captured: Captured,
    /// What its sensors were set to from which moment on: watts and degrees Celsius.
    pub(crate) set: BTreeMap<Micros, (u16, f64)>,
    /// How often the board was asked.
    pub(crate) steps: u32,
    /// How many commands it sent.
    pub(crate) commands: u32,
    /// How long that took.
    pub(crate) took: Duration,
}

enum Happening {
    Second,
    Burst { slot: usize, turn: u64 },
    Pause { slot: usize },
    Answer { slot: usize, id: CommandId, request: Request },
}

/// A board and its drives.
pub(crate) struct Bench {
    machine: Machine,
    chassis: Chassis,
    queue: Queue<Happening>,
    now: Micros,
    deadline: Option<Micros>,
    metered_j: f64,
    trace: Trace,
    set: BTreeMap<Micros, (u16, f64)>,
    steps: u32,
    commands: u32,
    started: WallClock,
}

impl Bench {
    pub(crate) fn new(machine: Machine) -> Self {
        let chassis = physics::appliance();
        let mut queue = Queue::default();
        for slot in 0..chassis.drives().len() {
            queue.push(0, Happening::Burst { slot, turn: 0 });
        }
        queue.push(0, Happening::Second);
        let mut trace = Trace::new(0, chassis.drives().len());
        trace.cap_w.push((0, f64::from(appliance::config().cap.get()) / 1_000.0));
        trace.disturbances.push((0, "the start".to_owned()));
        Self {
            machine,
            chassis,
            queue,
            now: 0,
            deadline: Some(0),
            metered_j: 0.0,
            trace,
            set: BTreeMap::new(),
            steps: 0,
            commands: 0,
            started: WallClock::now(),
        }
    }

    /// Works until this moment, ends the board's run, and returns what came of it.
    pub(crate) fn run(mut self, until: Microseconds) -> Run {
        self.work_until(until);
        self.trace.duration = self.now;
        let drives = self.chassis.drives();
        self.trace.moved_before_gb = vec![0.0; drives.len()];
        self.trace.moved_gb = drives.iter().map(Ssd::moved_gb).collect();
        let Self { machine, trace, set, steps, commands, started, .. } = self;
        Run { trace, captured: machine.end(), set, steps, commands, took: started.elapsed() }
    }

    /// Works until just before this moment.
    pub(crate) fn work_until(&mut self, until: Microseconds) {
        loop {
            let due = [self.chassis.next_change(), self.queue.next_time(), self.deadline].into_iter().flatten().min();
            let next = due.unwrap_or(Micros::MAX).max(self.now);
            if next >= until.get() {
                self.now = until.get();
                self.chassis.advance(self.now);
                return;
            }
            self.now = next;
            self.chassis.advance(self.now);
            while let Some(happening) = self.queue.pop_due(self.now) {
                self.happen(happening);
            }
            if self.deadline.is_some_and(|deadline| deadline <= self.now) {
                self.step(None);
            }
            self.chassis.rebalance();
            self.record();
        }
    }

    /// Gives an order that the board does not survive, and waits until it is back. Whatever was in flight is lost with
    /// it.
    pub(crate) fn order_and_await_reset(&mut self, order: Order) {
        self.machine.send(&ToBoard { event: None, order });
        assert_eq!(self.machine.receive(), FromBoard::Ready);
        self.trace.disturbances.push((self.now, "the board is reset".to_owned()));
        self.set_sensors();
        self.deadline = Some(self.now);
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Second => {
                self.chassis.second();
                self.set_sensors();
                self.queue.push(self.now + SECOND, Happening::Second);
            }
            Happening::Burst { slot, turn } => {
                self.chassis.drive_mut(slot).set_demand(self.now, Some(physics::BURST));
                self.queue.push(physics::burst(slot, turn).1, Happening::Pause { slot });
                self.queue.push(physics::burst(slot, turn + 1).0, Happening::Burst { slot, turn: turn + 1 });
            }
            Happening::Pause { slot } => self.chassis.drive_mut(slot).set_demand(self.now, None),
            Happening::Answer { slot, id, request } => {
                let outcome = self.obey(slot, request);
                let slot = u8::try_from(slot).expect("a slot is a byte");
                self.step(Some(Event::Completed { slot, id, outcome }));
            }
        }
    }

    fn obey(&mut self, slot: usize, request: Request) -> Outcome {
        let drive = self.chassis.drive_mut(slot);
        match request {
            Request::SetPowerState(state) => {
                drive.enter(self.now, state.index());
                Outcome::Done
            }
            Request::ReadPowerState => {
                let held = drive.held().and_then(|held| PowerState::new(u8::try_from(held).ok()?));
                Outcome::Is(held.expect("the drive is there"))
            }
            other => panic!("the board's configuration allows no {other:?}"),
        }
    }

    /// Tells the board the time and what happened, and takes what it decides.
    fn step(&mut self, event: Option<Event>) {
        self.steps += 1;
        let order = Order::Step { now: Instant::from_micros(self.now) };
        self.machine.send(&ToBoard { event, order });
        loop {
            match self.machine.receive() {
                FromBoard::Send { slot, id, request } => {
                    self.commands += 1;
                    let slot = usize::from(slot);
                    let model = self.chassis.drives()[slot].model();
                    let entry_s = match request {
                        Request::SetPowerState(state) => model.states[state.index()].entry_s,
                        _ => 0.0,
                    };
                    let answered = self.now + micros(model.admin_s + entry_s);
                    self.queue.push(answered, Happening::Answer { slot, id, request });
                }
                FromBoard::Idle { until } => {
                    self.deadline = until.map(Instant::as_micros);
                    return;
                }
                FromBoard::Ready => panic!("the board was reset in the middle of a run"),
            }
        }
    }

    /// The meter shows the mean of the last second, in the whole watts that can be set.
    fn set_sensors(&mut self) {
        let mean_w = if self.now >= SECOND { self.chassis.energy_j() - self.metered_j } else { self.chassis.wall_w() };
        if self.now.is_multiple_of(SECOND) {
            self.metered_j = self.chassis.energy_j();
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few watts, a few degrees")]
        let (watts, millicelsius) = (mean_w.round() as u16, (physics::board_c(&self.chassis) * 1_000.0) as i32);
        self.machine.set(watts, millicelsius);
        self.set.insert(self.now, (watts, f64::from(millicelsius) / 1_000.0));
    }

    fn record(&mut self) {
        record(&mut self.trace.power_w, self.now, self.chassis.wall_w());
        for (slot, drive) in self.chassis.drives().iter().enumerate() {
            record(&mut self.trace.states[slot], self.now, drive.held());
        }
    }
}
