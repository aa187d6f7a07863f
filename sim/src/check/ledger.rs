//! The ledger's rules, judged from the wire alone.
//!
//! From what was sent and answered, and from what the host saw of each drive, this rebuilds the set of states that a
//! drive may be in and what it counts for. Then:
//!
//! * *lower before raise*: at no command that raises a drive may the sum of what all may count for exceed cap, less
//!   base load, less margin;
//! * *shed at once*: when the cap drops, the commands that answer it are sent at that same moment, but for drives that
//!   have one in flight (what those still take is judged by the true watts);
//! * *one at a time*: no drive has two commands in flight;
//! * *read first*: no state is set before the drive has named its own to the governor that sets it. A drive that came,
//!   or that was there when the governor started, is not known to it.
//!
//! In the sum, a lowered drive counts at its old state until its true power has settled, which nobody on the wire can
//! know.

use wattline_core::profile::WorkSet;

use super::figures::Figures;
use super::shed::step_at;
use crate::time::Micros;
use crate::trace::{Trace, Wire, WireRecord};

/// What is the same during the whole run.
#[derive(Clone, Debug)]
pub struct Terms<'a> {
    /// What drives count for.
    pub figures: Figures<'a>,
    /// Watts without drives.
    pub base_w: f64,
    /// What stays free.
    pub margin_w: f64,
    /// What drives are declared to do.
    pub declared: WorkSet,
    /// Where they fall back to at a reset.
    pub fallback: usize,
    /// How long after an answered change a drive counts at its old state by the rule.
    pub settling: Micros,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Raises that were sent.
    pub raises: usize,
    /// Raises out of watts that were not there: when, which drive, by how many watts.
    pub unpaid: Vec<(Micros, usize, f64)>,
    /// Cap drops that were not answered at once: when, by how many watts.
    pub slow: Vec<(Micros, f64)>,
    /// Commands sent to a drive that had one in flight.
    pub doubled: Vec<(Micros, usize)>,
    /// States set before the drive had named its own: when, which drive.
    pub unread: Vec<(Micros, usize)>,
}

impl Verdict {
    /// Whether every rule held.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.unpaid.is_empty() && self.slow.is_empty() && self.doubled.is_empty() && self.unread.is_empty()
    }
}

/// Slack for sums in binary, in watts.
const ROUNDING_W: f64 = 1e-6;

/// Judges a run.
#[must_use]
pub fn judge(trace: &Trace, terms: &Terms<'_>) -> Verdict {
    let all: Vec<usize> = (0..terms.figures.states()).collect();
    let mut drives = vec![Drive::unknown(&all, terms.declared); trace.states.len()];
    let mut verdict = Verdict::default();
    let mut drops = cap_drops(trace).into_iter().peekable();
    for record in &trace.wire {
        while let Some(drop) = drops.next_if(|drop| *drop < record.at) {
            judge_drop(drop, trace, terms, &drives, &mut verdict);
        }
        settle(&mut drives, trace, record.at);
        see(record, trace, terms, &mut drives, &mut verdict);
    }
    for drop in drops {
        judge_drop(drop, trace, terms, &drives, &mut verdict);
    }
    verdict
}

/// What may be known of a drive from outside.
#[derive(Clone, Debug)]
struct Drive {
    /// States that it may be in.
    may_be: Vec<usize>,
    /// State that it was last set to and answered for; the others of `may_be` go when it has settled.
    acknowledged: Option<usize>,
    in_flight: Option<Flying>,
    /// What it counted for before its last change, and until when it still does by the rule.
    leaving: (f64, Micros),
    seen: WorkSet,
    present: bool,
    /// It has named its state to the governor that governs now.
    known: bool,
}

/// A command in flight.
#[derive(Clone, Copy, Debug)]
struct Flying {
    /// The state that it sets; none for a read.
    set: Option<usize>,
    /// That state, if the drive could not be in it before.
    added: Option<usize>,
    sent: Micros,
}

impl Drive {
    fn unknown(all: &[usize], declared: WorkSet) -> Self {
        Self {
            may_be: all.to_vec(),
            acknowledged: None,
            in_flight: None,
            leaving: (0.0, 0),
            seen: declared,
            present: true,
            known: false,
        }
    }

    fn is_now(&mut self, ps: usize) {
        self.may_be = vec![ps];
        self.acknowledged = Some(ps);
    }

    fn draw_w(&self, terms: &Terms<'_>) -> f64 {
        if !self.present {
            return 0.0;
        }
        let work = terms.declared.union(self.seen);
        self.may_be.iter().map(|&ps| terms.figures.watts(ps, work)).fold(0.0, f64::max)
    }

    /// What it counts for by the rule, which knows no more of its settling than was said beforehand. A command that
    /// does not go above this is no raise.
    fn counted_w(&self, terms: &Terms<'_>, now: Micros) -> f64 {
        let (leaving_w, until) = self.leaving;
        if self.present && now < until { self.draw_w(terms).max(leaving_w) } else { self.draw_w(terms) }
    }

    /// What it counts for in the lowest state.
    fn lowest_w(&self, terms: &Terms<'_>) -> f64 {
        let work = terms.declared.union(self.seen);
        let states = (0..terms.figures.states()).map(|ps| terms.figures.watts(ps, work));
        if self.present { states.fold(f64::INFINITY, f64::min) } else { 0.0 }
    }

    /// What it is on its way to count for, as far as it could be told `now`: one that was busy before can still be sent
    /// to its lowest state afterwards.
    fn planned_w(&self, terms: &Terms<'_>, now: Micros) -> f64 {
        let work = terms.declared.union(self.seen);
        match (self.in_flight, self.acknowledged) {
            (Some(flying), _) if flying.sent < now || flying.set.is_none() => self.lowest_w(terms),
            (Some(Flying { set: Some(ps), .. }), _) | (_, Some(ps)) if self.present => terms.figures.watts(ps, work),
            _ => self.draw_w(terms),
        }
    }

    fn can_go_lower(&self, terms: &Terms<'_>, now: Micros) -> bool {
        self.in_flight.is_none() && self.planned_w(terms, now) > self.lowest_w(terms) + ROUNDING_W
    }
}

fn see(record: &WireRecord, trace: &Trace, terms: &Terms<'_>, drives: &mut [Drive], verdict: &mut Verdict) {
    let slot = record.slot;
    match &record.what {
        Wire::Sent { set, .. } => {
            if drives[slot].in_flight.is_some() {
                verdict.doubled.push((record.at, slot));
            }
            if set.is_some() && !drives[slot].known {
                verdict.unread.push((record.at, slot));
            }
            let before_w = drives[slot].counted_w(terms, record.at);
            let added = set.filter(|ps| !drives[slot].may_be.contains(ps));
            drives[slot].may_be.extend(added);
            drives[slot].in_flight = Some(Flying { set: *set, added, sent: record.at });
            if drives[slot].draw_w(terms) > before_w + ROUNDING_W {
                verdict.raises += 1;
                let above_w = promised_w(drives, terms) - allowance_w(trace, terms, record.at);
                if above_w > ROUNDING_W {
                    verdict.unpaid.push((record.at, slot, above_w));
                }
            }
        }
        Wire::Answered { set, .. } => {
            drives[slot].leaving = (drives[slot].draw_w(terms), record.at + terms.settling);
            drives[slot].in_flight = None;
            drives[slot].acknowledged = Some(*set);
            if drives[slot].may_be.len() > 1 && is_settled(trace, slot, record.at) {
                drives[slot].is_now(*set);
            }
        }
        Wire::Read { state, .. } => {
            (drives[slot].in_flight, drives[slot].known) = (None, true);
            if drives[slot].acknowledged != Some(*state) {
                drives[slot].is_now(*state);
            }
        }
        Wire::Refused { .. } => {
            // It is where it was.
            if let Some(Flying { added: Some(ps), .. }) = drives[slot].in_flight.take() {
                drives[slot].may_be.retain(|state| *state != ps);
            }
        }
        Wire::GivenUp { .. } | Wire::Reset => {
            // It should be in its fallback state; until it says so, it counts for the others as well.
            (drives[slot].in_flight, drives[slot].acknowledged) = (None, None);
            if !drives[slot].may_be.contains(&terms.fallback) {
                drives[slot].may_be.push(terms.fallback);
            }
        }
        Wire::Removed => {
            drives[slot].in_flight = None;
            drives[slot].present = false;
        }
        Wire::Inserted => {
            let all: Vec<usize> = (0..terms.figures.states()).collect();
            drives[slot] = Drive { seen: WorkSet::NONE, ..Drive::unknown(&all, terms.declared) };
        }
        // What was in flight has taken effect unheard.
        Wire::Started => {
            let drive = &mut drives[slot];
            (drive.in_flight, drive.acknowledged, drive.known) = (None, None, false);
        }
        Wire::Seen(work) => drives[slot].seen = *work,
    }
}

fn settle(drives: &mut [Drive], trace: &Trace, now: Micros) {
    for (slot, drive) in drives.iter_mut().enumerate() {
        if let (None, Some(ps), true) = (drive.in_flight, drive.acknowledged, drive.may_be.len() > 1)
            && is_settled(trace, slot, now)
        {
            drive.is_now(ps);
        }
    }
}

fn is_settled(trace: &Trace, slot: usize, now: Micros) -> bool {
    step_at(&trace.settled[slot], now).copied().unwrap_or(true)
}

fn judge_drop(at: Micros, trace: &Trace, terms: &Terms<'_>, drives: &[Drive], verdict: &mut Verdict) {
    let planned_w: f64 = drives.iter().map(|drive| drive.planned_w(terms, at)).sum();
    let above_w = planned_w - allowance_w(trace, terms, at);
    if above_w > ROUNDING_W && drives.iter().any(|drive| drive.can_go_lower(terms, at)) {
        verdict.slow.push((at, above_w));
    }
}

fn cap_drops(trace: &Trace) -> Vec<Micros> {
    let pairs = trace.cap_w.windows(2);
    pairs.filter(|pair| pair[1].1 < pair[0].1).map(|pair| pair[1].0).collect()
}

fn promised_w(drives: &[Drive], terms: &Terms<'_>) -> f64 {
    drives.iter().map(|drive| drive.draw_w(terms)).sum()
}

fn allowance_w(trace: &Trace, terms: &Terms<'_>, at: Micros) -> f64 {
    super::shed::cap_at(trace, at) - terms.base_w - terms.margin_w
}

#[cfg(test)]
mod tests;
