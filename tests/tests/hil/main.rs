//! Hardware in the loop: the board's firmware under QEMU, in step with the simulator's drives.
//!
//! ```text
//!   wattline-sim's drives ◀── power states ──┐            ┌── UART 0 ◀──▶ bench
//!        │ watts, degrees                    bench     QEMU ── UART 1 ──▶ journal and telemetry
//!        └──────▶ meter, sensor ── QMP ──────┘            └── UART 2 ──▶ log
//! ```
//!
//! The firmware is built for another machine than the tests are, so these run by `tests/run hil`, which says where it
//! is in `WATTLINE_FIRMWARE`.

mod bench;
mod captured;
mod cost;
mod machine;
mod physics;
mod size;

use std::sync::LazyLock;

use wattline_core::governor::{Alarm, Command};
use wattline_core::journal::{MAX_FRAME, Reader, Record, Replay, encode};
use wattline_core::units::{Instant, Microseconds};
use wattline_edge::appliance::{self, DRIVES, PROFILES};
use wattline_edge::link::Order;
use wattline_edge::report::{BusError, Stage, Telemetry};
use wattline_sim::check::shed::{self, Shed};
use wattline_sim::trace::Trace;

use self::bench::{Bench, Run};
use self::machine::{Machine, Plugged};

const TEN_MINUTES: Microseconds = Microseconds::from_secs(600);

/// The appliance at work; several tests look at it.
static TEN_MINUTES_OF_BURSTS: LazyLock<Run> =
    LazyLock::new(|| Bench::new(Machine::start("bursts", Plugged::Both)).run(TEN_MINUTES));

/// What disturbed a run, and how it was shed: the simulator's own judgement.
fn sheds(trace: &Trace) -> Vec<Shed> {
    shed::judge(trace, f64::from(appliance::config().margin.get()) / 1_000.0)
}

#[test]
#[ignore = "needs QEMU and the firmware: tests/run hil"]
fn four_drives_stay_within_their_supply() {
    let run = &*TEN_MINUTES_OF_BURSTS;
    let sheds = sheds(&run.trace);
    let [start] = sheds.as_slice() else { panic!("nothing but the start disturbs this run: {sheds:?}") };
    let above_w = start.highest_mean_above_cap_w.expect("ten minutes have a second");
    println!(
        "{} simulated seconds in {:.1} s: {} steps, {} commands, {} transitions; over the cap at the start by at most {:.1} W \
         for {:.0} ms; from there on no second above {:.2} W of {}; mean {:.2} W, {:.2} GB/s",
        TEN_MINUTES.get() / 1_000_000,
        run.took.as_secs_f64(),
        run.steps,
        run.commands,
        run.trace.transitions(),
        start.over_w,
        start.over_ms,
        25.0 + above_w,
        appliance::config().cap,
        run.trace.mean_w(),
        run.trace.drive_gb_s().iter().sum::<f64>(),
    );
    assert!(start.over_w > 0.0, "the drives must start above the cap, or nothing is shed");
    assert!(above_w <= 0.0, "a second above the supply: {start:?}");
    assert!(start.shed_ms.is_some_and(|shed_ms| shed_ms < 2_000.0), "shed late: {start:?}");
    for slot in 0..DRIVES {
        let states = run.trace.states[slot].iter().filter_map(|(_, state)| *state);
        assert!(states.collect::<std::collections::BTreeSet<_>>().len() >= 2, "drive {slot} never moved");
    }
    let moved_gb = &run.trace.moved_gb;
    let (least, most) = moved_gb.iter().fold((f64::MAX, 0.0f64), |(least, most), gb| (least.min(*gb), most.max(*gb)));
    assert!(least > 0.5 * most, "equal drives get about equal shares: {moved_gb:?} GB");
}

#[test]
#[ignore = "needs QEMU and the firmware: tests/run hil"]
fn the_journal_replayed_here_gives_the_same_commands_byte_for_byte() {
    let journal = TEN_MINUTES_OF_BURSTS.captured.journal();
    let mut replay = Replay::<DRIVES, PROFILES>::new();
    let (mut decided, mut events, mut commands) = (Vec::<u8>::new(), 0, 0);
    for frame in Reader::new(&journal) {
        let record = frame.content.expect("an undamaged frame");
        events += u32::from(matches!(record, Record::Event { .. }));
        commands += u32::from(matches!(record, Record::Command { .. }));
        // What is taken without a divergence is what was decided here.
        decided.extend(encode(&record, &mut [0; MAX_FRAME]).expect("a record fits"));
        replay.take(record).unwrap_or_else(|divergence| panic!("{divergence:?} at byte {}", frame.offset));
    }
    assert!(decided == journal, "the bytes differ");
    assert!(replay.decides_alike());
    assert_eq!(replay.governor().map(|governor| governor.clone().poll()), Some(None), "the journal ends too early");
    assert!(commands > 100 && events > commands, "{events} events, {commands} commands");
    println!("{events} events and {commands} commands in {} bytes, all as decided here", journal.len());
}

#[test]
#[ignore = "needs QEMU and the firmware: tests/run hil"]
fn the_sensors_are_read_over_the_bus_to_their_last_step() {
    let run = &*TEN_MINUTES_OF_BURSTS;
    let mut samples = 0;
    for telemetry in run.captured.telemetry() {
        let Telemetry::Sampled { at, power, board } = telemetry else { continue };
        let (set_w, set_c) = run.set[&at.as_micros()];
        let power = power.expect("the meter is there");
        let board = board.expect("the sensor is there");
        // The monitor's step is 316 mW; QEMU cuts to whole steps, the board rounds up.
        assert!(power.get().abs_diff(u32::from(set_w) * 1_000) < 330, "{power} {set_w}");
        // The sensor cuts to half degrees, the board rounds up to whole ones.
        assert!((-0.5..1.0).contains(&(f64::from(board.celsius()) - set_c)), "{board:?} {set_c}");
        samples += 1;
    }
    assert_eq!(samples, 600, "one each second");
}

#[test]
#[ignore = "needs QEMU and the firmware: tests/run hil"]
fn the_firmware_fits_its_budget() {
    let used_in = |wanted| {
        TEN_MINUTES_OF_BURSTS.captured.telemetry().find_map(|telemetry| match telemetry {
            Telemetry::Stack { stage, size, untouched } if stage == wanted => Some(size - untouched),
            _ => None,
        })
    };
    let start = used_in(Stage::Start).expect("the board reports the stack of its start");
    let running = used_in(Stage::Loop).expect("the board reports the stack of its loop");
    println!("stack: {start} bytes in the start, {running} in the loop");
    let used = size::Size::of_firmware(&machine::firmware(), start.max(running));
    let budget = size::Budget::committed().firmware;
    println!("{}", size::table(used, budget));
    assert!(used.is_within(budget), "the firmware has outgrown edge-board/budget.toml");
}

#[test]
#[ignore = "needs the rooms' programs: tests/run size"]
fn rooms_of_the_core_fit_their_budget() {
    let directory = std::env::var_os("WATTLINE_ROOMS").expect("tests/run size says where the programs are");
    let budget = size::Budget::committed().rooms;
    let used = size::of_rooms(directory.as_ref(), budget.keys());
    println!("{:<8}{:>8}{:>8}", "bytes", "flash", "budget");
    for (room, flash) in &used {
        println!("{room:<8}{flash:>8}{:>8}", budget[*room]);
    }
    let is_within = |(room, flash): (&&str, &u64)| (1..=budget[*room]).contains(flash);
    assert!(used.iter().all(is_within), "a room has outgrown edge-board/budget.toml");
}

#[test]
#[ignore = "needs QEMU and the program that counts: tests/run size"]
fn a_governor_costs_what_its_budget_allows() {
    let program = std::env::var_os("WATTLINE_COST").expect("tests/run size says where the program is");
    let (used, budget) = (cost::of_program(program.as_ref()), size::Budget::committed().governor);
    println!("{}", cost::table(&used, &budget));
    assert!(used.is_within(&budget), "a governor has outgrown edge-board/budget.toml");
}

#[test]
#[ignore = "needs QEMU and the firmware: tests/run hil"]
fn the_log_is_decoded_and_reports_no_error() {
    let log = TEN_MINUTES_OF_BURSTS.captured.log();
    println!("{log}");
    assert!(log.contains("wattline-edge starts"), "{log}");
    assert!(!log.contains("ERROR") && !log.contains("WARN"), "{log}");
}

#[test]
#[ignore = "needs QEMU and the firmware: tests/run hil"]
fn a_panic_leads_to_a_reset_that_reports_it() {
    let captured = reset_by("panic", Order::Panic);
    let starts = captured.starts();
    assert_eq!(starts.len(), 2);
    assert_eq!(starts[0], None);
    assert!(starts[1].as_ref().is_some_and(|message| message.contains("the bench wants a panic")), "{starts:?}");
}

#[test]
#[ignore = "needs QEMU and the firmware: tests/run hil"]
fn a_loop_that_stands_still_is_reset_by_the_watchdog() {
    let captured = reset_by("stand-still", Order::StandStill);
    let starts = captured.starts();
    assert!(starts[1].as_ref().is_some_and(|message| message.contains("the loop has stood still")), "{starts:?}");
}

/// Works for a while, gives the order, and works on after the reset that follows.
fn reset_by(name: &str, order: Order) -> captured::Captured {
    let mut bench = Bench::new(Machine::start(name, Plugged::Both));
    bench.work_until(Microseconds::from_secs(10));
    bench.order_and_await_reset(order);
    let run = bench.run(Microseconds::from_secs(20));
    let journals = run.captured.records().filter(|record| matches!(record, Record::Start { .. })).count();
    assert_eq!(journals, 2, "each start begins a journal");
    let last = sheds(&run.trace).last().and_then(|shed| shed.highest_mean_above_cap_w);
    assert!(last.is_some_and(|above_w| above_w <= 0.0), "the board holds its drives again: {last:?}");
    run.captured
}

#[test]
#[ignore = "needs QEMU and the firmware: tests/run hil"]
fn without_its_sensors_the_board_says_so_and_governs_on() {
    let run = Bench::new(Machine::start("no-sensors", Plugged::Neither)).run(Microseconds::from_secs(40));
    let missing = Telemetry::Sampled {
        at: Instant::START,
        // QEMU's controller calls a missing device a lost arbitration.
        power: Err(BusError::ArbitrationLoss),
        board: Err(BusError::ArbitrationLoss),
    };
    assert!(run.captured.telemetry().any(|telemetry| telemetry == missing));
    let raised = |wanted: Alarm| {
        run.captured.records().any(|record| {
            matches!(record, Record::Command { command: Command::Alarm { alarm, raised: true }, .. } if alarm == wanted)
        })
    };
    assert!(raised(Alarm::MeterLost));
    assert!((0..4).all(|slot| raised(Alarm::TemperatureLost { slot })));
    // 3.4 W each: a drive whose temperature is not known is held in its lowest operational state.
    assert!(run.trace.states.iter().all(|states| states.last().is_some_and(|(_, state)| *state == Some(2))));
}
