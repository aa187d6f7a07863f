//! What each machine of the core does with each event in each of its states: made by running the machines, and shown in
//! ARCHITECTURE.md. `WRITE_TABLES=1 cargo test -p wattline-tests --test state_tables` writes it there.

use std::fs;
use std::num::NonZeroU16;
use std::path::Path;

use wattline_core::apst::Tolerance;
use wattline_core::drive::{
    Backstop, BackstopPhase, Circumstances, CommandId, Drive, KnownStates, Outcome, Phase, Request, StateSet,
};
use wattline_core::governor::{Alarm, Command, Config, Event, Governor, MeterConfig};
use wattline_core::nvme::feature::thermal_management::ThermalManagement;
use wattline_core::nvme::{PowerState, Status};
use wattline_core::sleep::{Conditions, Costs, CyclesPerDay, Sleeper, State};
use wattline_core::thermal::{Level, Sensing, SensorEvent};
use wattline_core::units::{Instant, Kelvin, Microseconds, Millijoules, Milliwatts};

/// What lets an event happen to a machine.
type Happens<S> = Box<dyn Fn(&mut S)>;

/// A machine's states and events, by name.
struct Machine<S> {
    states: Vec<(&'static str, S)>,
    events: Vec<(&'static str, Happens<S>)>,
    name: fn(&S) -> String,
}

impl<S: Clone> Machine<S> {
    /// One row for each state, one column for each event; a dot where nothing changes.
    fn table(&self) -> String {
        let mut table = String::from("| state |");
        for (event, _) in &self.events {
            table += &format!(" {event} |");
        }
        table += &format!("\n|---|{}\n", "---|".repeat(self.events.len()));
        for (name, state) in &self.states {
            table += &format!("| **{name}** |");
            for (_, happens) in &self.events {
                let mut after = state.clone();
                happens(&mut after);
                let after = (self.name)(&after);
                let before = (self.name)(state);
                table += &format!(" {} |", if after == before { "·".to_owned() } else { after });
            }
            table.push('\n');
        }
        table
    }
}

const ID: CommandId = CommandId(7);
const SETTLED: Instant = Instant::from_micros(2_000);

fn ps(number: u8) -> PowerState {
    PowerState::new(number).unwrap()
}

/// States 0 to 2 process I/O, 3 does not.
fn at(patience: u8) -> Circumstances {
    Circumstances {
        now: Instant::from_micros(1_000),
        settled: SETTLED,
        retry: Instant::from_micros(3_000),
        recheck: Instant::from_micros(9_000),
        patience,
        states: KnownStates {
            operational: [ps(0), ps(1), ps(2)].into_iter().collect(),
            non_operational: StateSet::of(ps(3)),
        },
        next_lever: None,
    }
}

fn drive_phase(drive: &Drive) -> String {
    match drive.phase() {
        Phase::Unknown { read: None, .. } => "Unknown",
        Phase::Unknown { read: Some(_), .. } => "Unknown, read sent",
        Phase::Holding { .. } => "Holding",
        Phase::Changing { .. } => "Changing",
        Phase::Verifying { read: None, .. } => "Verifying",
        Phase::Verifying { read: Some(_), .. } => "Verifying, read sent",
        Phase::Settling { .. } => "Settling",
        Phase::Unmanaged { .. } => "Unmanaged",
    }
    .into()
}

/// Asked to go from PS0 to PS2, with all the patience of the world or none.
fn drive_machine() -> Machine<Drive> {
    let unknown = Drive::attached();
    let mut unknown_read = unknown.clone();
    unknown_read.sent(Request::ReadPowerState, ID);
    let mut settling = unknown_read.clone();
    settling.completed(ID, Outcome::Is(ps(0)), at(3));
    let mut holding = settling.clone();
    holding.advance(SETTLED);
    let mut changing = holding.clone();
    changing.sent(Request::SetPowerState(ps(2)), ID);
    let mut verifying = changing.clone();
    verifying.completed(ID, Outcome::Done, at(3));
    let mut verifying_read = verifying.clone();
    verifying_read.sent(Request::ReadPowerState, ID);
    let mut unmanaged = changing.clone();
    unmanaged.lost(ID, StateSet::ALL, at(1));
    let answers = |outcome: Outcome, patience: u8| move |drive: &mut Drive| drive.completed(ID, outcome, at(patience));
    Machine {
        states: vec![
            ("Unknown", unknown),
            ("Unknown, read sent", unknown_read),
            ("Settling", settling),
            ("Holding", holding),
            ("Changing", changing),
            ("Verifying", verifying),
            ("Verifying, read sent", verifying_read),
            ("Unmanaged", unmanaged),
        ],
        events: vec![
            ("read sent", Box::new(|drive| drive.sent(Request::ReadPowerState, ID))),
            ("set sent", Box::new(|drive| drive.sent(Request::SetPowerState(ps(2)), ID))),
            ("done", Box::new(answers(Outcome::Done, 3))),
            ("names the state asked for", Box::new(answers(Outcome::Is(ps(2)), 3))),
            ("names another", Box::new(answers(Outcome::Is(ps(0)), 3))),
            ("names a sleeping one", Box::new(answers(Outcome::Is(ps(3)), 3))),
            ("refused", Box::new(answers(Outcome::Rejected(Status::INVALID_FIELD), 3))),
            ("refused once too often", Box::new(answers(Outcome::Rejected(Status::INVALID_FIELD), 1))),
            ("lost", Box::new(|drive| drive.lost(ID, StateSet::of(ps(0)), at(3)))),
            ("lost once too often", Box::new(|drive| drive.lost(ID, StateSet::of(ps(0)), at(1)))),
            ("answer to another command", Box::new(|drive| drive.completed(CommandId(8), Outcome::Done, at(3)))),
            ("settling time over", Box::new(|drive| drive.advance(SETTLED))),
            ("reset", Box::new(|drive| drive.reset(StateSet::of(ps(0))))),
            ("record damaged", Box::new(|drive| *drive = Drive::attached())),
        ],
        name: drive_phase,
    }
}

fn backstop_machine() -> Machine<Backstop> {
    const WANTED: ThermalManagement =
        ThermalManagement { light: Some(Kelvin::new(343)), heavy: Some(Kelvin::new(353)) };
    const OTHER: ThermalManagement = ThermalManagement { light: Some(Kelvin::new(300)), heavy: None };
    let due = Backstop::new(WANTED);
    let mut setting = due.clone();
    setting.sent(ID);
    let mut accepted = setting.clone();
    accepted.completed(ID, Outcome::Done, 3);
    let mut reading = accepted.clone();
    reading.sent(ID);
    let mut held = reading.clone();
    held.completed(ID, Outcome::ThermalManagement(WANTED), 3);
    let mut failed = setting.clone();
    failed.lost(ID, 1);
    let answers =
        |outcome: Outcome, patience: u8| move |backstop: &mut Backstop| backstop.completed(ID, outcome, patience);
    Machine {
        states: vec![
            ("Due", due),
            ("Setting", setting),
            ("Accepted", accepted),
            ("Reading", reading),
            ("Held", held),
            ("Failed", failed),
        ],
        events: vec![
            ("sent", Box::new(|backstop| backstop.sent(ID))),
            ("done", Box::new(answers(Outcome::Done, 3))),
            ("names what was set", Box::new(answers(Outcome::ThermalManagement(WANTED), 3))),
            ("names something else", Box::new(answers(Outcome::ThermalManagement(OTHER), 3))),
            ("refused", Box::new(answers(Outcome::Rejected(Status::INVALID_FIELD), 3))),
            ("refused once too often", Box::new(answers(Outcome::Rejected(Status::INVALID_FIELD), 1))),
            ("lost", Box::new(|backstop| _ = backstop.lost(ID, 3))),
            ("lost once too often", Box::new(|backstop| _ = backstop.lost(ID, 1))),
            ("other thresholds wanted", Box::new(|backstop| backstop.want(OTHER))),
            ("reset", Box::new(Backstop::reset)),
        ],
        name: |backstop| {
            match backstop.phase() {
                BackstopPhase::Due => "Due",
                BackstopPhase::Setting(_) => "Setting",
                BackstopPhase::Accepted => "Accepted",
                BackstopPhase::Reading(_) => "Reading",
                BackstopPhase::Held => "Held",
                BackstopPhase::Failed(_) => "Failed",
            }
            .into()
        },
    }
}

/// A drive of which all that can be wished is worth it, with power cycles to spend.
fn sleeper_machine() -> Machine<Sleeper> {
    use wattline_core::sleep::{Event, Slot, Wish};
    let at = |seconds: u64| Instant::START.after(Microseconds::from_secs(seconds));
    // After a day there are power cycles to spend, and everything that was waited for is over.
    const DAYS: u64 = 3 * 86_400;
    let conditions = Conditions {
        wanted: true,
        slot: Slot { power_can_be_switched: true, can_shut_down: true },
        entry: Some(Microseconds::from_secs(1)),
        resume: Some(Microseconds::from_secs(1)),
        costs: Costs {
            idle: Milliwatts::from_watts(5),
            moving: Milliwatts::from_watts(10),
            off: Milliwatts::ZERO,
            cycle: Millijoules::ZERO,
        },
        tolerance: Tolerance::Unlimited,
    };
    let one = NonZeroU16::MIN;
    let limit = CyclesPerDay::new(one, one).unwrap();
    let after = |sleeper: &Sleeper, seconds: u64, event: Event| {
        let mut sleeper = sleeper.clone();
        sleeper.step(at(seconds), event);
        sleeper
    };
    let working = Sleeper::new(conditions, limit, Instant::START);
    let idle = after(&working, DAYS - 3600, Event::Idle);
    let shutting_down = after(&idle, DAYS, Event::Sent(Wish::ShutDown));
    let shut_down = after(&shutting_down, DAYS, Event::ShutdownDone);
    let cutting = after(&shut_down, DAYS, Event::Sent(Wish::PowerOff));
    let off = after(&cutting, DAYS, Event::PoweredOff);
    let wanted = after(&off, DAYS, Event::Demand);
    let powering_on = after(&wanted, DAYS, Event::Sent(Wish::PowerOn));
    let resuming = after(&powering_on, DAYS - 60, Event::PoweredOn);
    let restarting = after(&shut_down, DAYS, Event::Demand);
    let absent = after(&working, DAYS, Event::Removed);
    let now = at(DAYS);
    let step = |event: Event| -> Happens<Sleeper> { Box::new(move |sleeper| sleeper.step(now, event)) };
    // Whatever stands is sent: what is wished differs from state to state.
    let sends: Happens<Sleeper> = Box::new(move |sleeper| {
        if let Some(wish) = sleeper.wish(now) {
            sleeper.step(now, Event::Sent(wish));
        }
    });
    Machine {
        states: vec![
            ("Working", working),
            ("Idle", idle),
            ("ShuttingDown", shutting_down),
            ("ShutDown", shut_down),
            ("CuttingPower", cutting),
            ("Off", off),
            ("Off, wanted", wanted),
            ("PoweringOn", powering_on),
            ("Resuming", resuming),
            ("Restarting", restarting),
            ("Absent", absent),
        ],
        events: vec![
            ("its wish sent", sends),
            ("shutdown done", step(Event::ShutdownDone)),
            ("powered off", step(Event::PoweredOff)),
            ("powered on", step(Event::PoweredOn)),
            ("refused", step(Event::Failed)),
            ("lost", step(Event::Lost)),
            ("works", step(Event::Work)),
            ("idle", step(Event::Idle)),
            ("wanted", step(Event::Demand)),
            ("attached, reset", step(Event::Attached)),
            ("removed", step(Event::Removed)),
            ("shutdown too late", Box::new(move |sleeper| sleeper.step(at(DAYS + 60), Event::Tick))),
        ],
        name: |sleeper| {
            match sleeper.state() {
                State::Working => "Working",
                State::Idle { .. } => "Idle",
                State::ShuttingDown { wanted: false, .. } => "ShuttingDown",
                State::ShuttingDown { wanted: true, .. } => "ShuttingDown, wanted",
                State::ShutDown => "ShutDown",
                State::CuttingPower { wanted: false } => "CuttingPower",
                State::CuttingPower { wanted: true } => "CuttingPower, wanted",
                State::Off { wanted: false } => "Off",
                State::Off { wanted: true } => "Off, wanted",
                State::PoweringOn => "PoweringOn",
                State::Resuming { .. } => "Resuming",
                State::Restarting { .. } => "Restarting",
                State::Absent => "Absent",
            }
            .into()
        },
    }
}

fn level_machine() -> Machine<Level> {
    let name = |level: &Level| format!("{level:?}");
    let calls = |calls_for: Level, may_leave: bool| -> Happens<Level> {
        Box::new(move |level| *level = level.after(calls_for, may_leave))
    };
    Machine {
        states: [("Cool", Level::Cool), ("Warm", Level::Warm), ("Hot", Level::Hot), ("Critical", Level::Critical)]
            .into(),
        events: vec![
            ("the temperature calls for Warm", calls(Level::Warm, false)),
            ("for Hot", calls(Level::Hot, false)),
            ("for Critical", calls(Level::Critical, false)),
            ("cool enough to leave, dwell not over", calls(Level::Cool, false)),
            ("cool enough to leave, dwell over", calls(Level::Cool, true)),
        ],
        name,
    }
}

fn sensing_machine() -> Machine<Sensing> {
    let sees = |event: SensorEvent| -> Happens<Sensing> { Box::new(move |sensing| *sensing = sensing.after(event)) };
    Machine {
        states: [("Fine", Sensing::Fine), ("Frozen", Sensing::Frozen), ("Lost", Sensing::Lost)].into(),
        events: vec![
            ("another value", sees(SensorEvent::Moved)),
            ("the same value", sees(SensorEvent::Same)),
            ("still the same, another load for too long", sees(SensorEvent::StoodStill)),
            ("no reading for too long", sees(SensorEvent::TimedOut)),
        ],
        name: |sensing| format!("{sensing:?}"),
    }
}

/// A governor with a meter, and what it told of the meter.
#[derive(Clone)]
struct Metered {
    governor: Governor<1, 1>,
    lost: bool,
}

impl Metered {
    fn tell(&mut self, seconds: u64, event: Event) {
        self.governor.handle(Instant::START.after(Microseconds::from_secs(seconds)), event);
        while let Some(command) = self.governor.poll() {
            if let Command::Alarm { alarm: Alarm::MeterLost, raised } = command {
                self.lost = raised;
            }
        }
    }
}

fn meter_machine() -> Machine<Metered> {
    const FULL_SCALE: Milliwatts = Milliwatts::from_watts(1000);
    let valid = |watts: u32| Event::Meter(Some(Milliwatts::from_watts(watts)));
    let meter = MeterConfig {
        quantum: Milliwatts::from_watts(1),
        noise: Milliwatts::ZERO,
        full_scale: FULL_SCALE,
        timeout: Microseconds::from_secs(5),
        stuck_after: Some(Microseconds::from_secs(60)),
    };
    let config = Config { meter: Some(meter), ..Config::new(Milliwatts::from_watts(500), Milliwatts::from_watts(100)) };
    let mut believed = Metered { governor: Governor::new(config), lost: false };
    believed.tell(0, valid(100));
    let mut lost = believed.clone();
    lost.tell(6, Event::Tick);
    let tells = |seconds: u64, event: Event| -> Happens<Metered> {
        Box::new(move |metered| metered.tell(seconds, event.clone()))
    };
    let stuck: Happens<Metered> = Box::new(move |metered| {
        for second in 7..=120 {
            metered.tell(second, valid(100));
        }
    });
    Machine {
        states: vec![("Believed", believed), ("Lost", lost)],
        events: vec![
            ("a reading", tells(7, valid(101))),
            ("an absurd reading, time not over", tells(4, valid(1001))),
            ("no reading for too long", tells(20, Event::Meter(None))),
            ("one value for too long", stuck),
        ],
        name: |metered| if metered.lost { "Lost" } else { "Believed" }.into(),
    }
}

/// The tables, each under the name that ARCHITECTURE.md marks its place with.
fn tables() -> Vec<(&'static str, String)> {
    vec![
        ("drive", drive_machine().table()),
        ("backstop", backstop_machine().table()),
        ("sleeper", sleeper_machine().table()),
        ("level", level_machine().table()),
        ("sensing", sensing_machine().table()),
        ("meter", meter_machine().table()),
    ]
}

#[test]
fn the_tables_in_architecture_md_are_what_the_machines_do() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("ARCHITECTURE.md");
    let mut page = fs::read_to_string(&path).unwrap();
    for (name, table) in tables() {
        let (begin, end) = (format!("<!-- table: {name} -->\n"), format!("<!-- end of table: {name} -->"));
        let from = page.find(&begin).unwrap_or_else(|| panic!("ARCHITECTURE.md has no {begin:?}")) + begin.len();
        let to = page.find(&end).unwrap_or_else(|| panic!("ARCHITECTURE.md has no {end:?}"));
        let wanted = format!("\n{table}\n");
        if std::env::var_os("WRITE_TABLES").is_some() {
            page.replace_range(from..to, &wanted);
        } else {
            assert_eq!(&page[from..to], wanted, "the table {name}: WRITE_TABLES=1 brings it up to date");
        }
    }
    if std::env::var_os("WRITE_TABLES").is_some() {
        fs::write(&path, page).unwrap();
    }
}

/// Every state of a table is really the state that its row is named after, so that no row shows another's.
#[test]
fn every_row_is_in_the_state_that_it_is_named_after() {
    fn check<S>(machine: &Machine<S>) {
        for (name, state) in &machine.states {
            assert_eq!(*name, (machine.name)(state));
        }
    }
    check(&drive_machine());
    check(&backstop_machine());
    check(&sleeper_machine());
    check(&level_machine());
    check(&sensing_machine());
    check(&meter_machine());
}
