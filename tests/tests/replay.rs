//! What the simulator recorded, the program decides again: every built-in scenario's journal, with several seeds.

use wattline_core::governor::{Command, Event};
use wattline_core::journal::{Reader, Record, Replay};
use wattline_sim::calibration::Calibration;
use wattline_sim::scenario;
use wattline_sim::world::World;

const GOVERNED: [&str; 5] =
    ["r760-write-cap", "r760-write-cap-nameplate", "r760-undeclared-reads", "r760-cap-drop", "r760-reset"];

#[test]
fn every_scenarios_journal_replays_to_the_same_commands() {
    let calibration = Calibration::embedded();
    for name in GOVERNED {
        for seed in 1..=3 {
            let scenario = scenario::load(name).unwrap_or_else(|error| panic!("{error}"));
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
            assert!(events > 1000 && commands > 50, "{name}: {events} events, {commands} commands");
        }
    }
}
