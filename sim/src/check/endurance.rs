//! That work goes on through a fault, that somebody is told, and that everything is in order at the end.

use std::collections::BTreeSet;

use wattline_core::governor::Alarm;

use super::Check;
use super::shed::step_at;
use crate::scenario::schema::{AlarmName, RateSection};
use crate::time::{Micros, SECOND, seconds};
use crate::trace::{Trace, Wire};

/// That in a part of the run every second had this throughput.
#[must_use]
pub fn rate(trace: &Trace, section: &RateSection) -> Check {
    let (from, to) = (section.from_s.micros(), section.to_s.micros());
    let within = trace.samples.iter().filter(|sample| sample.at >= from + SECOND && sample.at <= to);
    let seconds_of_it = within.map(|sample| (sample.read_gb_s + sample.write_gb_s, sample.at));
    let slowest = seconds_of_it.min_by(|a, b| a.0.total_cmp(&b.0));
    let span = format!("between {} s and {} s", section.from_s.0, section.to_s.0);
    match slowest {
        None => Check::new("rate", false, format!("no second was recorded {span}")),
        Some((gb_s, at)) => {
            let detail = format!(
                "{gb_s:.2} GB/s in the slowest second {span}, that up to {:.0} s ({} GB/s expected)",
                seconds(at),
                section.at_least_gb_s
            );
            Check::new("rate", gb_s >= section.at_least_gb_s, detail)
        }
    }
}

/// That these alarms were raised.
#[must_use]
pub fn alarms(trace: &Trace, expected: &[AlarmName]) -> Check {
    let first = |name: AlarmName| {
        let raised = trace.alarms.iter().filter(|(_, _, raised)| *raised);
        raised.filter(|(_, alarm, _)| name_of(alarm) == Some(name)).map(|(at, ..)| *at).next()
    };
    let words = |name: &AlarmName| match first(*name) {
        Some(at) => format!("{name:?} at {:.1} s", seconds(at)),
        None => format!("{name:?} was not raised"),
    };
    let all = expected.iter().all(|name| first(*name).is_some());
    Check::new("alarms", all, expected.iter().map(words).collect::<Vec<_>>().join("; "))
}

const fn name_of(alarm: &Alarm) -> Option<AlarmName> {
    match alarm {
        Alarm::CannotHold { .. } => Some(AlarmName::CannotHold),
        Alarm::MeterLost => Some(AlarmName::MeterLost),
        Alarm::MeterAbovePrediction { .. } => Some(AlarmName::MeterAbovePrediction),
        Alarm::ClockBackwards => Some(AlarmName::ClockBackwards),
        Alarm::Unmanaged { .. } => Some(AlarmName::Unmanaged),
        Alarm::RecordDamaged { .. } => Some(AlarmName::RecordDamaged),
        Alarm::TemperatureFrozen { .. } => Some(AlarmName::TemperatureFrozen),
        Alarm::CoolingReduced { .. } => Some(AlarmName::CoolingReduced),
        _ => None,
    }
}

/// That at the end no alarm of the governor stands, and that every drive has named the state that it truly has since it
/// came, was reset, or met a new governor, or since its record was damaged last.
#[must_use]
pub fn all_managed(trace: &Trace) -> Check {
    let (mut strangers, mut gone) = (BTreeSet::new(), BTreeSet::new());
    let mut flips = trace.flips.iter().peekable();
    for record in &trace.wire {
        while let Some((_, slot)) = flips.next_if(|(at, _)| *at <= record.at) {
            strangers.insert(*slot);
        }
        match record.what {
            Wire::Removed => _ = gone.insert(record.slot),
            Wire::Inserted => _ = gone.remove(&record.slot),
            _ => {}
        }
        match record.what {
            Wire::Started | Wire::Inserted | Wire::Reset | Wire::GivenUp { .. } => {
                strangers.insert(record.slot);
            }
            Wire::Removed => {
                strangers.remove(&record.slot);
            }
            Wire::Read { state, .. } if step_at(&trace.states[record.slot], record.at) == Some(&Some(state)) => {
                strangers.remove(&record.slot);
            }
            _ => {}
        }
    }
    strangers.extend(flips.map(|(_, slot)| *slot));
    // Where there is no drive, there is none to know.
    strangers.retain(|slot| !gone.contains(slot));
    let standing = standing(trace);
    let ok = strangers.is_empty() && standing.is_empty();
    let detail = if ok {
        "every drive is known, and no alarm stands at the end".into()
    } else {
        let standing: Vec<String> = standing.iter().map(ToString::to_string).collect();
        format!("drives that are not known: {strangers:?}; alarms that stand: {}", standing.join(", "))
    };
    Check::new("all managed", ok, detail)
}

/// Alarms of the last governor that were raised and not cleared.
fn standing(trace: &Trace) -> Vec<Alarm> {
    let started = trace.wire.iter().rev().find(|record| record.what == Wire::Started).map_or(0, |record| record.at);
    let mut standing: Vec<Alarm> = Vec::new();
    for (_, alarm, raised) in trace.alarms.iter().filter(|(at, ..)| *at >= started) {
        let same = |other: &Alarm| {
            std::mem::discriminant(other) == std::mem::discriminant(alarm) && other.slot() == alarm.slot()
        };
        standing.retain(|other| !same(other));
        if *raised {
            standing.push(*alarm);
        }
    }
    standing
}

/// That every record whose bits flipped was found: at least each that had not been hit shortly before, and none that
/// was not hit.
#[must_use]
pub fn counted(trace: &Trace) -> Check {
    /// Within this time a second hit on a record may come before the first was noticed: one record is looked at with
    /// each event, and the work of each drive is told every second.
    const SHORTLY: Micros = 2 * SECOND;
    let hit_before = |index: usize| {
        let (at, slot) = trace.flips[index];
        trace.flips[..index].iter().rev().take_while(|(before, _)| before + SHORTLY > at).any(|hit| hit.1 == slot)
    };
    let apart = (0..trace.flips.len()).filter(|index| !hit_before(*index)).count();
    let (damaged, flips) = (trace.damaged as usize, trace.flips.len());
    let detail = format!("{damaged} damaged records were found after {flips} flips, {apart} of them apart from others");
    Check::new("counted", (apart..=flips).contains(&damaged), detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::value::Seconds;
    use crate::trace::{Sample, WireRecord};

    fn trace() -> Trace {
        Trace { states: vec![vec![(0, Some(1))]; 2], ..Trace::new(100 * SECOND, 2) }
    }

    fn read(at: Micros, slot: usize, state: usize) -> WireRecord {
        WireRecord { at, slot, what: Wire::Read { id: 1, state } }
    }

    #[test]
    fn a_planted_slow_second_is_found_and_one_outside_is_not() {
        let mut trace = trace();
        trace.samples = (1..=100)
            .map(|second| Sample {
                at: second * SECOND,
                read_gb_s: 1.0,
                write_gb_s: if second == 50 { 0.5 } else { 2.0 },
                composite_c: 40.0,
                case_c: 40.0,
            })
            .collect();
        let expect = |from_s, to_s| RateSection { from_s: Seconds(from_s), to_s: Seconds(to_s), at_least_gb_s: 3.0 };
        assert!(!rate(&trace, &expect(0.0, 100.0)).ok);
        assert!(!rate(&trace, &expect(49.0, 50.0)).ok);
        assert!(rate(&trace, &expect(50.0, 100.0)).ok);
        assert!(!rate(&trace, &expect(0.5, 0.9)).ok, "nothing was recorded");
    }

    #[test]
    fn an_alarm_that_was_only_cleared_was_not_raised() {
        let mut trace = trace();
        trace.alarms = vec![(5, Alarm::MeterLost, false)];
        assert!(!alarms(&trace, &[AlarmName::MeterLost]).ok);
        trace.alarms.push((6, Alarm::MeterLost, true));
        assert!(alarms(&trace, &[AlarmName::MeterLost]).ok);
        assert!(!alarms(&trace, &[AlarmName::MeterLost, AlarmName::Unmanaged]).ok);
    }

    #[test]
    fn a_drive_that_was_not_read_after_its_flip_or_named_another_state_is_found() {
        let mut trace = trace();
        trace.flips = vec![(10, 0)];
        trace.wire = vec![read(5, 0, 1)];
        assert!(!all_managed(&trace).ok);
        trace.wire.push(read(11, 0, 2));
        assert!(!all_managed(&trace).ok);
        trace.wire.push(read(12, 0, 1));
        assert!(all_managed(&trace).ok);
        trace.alarms =
            vec![(13, Alarm::RecordDamaged { slot: 0 }, true), (14, Alarm::RecordDamaged { slot: 1 }, false)];
        assert!(!all_managed(&trace).ok);
        trace.alarms.push((15, Alarm::RecordDamaged { slot: 0 }, false));
        assert!(all_managed(&trace).ok);
        trace.wire.push(WireRecord { at: 20, slot: 1, what: Wire::Started });
        assert!(!all_managed(&trace).ok);
    }

    #[test]
    fn flips_that_nobody_counted_are_found() {
        let mut trace = trace();
        trace.flips = vec![(0, 0), (1, 0), (2, 1), (60 * SECOND, 0)];
        for (damaged, ok) in [(2, false), (3, true), (4, true), (5, false)] {
            trace.damaged = damaged;
            assert_eq!(counted(&trace).ok, ok, "{damaged}");
        }
    }
}
