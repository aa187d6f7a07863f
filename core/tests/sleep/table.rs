//! The table of all transitions, as it is committed beside this file; and ways through it.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;

use wattline_core::sleep::{Conditions, Counts, Event, Sleeper, WhyNot, Wish};
use wattline_core::units::{Instant, Microseconds};

use crate::{EVENTS, MORNING, conditions, limit, name, seconds, sleeper};

/// A situation: a state, and whether its time has come.
fn situation(sleeper: &Sleeper, now: Instant) -> String {
    let waits = sleeper.next_deadline(now).is_some();
    format!("{}{}", name(sleeper.state()), if waits { ", before its time" } else { "" })
}

/// Every situation that can be reached, with one way there.
fn situations() -> BTreeMap<String, (Sleeper, Instant)> {
    let mut found = BTreeMap::new();
    let mut queue = VecDeque::from([(sleeper(), seconds(MORNING))]);
    while let Some((sleeper, now)) = queue.pop_front() {
        let key = situation(&sleeper, now);
        if found.contains_key(&key) {
            continue;
        }
        for event in EVENTS {
            let mut next = sleeper.clone();
            next.step(now, event);
            queue.push_back((next, now));
        }
        if let Some(later) = sleeper.next_deadline(now) {
            queue.push_back((sleeper.clone(), later));
        }
        found.insert(key, (sleeper, now));
    }
    found
}

fn table() -> String {
    let mut text = String::from(
        "Every situation that a drive can be in, what it counts for, what is wished, and what each event makes of it.\n\
         Events that are not named change nothing.\n",
    );
    for (key, (sleeper, now)) in situations() {
        let wish = sleeper.wish(now).map_or("nothing".to_owned(), |wish| format!("{wish:?}"));
        writeln!(text, "\n{key}: counts for {:?}, wishes {wish}", sleeper.counts()).unwrap();
        for event in EVENTS {
            let mut next = sleeper.clone();
            next.step(now, event);
            let to = situation(&next, now);
            if to != key {
                writeln!(text, "    {:<16} -> {to}", format!("{event:?}")).unwrap();
            }
        }
    }
    text
}

#[test]
fn the_table_of_transitions_is_the_committed_one() {
    let table = table();
    println!("{table}");
    assert!(table == include_str!("transitions.txt"), "core/tests/sleep/transitions.txt is not what this test prints");
}

/// Steps through a list of (second after morning, event, name of the state after it).
fn walk(sleeper: &mut Sleeper, way: &[(u64, Event, &str)]) {
    for (second, event, after) in way {
        sleeper.step(seconds(MORNING + second), *event);
        assert_eq!(name(sleeper.state()), *after, "after {event:?} at {second} s");
    }
}

#[test]
fn a_night_without_power() {
    let mut drive = sleeper();
    walk(&mut drive, &[(0, Event::Idle, "idle"), (30, Event::Idle, "idle")]);
    let worth = Instant::from_micros((MORNING * 10 + 575) * 100_000);
    assert_eq!(drive.why_not(seconds(MORNING + 57)), Some(WhyNot::GapTooShort(worth)));
    assert_eq!(drive.next_deadline(seconds(MORNING + 57)), Some(worth));
    assert_eq!((drive.wish(worth), drive.next_deadline(worth)), (Some(Wish::ShutDown), None));
    walk(&mut drive, &[(58, Event::Sent(Wish::ShutDown), "shutting down"), (60, Event::ShutdownDone, "shut down")]);
    assert_eq!((drive.wish(seconds(MORNING + 60)), drive.counts()), (Some(Wish::PowerOff), Counts::Awake));
    walk(&mut drive, &[(60, Event::Sent(Wish::PowerOff), "cutting power"), (61, Event::PoweredOff, "off")]);
    assert_eq!((drive.wish(seconds(MORNING + 61)), drive.counts()), (None, Counts::Off));
    walk(&mut drive, &[(9_000, Event::Demand, "off, wanted")]);
    assert_eq!((drive.wish(seconds(MORNING + 9_000)), drive.counts()), (Some(Wish::PowerOn), Counts::Off));
    walk(&mut drive, &[(9_005, Event::Sent(Wish::PowerOn), "powering on")]);
    assert_eq!(drive.counts(), Counts::Fallback);
    walk(&mut drive, &[(9_006, Event::PoweredOn, "resuming")]);
    assert_eq!(drive.next_deadline(seconds(MORNING + 9_006)), Some(seconds(MORNING + 9_021)));
    assert_eq!(drive.wish(seconds(MORNING + 9_021)), Some(Wish::Attach));
    walk(&mut drive, &[(9_021, Event::Sent(Wish::Attach), "resuming, sent"), (9_022, Event::Attached, "working")]);
}

#[test]
fn a_day_has_only_so_many_nights() {
    let mut drive = sleeper();
    let mut now = MORNING;
    for _ in 0..2 {
        drive.step(seconds(now), Event::Idle);
        now += 58;
        for event in [Event::Sent(Wish::ShutDown), Event::ShutdownDone, Event::Sent(Wish::PowerOff), Event::PoweredOff]
        {
            drive.step(seconds(now), event);
        }
        for event in [Event::Demand, Event::Sent(Wish::PowerOn), Event::PoweredOn, Event::Attached] {
            drive.step(seconds(now), event);
        }
    }
    drive.step(seconds(now), Event::Idle);
    // Three are gained a day, since the first was spent.
    let next = seconds(MORNING + 58 + 86_400 / 3);
    assert_eq!(drive.why_not(seconds(now + 58)), Some(WhyNot::CyclesUsedUp(next)));
    assert_eq!(drive.next_deadline(seconds(now + 58)), Some(next));
    assert_eq!(drive.wish(next), Some(Wish::ShutDown));
}

#[test]
fn a_drive_whose_shutdowns_fail_is_left_alone() {
    for failure in [Event::Failed, Event::Lost, Event::Tick] {
        let mut drive = sleeper();
        let mut now = MORNING;
        for failed in 1..=3 {
            assert_eq!(drive.may_be_ordered(), Ok(()));
            drive.step(seconds(now), Event::Idle);
            drive.step(seconds(now + 58), Event::Sent(Wish::ShutDown));
            drive.step(seconds(now + 68), failure);
            drive.step(seconds(now + 69), Event::Attached);
            assert_eq!(drive.terms().is_ok(), failed < 3);
            now += 100;
        }
        drive.step(seconds(now), Event::Idle);
        assert_eq!(drive.why_not(seconds(now + 1_000)), Some(WhyNot::ShutdownsFailed(3)));
        assert_eq!(drive.may_be_ordered(), Err(WhyNot::ShutdownsFailed(3)));
        drive.step(seconds(now), Event::Removed);
        assert!(drive.terms().is_ok(), "another drive");
    }
}

/// What the user forbids is no wish; a cap may order it, and it is waited for as for any drive.
#[test]
fn a_cap_may_order_what_is_not_worth_it() {
    let unreported = Conditions { wanted: false, entry: None, resume: None, ..conditions() };
    let mut drive = Sleeper::new(unreported, limit(1, 1), Instant::START);
    walk(&mut drive, &[(0, Event::Idle, "idle")]);
    assert_eq!(drive.why_not(seconds(2 * MORNING)), Some(WhyNot::NotWanted));
    walk(&mut drive, &[(9, Event::Work, "working"), (10, Event::Sent(Wish::ShutDown), "shutting down")]);
    assert_eq!(drive.next_deadline(seconds(MORNING + 10)), Some(seconds(MORNING + 15)));
    walk(&mut drive, &[(14, Event::Tick, "shutting down"), (15, Event::Tick, "restarting")]);

    let mut fixed = conditions();
    fixed.slot.power_can_be_switched = false;
    let mut drive = Sleeper::new(fixed, limit(1, 1), Instant::START);
    walk(&mut drive, &[(0, Event::Sent(Wish::ShutDown), "working")]);
    assert_eq!(drive.may_be_ordered(), Err(WhyNot::PowerCannotBeSwitched));
}

#[test]
fn a_clock_that_jumps_does_no_harm() {
    let mut drive = sleeper();
    drive.step(seconds(MORNING), Event::Idle);
    assert_eq!(drive.wish(Instant::START), None);
    drive.step(Instant::START.after(Microseconds::MAX), Event::Sent(Wish::ShutDown));
    drive.step(Instant::START, Event::Tick);
    assert_eq!(name(drive.state()), "shutting down");
}
