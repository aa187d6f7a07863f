use wattline_core::profile::Work;

use super::*;
use crate::calibration::Article;

/// Two writers in PS2 that are read, then what the test plants; 40 W for both (26.1, 15.1 or 11 W each).
fn judge_planted(cap_w: Vec<(Micros, f64)>, planted: Vec<(Micros, usize, Wire)>) -> Verdict {
    judge_with(cap_w, planted, 0)
}

/// The same with drives that fall back to another state than PS0.
fn judge_fallback(fallback: usize, planted: Vec<(Micros, usize, Wire)>) -> Verdict {
    judge_with(cap(), planted, fallback)
}

fn judge_with(cap_w: Vec<(Micros, f64)>, planted: Vec<(Micros, usize, Wire)>, fallback: usize) -> Verdict {
    let article = Article::embedded();
    let writing = WorkSet::of(Work::SequentialWrite);
    let terms = Terms {
        figures: Figures::new(&article, 1.125, true),
        base_w: 462.0,
        margin_w: 21.0,
        declared: writing,
        fallback,
        settling: 0,
    };
    let known = [0, 1]
        .into_iter()
        .flat_map(|slot| [(1, slot, Wire::Sent { id: 1, set: None }), (2, slot, Wire::Read { id: 1, state: 2 })]);
    let records = known.chain(planted);
    let mut trace = Trace::new(10_000_000, 2);
    trace.cap_w = cap_w;
    trace.wire = records.map(|(at, slot, what)| WireRecord { at, slot, what }).collect();
    judge(&trace, &terms)
}

fn cap() -> Vec<(Micros, f64)> {
    vec![(0, 462.0 + 21.0 + 40.0)]
}

fn set(ps: usize) -> Wire {
    Wire::Sent { id: 2, set: Some(ps) }
}

fn done(ps: usize) -> Wire {
    Wire::Answered { id: 2, set: ps }
}

#[test]
fn a_raise_that_is_paid_for_passes() {
    let verdict = judge_planted(cap(), vec![(10, 0, set(0)), (20, 0, done(0))]);
    assert!(verdict.holds(), "{verdict:?}");
    assert_eq!(verdict.raises, 1);
}

#[test]
fn a_raise_out_of_watts_that_another_still_has_is_found() {
    let verdict = judge_planted(
        cap(),
        vec![
            (10, 0, set(0)),
            (20, 0, done(0)),
            // The other is raised while the first one's lowering is not answered yet.
            (30, 0, set(2)),
            (31, 1, set(0)),
        ],
    );
    assert_eq!(verdict.unpaid.len(), 1, "{verdict:?}");
    let (at, slot, above_w) = verdict.unpaid[0];
    assert_eq!((at, slot), (31, 1));
    assert!((above_w - 12.25).abs() < 1e-6, "{above_w}");
}

#[test]
fn the_same_raise_after_the_answer_passes() {
    let verdict = judge_planted(
        cap(),
        vec![(10, 0, set(0)), (20, 0, done(0)), (30, 0, set(2)), (31, 0, done(2)), (32, 1, set(0))],
    );
    assert!(verdict.holds(), "{verdict:?}");
}

#[test]
fn a_refused_raise_frees_its_watts() {
    let verdict = judge_planted(cap(), vec![(10, 0, set(0)), (20, 0, Wire::Refused { id: 2 }), (30, 1, set(0))]);
    assert!(verdict.holds(), "{verdict:?}");
}

#[test]
fn a_drive_that_was_reset_counts_at_its_fallback() {
    let verdict = judge_planted(cap(), vec![(10, 0, Wire::Reset), (20, 1, set(1))]);
    assert_eq!(verdict.unpaid.len(), 1, "{verdict:?}");
}

#[test]
fn a_drive_that_was_reset_counts_for_what_it_was_in_until_it_is_read() {
    let raised = vec![(10, 0, set(0)), (20, 0, done(0)), (30, 0, Wire::Reset), (40, 1, set(0))];
    let mut read = raised.clone();
    read.insert(3, (31, 0, Wire::Sent { id: 3, set: None }));
    read.insert(4, (32, 0, Wire::Read { id: 3, state: 2 }));
    assert_eq!(judge_fallback(2, raised).unpaid.len(), 1);
    assert!(judge_fallback(2, read).holds());
}

#[test]
fn a_state_that_is_set_before_the_drive_has_named_its_own_is_found() {
    for unknown in [vec![(9, 0, Wire::Started)], vec![(8, 0, Wire::Removed), (9, 0, Wire::Inserted)]] {
        let mut blind = unknown.clone();
        blind.push((10, 0, set(2)));
        assert_eq!(judge_planted(cap(), blind).unread, [(10, 0)]);
        let read = [(10, 0, Wire::Sent { id: 3, set: None }), (11, 0, Wire::Read { id: 3, state: 0 }), (12, 0, set(2))];
        let verdict = judge_planted(cap(), unknown.into_iter().chain(read).collect());
        assert!(verdict.holds(), "{verdict:?}");
    }
}

#[test]
fn a_command_that_was_in_flight_when_the_governor_stopped_has_perhaps_taken_effect() {
    let verdict = judge_planted(cap(), vec![(9, 0, set(0)), (10, 0, Wire::Started), (11, 1, set(0))]);
    assert_eq!(verdict.unpaid.len(), 1, "{verdict:?}");
}

#[test]
fn a_second_command_in_flight_is_found() {
    let verdict = judge_planted(cap(), vec![(10, 0, set(1)), (11, 0, Wire::Sent { id: 3, set: None })]);
    assert_eq!(verdict.doubled, [(11, 0)]);
}

#[test]
fn a_cap_drop_that_is_not_answered_at_once_is_found() {
    let mut caps = cap();
    caps.push((30, 462.0 + 21.0 + 30.0));
    let late = judge_planted(caps.clone(), vec![(10, 0, set(0)), (20, 0, done(0)), (31, 0, set(2))]);
    assert_eq!(late.slow.len(), 1, "{late:?}");
    let prompt = judge_planted(caps, vec![(10, 0, set(0)), (20, 0, done(0)), (30, 0, set(2))]);
    assert!(prompt.holds(), "{prompt:?}");
}
