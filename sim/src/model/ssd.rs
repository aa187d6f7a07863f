//! One drive: power states, settling, credit, sleep and reset.
//!
//! ```text
//!             reset()                     until
//!   Ready ───────────────▶ Resetting ─────────────▶ Ready, in the fallback state
//!     │ ▲            rest of the entry, exit latency
//!     │ └──────────────── Waking ◀──────────────── work or an admin command meets a drive that dozes
//!     ▼ remove()
//!   Absent
//! ```
//!
//! **Sleep.** A drive without work goes from non-operational state to non-operational state by itself, as
//! [`crate::idle::drive`] says, and wakes into the operational state that it held. **Every admin command is charged:**
//! it wakes the drive, which almost all drives do for one, and the idle time counts anew from when it was served.
//!
//! **Limit.** In each power state the drive keeps its own watts, on average, at a regulation point of its own for
//! each kind of work, and gives what that buys. After a change the regulation point moves from old to new in
//! [`SETTLING_STEPS`] equal steps over the settling time.
//!
//! **Credit.** The average is kept by a bucket that fills while the drive takes less than its limit and lets it
//! run free until it is empty. It is empty after a change, and so small ([`CREDIT_S`]) that no second exceeds the
//! limit by more than 1 %. An emptied bucket must be full again before the drive runs free once more.
//!
//! **Spread.** A drive differs from its model by two factors: one on everything that it takes (its regulator's
//! sensor included, so its limits too), one on what it gives for that.

use std::sync::Arc;

use wattline_core::nvme::feature::autonomous_transitions::Table;
use wattline_core::profile::{PerWork, Work};

use super::job::Demand;
use super::management::{Effort, Management, Thresholds};
use super::power::WorkModel;
use super::thermal::{Heat, ThermalModel};
use crate::idle::drive::{Place, Sleeper};
use crate::idle::walk::{Cause, Wake};
use crate::time::{Micros, micros, seconds};

/// Steps in which the regulation point moves after a change of state.
pub const SETTLING_STEPS: u32 = 4;

/// Size of the credit bucket: what the limit allows in this many seconds (guess).
pub const CREDIT_S: f64 = 0.01;

/// A kind of drive.
#[derive(Clone, Debug, PartialEq)]
pub struct SsdModel {
    /// Watts with nothing to do, in an operational state.
    pub idle_w: f64,
    /// What each kind of work costs.
    pub work: PerWork<WorkModel>,
    /// The operational power states; the position is the state's number.
    pub states: Vec<StateModel>,
    /// What it does by itself while it has nothing to do; `None`: nothing.
    pub sleep: Option<Sleep>,
    /// Time of an admin command without the state's entry latency, in seconds.
    pub admin_s: f64,
    /// Time from a change of state until the drive's power has moved to the new limit, in seconds.
    pub settling_s: f64,
    /// Time of a controller reset, in seconds.
    pub reset_s: f64,
    /// Heat.
    pub thermal: ThermalModel,
}

/// How a kind of drive sleeps.
#[derive(Clone, Debug, PartialEq)]
pub struct Sleep {
    /// Its states as places to sleep in.
    pub sleeper: Sleeper,
    /// Its table of autonomous transitions; the sleeper knows what it names.
    pub table: Table,
}

/// One operational power state of a kind of drive.
#[derive(Clone, Debug, PartialEq)]
pub struct StateModel {
    /// Regulation point of the drive's own watts for each kind of work.
    pub limit_w: PerWork<f64>,
    /// Time to enter the state, in seconds.
    pub entry_s: f64,
}

/// How one drive differs from its model: factors near 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// On its watts.
    pub watts: f64,
    /// On its throughput at given watts.
    pub rate: f64,
}

impl Spread {
    /// A drive that is exactly as its model says.
    pub const NONE: Self = Self { watts: 1.0, rate: 1.0 };
}

/// What a drive is doing now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// Kind of work; `None` while nothing moves.
    pub work: Option<Work>,
    /// Throughput in GB/s.
    pub gb_s: f64,
    /// The drive's own watts.
    pub own_w: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Condition {
    Ready,
    Resetting { until: Micros },
    Waking { until: Micros },
    Absent,
}

/// The regulation point on its way from an old limit to the held state's.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ramp {
    from_w: PerWork<f64>,
    steps_done: u32,
    next: Micros,
}

/// Where an idle drive is on its way down.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Doze {
    place: Place,
    /// When it came there, or when the command that keeps it busy will be served.
    since: Micros,
}

/// One drive.
#[derive(Clone, Debug)]
pub struct Ssd {
    model: Arc<SsdModel>,
    spread: Spread,
    fallback: usize,
    condition: Condition,
    held: usize,
    /// `None` while there is nothing to wake from: it works, wakes up, resets, is gone, or never sleeps.
    doze: Option<Doze>,
    /// When the last admin command is served.
    served: Micros,
    wakes: Vec<Wake>,
    /// Its table of autonomous transitions.
    table: Table,
    ramp: Option<Ramp>,
    demand: Option<Demand>,
    flow: Flow,
    credit_j: f64,
    free_running: bool,
    credit_due: Option<Micros>,
    heat: Heat,
    management: Management,
    own_j: f64,
    heated_j: f64,
    moved_gb: f64,
}

impl Ssd {
    /// A drive in state `initial` that falls back to `fallback` at a reset, long idle in air of `air_c`.
    /// Both states must be in the model.
    #[must_use]
    pub fn new(model: Arc<SsdModel>, spread: Spread, initial: usize, fallback: usize, air_c: f64) -> Self {
        let own_w = model.idle_w * spread.watts;
        let heat = Heat::settled(&model.thermal, own_w, air_c);
        let table = model.sleep.as_ref().map_or(Table::EMPTY, |sleep| sleep.table);
        let mut drive = Self {
            model,
            spread,
            fallback,
            condition: Condition::Ready,
            held: initial,
            doze: None,
            served: 0,
            wakes: Vec::new(),
            table,
            ramp: None,
            demand: None,
            flow: Flow { work: None, gb_s: 0.0, own_w },
            credit_j: 0.0,
            free_running: false,
            credit_due: None,
            heat,
            management: Management::default(),
            own_j: 0.0,
            heated_j: 0.0,
            moved_gb: 0.0,
        };
        drive.doze_from(0);
        drive
    }

    /// Its kind.
    #[must_use]
    pub fn model(&self) -> &SsdModel {
        &self.model
    }

    /// What it is doing.
    #[must_use]
    pub fn flow(&self) -> Flow {
        self.flow
    }

    /// The operational power state that it truly holds, or that it wakes into; `None` while it is absent or resetting.
    #[must_use]
    pub fn held(&self) -> Option<usize> {
        matches!(self.condition, Condition::Ready | Condition::Waking { .. }).then_some(self.held)
    }

    /// Whether its regulation point has arrived at the held state's.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.ramp.is_none()
    }

    /// Whether it is in the middle of a reset.
    #[must_use]
    pub fn is_resetting(&self) -> bool {
        matches!(self.condition, Condition::Resetting { .. })
    }

    /// What the host asks of it.
    #[must_use]
    pub fn demand(&self) -> Option<Demand> {
        self.demand
    }

    /// Its temperatures.
    #[must_use]
    pub fn heat(&self) -> Heat {
        self.heat
    }

    /// Every time that it was woken, and by what.
    #[must_use]
    pub fn wakes(&self) -> &[Wake] {
        &self.wakes
    }

    /// What it does against its heat by itself.
    #[must_use]
    pub fn management(&self) -> &Management {
        &self.management
    }

    /// Switches its own thermal management on, or off.
    pub fn manage(&mut self, thresholds: Option<Thresholds>) {
        self.management.set(thresholds);
    }

    /// The same, which it forgets.
    pub fn take_wakes(&mut self) -> Vec<Wake> {
        std::mem::take(&mut self.wakes)
    }

    /// The power state that it is in, or that it is entering by itself.
    #[must_use]
    pub fn place(&self) -> usize {
        self.doze.map_or(self.held, |doze| doze.place.state)
    }

    /// Everything that it has taken so far, in joules.
    #[must_use]
    pub fn energy_j(&self) -> f64 {
        self.own_j
    }

    /// Everything that it has moved so far, in GB.
    #[must_use]
    pub fn moved_gb(&self) -> f64 {
        self.moved_gb
    }

    /// Whether it is still in its bay.
    #[must_use]
    pub fn is_present(&self) -> bool {
        self.condition != Condition::Absent
    }

    /// Changes what the host asks of it.
    pub fn set_demand(&mut self, now: Micros, demand: Option<Demand>) {
        let worked = self.demand.is_some();
        self.demand = demand;
        if demand.is_some() {
            self.wake(now, Cause::Work);
        } else if worked {
            self.doze_from(now);
        }
    }

    /// Takes up an admin command that keeps it busy for so long, once it is awake. Returns when the command is served.
    pub fn serve(&mut self, now: Micros, busy: Micros, cause: Cause) -> Micros {
        self.wake(now, cause);
        let awake = if let Condition::Waking { until } = self.condition { until } else { now };
        self.served = self.served.max(awake + busy);
        self.doze_from(now);
        awake + busy
    }

    /// Changes the state that it falls back to at a reset; it must be in the model.
    pub fn set_fallback(&mut self, state: usize) {
        self.fallback = state;
    }

    /// Changes its table of autonomous transitions. Where the drive does not report enough of a state in it to say what
    /// that costs, it stays awake.
    pub fn set_table(&mut self, now: Micros, table: Table) {
        let known = self.model.sleep.as_ref().is_some_and(|sleep| sleep.sleeper.knows(&table));
        self.table = if known { table } else { Table::EMPTY };
        self.doze_from(now);
    }

    /// Goes to sleep in a non-operational state, if it has nothing to do: what Set Features (02h) has there. A drive
    /// that does not report what that costs stays awake.
    pub fn sleep(&mut self, now: Micros, state: usize) {
        let known = self.model.sleep.as_ref().is_some_and(|sleep| sleep.sleeper.has(state));
        if known && self.condition == Condition::Ready && self.demand.is_none() {
            self.doze = Some(Doze { place: Place { state, pending: 0 }, since: now });
        }
    }

    /// Enters a power state of the model, awake: what Set Features (02h) has at its completion.
    pub fn enter(&mut self, now: Micros, state: usize) {
        let from_w = self.limits_w();
        self.held = state;
        self.move_limit(now, from_w);
        self.doze_from(now);
    }

    /// Starts a controller reset: no work until it is over, then the fallback state.
    pub fn reset(&mut self, now: Micros) {
        if self.is_present() {
            self.condition = Condition::Resetting { until: now + micros(self.model.reset_s) };
            self.doze = None;
        }
    }

    /// Another one like it is put into its bay: it starts in its fallback state, as after a reset.
    pub fn insert(&mut self, now: Micros) {
        self.condition = Condition::Ready;
        self.reset(now);
    }

    /// Takes it out of its bay.
    pub fn remove(&mut self) {
        self.condition = Condition::Absent;
        self.doze = None;
    }

    /// The rate that it would give now if nothing outside the drive limited it, in GB/s.
    #[must_use]
    pub fn offer_gb_s(&self) -> Option<(Work, f64)> {
        let demand = self.demand.filter(|_| self.condition == Condition::Ready)?;
        let work = &self.model.work[demand.work];
        let regulated = work.gb_s_at(self.model.idle_w, self.limit_w(demand.work));
        let can = if self.free_running { work.max_gb_s } else { regulated.min(work.max_gb_s) };
        Some((demand.work, (can * self.spread.rate).min(demand.limit_gb_s(work))))
    }

    /// Sets what it really gives, and plans when its credit will be empty or full.
    pub fn run(&mut self, now: Micros, flow: Option<(Work, f64)>) {
        let idle_w = self.model.idle_w;
        let sleep = self.model.sleep.as_ref();
        let (work, gb_s, own_w) = match (self.condition, flow) {
            (Condition::Absent, _) => (None, 0.0, 0.0),
            (_, Some((kind, gb_s))) => (Some(kind), gb_s, self.model.work[kind].own_w(idle_w, gb_s / self.spread.rate)),
            (Condition::Waking { .. }, None) => (None, 0.0, sleep.map_or(idle_w, |sleep| sleep.sleeper.moving_w())),
            (_, None) => {
                let asleep = sleep.zip(self.doze).filter(|(sleep, doze)| sleep.sleeper.sleeps(doze.place));
                (None, 0.0, asleep.map_or(idle_w, |(sleep, doze)| sleep.sleeper.watts(doze.place)))
            }
        };
        self.flow = Flow { work, gb_s, own_w: own_w * self.spread.watts };
        self.plan_credit(now, own_w);
    }

    /// When something in the drive changes by itself.
    #[must_use]
    pub fn next_change(&self) -> Option<Micros> {
        let condition = match self.condition {
            Condition::Resetting { until } | Condition::Waking { until } => Some(until),
            Condition::Ready | Condition::Absent => None,
        };
        let deeper = self.deeper().map(|(at, _)| at);
        [condition, deeper, self.ramp.map(|ramp| ramp.next), self.credit_due].into_iter().flatten().min()
    }

    /// Lets `span` pass with nothing changing.
    pub fn advance(&mut self, span: Micros) {
        let span_s = seconds(span);
        self.own_j += self.flow.own_w * span_s;
        self.moved_gb += self.flow.gb_s * span_s;
        let spare_w = self.flow_limit_w() - self.flow.own_w / self.spread.watts;
        self.credit_j = (self.credit_j + spare_w * span_s).clamp(0.0, self.bucket_j());
    }

    /// Does what is due at `now`. True if something changed.
    pub fn apply_due(&mut self, now: Micros) -> bool {
        let mut changed = false;
        match self.condition {
            Condition::Resetting { until } if until <= now => {
                self.condition = Condition::Ready;
                self.held = self.fallback;
                self.ramp = None;
                self.empty_credit();
                self.doze_from(now);
                changed = true;
            }
            Condition::Waking { until } if until <= now => {
                self.condition = Condition::Ready;
                self.empty_credit();
                self.doze_from(now);
                changed = true;
            }
            _ => {}
        }
        if let Some((at, place)) = self.deeper().filter(|(at, _)| *at <= now) {
            self.doze = Some(Doze { place, since: at });
            changed = true;
        }
        if let Some(ramp) = self.ramp.filter(|ramp| ramp.next <= now) {
            let steps_done = ramp.steps_done + 1;
            let next = now + self.settling_step();
            self.ramp = (steps_done < SETTLING_STEPS).then_some(Ramp { steps_done, next, ..ramp });
            self.empty_credit();
            changed = true;
        }
        if self.credit_due.is_some_and(|due| due <= now) {
            self.free_running = !self.free_running;
            self.credit_j = if self.free_running { self.bucket_j() } else { 0.0 };
            self.credit_due = None;
            changed = true;
        }
        changed
    }

    /// Brings the temperatures up to date: `span` has passed since the last time, in air of `air_c`, with so many times
    /// the usual resistance to it. True if the drive slows itself down from now on, or no more.
    pub fn warm(&mut self, span: Micros, air_c: f64, resistance: f64) -> bool {
        let span_s = seconds(span);
        let mean_w = (self.own_j - self.heated_j) / span_s;
        self.heated_j = self.own_j;
        let usual = self.model.thermal;
        let model = ThermalModel { outer_k_per_w: usual.outer_k_per_w * resistance, ..usual };
        self.heat.step(&model, mean_w, air_c, span_s);
        let changed = self.management.second(self.heat.composite_c);
        if changed {
            self.empty_credit();
        }
        changed
    }

    /// Where it goes by itself if nothing comes, and when.
    fn deeper(&self) -> Option<(Micros, Place)> {
        let (sleep, doze) = self.model.sleep.as_ref().zip(self.doze)?;
        let (after, place) = sleep.sleeper.next(&self.table, doze.place)?;
        Some((doze.since + after, place))
    }

    /// A drive that is awake and has no work begins to doze, as soon as its last admin command is served.
    fn doze_from(&mut self, now: Micros) {
        let dozes = self.model.sleep.is_some() && self.condition == Condition::Ready && self.demand.is_none();
        let place = Place { state: self.held, pending: 0 };
        self.doze = dozes.then_some(Doze { place, since: self.served.max(now) });
    }

    /// A command ends its doze, and wakes it where it sleeps.
    fn wake(&mut self, now: Micros, cause: Cause) {
        let Some((sleep, doze)) = self.model.sleep.as_ref().zip(self.doze.take()) else { return };
        let (place, _) = sleep.sleeper.left_alone(&self.table, doze.place, now.saturating_sub(doze.since));
        if sleep.sleeper.sleeps(place) {
            let waited = sleep.sleeper.wait(place);
            self.wakes.push(Wake { at: now, cause, waited });
            self.condition = Condition::Waking { until: now + waited };
        }
    }

    fn move_limit(&mut self, now: Micros, from_w: PerWork<f64>) {
        self.empty_credit();
        let step = self.settling_step();
        self.ramp = (step > 0).then_some(Ramp { from_w, steps_done: 0, next: now + step });
    }

    fn settling_step(&self) -> Micros {
        micros(self.model.settling_s) / Micros::from(SETTLING_STEPS)
    }

    /// The regulation point now, for this kind of work: the state's, or what the drive's own management lets it have.
    fn limit_w(&self, work: Work) -> f64 {
        self.state_limit_w(work).min(self.managed_w(work))
    }

    /// What the drive's own management lets it take.
    fn managed_w(&self, work: Work) -> f64 {
        let limits = self.model.states.iter().map(|state| state.limit_w[work]);
        let (lowest_w, highest_w) = limits.fold((f64::INFINITY, 0.0f64), |(lowest_w, highest_w), limit_w| {
            (lowest_w.min(limit_w), highest_w.max(limit_w))
        });
        match self.management.effort() {
            Effort::Free => f64::INFINITY,
            Effort::Light => lowest_w.midpoint(highest_w),
            Effort::Heavy => self.model.idle_w.midpoint(lowest_w),
        }
    }

    /// The regulation point that the state has now, for this kind of work.
    fn state_limit_w(&self, work: Work) -> f64 {
        let target = self.model.states[self.held].limit_w[work];
        let Some(ramp) = self.ramp else { return target };
        let share = f64::from(ramp.steps_done) / f64::from(SETTLING_STEPS);
        ramp.from_w[work] + (target - ramp.from_w[work]) * share
    }

    fn limits_w(&self) -> PerWork<f64> {
        let mut limits = PerWork::default();
        for work in Work::ALL {
            limits[work] = self.state_limit_w(work);
        }
        limits
    }

    /// The regulation point that counts now; of several that could, the lowest.
    fn flow_limit_w(&self) -> f64 {
        match self.flow.work {
            Some(work) => self.limit_w(work),
            None => Work::ALL.into_iter().map(|work| self.limit_w(work)).fold(f64::INFINITY, f64::min),
        }
    }

    fn bucket_j(&self) -> f64 {
        CREDIT_S * self.flow_limit_w()
    }

    fn empty_credit(&mut self) {
        self.credit_j = 0.0;
        self.free_running = false;
    }

    fn plan_credit(&mut self, now: Micros, own_w: f64) {
        /// Watts below which the drive counts as exactly on its limit.
        const ON_LIMIT_W: f64 = 1e-6;
        let spare_w = self.flow_limit_w() - own_w;
        let wait_s = if self.free_running && spare_w < -ON_LIMIT_W {
            Some(self.credit_j / -spare_w)
        } else if !self.free_running && spare_w > ON_LIMIT_W && self.is_present() {
            Some((self.bucket_j() - self.credit_j) / spare_w)
        } else {
            None
        };
        self.credit_due = wait_s.map(|wait_s| now + micros(wait_s).max(1));
    }
}

#[cfg(test)]
mod tests;
