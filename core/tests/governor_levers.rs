//! What a drive is held with besides its power states, its own heat protection, records that are damaged, and what is
//! counted.

use wattline_core::drive::StateSet;
use wattline_core::governor::{
    Alarm, BackstopConfig, Command, Config, DriveConfig, Event, Governor, Lever, Levers, Outcome, Phase, Reason,
    Request, Slot,
};
use wattline_core::history::Counters;
use wattline_core::nvme::feature::ocp_power_state::OcpPowerState;
use wattline_core::nvme::feature::thermal_management::ThermalManagement;
use wattline_core::nvme::{PowerState, Status};
use wattline_core::profile::d5_p5336;
use wattline_core::units::{Instant, Kelvin, Milliwatts};

const DRIVES: usize = 3;
const SECOND: u64 = 1_000_000;

/// A drive that knows all levers, and what it refuses of them.
#[derive(Clone, Copy, Default)]
struct Bench {
    state: PowerState,
    watts: u8,
    thresholds: ThermalManagement,
    refuses_power_states: bool,
    ignores_power_states: bool,
    refuses_watts: bool,
    refuses_thresholds: bool,
}

impl Bench {
    fn answer(&mut self, request: Request) -> Outcome {
        let refused = Outcome::Rejected(Status::INVALID_FIELD);
        match request {
            Request::SetPowerState(_) if self.refuses_power_states => return refused,
            Request::SetPowerState(_) if self.ignores_power_states => {}
            Request::SetPowerState(state) => self.state = state,
            Request::ReadPowerState => return Outcome::Is(self.state),
            Request::SetOcpPowerState(_) | Request::ReadOcpPowerState if self.refuses_watts => return refused,
            Request::SetOcpPowerState(state) => self.watts = u8::from(state),
            Request::ReadOcpPowerState => return Outcome::OcpPowerState(OcpPowerState::new(self.watts).unwrap()),
            Request::SetThermalManagement(_) if self.refuses_thresholds => return refused,
            Request::SetThermalManagement(thresholds) => self.thresholds = thresholds,
            Request::ReadThermalManagement => return Outcome::ThermalManagement(self.thresholds),
            other => panic!("{other:?}"),
        }
        Outcome::Done
    }
}

struct World {
    governor: Governor<DRIVES, 1>,
    drives: [Bench; DRIVES],
    now: u64,
    commands: Vec<(Slot, Request, Reason)>,
    alarms: Vec<(Alarm, bool)>,
}

impl World {
    /// Three reference drives that take at most 25 W each, under a cap for `watts` of drives.
    fn new(watts: u32, config: &DriveConfig, bench: Bench) -> Self {
        let config_of_all = Config::new(Milliwatts::from_watts(100 + watts), Milliwatts::from_watts(100));
        let mut governor = Governor::new(config_of_all);
        governor.add_profile(d5_p5336()).unwrap();
        let drives = [Bench { watts: 25, ..bench }; DRIVES];
        let mut world = Self { governor, drives, now: 0, commands: Vec::new(), alarms: Vec::new() };
        for slot in 0..3 {
            world.tell(Event::Attached { slot, drive: config.clone() });
        }
        world
    }

    /// Tells the governor; drives answer at once.
    fn tell(&mut self, event: Event) {
        let mut events = vec![event];
        while let Some(event) = events.pop() {
            self.governor.handle(Instant::from_micros(self.now), event);
            while let Some(command) = self.governor.poll() {
                match command {
                    Command::Drive { slot, id, request, reason } => {
                        self.commands.push((slot, request, reason));
                        let outcome = self.drives[usize::from(slot)].answer(request);
                        events.insert(0, Event::Completed { slot, id, outcome });
                    }
                    Command::Alarm { alarm, raised } => self.alarms.push((alarm, raised)),
                }
            }
        }
    }

    fn run(&mut self, seconds: u64) {
        let until = self.now + seconds * SECOND;
        while let Some(due) = self.governor.next_deadline().map(Instant::as_micros).filter(|due| *due <= until) {
            self.now = self.now.max(due);
            self.tell(Event::Tick);
        }
        self.now = until;
        self.tell(Event::Tick);
    }

    fn asked(&self, wanted: impl Fn(&Request) -> bool) -> usize {
        self.commands.iter().filter(|(_, request, _)| wanted(request)).count()
    }
}

fn drive(levers: Levers) -> DriveConfig {
    DriveConfig { levers, ..DriveConfig::new(wattline_core::governor::ProfileIndex(0), Milliwatts::from_watts(25)) }
}

const ALLOWED: Levers = Levers { ocp_power_state: true };

fn holds_under(world: &World, watts: u32) {
    assert_eq!(world.governor.ledger().excess(), Milliwatts::ZERO);
    assert!(
        world.governor.ledger().promised() <= Milliwatts::from_watts(watts),
        "{}",
        world.governor.ledger().promised()
    );
}

#[test]
fn a_drive_that_refuses_its_power_states_is_held_with_the_next_lever() {
    let bench = Bench { refuses_power_states: true, ..Bench::default() };
    let mut world = World::new(45, &drive(ALLOWED), bench);
    world.run(60);
    holds_under(&world, 45);
    assert!(world.drives.iter().map(|drive| u32::from(drive.watts)).sum::<u32>() <= 45);
    let told = world
        .alarms
        .iter()
        .filter(|(alarm, raised)| *raised && matches!(alarm, Alarm::LeverRefused { lever: Lever::OcpPowerState, .. }));
    assert!(told.count() >= 2);
    assert!(!world.alarms.iter().any(|(alarm, _)| matches!(alarm, Alarm::Unmanaged { .. })));
}

#[test]
fn so_is_one_that_accepts_them_and_does_not_act() {
    let bench = Bench { ignores_power_states: true, ..Bench::default() };
    let mut world = World::new(45, &drive(ALLOWED), bench);
    world.run(60);
    holds_under(&world, 45);
    assert!(world.drives.iter().map(|drive| u32::from(drive.watts)).sum::<u32>() <= 45);
}

#[test]
fn without_the_users_word_nothing_but_power_states_is_asked_for() {
    let bench = Bench { refuses_power_states: true, ..Bench::default() };
    let mut world = World::new(45, &drive(Levers::default()), bench);
    world.run(60);
    let others = world.asked(|request| !matches!(request, Request::SetPowerState(_) | Request::ReadPowerState));
    assert_eq!(others, 0);
    assert!(world.alarms.iter().any(|(alarm, _)| matches!(alarm, Alarm::Unmanaged { .. })));
    assert!(world.alarms.iter().any(|(alarm, _)| matches!(alarm, Alarm::CannotHold { .. })));
}

#[test]
fn where_every_lever_fails_the_drive_counts_for_all_that_it_may_take() {
    let bench = Bench { refuses_power_states: true, refuses_watts: true, ..Bench::default() };
    let mut world = World::new(45, &drive(ALLOWED), bench);
    world.run(60);
    assert!(world.alarms.iter().any(|(alarm, _)| matches!(alarm, Alarm::Unmanaged { .. })));
    assert!(world.governor.ledger().excess() > Milliwatts::ZERO);
}

const THRESHOLDS: ThermalManagement =
    ThermalManagement { light: Some(Kelvin::new(345)), heavy: Some(Kelvin::new(350)) };
const LAST_RESORT: ThermalManagement =
    ThermalManagement { light: Some(Kelvin::new(290)), heavy: Some(Kelvin::new(291)) };

fn with_backstop() -> DriveConfig {
    let backstop = BackstopConfig { thresholds: THRESHOLDS, last_resort: Some(LAST_RESORT) };
    DriveConfig { backstop: Some(backstop), ..drive(Levers::default()) }
}

#[test]
fn the_drives_own_heat_protection_is_set_once_read_back_and_set_again_after_a_reset() {
    let mut world = World::new(75, &with_backstop(), Bench::default());
    world.run(60);
    assert!(world.drives.iter().all(|drive| drive.thresholds == THRESHOLDS));
    let sets = |world: &World| world.asked(|request| matches!(request, Request::SetThermalManagement(_)));
    let reads = |world: &World| world.asked(|request| matches!(request, Request::ReadThermalManagement));
    assert_eq!((sets(&world), reads(&world)), (3, 3));
    world.drives[1].thresholds = ThermalManagement::default();
    world.tell(Event::Reset { slot: 1 });
    world.run(10);
    assert_eq!((sets(&world), world.drives[1].thresholds), (4, THRESHOLDS));
}

#[test]
fn heat_protection_that_is_refused_is_told_and_changes_nothing_else() {
    let bench = Bench { refuses_thresholds: true, ..Bench::default() };
    let mut world = World::new(45, &with_backstop(), bench);
    world.run(60);
    holds_under(&world, 45);
    let refused = Alarm::BackstopRefused { slot: 2, status: Some(Status::INVALID_FIELD) };
    assert!(world.alarms.contains(&(refused, true)), "{:?}", world.alarms);
}

#[test]
fn a_drive_that_cannot_be_controlled_is_told_to_slow_itself_down_where_the_user_said_so() {
    let bench = Bench { refuses_power_states: true, ..Bench::default() };
    let mut world = World::new(45, &with_backstop(), bench);
    world.run(60);
    let given_up: Vec<usize> = (0..3u8)
        .filter(|slot| matches!(world.governor.phase(*slot), Some(Phase::Unmanaged { .. })))
        .map(usize::from)
        .collect();
    assert!(!given_up.is_empty());
    assert!(given_up.iter().all(|slot| world.drives[*slot].thresholds == LAST_RESORT));
    assert!(world.governor.ledger().excess() > Milliwatts::ZERO, "thresholds free no watts");
}

/// Whatever bit flips, the drive is read again, no raise is paid out of the damaged record, and all is as before.
#[test]
fn a_damaged_record_is_forgotten_and_the_drive_read_again() {
    for bit in 0..200 {
        let mut world = World::new(45, &drive(Levers::default()), Bench::default());
        world.run(30);
        let before = world.commands.len();
        let slot = u8::try_from(bit % 3).unwrap();
        world.tell(Event::BitFlip { slot, bit });
        for _ in 0..DRIVES {
            world.tell(Event::Tick);
        }
        assert_eq!(world.governor.damaged_records(), 1, "bit {bit}");
        assert_eq!(world.governor.counters(slot).unwrap().damaged, 1);
        // If something was in flight to it by then, its answer proves nothing, and the drive rests before it is read.
        world.run(2);
        let sent = &world.commands[before..];
        assert!(sent.iter().any(|(to, request, _)| *to == slot && *request == Request::ReadPowerState));
        assert!(world.alarms.contains(&(Alarm::RecordDamaged { slot }, true)));
        world.run(33);
        assert!(world.alarms.contains(&(Alarm::RecordDamaged { slot }, false)));
        holds_under(&world, 45);
        for (slot, bench) in (0..).zip(&world.drives) {
            let Some(Phase::Holding { state, may }) = world.governor.phase(slot) else { panic!("drive {slot}") };
            assert_eq!((state, may), (bench.state, StateSet::of(bench.state)), "bit {bit}");
        }
    }
}

/// A record that is damaged between two steps is never the reason for a raise: every record is looked at before one.
#[test]
fn no_raise_is_paid_out_of_a_damaged_record() {
    for bit in 0..400 {
        for raised in 0..3u8 {
            let mut world = World::new(45, &drive(Levers::default()), Bench::default());
            world.run(30);
            let flipped = u8::try_from(bit % 3).unwrap();
            world.tell(Event::BitFlip { slot: flipped, bit: bit / 3 });
            let before = world.commands.len();
            // Room for a raise appears in the very next call.
            world.governor.handle(Instant::from_micros(world.now), Event::Removed { slot: raised });
            while let Some(command) = world.governor.poll() {
                if let Command::Drive { slot, request, reason, .. } = command {
                    world.commands.push((slot, request, reason));
                }
            }
            let raises = world.commands[before..].iter().filter(|(_, _, reason)| *reason == Reason::Raise);
            let others = raises.filter(|(slot, ..)| *slot == flipped);
            assert_eq!(others.count(), 0, "bit {bit}: {:?}", &world.commands[before..]);
        }
    }
}

/// What a damaged record calls a lowering may be a raise: nothing is set on a drive before its record was looked at.
#[test]
fn nothing_is_set_out_of_a_damaged_record() {
    for bit in 0..400 {
        for slot in 0..3u8 {
            let mut world = World::new(45, &drive(Levers::default()), Bench::default());
            world.run(30);
            world.governor.handle(Instant::from_micros(world.now), Event::BitFlip { slot, bit });
            while let Some(command) = world.governor.poll() {
                let Command::Drive { slot: to, request, .. } = command else { continue };
                assert!(to != slot || request == Request::ReadPowerState, "bit {bit}: {command:?}");
            }
        }
    }
}

/// A command in flight when the record is damaged is waited for: two are never in flight.
#[test]
fn what_is_in_flight_survives_a_damaged_record() {
    let mut governor = Governor::<1, 1>::new(Config::new(Milliwatts::from_watts(130), Milliwatts::from_watts(100)));
    governor.add_profile(d5_p5336()).unwrap();
    let mut now = 0;
    let tell = |governor: &mut Governor<1, 1>, now: u64, event| {
        governor.handle(Instant::from_micros(now), event);
        let mut commands = Vec::new();
        while let Some(command) = governor.poll() {
            if let Command::Drive { id, request, .. } = command {
                commands.push((id, request));
            }
        }
        commands
    };
    let sent = tell(&mut governor, now, Event::Attached { slot: 0, drive: drive(Levers::default()) });
    let [(id, Request::ReadPowerState)] = sent[..] else { panic!("{sent:?}") };
    assert_eq!(tell(&mut governor, now, Event::BitFlip { slot: 0, bit: 1 }), []);
    now += 1000;
    assert_eq!(tell(&mut governor, now, Event::Tick), []);
    assert_eq!(governor.damaged_records(), 1);
    // Its answer says nothing about the new record: the drive is read again.
    let outcome = Outcome::Is(PowerState::PS0);
    let sent = tell(&mut governor, now, Event::Completed { slot: 0, id, outcome });
    let [(id, Request::ReadPowerState)] = sent[..] else { panic!("{sent:?}") };
    tell(&mut governor, now, Event::Completed { slot: 0, id, outcome });
    tell(&mut governor, now + 2 * SECOND, Event::Tick);
    assert!(
        matches!(governor.phase(0), Some(Phase::Holding { state: PowerState::PS0, .. })),
        "{:?}",
        governor.phase(0)
    );
}

#[test]
fn what_happened_is_counted_and_taken_up_after_a_restart() {
    let bench = Bench { refuses_power_states: true, ..Bench::default() };
    let mut world = World::new(45, &drive(ALLOWED), bench);
    world.run(60);
    world.tell(Event::Reset { slot: 0 });
    let counted = world.governor.counters(0).unwrap();
    assert!(counted.refused > 0 && counted.transitions > 0 && counted.resets == 1 && counted.lost == 0, "{counted:?}");
    let mut again = World::new(45, &drive(ALLOWED), bench);
    let before = again.governor.counters(0).unwrap();
    again.tell(Event::Restored { slot: 0, counters: counted });
    let after = again.governor.counters(0).unwrap();
    assert_eq!(after.refused, counted.refused + before.refused);
    assert_eq!(after.resets, 1);
    let mut full = Counters { transitions: u32::MAX, ..Counters::default() };
    full.restore(counted);
    assert_eq!(full.transitions, u32::MAX);
}
