//! Running a journal again: the recorded events must lead to the recorded commands.

use super::{FORMAT_VERSION, Record};
use crate::governor::{Command, DECISION_VERSION, Event, Governor};
use crate::units::Instant;

/// A governor that is fed from a journal. Its capacity must be at least that of the recorded one; more changes nothing.
#[derive(Clone, Debug, Default)]
pub struct Replay<const DRIVES: usize, const PROFILES: usize, const SLEEPERS: usize = 0> {
    governor: Option<Governor<DRIVES, PROFILES, SLEEPERS>>,
    at: Instant,
    decisions: Option<u16>,
    slots: u16,
    sleepers: u16,
}

/// Why a record is not what the replay comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divergence {
    /// The journal is of another format than this core reads.
    Format(u16),
    /// The record needs one that must come before it: a start before the configuration, that before profiles, events,
    /// commands.
    OutOfOrder,
    /// The journal has more kinds of drives than the replay has room for.
    TooManyProfiles,
    /// The writer's governor has more slots, or room for more that sleep, than the replay.
    TooManySlots(u16),
    /// Another command was decided than the recorded one, or none, or none was recorded.
    Command {
        /// What the journal says; `None`: it goes on to the next event.
        recorded: Option<Command>,
        /// What the replay decided; `None`: nothing more.
        replayed: Option<Command>,
    },
}

impl<const DRIVES: usize, const PROFILES: usize, const SLEEPERS: usize> Replay<DRIVES, PROFILES, SLEEPERS> {
    /// A replay before its first record.
    #[must_use]
    pub const fn new() -> Self {
        Self { governor: None, at: Instant::START, decisions: None, slots: 0, sleepers: 0 }
    }

    /// The governor, once the journal has configured one.
    #[must_use]
    pub const fn governor(&self) -> Option<&Governor<DRIVES, PROFILES, SLEEPERS>> {
        self.governor.as_ref()
    }

    /// Whether the journal was written by a core that decides as this one does. Only then is a divergence a mistake.
    #[must_use]
    pub fn decides_alike(&self) -> bool {
        self.decisions == Some(DECISION_VERSION)
    }

    /// The journal is at its end: whatever was decided must have been recorded.
    ///
    /// # Errors
    /// Where more was decided. A journal that was cut off may well end so.
    pub fn finish(mut self) -> Result<(), Divergence> {
        match self.governor.as_mut().and_then(Governor::poll) {
            None => Ok(()),
            replayed => Err(Divergence::Command { recorded: None, replayed }),
        }
    }

    /// Takes the next record.
    ///
    /// # Errors
    /// Where the record is not what the replay comes to. The replay can go on behind it.
    pub fn take(&mut self, record: Record) -> Result<(), Divergence> {
        match (record, self.governor.as_mut()) {
            (Record::Start { format, decisions, slots, sleepers }, _) => {
                *self = Self::new();
                if format != FORMAT_VERSION {
                    return Err(Divergence::Format(format));
                }
                if usize::from(slots) > DRIVES {
                    return Err(Divergence::TooManySlots(slots));
                }
                if usize::from(sleepers) > SLEEPERS {
                    return Err(Divergence::TooManySlots(sleepers));
                }
                (self.decisions, self.slots, self.sleepers) = (Some(decisions), slots, sleepers);
                Ok(())
            }
            (Record::Config(config), None) if self.decisions.is_some() => {
                self.governor = Some(Governor::new(config));
                Ok(())
            }
            (Record::Profile(profile), Some(governor)) => {
                governor.add_profile(profile).map(|_| ()).ok_or(Divergence::TooManyProfiles)
            }
            (Record::Event { at, event }, Some(governor)) => {
                let left = governor.poll();
                while governor.poll().is_some() {}
                self.at = at;
                // The writer ignored events of slots that it does not have; but time passed.
                let known = if matches!(event, Event::MaySleep { .. }) { self.sleepers } else { self.slots };
                let ignored = event.slot().is_some_and(|slot| u16::from(slot) >= known);
                governor.handle(at, if ignored { Event::Tick } else { event });
                match left {
                    None => Ok(()),
                    replayed => Err(Divergence::Command { recorded: None, replayed }),
                }
            }
            (Record::Command { at, command }, Some(governor)) => {
                let (recorded, replayed) = (Some(command), governor.poll());
                if recorded == replayed && at == self.at {
                    Ok(())
                } else {
                    Err(Divergence::Command { recorded, replayed })
                }
            }
            (Record::Config(_) | Record::Profile(_) | Record::Event { .. } | Record::Command { .. }, _) => {
                Err(Divergence::OutOfOrder)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::*;
    use crate::governor::{Config, DriveConfig, Outcome, ProfileIndex, Request};
    use crate::nvme::PowerState;
    use crate::profile::{Work, WorkSet, d5_p5336};
    use crate::units::Milliwatts;

    /// A journal of three drives that obey at once, and of a cap that drops.
    fn journal() -> Vec<Record> {
        let config = Config::new(Milliwatts::from_watts(560), Milliwatts::from_watts(462));
        let mut governor = Governor::<3, 1>::new(config.clone());
        governor.add_profile(d5_p5336()).unwrap();
        let mut records = std::vec![Record::start(3, 0), Record::Config(config), Record::Profile(d5_p5336())];
        let drive = DriveConfig {
            declared: WorkSet::of(Work::SequentialWrite),
            ..DriveConfig::new(ProfileIndex(0), Milliwatts::from_watts(25))
        };
        let mut events: Vec<_> = (0..3).map(|slot| Event::Attached { slot, drive: drive.clone() }).collect();
        events.push(Event::Cap(Milliwatts::from_watts(505)));
        let mut states = [PowerState::PS0; 3];
        let mut at = Instant::START;
        events.reverse();
        while let Some(event) = events.pop() {
            governor.handle(at, event.clone());
            records.push(Record::Event { at, event });
            while let Some(command) = governor.poll() {
                records.push(Record::Command { at, command });
                if let Command::Drive { slot, id, request, .. } = command {
                    let state = &mut states[usize::from(slot)];
                    let outcome = match request {
                        Request::SetPowerState(wanted) => {
                            *state = wanted;
                            Outcome::Done
                        }
                        Request::ReadPowerState => Outcome::Is(*state),
                        other => panic!("the configuration allows no {other:?}"),
                    };
                    events.insert(0, Event::Completed { slot, id, outcome });
                }
            }
            at = Instant::from_micros(at.as_micros() + 1000);
        }
        records
    }

    fn divergences(records: Vec<Record>) -> Vec<Divergence> {
        let mut replay = Replay::<8, 2>::new();
        records.into_iter().filter_map(|record| replay.take(record).err()).collect()
    }

    #[test]
    fn the_same_events_lead_to_the_same_commands() {
        let records = journal();
        assert!(records.len() > 20, "{}", records.len());
        assert_eq!(divergences(records), []);
    }

    #[test]
    fn a_command_that_was_not_decided_is_named() {
        let mut records = journal();
        let last = records.iter().rposition(|record| matches!(record, Record::Command { .. })).unwrap();
        let Record::Command { command, .. } = records.remove(last) else { unreachable!() };
        records.push(Record::Event { at: Instant::from_micros(1_000_000), event: Event::Tick });
        assert_eq!(divergences(records)[0], Divergence::Command { recorded: None, replayed: Some(command) });

        let mut records = journal();
        let first = records.iter().position(|record| matches!(record, Record::Command { .. })).unwrap();
        let twice = records[first].clone();
        records.insert(first, twice);
        assert!(matches!(divergences(records)[0], Divergence::Command { recorded: Some(_), replayed: None }));
    }

    #[test]
    fn what_cannot_be_replayed_is_named() {
        let mut records = journal();
        records.remove(1);
        assert_eq!(divergences(records)[0], Divergence::OutOfOrder);
        let newer = Record::Start { format: FORMAT_VERSION + 1, decisions: DECISION_VERSION, slots: 3, sleepers: 0 };
        assert_eq!(divergences(std::vec![newer]), [Divergence::Format(FORMAT_VERSION + 1)]);
        let mut records = journal();
        records.insert(2, records[2].clone());
        records.insert(2, records[2].clone());
        assert_eq!(divergences(records), [Divergence::TooManyProfiles]);
    }
}
