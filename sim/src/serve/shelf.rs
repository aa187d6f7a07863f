//! The drives and their server at work: commands in, answers out, in whatever time the caller says that it is.
//!
//! Nothing here looks at a clock, so tests can use virtual time; [`super::plant`] brings the real one.
//!
//! **Work that really arrives.** A drive serves its reads and writes one after another, as fast as the model lets it:
//! while one is being served, the drive has a demand of that kind of work, and the command is done when the model has
//! moved its bytes; then it waits for the work's latency. A command of *b* bytes counts for *b* / scale, so that the
//! scale divides throughput and nothing else.
//!
//! **Sleep.** The model's: an idle drive follows its table of autonomous transitions, and a command waits for the rest
//! of the entry and for the exit. Every command but Keep Alive and Asynchronous Event Request wakes the drive and
//! restarts its idle clock. Get Features of Power Management names the state in which the command found the drive
//! (**guess**).
//!
//! **Heat.** The thresholds that the host sets (Host Controlled Thermal Management) are given to the model's own
//! management, whose counters the SMART log shows.
//!
//! **Faults** of the scenario meet Set and Get Features of Power Management, as in a simulated run.

mod admin;
mod heat;

use std::collections::VecDeque;

use wattline_core::nvme::Status;
use wattline_core::nvme::feature::autonomous_transitions::Table;
use wattline_core::profile::Work;

use super::command::Submission;
use super::features::Features;
use super::kind::Kind;
use super::pages::{Counters, ErrorLog};
use crate::idle::walk::Cause;
use crate::model::chassis::Chassis;
use crate::model::job::Demand;
use crate::model::meter::MeterModel;
use crate::random::Random;
use crate::time::{Micros, Queue, SECOND, micros};
use crate::wire::{Fate, Wires};

/// What a drive answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: Status,
    pub(super) result: u32,
    pub(super) data: Vec<u8>,
}

impl Answer {
    /// A refusal.
    pub(super) const fn refused(status: Status) -> Self {
        Self { status, result: 0, data: Vec::new() }
    }

    /// Success with these data.
    pub(super) const fn data(data: Vec<u8>) -> Self {
        Self { status: Status::SUCCESS, result: 0, data }
    }
}

/// Where an answer goes. Never called: the command is lost, or was overtaken by a reset.
pub(super) type Done = Box<dyn FnOnce(Answer) + Send>;

/// A read, a write, or an I/O command that moves nothing.
pub(super) struct Io {
    /// Kind of work.
    pub(super) work: Work,
    /// How much it moves.
    pub(super) bytes: u64,
    /// The connection that it came by.
    pub(super) connection: u64,
    pub(super) done: Done,
}

/// An admin command that the drive has to answer.
pub(super) struct Admin {
    pub(super) submission: Submission,
    pub(super) data: Vec<u8>,
    /// The controller that it came to.
    pub(super) controller: u16,
    pub(super) done: Done,
}

/// Something that a controller has to hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    /// The temperature of the drive in this slot has crossed a threshold.
    Temperature(usize),
    /// The drive in this slot is gone, or resets by itself.
    Cut(usize),
}

enum Happening {
    Second,
    Reset(usize),
    Removal(usize),
    Act { slot: usize, era: u32, admin: Box<Admin>, found: usize, fate: Fate },
    Answer { slot: usize, era: u32, done: Done, answer: Answer },
}

/// A drive in its slot.
pub(super) struct Bay {
    kind: Kind,
    name: String,
    features: Features,
    counters: Counters,
    errors: ErrorLog,
    era: u32,
    jobs: VecDeque<Io>,
    /// What the drive had moved when the first job began, in GB.
    begun_gb: f64,
    /// When it has come out of its last reset.
    reset_until: Micros,
    warns: bool,
}

impl Bay {
    /// A drive of this kind with this name.
    pub(super) fn new(kind: Kind, name: String, features: Features) -> Self {
        Self {
            kind,
            name,
            features,
            counters: Counters::default(),
            errors: ErrorLog::default(),
            era: 0,
            jobs: VecDeque::new(),
            begun_gb: 0.0,
            reset_until: 0,
            warns: false,
        }
    }
}

/// What the server's management controller can say.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Snapshot {
    /// The meter's readings of the last minute in watts, newest last.
    pub(super) watts: Vec<f64>,
    /// The air at the drives in °C.
    pub(super) inlet_c: f64,
    /// Composite temperature of each drive that is there, in °C.
    pub(super) drives_c: Vec<(usize, f64)>,
}

/// The server.
pub(super) struct Shelf {
    now: Micros,
    chassis: Chassis,
    bays: Vec<Bay>,
    blocks: u64,
    queue: Queue<Happening>,
    scale: f64,
    meter: MeterModel,
    meter_noise: Random,
    metered_j: f64,
    watts: VecDeque<f64>,
    inlet_c: f64,
    wires: Wires,
    moved: bool,
    notices: Vec<Notice>,
}

/// Readings that are kept: one minute.
const READINGS: usize = 60;
/// Commands that are never limited by how many are in flight: the host's queue is real.
const UNLIMITED: u32 = u32::MAX;

impl Shelf {
    /// A server with these drives in its bays; each namespace has this many blocks.
    pub(super) fn new(chassis: Chassis, bays: Vec<Bay>, blocks: u64, scale: f64, around: Surroundings) -> Self {
        let mut queue = Queue::default();
        queue.push(SECOND, Happening::Second);
        for (at, slot) in around.resets {
            queue.push(at, Happening::Reset(slot));
        }
        for (at, slot) in around.removals {
            queue.push(at, Happening::Removal(slot));
        }
        let first_w = chassis.wall_w();
        let mut shelf = Self {
            now: 0,
            chassis,
            bays,
            blocks,
            queue,
            scale,
            meter: around.meter,
            meter_noise: around.meter_noise,
            metered_j: 0.0,
            watts: VecDeque::new(),
            inlet_c: around.inlet_c,
            wires: around.wires,
            moved: false,
            notices: Vec::new(),
        };
        shelf.read_meter(first_w);
        shelf
    }

    /// When something happens by itself.
    pub(super) fn next_due(&self) -> Micros {
        let jobs = (0..self.bays.len()).filter_map(|slot| self.job_due(slot));
        let due = self.chassis.next_change().into_iter().chain(self.queue.next_time()).chain(jobs).min();
        due.unwrap_or(Micros::MAX)
    }

    /// Lets time pass up to `to`, and does everything that is due.
    pub(super) fn advance(&mut self, to: Micros) {
        loop {
            let due = self.next_due().max(self.now);
            let until = due.min(to);
            if until < self.now {
                return;
            }
            self.chassis.advance(until);
            self.now = until;
            while let Some(happening) = self.queue.pop_due(self.now) {
                self.happen(happening);
            }
            for slot in 0..self.bays.len() {
                self.finish_jobs(slot);
            }
            self.settle();
            if due > to {
                return;
            }
        }
    }

    /// Whether there is something that controllers have to hear of.
    pub(super) fn has_notices(&self) -> bool {
        !self.notices.is_empty()
    }

    /// What controllers have to hear of, since the last time.
    pub(super) fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// Takes an I/O command, now.
    pub(super) fn io(&mut self, slot: usize, io: Io) {
        if !self.is_present(slot) {
            return;
        }
        let moved_gb = self.chassis.drives()[slot].moved_gb();
        let bay = &mut self.bays[slot];
        if bay.jobs.is_empty() {
            bay.begun_gb = moved_gb;
        }
        bay.jobs.push_back(io);
        self.direct(slot);
        self.settle();
    }

    /// Takes an admin command, now.
    pub(super) fn admin(&mut self, slot: usize, admin: Admin) {
        if !self.is_present(slot) {
            return;
        }
        let submission = &admin.submission;
        let fate = if self::admin::is_power_management(submission) { self.wires.fate(slot) } else { Fate::Answered };
        let bay = &mut self.bays[slot];
        let entry = match self::admin::target(submission) {
            Some(state) if fate != Fate::Refused => bay.kind.entry(state),
            _ => 0,
        };
        let busy = micros(bay.kind.model.admin_s) + entry;
        let drive = self.chassis.drive_mut(slot);
        // A command that comes during a reset finds the drive after it.
        let found = if drive.is_resetting() { bay.features.power_states().0 } else { drive.place() };
        let served = drive.serve(self.now, busy, Cause::Poll);
        let at = served.max(bay.reset_until + busy);
        self.moved = true;
        let era = bay.era;
        self.queue.push(at, Happening::Act { slot, era, admin: Box::new(admin), found, fate });
        self.settle();
    }

    /// Forgets what a connection that has ended still wanted.
    pub(super) fn forget(&mut self, slot: usize, connection: u64) {
        let moved_gb = self.chassis.drives()[slot].moved_gb();
        let bay = &mut self.bays[slot];
        let first = bay.jobs.front().is_some_and(|job| job.connection == connection);
        bay.jobs.retain(|job| job.connection != connection);
        if first {
            bay.begun_gb = moved_gb;
        }
        self.direct(slot);
        self.settle();
    }

    /// Resets a drive: features get their saved values, what was under way is dropped.
    pub(super) fn reset(&mut self, slot: usize) {
        if !self.is_present(slot) {
            return;
        }
        let bay = &mut self.bays[slot];
        bay.drop_everything();
        bay.features.reset();
        bay.reset_until = self.now + micros(bay.kind.model.reset_s);
        let fallback = bay.kind.operational_of(bay.features.power_states().1);
        let drive = self.chassis.drive_mut(slot);
        drive.set_demand(self.now, None);
        drive.set_table(self.now, bay.features.transitions().unwrap_or(Table::EMPTY));
        drive.set_fallback(fallback);
        drive.reset(self.now);
        self.moved = true;
        self.settle();
    }

    /// Whether the drive in this slot is there and not in the middle of a reset.
    pub(super) fn is_ready(&self, slot: usize) -> bool {
        self.is_present(slot) && !self.chassis.drives()[slot].is_resetting()
    }

    /// Whether there is a drive in this slot.
    pub(super) fn is_present(&self, slot: usize) -> bool {
        self.chassis.drives().get(slot).is_some_and(crate::model::ssd::Ssd::is_present)
    }

    /// A host left without saying so.
    pub(super) fn note_unsafe_shutdown(&mut self, slot: usize) {
        if let Some(bay) = self.bays.get_mut(slot) {
            bay.counters.unsafe_shutdowns += 1;
        }
    }

    /// What the management controller can say.
    pub(super) fn snapshot(&self) -> Snapshot {
        let drives = self.chassis.drives().iter().enumerate().filter(|(_, drive)| drive.is_present());
        Snapshot {
            watts: self.watts.iter().copied().collect(),
            inlet_c: self.inlet_c,
            drives_c: drives.map(|(slot, drive)| (slot, drive.heat().composite_c)).collect(),
        }
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Second => self.second(),
            Happening::Reset(slot) => {
                self.reset(slot);
                self.notices.push(Notice::Cut(slot));
            }
            Happening::Removal(slot) => {
                self.bays[slot].drop_everything();
                self.chassis.drive_mut(slot).set_demand(self.now, None);
                self.chassis.drive_mut(slot).remove();
                self.moved = true;
                self.notices.push(Notice::Cut(slot));
            }
            Happening::Act { slot, era, admin, found, fate } if self.bays[slot].era == era => {
                self.act(slot, *admin, found, fate);
            }
            Happening::Answer { slot, era, done, answer } if self.bays[slot].era == era => done(answer),
            // From before a reset or a removal.
            Happening::Act { .. } | Happening::Answer { .. } => {}
        }
    }

    fn act(&mut self, slot: usize, admin: Admin, found: usize, fate: Fate) {
        let answer = match fate {
            Fate::Refused => Answer::refused(self.wires.refusal()),
            Fate::Answered | Fate::Late | Fate::Lost => self.execute(slot, &admin, found),
        };
        if !answer.status.is_success() {
            self.note_error(slot, 0, &admin.submission, answer.status);
        }
        if let Some(at) = self.wires.arrival(self.now, fate) {
            let era = self.bays[slot].era;
            self.queue.push(at, Happening::Answer { slot, era, done: admin.done, answer });
        }
    }

    /// Gives a drive the work of its first job, or none.
    fn direct(&mut self, slot: usize) {
        let bay = &self.bays[slot];
        let work = bay.jobs.front().map(|job| job.work);
        let drive = self.chassis.drive_mut(slot);
        if drive.demand().map(|demand| demand.work) != work {
            let demand = |work| Demand { work, block_bytes: 1 << 17, queue_depth: UNLIMITED, rate_limit_gb_s: None };
            drive.set_demand(self.now, work.map(demand));
            self.moved = true;
        }
    }

    /// When the first job of a drive is done, as things are.
    fn job_due(&self, slot: usize) -> Option<Micros> {
        let (left_gb, gb_s) = self.job_left(slot)?;
        Some(self.now.saturating_add(micros(left_gb / gb_s)))
    }

    /// What the first job has yet to move, and how fast that goes; `None` while nothing moves.
    fn job_left(&self, slot: usize) -> Option<(f64, f64)> {
        let bay = self.bays.get(slot)?;
        let job = bay.jobs.front()?;
        let drive = self.chassis.drives().get(slot)?;
        let gb_s = drive.flow().gb_s;
        (gb_s > 0.0).then(|| (bay.begun_gb + self.length_gb(job) - drive.moved_gb(), gb_s))
    }

    /// What a job counts for in the model.
    fn length_gb(&self, job: &Io) -> f64 {
        job.bytes as f64 / 1e9 / self.scale
    }

    fn finish_jobs(&mut self, slot: usize) {
        /// Shorter than time can tell.
        const INSTANT_S: f64 = 1e-6;
        while self.job_left(slot).is_some_and(|(left_gb, gb_s)| left_gb <= gb_s * INSTANT_S) {
            let Some(job) = self.bays[slot].jobs.pop_front() else { return };
            self.bays[slot].begun_gb += self.length_gb(&job);
            let bay = &mut self.bays[slot];
            bay.counters.count(&job);
            let latency = micros(bay.kind.model.work[job.work].latency_s);
            let (era, answer) = (bay.era, Answer::data(Vec::new()));
            self.queue.push(self.now + latency, Happening::Answer { slot, era, done: job.done, answer });
            let other = bay.jobs.front().is_none_or(|next| next.work != job.work);
            if other {
                self.direct(slot);
                self.settle();
            }
        }
    }

    fn settle(&mut self) {
        if std::mem::take(&mut self.moved) {
            self.chassis.rebalance();
        }
    }
}

impl Bay {
    /// Whatever was under way is not any more.
    fn drop_everything(&mut self) {
        self.era += 1;
        self.jobs.clear();
    }
}

impl Counters {
    /// Notes a read or a write; what moved nothing was none.
    fn count(&mut self, job: &Io) {
        match job.work {
            _ if job.bytes == 0 => {}
            Work::SequentialRead | Work::RandomRead => {
                self.reads += 1;
                self.read_bytes += job.bytes;
            }
            Work::SequentialWrite | Work::RandomWrite => {
                self.writes += 1;
                self.written_bytes += job.bytes;
            }
        }
    }
}

/// What is around the drives.
pub(super) struct Surroundings {
    pub(super) meter: MeterModel,
    pub(super) meter_noise: Random,
    pub(super) inlet_c: f64,
    pub(super) wires: Wires,
    pub(super) resets: Vec<(Micros, usize)>,
    pub(super) removals: Vec<(Micros, usize)>,
}

#[cfg(test)]
mod tests;
