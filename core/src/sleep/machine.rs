//! One drive's way out of its power and back.
//!
//! ```text
//!            idle             idle for long enough:       shutdown done         power off
//!                             shutdown sent                                     sent
//!   Working ──────▶ Idle ──────────────────▶ ShuttingDown ────────▶ ShutDown ─────────▶ CuttingPower
//!      ▲   ◀──────                                │                     │                    │
//!      │     work                                 │ wanted, late, lost  │ wanted             │ powered off
//!      │                                          ▼                     │                    ▼
//!      │ attached                             Restarting ◀──────────────┘                   Off
//!      │◀──────────────────────────────────────── │  ▲                                       │ wanted:
//!      │                       powered on         │  │ refused, lost                         │ power on sent
//!      └──────────── Resuming ◀───────────────────┘  └──────────────────────────────── PoweringOn
//!                        ▲                                                                   │
//!                        └───────────────────────────────────────────────────────────────────┘
//! ```
//!
//! **Contract.** The owner passes in what happened ([`Sleeper::step`]), and sends what the machine wishes
//! ([`Sleeper::wish`]) where the ledger permits it, or later; then it says so with [`Event::Sent`]. A wish stands until
//! then, and nothing is in flight twice. [`Sleeper::next_deadline`] says when to look again, with [`Event::Tick`].
//!
//! - **No power is cut without a clean shutdown.** [`Wish::PowerOff`] stands only while a shutdown is done and nobody
//!   has used the drive since. A shutdown that failed is followed by a restart of the controller.
//! - **Watts.** [`Sleeper::counts`] says what the drive counts for. Nothing is freed before the power is confirmed
//!   off. [`Wish::PowerOn`] is a raise: from [`Counts::Off`] to [`Counts::Fallback`], which counts from `Sent` on.
//! - **What was off is unknown.** It is attached anew: identified, read, and only then raised.
//! - **A cap may order it.** [`Event::Sent`] with [`Wish::ShutDown`] is taken from a drive that works or has not been
//!   idle for long, where [`Sleeper::may_be_ordered`] permits it. Whoever orders keeps work and demand to himself
//!   until there are watts again.
//! - Only the owner declares a command lost; but a shutdown is waited for no longer than RTD3E, or 5 s if that is
//!   longer or not reported: the base specification wants at least RTD3E, or 1 s, and Linux waits at least 5 s.

use super::cycles::{Cycles, CyclesPerDay};
use super::worth::{Conditions, Terms, WhyNot};
use crate::units::{Instant, Microseconds, Milliwatts};

/// A shutdown is waited for at least so long. Linux's default (`shutdown_timeout`).
const SHORTEST_WAIT: Microseconds = Microseconds::from_secs(5);

/// Resume is waited for so long where RTD3R is not reported. A guess.
const RESUME_WAIT: Microseconds = Microseconds::from_secs(5);

/// A restart or an attachment that failed is wished for again after so long. A guess.
const RETRY: Microseconds = Microseconds::from_secs(10);

/// So many failed shutdowns in a row, and no other is tried. A guess.
const PATIENCE: u8 = 3;

/// Where a drive is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum State {
    /// Somebody uses it, or it is not known that nobody does.
    Working,
    /// Nobody has used it since.
    Idle {
        /// The first moment of which that is known.
        since: Instant,
    },
    /// A clean shutdown has been sent.
    ShuttingDown {
        /// So long it is waited for.
        until: Instant,
        /// Somebody has come who needs it.
        wanted: bool,
    },
    /// It is shut down, and its power may be cut.
    ShutDown,
    /// Its power is being cut.
    CuttingPower {
        /// Somebody has come who needs it.
        wanted: bool,
    },
    /// It has no power.
    Off {
        /// Somebody has come who needs it.
        wanted: bool,
    },
    /// Its power is being switched on.
    PoweringOn,
    /// It has power and is coming up.
    Resuming {
        /// From then on it can be attached. `None`: that has been sent.
        ready: Option<Instant>,
    },
    /// Nobody knows whether it works: a step failed, or it was shut down and is wanted. Its controller is to be
    /// restarted.
    Restarting {
        /// From then on. `None`: that has been sent.
        from: Option<Instant>,
    },
    /// There is no drive.
    Absent,
}

/// What the machine wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Wish {
    /// Shut the drive down cleanly.
    ShutDown,
    /// Cut the slot's power.
    PowerOff,
    /// Switch the slot's power on. A raise: it waits for the ledger's grant.
    PowerOn,
    /// See that the slot has power, and reset the controller.
    Restart,
    /// Attach the drive anew.
    Attach,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Event {
    /// The drive does, or has done, what it was asked for.
    Work,
    /// It has nothing to do.
    Idle,
    /// Somebody needs it, and waits.
    Demand,
    /// This was sent.
    Sent(Wish),
    /// The shutdown is done: the drive said so itself.
    ShutdownDone,
    /// What was sent last was refused.
    Failed,
    /// What was sent last will not be answered any more.
    Lost,
    /// The slot's power is off, by whomever: measured, or said by the switch.
    PoweredOff,
    /// The slot's power is on.
    PoweredOn,
    /// The drive has been attached, or its controller has been reset: it can be read.
    Attached,
    /// The drive has been taken out.
    Removed,
    /// Time has passed.
    Tick,
}

/// What a drive counts for in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Counts {
    /// What its power states say, as for any drive that is awake. A drive on its way out keeps what it counted for.
    Awake,
    /// What its slot takes without power: [`super::Costs::off`].
    Off,
    /// The state that it falls back to after power-on.
    Fallback,
    /// The larger of `Awake`, as it was last, and `Fallback`.
    Either,
    /// Nothing.
    Nothing,
}

/// One drive's sleep.
#[derive(Clone, Debug)]
pub struct Sleeper {
    conditions: Conditions,
    terms: Result<Terms, WhyNot>,
    cycles: Cycles,
    state: State,
    /// Shutdowns in a row that failed.
    failures: u8,
}

impl Sleeper {
    /// A drive that is awake, and has no power cycles to spend yet.
    #[must_use]
    pub fn new(conditions: Conditions, limit: CyclesPerDay, now: Instant) -> Self {
        let terms = conditions.terms();
        Self { conditions, terms, cycles: Cycles::new(limit, now), state: State::Working, failures: 0 }
    }

    /// The conditions are others from now on; where the drive is stays so, and how often it may go.
    pub fn reconfigure(&mut self, conditions: Conditions) {
        (self.terms, self.conditions) = (conditions.terms(), conditions);
    }

    /// Where the drive is.
    #[must_use]
    pub const fn state(&self) -> State {
        self.state
    }

    /// What the drive counts for.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        match self.state {
            State::Working
            | State::Idle { .. }
            | State::ShuttingDown { .. }
            | State::ShutDown
            | State::CuttingPower { .. } => Counts::Awake,
            State::Off { .. } => Counts::Off,
            State::PoweringOn | State::Resuming { .. } => Counts::Fallback,
            State::Restarting { .. } => Counts::Either,
            State::Absent => Counts::Nothing,
        }
    }

    /// What its slot takes while it has no power.
    #[must_use]
    pub const fn off(&self) -> Milliwatts {
        self.conditions.costs.off
    }

    /// The terms on which the drive may sleep, or the lasting reason why it may not.
    ///
    /// # Errors
    ///
    /// That reason.
    pub const fn terms(&self) -> Result<Terms, WhyNot> {
        match self.terms {
            Ok(_) if self.failures >= PATIENCE => Err(WhyNot::ShutdownsFailed(self.failures)),
            terms => terms,
        }
    }

    /// Why the drive is not put to sleep now; `None` where it is to be.
    #[must_use]
    pub fn why_not(&self, now: Instant) -> Option<WhyNot> {
        match self.due() {
            Err(reason) => Some(reason),
            Ok((_, worth)) if now < worth => Some(WhyNot::GapTooShort(worth)),
            Ok((due, _)) if now < due => Some(WhyNot::CyclesUsedUp(due)),
            Ok(_) => None,
        }
    }

    /// Whether a cap may order the drive out of its power, whatever that is worth.
    ///
    /// # Errors
    ///
    /// Why not.
    pub fn may_be_ordered(&self) -> Result<(), WhyNot> {
        self.conditions.possible()?;
        match self.state {
            _ if self.failures >= PATIENCE => Err(WhyNot::ShutdownsFailed(self.failures)),
            State::Working | State::Idle { .. } => Ok(()),
            _ => Err(WhyNot::NotIdle),
        }
    }

    /// What is to be done, until it has been sent or is overtaken.
    #[must_use]
    pub fn wish(&self, now: Instant) -> Option<Wish> {
        match self.state {
            State::Idle { .. } if self.why_not(now).is_none() => Some(Wish::ShutDown),
            State::ShutDown => Some(Wish::PowerOff),
            State::Off { wanted: true } => Some(Wish::PowerOn),
            State::Resuming { ready: Some(ready) } if ready <= now => Some(Wish::Attach),
            State::Restarting { from: Some(from) } if from <= now => Some(Wish::Restart),
            _ => None,
        }
    }

    /// When, after `now`, something changes although nothing happens.
    #[must_use]
    pub fn next_deadline(&self, now: Instant) -> Option<Instant> {
        let moment = match self.state {
            State::Idle { .. } => self.due().ok()?.0,
            State::ShuttingDown { until, .. } => until,
            State::Resuming { ready: Some(moment) } | State::Restarting { from: Some(moment) } => moment,
            _ => return None,
        };
        (moment > now).then_some(moment)
    }

    /// When an idle drive is to be put to sleep, and from when on that is worth it.
    fn due(&self) -> Result<(Instant, Instant), WhyNot> {
        let terms = self.terms()?;
        let State::Idle { since } = self.state else { return Err(WhyNot::NotIdle) };
        let worth = since.after(terms.break_even);
        Ok((worth.max(self.cycles.ready_at()), worth))
    }

    /// Something happened.
    pub fn step(&mut self, now: Instant, event: Event) {
        self.state = match event {
            // What is so, whoever brought it about; but a cut that is on its way is not undone by a reset.
            Event::Removed => State::Absent,
            Event::Attached if !matches!(self.state, State::CuttingPower { .. }) => State::Working,
            Event::PoweredOff => self.powered_off(now),
            Event::PoweredOn => self.powered_on(now),
            Event::Work | Event::Demand => self.needed(now),
            Event::Idle if self.state == State::Working => State::Idle { since: now },
            Event::Sent(wish) if self.may_be_sent(wish, now) => self.sent(wish, now),
            Event::ShutdownDone | Event::Failed | Event::Lost | Event::Tick => self.answered(event, now),
            _ => self.state,
        };
        if self.state == State::Absent {
            self.failures = 0;
        }
    }

    const fn is_wanted(&self) -> bool {
        match self.state {
            State::ShuttingDown { wanted, .. } | State::CuttingPower { wanted } | State::Off { wanted } => wanted,
            State::Resuming { .. } | State::Restarting { .. } => true,
            _ => false,
        }
    }

    /// The slot has no power, unless it is just being switched on: then the report may be older.
    fn powered_off(&mut self, now: Instant) -> State {
        match self.state {
            State::Absent | State::PoweringOn | State::Restarting { from: None } => return self.state,
            State::CuttingPower { .. } | State::Off { .. } => {}
            // Nobody has counted this one.
            _ => self.cycles.take(now),
        }
        State::Off { wanted: self.is_wanted() }
    }

    /// The slot has power; where it was thought to have some, somebody has cut it meanwhile.
    const fn powered_on(&self, now: Instant) -> State {
        match self.state {
            State::Off { .. } | State::PoweringOn | State::Restarting { .. } => self.resuming(now),
            State::ShuttingDown { .. } | State::ShutDown => State::Restarting { from: Some(now) },
            state => state,
        }
    }

    const fn resuming(&self, now: Instant) -> State {
        let wait = match self.conditions.resume {
            Some(resume) => resume,
            None => RESUME_WAIT,
        };
        State::Resuming { ready: Some(now.after(wait)) }
    }

    /// Somebody needs the drive.
    const fn needed(&self, now: Instant) -> State {
        match self.state {
            State::Idle { .. } => State::Working,
            State::ShuttingDown { until, .. } => State::ShuttingDown { until, wanted: true },
            State::ShutDown => State::Restarting { from: Some(now) },
            State::CuttingPower { .. } => State::CuttingPower { wanted: true },
            State::Off { .. } => State::Off { wanted: true },
            state => state,
        }
    }

    /// Whether it is wished for; a shutdown may also have been ordered.
    fn may_be_sent(&self, wish: Wish, now: Instant) -> bool {
        match wish {
            Wish::ShutDown => self.may_be_ordered().is_ok(),
            _ => self.wish(now) == Some(wish),
        }
    }

    /// A wish was sent.
    fn sent(&mut self, wish: Wish, now: Instant) -> State {
        match wish {
            Wish::ShutDown => {
                let until = now.after(self.conditions.entry.unwrap_or_default().max(SHORTEST_WAIT));
                State::ShuttingDown { until, wanted: false }
            }
            Wish::PowerOff => {
                self.cycles.take(now);
                State::CuttingPower { wanted: false }
            }
            Wish::PowerOn => State::PoweringOn,
            Wish::Restart => State::Restarting { from: None },
            Wish::Attach => State::Resuming { ready: None },
        }
    }

    /// What was sent came back, or takes too long.
    fn answered(&mut self, event: Event, now: Instant) -> State {
        match (self.state, event) {
            (State::ShuttingDown { wanted, .. }, Event::ShutdownDone) => {
                self.failures = 0;
                if wanted { State::Restarting { from: Some(now) } } else { State::ShutDown }
            }
            (State::ShuttingDown { .. }, Event::Failed) => {
                self.failures = self.failures.saturating_add(1);
                State::Working
            }
            (State::ShuttingDown { until, .. }, Event::Tick) if now < until => self.state,
            (State::ShuttingDown { .. }, Event::Lost | Event::Tick) => {
                self.failures = self.failures.saturating_add(1);
                State::Restarting { from: Some(now) }
            }
            (State::CuttingPower { .. } | State::PoweringOn, Event::Failed | Event::Lost) => {
                State::Restarting { from: Some(now) }
            }
            (State::Restarting { from: None }, Event::Failed | Event::Lost) => {
                State::Restarting { from: Some(now.after(RETRY)) }
            }
            (State::Resuming { ready: None }, Event::Failed | Event::Lost) => {
                State::Resuming { ready: Some(now.after(RETRY)) }
            }
            (state, _) => state,
        }
    }
}
