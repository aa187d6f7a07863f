//! The smallest loop around a governor, as the firmware of an appliance would have it: four drives, a 60 W supply, and
//! a mains failure that leaves 45 W after five seconds.
//!
//! Everything above `Board` is what you write; `Board` stands for your clock and your wires. Run it with
//! `cargo run -p wattline-core --example embed`.

use std::collections::BTreeMap;

use wattline_core::governor::{Command, CommandId, Config, DriveConfig, Event, Governor, Outcome, Request, Slot};
use wattline_core::nvme::{PowerState, Status};
use wattline_core::profile::{Profile, StateProfile};
use wattline_core::units::{Instant, Microseconds, Milliwatts};

const DRIVES: usize = 4;

fn main() {
    let mut board = Board::default();

    // What the supply may deliver, what the board takes without drives, and 1 W that stays unused because figures are
    // not exact.
    let config = Config {
        margin: Milliwatts::from_watts(1),
        ..Config::new(Milliwatts::from_watts(60), Milliwatts::from_watts(8))
    };
    // No heap, no clock: a governor is a value, and its size is known when it is compiled.
    let mut governor = Governor::<DRIVES, 1>::new(config);

    // One kind of drive. `Profile::from_identify` makes this from what the drive says of itself.
    let kind = governor.add_profile(three_states([14, 9, 6])).expect("there is room for one profile");
    for slot in (0..).take(DRIVES) {
        // The slot's limit counts for drives that report no maximum.
        let drive = DriveConfig::new(kind, Milliwatts::from_watts(25));
        governor.handle(board.now, Event::Attached { slot, drive });
    }

    // The loop: do what was decided, wait for whatever comes first, tell the governor.
    loop {
        while let Some(command) = governor.poll() {
            println!("{:>9} µs  {command:?}", board.now.as_micros());
            if let Command::Drive { slot, id, request, .. } = command {
                board.send(slot, id, request);
            }
        }
        let Some(event) = board.wait(governor.next_deadline()) else { break };
        governor.handle(board.now, event);
    }

    let ledger = governor.ledger();
    println!("promised {} of {}", ledger.promised(), ledger.allowance());
    assert!(ledger.promised() <= ledger.allowance());
}

/// A kind of drive with three operational states of so many watts.
fn three_states(watts: [u32; 3]) -> Profile {
    let state = |watts| StateProfile {
        max_power: Some(Milliwatts::from_watts(watts)),
        entry_latency: Some(Microseconds::from_millis(1)),
        ..StateProfile::default()
    };
    Profile { states: watts.into_iter().map(state).collect(), ..Profile::default() }
}

/// Stands for the hardware: drives that obey after two milliseconds, and a clock that jumps to the next thing that
/// happens.
#[derive(Default)]
struct Board {
    now: Instant,
    states: [PowerState; DRIVES],
    in_flight: BTreeMap<(Instant, Slot), (CommandId, Request)>,
    mains_failed: bool,
}

impl Board {
    const ADMIN_COMMAND: Microseconds = Microseconds::from_millis(2);
    const MAINS_FAILURE: Instant = Instant::from_micros(5_000_000);
    const END: Instant = Instant::from_micros(15_000_000);

    /// On hardware: write the command to the drive, and return at once.
    fn send(&mut self, slot: Slot, id: CommandId, request: Request) {
        self.in_flight.insert((self.now.after(Self::ADMIN_COMMAND), slot), (id, request));
    }

    /// On hardware: sleep until an answer, an interrupt, or the deadline.
    fn wait(&mut self, deadline: Option<Instant>) -> Option<Event> {
        let answer = self.in_flight.first_key_value().map(|((at, _), _)| *at);
        let failure = (!self.mains_failed).then_some(Self::MAINS_FAILURE);
        let next = [answer, failure, deadline].into_iter().flatten().min()?;
        self.now = self.now.max(next);
        if self.now >= Self::END {
            None
        } else if answer == Some(next) {
            let ((_, slot), (id, request)) = self.in_flight.pop_first()?;
            let outcome = self.answer(slot, request);
            Some(Event::Completed { slot, id, outcome })
        } else if failure == Some(next) {
            self.mains_failed = true;
            Some(Event::Cap(Milliwatts::from_watts(45)))
        } else {
            Some(Event::Tick)
        }
    }

    fn answer(&mut self, slot: Slot, request: Request) -> Outcome {
        let state = &mut self.states[usize::from(slot)];
        match request {
            Request::SetPowerState(wanted) => {
                *state = wanted;
                Outcome::Done
            }
            Request::ReadPowerState => Outcome::Is(*state),
            // The configuration allows nothing else.
            _ => Outcome::Rejected(Status::INVALID_FIELD),
        }
    }
}
