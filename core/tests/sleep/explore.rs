//! Every order of events, against what a plain observer knows: which powers may flow, and whether a drive is shut down.

use std::collections::{BTreeSet, VecDeque};

use proptest::prelude::*;
use wattline_core::sleep::{Counts, Event, Sleeper, State, Wish};
use wattline_core::units::{Instant, Microseconds};

use crate::{EVENTS, MORNING, name, seconds, sleeper};

/// What somebody knows who sees only the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Observer {
    /// A drive is there.
    present: bool,
    /// Power may flow.
    power: bool,
    /// Power-on was sent, and has not been answered: a report that the power is off may be older.
    switching_on: bool,
    /// A shutdown was sent and can still be answered.
    shutting_down: bool,
    /// The last shutdown was done, and nobody has used or started the drive since.
    clean: bool,
}

impl Observer {
    const AWAKE: Self = Self { present: true, power: true, switching_on: false, shutting_down: false, clean: false };

    fn sees(mut self, event: Event, obeyed: bool) -> Self {
        match event {
            Event::Removed => {
                return Self { present: false, power: false, switching_on: false, shutting_down: false, clean: false };
            }
            Event::Attached => {
                (self.present, self.power, self.switching_on) = (true, true, false);
                (self.shutting_down, self.clean) = (false, false);
            }
            Event::Work | Event::Demand => self.clean = false,
            Event::Sent(Wish::ShutDown) => self.shutting_down |= obeyed,
            Event::Sent(Wish::PowerOn | Wish::Restart) if obeyed => {
                (self.power, self.switching_on, self.clean) = (self.present, true, false);
            }
            Event::ShutdownDone if self.shutting_down => (self.shutting_down, self.clean) = (false, true),
            Event::Failed | Event::Lost => (self.shutting_down, self.switching_on) = (false, false),
            Event::PoweredOn => {
                (self.power, self.switching_on) = (self.present, false);
                (self.shutting_down, self.clean) = (false, false);
            }
            Event::PoweredOff if !self.switching_on => self.power = false,
            _ => {}
        }
        self
    }
}

fn key(sleeper: &Sleeper, now: Instant, observer: Observer) -> (&'static str, String, Observer) {
    let left = |moment: Instant| moment.since(now).unwrap_or_default();
    let waits = match sleeper.state() {
        State::Idle { since } => now.since(since),
        State::ShuttingDown { until, .. } => Some(left(until)),
        State::Resuming { ready } => ready.map(left),
        State::Restarting { from } => from.map(left),
        _ => None,
    };
    (name(sleeper.state()), format!("{waits:?} {:?} {:?}", sleeper.terms(), sleeper.wish(now)), observer)
}

/// Whether something that is said to be sent could be.
fn obeyed(sleeper: &Sleeper, event: Event, now: Instant) -> bool {
    match event {
        Event::Sent(Wish::ShutDown) => sleeper.may_be_ordered().is_ok(),
        Event::Sent(wish) => sleeper.wish(now) == Some(wish),
        _ => true,
    }
}

/// What must hold between one moment and the next.
fn check(before: &Sleeper, event: Event, after: &Sleeper, now: Instant, observer: Observer) {
    let told = format!("{:?}, {event:?}: {:?}, {observer:?}", before.state(), after.state());
    if after.wish(now) == Some(Wish::PowerOff) {
        assert!(observer.clean, "power cut without a clean shutdown: {told}");
    }
    match after.counts() {
        Counts::Off => assert!(!observer.power, "power may flow: {told}"),
        Counts::Nothing => assert!(!observer.present, "the drive is there: {told}"),
        Counts::Awake | Counts::Fallback | Counts::Either => {}
    }
    let powerless = |counts| matches!(counts, Counts::Off | Counts::Nothing);
    if powerless(before.counts()) && !powerless(after.counts()) {
        let raises = [Event::Sent(Wish::PowerOn), Event::PoweredOn, Event::Attached];
        assert!(raises.contains(&event), "watts taken without a grant or a fact: {told}");
    }
    if let Event::Sent(wish) = event {
        assert_ne!(after.wish(now), Some(wish), "wished for twice: {told}");
    }
    if event == Event::Tick {
        let mut again = after.clone();
        again.step(now, Event::Tick);
        assert_eq!(again.state(), after.state(), "the same tick twice: {told}");
    }
}

/// In a world where everything succeeds, somebody who says once that he needs the drive gets it.
fn is_woken(mut sleeper: Sleeper, mut now: Instant) {
    let start = sleeper.state();
    sleeper.step(now, Event::Demand);
    for _ in 0..12 {
        match sleeper.state() {
            State::Working | State::Absent => return,
            State::ShuttingDown { .. } => sleeper.step(now, Event::ShutdownDone),
            State::CuttingPower { .. } => sleeper.step(now, Event::PoweredOff),
            State::PoweringOn => sleeper.step(now, Event::PoweredOn),
            State::Resuming { ready: None } | State::Restarting { from: None } => sleeper.step(now, Event::Attached),
            _ => match (sleeper.wish(now), sleeper.next_deadline(now)) {
                (Some(wish), _) => sleeper.step(now, Event::Sent(wish)),
                (None, Some(later)) => now = later,
                (None, None) => panic!("{start:?} ends in {:?}", sleeper.state()),
            },
        }
    }
    panic!("{start:?} is not woken");
}

#[test]
fn no_order_of_events_breaks_what_must_hold() {
    let start = (sleeper(), seconds(MORNING), Observer::AWAKE);
    let (mut seen, mut queue) = (BTreeSet::new(), VecDeque::from([start]));
    let mut steps = 0;
    while let Some((sleeper, now, observer)) = queue.pop_front() {
        if !seen.insert(key(&sleeper, now, observer)) {
            continue;
        }
        is_woken(sleeper.clone(), now);
        for event in EVENTS {
            let mut next = sleeper.clone();
            next.step(now, event);
            let observer = observer.sees(event, obeyed(&sleeper, event, now));
            check(&sleeper, event, &next, now, observer);
            queue.push_back((next, now, observer));
            steps += 1;
        }
        // Time passes: to the next deadline, or by a bit without reaching it.
        if let Some(later) = sleeper.next_deadline(now) {
            queue.push_back((sleeper.clone(), later, observer));
            let half = Microseconds::new(later.since(now).unwrap().get() / 2);
            if half > Microseconds::from_secs(3) {
                queue.push_back((sleeper, now.after(half), observer));
            }
        }
    }
    println!("{} situations, {steps} steps", seen.len());
    let names: BTreeSet<_> = seen.iter().map(|(name, ..)| name).collect();
    assert_eq!(names.len(), 15, "every state was there: {names:?}");
}

proptest! {
    /// The same along ways of any length, with any times: nothing is left out that the search takes for equal.
    #[test]
    fn no_way_breaks_what_must_hold(steps in prop::collection::vec((0..EVENTS.len() + 8, 0..100_u64), 1..400)) {
        let (mut sleeper, mut second, mut observer) = (sleeper(), MORNING, Observer::AWAKE);
        for (choice, wait) in steps {
            second += wait;
            let now = seconds(second);
            // One in three does what is wished, or else lets the drive be idle: otherwise few ways get far.
            let event = EVENTS.get(choice).copied().or_else(|| sleeper.wish(now).map(Event::Sent));
            let event = event.unwrap_or(Event::Idle);
            let before = sleeper.clone();
            sleeper.step(now, event);
            observer = observer.sees(event, obeyed(&before, event, now));
            check(&before, event, &sleeper, now, observer);
        }
        is_woken(sleeper, seconds(second));
    }
}
