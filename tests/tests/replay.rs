//! What the simulator recorded, the program decides again: every built-in scenario's journal, with several seeds.

use wattline_core::governor::{Command, Event};
use wattline_core::journal::{Reader, Record, Replay};
use wattline_sim::calibration::Calibration;
use wattline_sim::scenario::{self, builtin};
use wattline_sim::world::World;

#[test]
fn every_scenarios_journal_replays_to_the_same_commands() {
    let calibration = Calibration::embedded();
    for (name, text) in builtin::ALL {
        let scenario = scenario::parse(name, text).unwrap_or_else(|error| panic!("{error}"));
        // Fewer for the hour of flips, which takes seconds.
        let seeds = match (&scenario.governor, name) {
            (None, _) => 0,
            (Some(_), "fault-flips") => 1,
            (Some(_), _) => 3,
        };
        for seed in 1..=seeds {
            let journal = World::new(&scenario, &calibration, seed).run(|_| {}).journal;
            // Another capacity than the simulator's: it must not matter.
            let mut replay = Box::new(Replay::<64, 2>::new());
            let (mut events, mut commands, mut alarms) = (0, 0, 0);
            for frame in Reader::new(&journal) {
                let record = frame.content.unwrap_or_else(|error| panic!("{name}, byte {}: {error}", frame.offset));
                match &record {
                    Record::Event { event, .. } if *event != Event::Tick => events += 1,
                    Record::Command { command: Command::Drive { .. }, .. } => commands += 1,
                    Record::Command { command: Command::Alarm { .. }, .. } => alarms += 1,
                    _ => {}
                }
                if let Err(divergence) = replay.take(record) {
                    panic!("{name}, seed {seed}, byte {}: {divergence:?}", frame.offset);
                }
            }
            println!("{name}, seed {seed}: {events} events, {commands} commands, {alarms} alarms");
            assert!(events > 300 && commands > 20, "{name}: {events} events, {commands} commands");
        }
    }
}
