use std::sync::mpsc::{Receiver, channel};

use wattline_core::nvme::feature::autonomous_transitions::{Table, Transition};
use wattline_core::nvme::feature::{GET_FEATURES, SET_FEATURES};
use wattline_core::nvme::log::GET_LOG_PAGE;
use wattline_core::nvme::log::SmartHealth;
use wattline_core::nvme::log::smart_health::ThermalManagementCounters;
use wattline_core::nvme::{Power, PowerScale, PowerStateDescriptor};
use wattline_core::units::Microseconds;

use super::super::command::{SUBMISSION_LENGTH, for_good, status};
use super::super::{Options, shelf};
use super::*;
use crate::calibration::Calibration;
use crate::host;
use crate::idle::catalogue::PowerTable;
use crate::scenario;
use crate::time::seconds;

const SCALE: f64 = 0.000_25;
const MILLISECOND: Micros = 1000;

/// A server of this scenario's drives, of which the first ones have these power states.
fn server(toml: &str, tables: Vec<PowerTable>) -> Shelf {
    let text = format!("name = \"test\"\nduration_s = 600\n{toml}");
    let options = Options {
        listen: "127.0.0.1:0".parse().unwrap(),
        redfish: None,
        anywhere: false,
        throughput_scale: SCALE,
        capacity: 1 << 20,
        seed: 1,
        tables,
    };
    shelf(&scenario::parse("test", &text).unwrap(), &Calibration::embedded(), &options, 2048).unwrap()
}

/// Two operational states, then one that is entered in 2 ms and left in 3 ms, and one of 20 ms and 30 ms.
fn sleeper() -> PowerTable {
    let state = |watts: u16, non_operational, entry, exit| PowerStateDescriptor {
        max_power: Power::new(watts, PowerScale::TenMilliwatts),
        non_operational,
        entry_latency: Some(Microseconds::new(entry)),
        exit_latency: Some(Microseconds::new(exit)),
        ..PowerStateDescriptor::default()
    };
    let states = vec![
        state(800, false, 0, 0),
        state(400, false, 0, 0),
        state(7, true, 2000, 3000),
        state(1, true, 20_000, 30_000),
    ];
    PowerTable { name: "sleeper".into(), posts: 1, states }
}

const ONE_DRIVE: &str = "[drives]\ncount = 1\nspread_percent = 0";

fn command(opcode: u8, dword_10: u32, dword_11: u32) -> Submission {
    let mut bytes = [0; SUBMISSION_LENGTH];
    bytes[0] = opcode;
    bytes[40..44].copy_from_slice(&dword_10.to_le_bytes());
    bytes[44..48].copy_from_slice(&dword_11.to_le_bytes());
    Submission::new(bytes)
}

fn send(shelf: &mut Shelf, submission: Submission, data: &[u8]) -> Receiver<Answer> {
    let (out, answers) = channel();
    let done = move |answer| out.send(answer).unwrap();
    shelf.admin(0, Admin { submission, data: data.to_vec(), controller: 1, done: Box::new(done) });
    answers
}

/// Sends an admin command and waits: the answer, and how long it took.
fn ask(shelf: &mut Shelf, submission: Submission, data: &[u8]) -> (Answer, Micros) {
    let sent = shelf.now;
    let answers = send(shelf, submission, data);
    (arrival(shelf, &answers), shelf.now - sent)
}

fn arrival(shelf: &mut Shelf, answers: &Receiver<Answer>) -> Answer {
    loop {
        if let Ok(answer) = answers.try_recv() {
            return answer;
        }
        assert!(shelf.now < 3600 * SECOND, "no answer");
        let due = shelf.next_due();
        shelf.advance(due);
    }
}

fn set(shelf: &mut Shelf, feature: u8, value: u32) -> Status {
    ask(shelf, command(SET_FEATURES, feature.into(), value), &[]).0.status
}

fn power_state(shelf: &mut Shelf) -> u32 {
    ask(shelf, command(GET_FEATURES, 2, 0), &[]).0.result
}

fn job(shelf: &mut Shelf, slot: usize, work: Work, bytes: u64) -> Receiver<Answer> {
    let (out, answers) = channel();
    let done = move |answer| {
        // The test may have had enough.
        let _ = out.send(answer);
    };
    shelf.io(slot, Io { work, bytes, connection: 7, done: Box::new(done) });
    answers
}

/// Keeps eight commands of 128 KiB in flight on each drive for so long; the mean GB/s of all, scaled back, and watts.
fn load(shelf: &mut Shelf, work: Work, span: Micros) -> (f64, f64) {
    const BYTES: u64 = 128 * 1024;
    let (begin, begin_j) = (shelf.now, shelf.chassis.energy_j());
    let mut flights: Vec<(usize, Receiver<Answer>)> = Vec::new();
    for slot in 0..shelf.bays.len() {
        flights.extend((0..8).map(|_| (slot, job(shelf, slot, work, BYTES))));
    }
    let mut done = 0u64;
    while shelf.now < begin + span {
        let due = shelf.next_due().min(begin + span);
        shelf.advance(due);
        for (slot, flight) in &mut flights {
            if flight.try_recv().is_ok() {
                done += BYTES;
                *flight = job(shelf, *slot, work, BYTES);
            }
        }
    }
    for slot in 0..shelf.bays.len() {
        shelf.forget(slot, 7);
    }
    let span_s = seconds(shelf.now - begin);
    (done as f64 / 1e9 / SCALE / span_s, (shelf.chassis.energy_j() - begin_j) / span_s)
}

/// The article's figures, by commands: within 1 % in GB/s, and within half the meter's step in watts.
#[test]
fn the_reference_experiment_holds_when_commands_make_the_work() {
    for (work, state, gb_s, watts) in [
        (Work::SequentialRead, 0, 109.0, 858.0),
        (Work::SequentialRead, 1, 105.0, 858.0),
        (Work::SequentialRead, 2, 79.8, 759.0),
        (Work::SequentialWrite, 0, 82.5, 1089.0),
        (Work::SequentialWrite, 1, 34.4, 825.0),
        (Work::SequentialWrite, 2, 17.3, 726.0),
    ] {
        let mut shelf = server(&format!("[drives]\nspread_percent = 0\ninitial_ps = {state}"), Vec::new());
        let (is_gb_s, is_watts) = load(&mut shelf, work, 60 * SECOND);
        assert!((is_gb_s / gb_s - 1.0).abs() < 0.01, "{work} PS{state}: {is_gb_s} GB/s");
        assert!((is_watts - watts).abs() < 16.5, "{work} PS{state}: {is_watts} W");
    }
}

#[test]
fn a_drive_that_is_not_asked_takes_what_idle_drives_take() {
    let mut shelf = server("", Vec::new());
    shelf.advance(10 * SECOND);
    assert!((shelf.chassis.wall_w() - 594.0).abs() < 3.0, "{}", shelf.chassis.wall_w());
    // Half of the time at work: half of the watts above idle.
    let mut shelf = server(ONE_DRIVE, Vec::new());
    let idle_w = shelf.chassis.wall_w();
    let begin_j = shelf.chassis.energy_j();
    let mut working = 0;
    for _ in 0..20 {
        let (begin, answers) = (shelf.now, job(&mut shelf, 0, Work::SequentialWrite, 128 * 1024));
        arrival(&mut shelf, &answers);
        working += shelf.now - begin;
        let pause = 2 * shelf.now - begin;
        shelf.advance(pause);
    }
    let mean_w = (shelf.chassis.energy_j() - begin_j) / seconds(shelf.now) - idle_w;
    let share = seconds(working) / seconds(shelf.now);
    let full_w = 26.125 - 5.5;
    assert!((share - 0.5).abs() < 0.01 && (mean_w - share * full_w).abs() < 0.6, "{mean_w} {share}");
}

#[test]
fn a_new_power_state_is_a_new_speed() {
    let mut shelf = server(ONE_DRIVE, Vec::new());
    let (fast, _) = load(&mut shelf, Work::SequentialWrite, 20 * SECOND);
    assert_eq!(set(&mut shelf, 2, 2), Status::SUCCESS);
    let (slow, _) = load(&mut shelf, Work::SequentialWrite, 20 * SECOND);
    assert_eq!(power_state(&mut shelf), 2);
    assert!((fast / slow - 82.5 / 17.3).abs() < 0.3, "{fast} {slow}");
    assert_eq!(set(&mut shelf, 2, 3), for_good(Status::INVALID_FIELD));
}

fn let_sleep(shelf: &mut Shelf) {
    let mut table = Table::EMPTY;
    for (source, target, millis) in [(0, 2, 100), (1, 2, 100), (2, 3, 2000)] {
        table.set(host::power_state(source), Transition::new(host::power_state(target), millis));
    }
    let (answer, _) = ask(shelf, command(SET_FEATURES, 0x0C, 1), &table.encode());
    assert_eq!(answer.status, Status::SUCCESS);
}

/// Times of Get Features, which takes 0.5 ms of an awake drive, and what it says.
#[test]
fn a_drive_left_alone_sleeps_and_the_next_command_waits_for_it() {
    let mut shelf = server(ONE_DRIVE, vec![sleeper()]);
    let_sleep(&mut shelf);
    let mut after = |pause: Micros| {
        let until = shelf.now + pause;
        shelf.advance(until);
        let watts = shelf.chassis.wall_w() - 462.0;
        let (answer, took) = ask(&mut shelf, command(GET_FEATURES, 2, 0), &[]);
        (answer.result, took, watts)
    };
    assert_eq!(after(99 * MILLISECOND).1, 500);
    // On its way into the state for 1 ms of 2: the rest, and 3 ms out of it.
    let (state, took, watts) = after(101 * MILLISECOND);
    assert_eq!((state, took), (2, 4500));
    assert!(watts > 1.0, "{watts}");
    let (state, took, watts) = after(500 * MILLISECOND);
    assert_eq!((state, took), (2, 3500));
    assert!((watts - 0.07).abs() < 1e-9, "{watts}");
    let (state, took, watts) = after(10 * SECOND);
    assert_eq!((state, took), (3, 30_500));
    assert!((watts - 0.01).abs() < 1e-9, "{watts}");
    assert_eq!(after(0), (0, 500, after(0).2), "the command woke it");
}

#[test]
fn the_first_work_pays_the_exit_latency_and_a_poll_keeps_it_awake() {
    let mut shelf = server(ONE_DRIVE, vec![sleeper()]);
    let_sleep(&mut shelf);
    let mut read_after = |pause: Micros, poll: bool| {
        let until = shelf.now + pause;
        while poll && shelf.now + 50 * MILLISECOND < until {
            let next = shelf.now + 50 * MILLISECOND;
            shelf.advance(next);
            ask(&mut shelf, command(GET_LOG_PAGE, 0x7F_0002, 0), &[]);
        }
        shelf.advance(until);
        let sent = shelf.now;
        let answers = job(&mut shelf, 0, Work::SequentialRead, 0);
        arrival(&mut shelf, &answers);
        shelf.now - sent
    };
    let awake = read_after(MILLISECOND, false);
    let asleep = read_after(SECOND, false);
    let deeply = read_after(10 * SECOND, false);
    let polled = read_after(10 * SECOND, true);
    let latency = |took: Micros| i64::try_from(took).unwrap() - i64::try_from(awake).unwrap();
    assert!((latency(asleep) - 3000).abs() < 5, "{asleep} {awake}");
    assert!((latency(deeply) - 30_000).abs() < 5, "{deeply} {awake}");
    assert!(latency(polled).abs() < 5, "{polled} {awake}");
}

#[test]
fn a_reset_brings_back_what_was_saved() {
    let mut shelf = server(ONE_DRIVE, Vec::new());
    let saved = ask(&mut shelf, command(SET_FEATURES, 1 << 31 | 2, 1), &[]).0;
    assert_eq!(saved.status, Status::SUCCESS);
    assert_eq!(set(&mut shelf, 2, 2), Status::SUCCESS);
    let forgotten = job(&mut shelf, 0, Work::SequentialWrite, 1 << 20);
    shelf.reset(0);
    assert!(!shelf.is_ready(0) && shelf.is_present(0));
    assert_eq!(power_state(&mut shelf), 1);
    assert!(shelf.is_ready(0) && forgotten.try_recv().is_err());
    assert_eq!(shelf.chassis.drives()[0].held(), Some(1));
}

#[test]
fn the_scenario_resets_and_removes() {
    let moments = "[[reset]]\nat_s = 2\ndrives = \"0\"\n[[removal]]\nat_s = 4\ndrives = \"0\"";
    let mut shelf = server(&format!("{moments}\n{ONE_DRIVE}"), Vec::new());
    assert_eq!(set(&mut shelf, 2, 2), Status::SUCCESS);
    shelf.advance(3 * SECOND);
    assert_eq!(shelf.take_notices(), [Notice::Cut(0)]);
    assert_eq!(power_state(&mut shelf), 0);
    shelf.advance(5 * SECOND);
    assert_eq!(shelf.take_notices(), [Notice::Cut(0)]);
    assert!(!shelf.is_present(0));
    let never = send(&mut shelf, command(GET_FEATURES, 2, 0), &[]);
    assert!(never.try_recv().is_err());
    assert!((shelf.chassis.wall_w() - 462.0).abs() < 1e-9);
}

#[test]
fn the_scenarios_faults_meet_power_management() {
    let of = |fault: &str| server(&format!("[faults]\n{fault} = 1.0\n{ONE_DRIVE}"), Vec::new());
    let mut lost = of("lost");
    let never = send(&mut lost, command(SET_FEATURES, 2, 2), &[]);
    lost.advance(100 * SECOND);
    assert!(never.try_recv().is_err());
    assert_eq!(lost.chassis.drives()[0].held(), Some(2), "it took effect all the same");

    let mut refused = of("failed");
    assert_eq!(set(&mut refused, 2, 2), Status::from_bits(0x4002));
    assert_eq!(refused.chassis.drives()[0].held(), Some(0));

    let (answer, took) = ask(&mut of("late"), command(SET_FEATURES, 2, 2), &[]);
    assert_eq!((answer.status, took / SECOND), (Status::SUCCESS, 1));

    // Nothing else is concerned.
    assert_eq!(set(&mut of("failed"), 4, 300), Status::SUCCESS);
}

fn smart(shelf: &mut Shelf) -> SmartHealth {
    let page = ask(shelf, command(GET_LOG_PAGE, 0x7F_0002, 0), &[]).0.data;
    SmartHealth::decode(&page.try_into().expect("512 bytes"))
}

/// The drive that writes settles at 65 °C, and takes 40 s for half of the way.
#[test]
fn a_hot_drive_slows_down_where_the_host_wants_it_and_counts() {
    let mut shelf = server(ONE_DRIVE, Vec::new());
    let (fast, _) = load(&mut shelf, Work::SequentialWrite, 60 * SECOND);
    let hot = smart(&mut shelf).composite_temperature.unwrap();
    assert_eq!(smart(&mut shelf).light_management, ThermalManagementCounters::default());
    // From 5 K below where it is: as much as it takes from 2 K below.
    let value = u32::from(hot.get() - 5) << 16 | u32::from(hot.get() - 2);
    assert_eq!(set(&mut shelf, 0x10, value), Status::SUCCESS);
    let (slow, _) = load(&mut shelf, Work::SequentialWrite, 60 * SECOND);
    let health = smart(&mut shelf);
    assert!(slow < 0.7 * fast, "{slow} {fast}");
    // It begins beyond the second threshold, and then moves between the two.
    assert!(health.heavy_management.transitions > 0 && health.light_management.time.get() > 0, "{health:?}");
    let seconds = health.heavy_management.time.get() + health.light_management.time.get();
    assert!((50..=62).contains(&seconds), "{seconds}");
    assert!(health.composite_temperature.unwrap().get() < hot.get());
    assert_eq!(set(&mut shelf, 0x10, 0), Status::SUCCESS);
    let (again, _) = load(&mut shelf, Work::SequentialWrite, 20 * SECOND);
    assert!(again > 0.9 * fast, "{again} {fast}");
}

#[test]
fn a_crossed_threshold_is_noticed_once() {
    let mut shelf = server(ONE_DRIVE, Vec::new());
    let now = smart(&mut shelf).composite_temperature.unwrap();
    assert_eq!(set(&mut shelf, 4, u32::from(now.get() + 3)), Status::SUCCESS);
    assert_eq!(shelf.take_notices(), []);
    load(&mut shelf, Work::SequentialWrite, 30 * SECOND);
    assert_eq!(shelf.take_notices(), [Notice::Temperature(0)]);
    assert!(smart(&mut shelf).critical_warning.temperature());
    assert_eq!(set(&mut shelf, 4, u32::from(now.get() + 60)), Status::SUCCESS);
    assert!(!smart(&mut shelf).critical_warning.temperature());
    assert_eq!(shelf.take_notices(), []);
}

#[test]
fn logs_say_what_happened() {
    let mut shelf = server(ONE_DRIVE, Vec::new());
    load(&mut shelf, Work::SequentialRead, 5 * SECOND);
    assert_eq!(set(&mut shelf, 2, 9), for_good(Status::INVALID_FIELD));
    let page = ask(&mut shelf, command(GET_LOG_PAGE, 0x7F_0002, 0), &[]).0.data;
    let reads = u64::from_le_bytes(page[64..72].try_into().unwrap());
    let units = u64::from_le_bytes(page[32..40].try_into().unwrap());
    assert!(reads > 20 && units == (reads * 131_072).div_ceil(512_000), "{reads} {units}");
    let errors = ask(&mut shelf, command(GET_LOG_PAGE, 0xF_0001, 0), &[]).0.data;
    assert_eq!(errors.len(), 64);
    assert_eq!(errors[0], 1);
    assert_eq!(u16::from_le_bytes([errors[12], errors[13]]) >> 1, 0x4002);
    let unknown = ask(&mut shelf, command(GET_LOG_PAGE, 0x77, 0), &[]).0;
    assert_eq!(unknown.status, for_good(status::INVALID_LOG_PAGE));
}

#[test]
fn who_leaves_leaves_nothing_to_do() {
    let mut shelf = server(ONE_DRIVE, Vec::new());
    for _ in 0..100 {
        job(&mut shelf, 0, Work::SequentialWrite, 1 << 20);
    }
    shelf.advance(2 * SECOND);
    shelf.forget(0, 7);
    let begin = shelf.now;
    let answers = job(&mut shelf, 0, Work::SequentialWrite, 128 * 1024);
    arrival(&mut shelf, &answers);
    assert!(shelf.now - begin < SECOND, "as if nobody had been there");
}

#[test]
fn a_drive_that_is_told_to_sleep_sleeps_until_the_next_command() {
    let mut shelf = server(ONE_DRIVE, vec![sleeper()]);
    assert_eq!(set(&mut shelf, 2, 3), Status::SUCCESS);
    let until = shelf.now + SECOND;
    shelf.advance(until);
    assert!((shelf.chassis.wall_w() - 462.01).abs() < 1e-9, "{}", shelf.chassis.wall_w());
    let (answer, took) = ask(&mut shelf, command(GET_FEATURES, 2, 0), &[]);
    assert_eq!((answer.result, took), (3, 30_500));
    assert_eq!(power_state(&mut shelf), 0, "the operational state that it came from");

    // With nothing to say what the states cost, it takes the feature and stays awake.
    let mut silent = sleeper();
    for state in &mut silent.states {
        state.max_power = None;
    }
    let mut shelf = server(ONE_DRIVE, vec![silent]);
    let awake_w = shelf.chassis.wall_w();
    assert_eq!(set(&mut shelf, 2, 3), Status::SUCCESS);
    let_sleep(&mut shelf);
    let until = shelf.now + 60 * SECOND;
    shelf.advance(until);
    assert!((shelf.chassis.wall_w() - awake_w).abs() < 1e-9);
}
