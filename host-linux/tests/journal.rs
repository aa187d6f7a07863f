//! `journal show` and `replay`, started as programs, on whole, damaged and foreign journals.

use std::io::Write;

use assert_cmd::Command;
use serde_json::Value;
use wattline_core::governor::{self, Config, DriveConfig, Event, Governor, Outcome, Request};
use wattline_core::journal::{FORMAT_VERSION, MAX_FRAME, Record, encode};
use wattline_core::nvme::PowerState;
use wattline_core::profile::{Work, WorkSet, d5_p5336};
use wattline_core::units::{Instant, Microseconds, Milliwatts};

/// Two drives that obey after a millisecond, under a cap that drops after five seconds.
fn records() -> Vec<Record> {
    let config = Config::new(Milliwatts::from_watts(520), Milliwatts::from_watts(462));
    let mut governor = Governor::<2, 1>::new(config.clone());
    let profile = governor.add_profile(d5_p5336()).unwrap();
    let mut records = vec![Record::start(2, 0), Record::Config(config), Record::Profile(d5_p5336())];
    let drive = DriveConfig {
        declared: WorkSet::of(Work::SequentialWrite),
        ..DriveConfig::new(profile, Milliwatts::from_watts(25))
    };
    let mut events: Vec<(Instant, Event)> =
        (0..2).map(|slot| (Instant::START, Event::Attached { slot, drive: drive.clone() })).collect();
    events.push((Instant::from_micros(5_000_000), Event::Cap(Milliwatts::from_watts(490))));
    events.push((Instant::from_micros(9_000_000), Event::Tick));
    let mut states = [PowerState::PS0; 2];
    while !events.is_empty() {
        events.sort_by_key(|(at, _)| *at);
        let (at, event) = events.remove(0);
        governor.handle(at, event.clone());
        records.push(Record::Event { at, event });
        while let Some(command) = governor.poll() {
            records.push(Record::Command { at, command });
            if let governor::Command::Drive { slot, id, request, .. } = command {
                let state = &mut states[usize::from(slot)];
                let outcome = match request {
                    Request::SetPowerState(wanted) => {
                        *state = wanted;
                        Outcome::Done
                    }
                    Request::ReadPowerState => Outcome::Is(*state),
                    other => panic!("the configuration allows no {other:?}"),
                };
                events.push((at.after(Microseconds::from_millis(1)), Event::Completed { slot, id, outcome }));
            }
        }
    }
    records
}

fn frames(records: &[Record]) -> Vec<Vec<u8>> {
    records.iter().map(|record| encode(record, &mut [0; MAX_FRAME]).unwrap().to_vec()).collect()
}

/// Runs `wattline ARGUMENTS FILE` on a file of these bytes; exit status, standard output, standard error.
fn wattline(arguments: &[&str], journal: &[u8]) -> (i32, String, String) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(journal).unwrap();
    let output = Command::cargo_bin("wattline").unwrap().args(arguments).arg(file.path()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_whole_journal_replays_to_the_same_commands() {
    let (status, output, errors) = wattline(&["replay"], &frames(&records()).concat());
    assert_eq!((status, errors.as_str()), (0, ""));
    let commands = records().iter().filter(|record| matches!(record, Record::Command { .. })).count();
    assert!(output.ends_with(&format!("lead to the same {commands} commands\n")), "{output}");
    let (status, json, _) = wattline(&["replay", "--json"], &frames(&records()).concat());
    let verdict: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((status, &verdict["same"], &verdict["commands"]), (0, &Value::from(true), &Value::from(commands)));
}

#[test]
fn a_command_that_would_not_be_decided_again_is_found_at_its_offset() {
    let mut records = records();
    let at = records.iter().rposition(|record| matches!(record, Record::Command { .. })).unwrap();
    let Record::Command { command: governor::Command::Drive { id, .. }, .. } = &mut records[at] else { panic!() };
    id.0 += 1;
    let frames = frames(&records);
    let offset = frames[..at].concat().len();
    let (status, output, _) = wattline(&["replay"], &frames.concat());
    assert_eq!(status, 1);
    assert!(output.starts_with(&format!("at byte {offset}: recorded: drive ")), "{output}");
}

#[test]
fn damage_is_named_with_its_offset_and_the_rest_is_shown() {
    let frames = frames(&records());
    let answered = |record: &Record| matches!(record, Record::Event { event: Event::Completed { .. }, .. });
    let at = records().iter().position(answered).unwrap();
    let offset = frames[..at].concat().len();
    let mut journal = frames.concat();
    journal[offset + 2] ^= 0x04;
    journal.truncate(journal.len() - 1);
    let (status, output, _) = wattline(&["replay"], &journal);
    assert_eq!(status, 1);
    assert!(output.contains(&format!("at byte {offset}: ")), "{output}");
    assert!(output.contains("frame without an end"), "{output}");
    assert!(output.contains(&format!("before the damage at byte {offset} were compared")), "{output}");

    let (status, shown, _) = wattline(&["journal", "show", "--all"], &journal);
    assert_eq!(status, 0);
    assert!(shown.contains(&format!("at byte {offset}: ")) && shown.contains("the cap is 490 W"), "{shown}");
    let lines = records().len() - 2;
    assert!(shown.lines().count() >= lines, "{} of {lines} lines", shown.lines().count());
    let marked = shown.lines().filter(|line| line.ends_with(" ?")).count();
    assert!(marked > 0, "watts behind the damage are not certain: {shown}");
}

#[test]
fn the_timeline_names_event_decision_reason_and_watts() {
    let (_, shown, _) = wattline(&["journal", "show"], &frames(&records()).concat());
    let at = shown.lines().position(|line| line.contains("the cap is 490 W")).unwrap();
    let lines: Vec<&str> = shown.lines().skip(at).take(2).collect();
    assert!(lines[0].starts_with("      5.000000 s  the cap is 490 W"), "{shown}");
    assert!(lines[0].ends_with(" of 28 W"), "{shown}");
    assert!(lines[1].contains("set PS") && lines[1].contains("(the promises must come down)"), "{shown}");
}

#[test]
fn what_is_no_journal_is_refused() {
    let newer: Record = Record::Start { format: FORMAT_VERSION + 1, decisions: 1, slots: 2, sleepers: 0 };
    let newer_says = format!("has format version {}", FORMAT_VERSION + 1);
    for (journal, says) in [
        (Vec::new(), "is empty"),
        (b"this is no journal\0at all\0".to_vec(), "is not a journal"),
        (frames(&[newer]).concat(), newer_says.as_str()),
    ] {
        for arguments in [&["replay"][..], &["journal", "show"]] {
            let (status, output, errors) = wattline(arguments, &journal);
            assert_eq!((status, output.as_str()), (2, ""), "{errors}");
            assert!(errors.starts_with("error: ") && errors.contains(says) && errors.contains(" help: "), "{errors}");
        }
    }
}
