//! The drive's own thermal management (HCTM, feature 10h), set behind ours.
//!
//! ```text
//!            sent          done             sent           as asked
//!   Due ────────▶ Setting ─────▶ Accepted ────────▶ Reading ─────────▶ Held
//!    ▲               │                                 │
//!    └───────────────┴── lost, refused, not as asked ──┘    once too often: Failed
//! ```
//!
//! Both thresholds are set together and read back. A reset takes them away, and they are set again. Nothing here frees
//! a watt: it only keeps a drive from its own worse protection should ours fail.

use serde::{Deserialize, Serialize};

use super::{CommandId, Outcome, Request};
use crate::nvme::Status;
use crate::nvme::feature::thermal_management::ThermalManagement;

/// Where the setting of one drive's thresholds is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum BackstopPhase {
    /// To be set.
    Due,
    /// The set is in flight.
    Setting(CommandId),
    /// The drive accepted; to be read back.
    Accepted,
    /// The read is in flight.
    Reading(CommandId),
    /// The drive named what was asked for.
    Held,
    /// Given up, until the drive is reset: it refused with this status; `None`: it named something else, or answers
    /// were lost.
    Failed(Option<Status>),
}

/// The thresholds that one drive is to hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Backstop {
    wanted: ThermalManagement,
    phase: BackstopPhase,
    failures: u8,
}

impl Backstop {
    /// To be set to these thresholds.
    #[must_use]
    pub const fn new(wanted: ThermalManagement) -> Self {
        Self { wanted, phase: BackstopPhase::Due, failures: 0 }
    }

    /// Where it is.
    #[must_use]
    pub const fn phase(&self) -> BackstopPhase {
        self.phase
    }

    /// Other thresholds are wanted. A command in flight is waited for.
    pub fn want(&mut self, wanted: ThermalManagement) {
        if self.wanted != wanted {
            self.wanted = wanted;
            self.failures = 0;
            if self.in_flight().is_none() {
                self.phase = BackstopPhase::Due;
            }
        }
    }

    /// What is to be asked next; `None` where nothing is, or an answer is awaited.
    #[must_use]
    pub const fn due(&self) -> Option<Request> {
        match self.phase {
            BackstopPhase::Due => Some(Request::SetThermalManagement(self.wanted)),
            BackstopPhase::Accepted => Some(Request::ReadThermalManagement),
            _ => None,
        }
    }

    /// Notes that what was due is sent.
    pub const fn sent(&mut self, id: CommandId) {
        self.phase = match self.phase {
            BackstopPhase::Due => BackstopPhase::Setting(id),
            BackstopPhase::Accepted => BackstopPhase::Reading(id),
            unchanged => unchanged,
        };
    }

    /// A command came back. An answer to any other than the one in flight is ignored.
    pub fn completed(&mut self, id: CommandId, outcome: Outcome, patience: u8) {
        if self.in_flight() != Some(id) {
            return;
        }
        match (self.phase, outcome) {
            (BackstopPhase::Setting(_), Outcome::Done) => self.phase = BackstopPhase::Accepted,
            (BackstopPhase::Reading(_), Outcome::ThermalManagement(named)) if named == self.wanted => {
                (self.phase, self.failures) = (BackstopPhase::Held, 0);
            }
            (_, Outcome::Rejected(status)) => self.failed(Some(status), patience),
            _ => self.failed(None, patience),
        }
    }

    /// The adapter gave a command up; whether it was one of these.
    pub fn lost(&mut self, id: CommandId, patience: u8) -> bool {
        let own = self.in_flight() == Some(id);
        if own {
            self.failed(None, patience);
        }
        own
    }

    /// Another command was lost, and the drive may have been reset in the course of it: what was set may be gone.
    pub const fn disturbed(&mut self) {
        if matches!(self.phase, BackstopPhase::Held | BackstopPhase::Accepted) {
            self.phase = BackstopPhase::Due;
        }
    }

    /// The drive was reset, with whatever was in flight to it.
    pub const fn reset(&mut self) {
        *self = Self::new(self.wanted);
    }

    const fn in_flight(&self) -> Option<CommandId> {
        match self.phase {
            BackstopPhase::Setting(id) | BackstopPhase::Reading(id) => Some(id),
            _ => None,
        }
    }

    fn failed(&mut self, status: Option<Status>, patience: u8) {
        self.failures = self.failures.saturating_add(1);
        let hopeless = status.is_some_and(Status::do_not_retry) || self.failures >= patience;
        self.phase = if hopeless { BackstopPhase::Failed(status) } else { BackstopPhase::Due };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Kelvin;

    const ID: CommandId = CommandId(3);
    const WANTED: ThermalManagement =
        ThermalManagement { light: Some(Kelvin::new(343)), heavy: Some(Kelvin::new(353)) };
    const PATIENCE: u8 = 3;

    fn step(backstop: &mut Backstop, outcome: Outcome) {
        assert!(backstop.due().is_some());
        backstop.sent(ID);
        assert_eq!(backstop.due(), None);
        backstop.completed(ID, outcome, PATIENCE);
    }

    #[test]
    fn what_is_set_is_read_back_and_set_again_after_a_reset() {
        let mut backstop = Backstop::new(WANTED);
        assert_eq!(backstop.due(), Some(Request::SetThermalManagement(WANTED)));
        step(&mut backstop, Outcome::Done);
        assert_eq!(backstop.due(), Some(Request::ReadThermalManagement));
        step(&mut backstop, Outcome::ThermalManagement(WANTED));
        assert_eq!((backstop.phase(), backstop.due()), (BackstopPhase::Held, None));
        backstop.reset();
        assert_eq!(backstop.phase(), BackstopPhase::Due);
    }

    #[test]
    fn a_drive_that_names_something_else_is_given_up_after_some_tries() {
        let mut backstop = Backstop::new(WANTED);
        for _ in 0..PATIENCE {
            step(&mut backstop, Outcome::Done);
            step(&mut backstop, Outcome::ThermalManagement(ThermalManagement::default()));
        }
        assert_eq!(backstop.phase(), BackstopPhase::Failed(None));
        backstop.want(ThermalManagement::default());
        assert_eq!(backstop.phase(), BackstopPhase::Due);
    }

    #[test]
    fn a_refusal_keeps_its_status_and_a_lost_answer_proves_nothing() {
        let mut backstop = Backstop::new(WANTED);
        let never = Status::from_bits(0x4002);
        step(&mut backstop, Outcome::Rejected(never));
        assert_eq!(backstop.phase(), BackstopPhase::Failed(Some(never)));
        backstop.reset();
        backstop.sent(ID);
        backstop.lost(CommandId(4), PATIENCE);
        backstop.completed(CommandId(4), Outcome::Done, PATIENCE);
        assert_eq!(backstop.phase(), BackstopPhase::Setting(ID));
        backstop.lost(ID, PATIENCE);
        assert_eq!(backstop.phase(), BackstopPhase::Due);
    }

    #[test]
    fn a_new_wish_waits_for_the_answer_to_the_old_one() {
        let mut backstop = Backstop::new(WANTED);
        backstop.sent(ID);
        backstop.want(ThermalManagement::default());
        assert_eq!(backstop.phase(), BackstopPhase::Setting(ID));
        backstop.completed(ID, Outcome::Done, PATIENCE);
        step(&mut backstop, Outcome::ThermalManagement(WANTED));
        assert_eq!(backstop.due(), Some(Request::SetThermalManagement(ThermalManagement::default())));
    }
}
