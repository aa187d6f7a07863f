//! Answers that are lost, late, or not the ones that were awaited, where more than power states is asked for: one event
//! at a time.

mod support;

use support::{OFF, may_sleep};
use wattline_core::governor::{
    Alarm, BackstopConfig, Command, CommandId, Config, DriveConfig, Event, Governor, Outcome, Phase, ProfileIndex,
    Request, Slot,
};
use wattline_core::nvme::feature::thermal_management::ThermalManagement;
use wattline_core::nvme::{PowerState, Status};
use wattline_core::profile::{WorkSet, d5_p5336};
use wattline_core::sleep::State;
use wattline_core::units::{BytesPerSecond, Instant, Kelvin, Microseconds, Milliwatts};

const SECOND: u64 = 1_000_000;
const DAY: u64 = 86_400 * SECOND;

/// A governor whose commands are answered by hand.
struct Desk {
    governor: Governor<2, 1, 2>,
    now: u64,
    alarms: Vec<Alarm>,
}

type Sent = Vec<(Slot, CommandId, Request)>;

impl Desk {
    fn new(watts: u32) -> Self {
        let mut config = Config::new(Milliwatts::from_watts(watts), Milliwatts::ZERO);
        config.rotation_interval = Microseconds::ZERO;
        let mut governor = Governor::new(config);
        governor.add_profile(d5_p5336()).unwrap();
        Self { governor, now: 0, alarms: Vec::new() }
    }

    fn tell(&mut self, event: Event) -> Sent {
        self.governor.handle(Instant::from_micros(self.now), event);
        let mut sent = Vec::new();
        while let Some(command) = self.governor.poll() {
            match command {
                Command::Drive { slot, id, request, .. } => sent.push((slot, id, request)),
                Command::Alarm { alarm, raised: true } => self.alarms.push(alarm),
                Command::Alarm { alarm, raised: false } => self.alarms.retain(|known| *known != alarm),
            }
        }
        sent
    }

    fn after(&mut self, micros: u64) -> Sent {
        self.now += micros;
        self.tell(Event::Tick)
    }

    fn answer(&mut self, sent: &Sent, outcome: Outcome) -> Sent {
        let [(slot, id, _)] = sent[..] else { panic!("one command is to be answered: {sent:?}") };
        self.tell(Event::Completed { slot, id, outcome })
    }

    /// A drive that has named its state, and has settled; what is sent then.
    fn attach(&mut self, drive: DriveConfig, state: PowerState) -> Sent {
        let sent = self.tell(Event::Attached { slot: 0, drive });
        let sent = self.answer(&sent, Outcome::Is(state));
        let later = self.after(2 * SECOND);
        [sent, later].concat()
    }
}

fn ps(number: u8) -> PowerState {
    PowerState::new(number).unwrap()
}

fn drive() -> DriveConfig {
    DriveConfig::new(ProfileIndex(0), Milliwatts::from_watts(25))
}

fn with_backstop() -> DriveConfig {
    let thresholds = ThermalManagement { light: Some(Kelvin::new(343)), heavy: Some(Kelvin::new(348)) };
    DriveConfig { backstop: Some(BackstopConfig { thresholds, last_resort: None }), ..drive() }
}

/// On Linux a lost command is followed by a reset, whatever the command was about.
#[test]
fn a_lost_command_about_heat_counts_as_a_reset_too() {
    let mut desk = Desk::new(14);
    let sent = desk.attach(with_backstop(), ps(2));
    let [(0, id, Request::SetThermalManagement(_))] = sent[..] else { panic!("{sent:?}") };
    let before = desk.governor.ledger().promised();
    let sent = desk.tell(Event::Lost { slot: 0, id });
    assert!(desk.governor.ledger().promised() > before, "it may be in PS0 again");
    assert!(matches!(sent[..], [(0, _, Request::ReadPowerState)]), "{sent:?}");
}

#[test]
fn a_lost_command_about_power_takes_the_thermal_thresholds_with_it() {
    let mut desk = Desk::new(60);
    let sent = desk.attach(with_backstop(), ps(0));
    let [(_, _, Request::SetThermalManagement(thresholds))] = sent[..] else { panic!("{sent:?}") };
    let sent = desk.answer(&sent, Outcome::Done);
    assert_eq!(desk.answer(&sent, Outcome::ThermalManagement(thresholds)), []);
    let sent = desk.tell(Event::Cap(Milliwatts::from_watts(14)));
    let [(0, id, Request::SetPowerState(_))] = sent[..] else { panic!("{sent:?}") };
    let sent = desk.tell(Event::Lost { slot: 0, id });
    desk.answer(&sent, Outcome::Is(ps(2)));
    let sent = desk.after(2 * SECOND);
    assert!(matches!(sent[..], [(0, _, Request::SetThermalManagement(_))]), "{sent:?}");
}

/// A refusal belongs to the command that it answers, also where the record was damaged meanwhile.
#[test]
fn a_damaged_record_is_not_judged_by_the_answer_to_something_else() {
    let mut desk = Desk::new(60);
    let sent = desk.attach(with_backstop(), ps(0));
    desk.tell(Event::BitFlip { slot: 0, bit: 3 });
    desk.tell(Event::Tick);
    assert_eq!(desk.governor.damaged_records(), 1);
    let never = Outcome::Rejected(Status::from_bits(0x4002));
    let sent = desk.answer(&sent, never);
    assert!(matches!(desk.governor.phase(0), Some(Phase::Unknown { .. })), "{:?}", desk.governor.phase(0));
    assert!(matches!(sent[..], [(0, _, Request::ReadPowerState)]), "{sent:?}");
}

#[test]
fn a_drive_without_a_usable_state_stays_unmanaged_whatever_happens_to_its_record() {
    let mut desk = Desk::new(60);
    let nothing = DriveConfig::new(ProfileIndex(7), Milliwatts::from_watts(25));
    desk.tell(Event::Attached { slot: 0, drive: nothing });
    desk.tell(Event::BitFlip { slot: 0, bit: 3 });
    let sent = desk.tell(Event::Tick);
    if !sent.is_empty() {
        desk.answer(&sent, Outcome::Is(ps(0)));
    }
    desk.after(60 * SECOND);
    assert!(desk.alarms.iter().any(|alarm| matches!(alarm, Alarm::Unmanaged { .. })), "{:?}", desk.alarms);
    assert_eq!(desk.governor.target(0), None);
}

// ---- without power ----

fn wanted() -> Event {
    Event::Demand { slot: 0, wanted: Some(BytesPerSecond::new(1_000_000)) }
}

/// A drive whose power is being cut; the cut.
fn cutting(desk: &mut Desk, drive: DriveConfig) -> Sent {
    assert_eq!(desk.attach(drive, ps(0)), []);
    desk.tell(may_sleep(0));
    desk.after(2 * DAY);
    desk.tell(Event::Work { slot: 0, seen: WorkSet::NONE });
    let sent = desk.after(3_600 * SECOND);
    assert!(matches!(sent[..], [(0, _, Request::ShutDown)]), "{sent:?}");
    let sent = desk.answer(&sent, Outcome::Done);
    assert!(matches!(sent[..], [(0, _, Request::PowerOff)]), "{sent:?}");
    sent
}

#[test]
fn a_reset_while_the_power_is_being_cut_does_not_hide_the_cut() {
    let mut desk = Desk::new(60);
    let sent = cutting(&mut desk, drive());
    assert_eq!(desk.tell(Event::Reset { slot: 0 }), []);
    assert_eq!(desk.answer(&sent, Outcome::Done), []);
    assert_eq!(desk.governor.ledger().draw(0), OFF);
    let sent = desk.tell(wanted());
    assert!(matches!(sent[..], [(0, _, Request::PowerOn)]), "{sent:?}");
}

#[test]
fn power_is_not_switched_on_while_the_cut_is_unanswered() {
    let mut desk = Desk::new(60);
    let cut = cutting(&mut desk, drive());
    assert_eq!(desk.tell(wanted()), []);
    assert_eq!(desk.tell(Event::Power { slot: 0, on: false }), []);
    let sent = desk.answer(&cut, Outcome::Done);
    assert!(matches!(sent[..], [(0, _, Request::PowerOn)]), "{sent:?}");
}

/// With nothing else to come: the read is sent at the moment when the drive is up, and it counts for no more than what
/// was granted.
#[test]
fn a_drive_that_is_up_again_is_read_in_the_same_call() {
    let mut desk = Desk::new(30);
    let fallback = DriveConfig { fallback: ps(2), ..drive() };
    let cut = cutting(&mut desk, fallback);
    assert_eq!(desk.answer(&cut, Outcome::Done), []);
    let sent = desk.tell(wanted());
    let granted = desk.governor.ledger().draw(0);
    assert!(granted < Milliwatts::from_watts(15), "{granted}: its fallback state's");
    assert_eq!(desk.answer(&sent, Outcome::Done), []);
    let up = desk.now + 4 * SECOND;
    let mut sent = Vec::new();
    while desk.now < up {
        assert_eq!(sent, []);
        desk.now = desk.governor.next_deadline().expect("the resume").as_micros();
        sent = desk.tell(Event::Tick);
    }
    assert_eq!(desk.now, up);
    assert!(matches!(sent[..], [(0, _, Request::ReadPowerState)]), "{sent:?}");
    assert_eq!(desk.governor.ledger().draw(0), granted);
}

#[test]
fn new_conditions_change_nothing_of_where_the_drive_is() {
    let mut desk = Desk::new(60);
    let cut = cutting(&mut desk, drive());
    assert_eq!(desk.tell(may_sleep(0)), []);
    assert_eq!(desk.answer(&cut, Outcome::Done), []);
    assert!(matches!(desk.governor.sleeper(0).unwrap().state(), State::Off { .. }));
    assert_eq!(desk.tell(may_sleep(0)), []);
    let sent = desk.tell(wanted());
    assert!(matches!(sent[..], [(0, _, Request::PowerOn)]), "{sent:?}");
}

#[test]
fn what_was_allowed_of_a_drive_goes_with_it() {
    let mut desk = Desk::new(60);
    desk.attach(drive(), ps(0));
    desk.tell(may_sleep(0));
    desk.tell(Event::Removed { slot: 0 });
    assert!(desk.governor.sleeper(0).is_none());
}

#[test]
fn a_drive_for_which_there_are_no_watts_is_told_of() {
    let mut desk = Desk::new(60);
    let cut = cutting(&mut desk, drive());
    desk.answer(&cut, Outcome::Done);
    desk.tell(Event::Cap(Milliwatts::from_watts(20)));
    assert_eq!(desk.tell(wanted()), []);
    assert!(desk.alarms.contains(&Alarm::CannotWake { slot: 0 }), "{:?}", desk.alarms);
    let sent = desk.tell(Event::Cap(Milliwatts::from_watts(60)));
    assert!(matches!(sent[..], [(0, _, Request::PowerOn)]), "{sent:?}");
    assert_eq!(desk.alarms, []);
}

/// Whatever bit has flipped in another drive's record, and whichever record was to be looked at: it is found before
/// power comes back, which is a raise.
#[test]
fn power_does_not_come_back_out_of_a_damaged_record() {
    for bit in 0..200 {
        for ticks in 0..2 {
            let mut desk = Desk::new(60);
            let cut = cutting(&mut desk, drive());
            desk.answer(&cut, Outcome::Done);
            let sent = desk.tell(Event::Attached { slot: 1, drive: drive() });
            desk.answer(&sent, Outcome::Is(ps(1)));
            desk.after(3 * SECOND);
            for _ in 0..ticks {
                desk.tell(Event::Tick);
            }
            desk.tell(Event::BitFlip { slot: 1, bit });
            let sent = desk.tell(wanted());
            let woken = sent.iter().any(|(.., request)| *request == Request::PowerOn);
            assert!(!woken || desk.governor.damaged_records() == 1, "bit {bit}: {sent:?}");
        }
    }
}
