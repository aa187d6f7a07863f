//! What every drive may take, as seen from the outside: from the events and the commands alone.

use wattline_core::governor::{
    Alarm, Cause, Command, CommandId, Config, DriveConfig, Event, Outcome, Reason, Request, Slot,
};
use wattline_core::nvme::PowerState;
use wattline_core::profile::{Profile, StateProfile, WorkSet};
use wattline_core::thermal::{Cooling, Fans};
use wattline_core::units::{Instant, Kelvin};

use super::{SLOTS, TestGovernor};

/// A governor under watch: each call is followed by every check.
#[derive(Clone)]
pub(crate) struct Watched {
    pub(crate) governor: TestGovernor,
    pub(crate) ledger: Ledger,
}

impl Watched {
    pub(crate) fn new(config: Config, profiles: &[Profile]) -> Self {
        let mut governor = TestGovernor::new(config.clone());
        for profile in profiles {
            governor.add_profile(profile.clone()).expect("room for the profile");
        }
        Self { governor, ledger: Ledger::new(config, profiles) }
    }

    /// Passes an event in, drains the commands, and checks.
    pub(crate) fn handle(&mut self, now: u64, event: &Event) -> Vec<Command> {
        let instant = Instant::from_micros(now);
        self.ledger.note(now, event);
        self.governor.handle(instant, event.clone());
        let commands = drain(&mut self.governor);
        let raises = self.ledger.sent(&commands);
        for slot in 0..SLOTS {
            let (own, outside) = (self.governor.ledger().draw(usize::from(slot)).get(), self.ledger.draw_of(slot));
            assert!(
                u64::from(own) >= outside,
                "slot {slot} counts at {own} mW and may take {outside} mW after {event:?}: {:?}, {:?}",
                self.governor.phase(slot),
                self.ledger.drive(slot)
            );
        }
        self.ledger.check(&raises, &commands, |slot| {
            let (target, phase) = (self.governor.target(slot), self.governor.phase(slot));
            format!("after {event:?}: target {target:?}, {phase:?}, {:?}", self.ledger.drive(slot))
        });
        self.check_time(now, event);
        commands
    }

    fn check_time(&self, now: u64, event: &Event) {
        if let Some(deadline) = self.governor.next_deadline() {
            let deadline = deadline.as_micros();
            assert!(
                deadline > now || now == u64::MAX,
                "a deadline at {deadline} that is over at {now}, after {event:?}"
            );
        }
        let mut again = self.governor.clone();
        if !matches!(event, Event::Tick) {
            again.handle(Instant::from_micros(now), Event::Tick);
            drain(&mut again);
        }
        again.handle(Instant::from_micros(now), Event::Tick);
        let commands = drain(&mut again);
        assert!(commands.is_empty(), "the same tick twice, after {event:?}: {commands:?}");
    }
}

/// All commands; there is one slot for each drive and for each alarm, so they cannot be many.
pub(crate) fn drain(governor: &mut TestGovernor) -> Vec<Command> {
    let bound = usize::from(SLOTS) * 7 + 16;
    let commands: Vec<_> = std::iter::from_fn(|| governor.poll()).take(bound + 1).collect();
    assert!(commands.len() <= bound, "poll does not come to an end");
    assert!(governor.poll().is_none(), "a poll after the last");
    commands
}

/// What is known of one drive from outside.
#[derive(Clone, Debug)]
struct Drive {
    config: DriveConfig,
    /// Work seen last.
    seen: WorkSet,
    /// Work that was seen before and may still count, until some time after the first report of declared work alone.
    lingering: WorkSet,
    lingers_until: Option<u64>,
    /// The states that it may be in, a bit for each, without the one asked for.
    base: u32,
    /// The state asked for: in flight, or accepted and not yet read back.
    asked: Option<u8>,
    /// When the power has followed an accepted state.
    accepted: Option<u64>,
    /// From when on it takes no more than in this state.
    settling: Option<(u64, u8)>,
    /// The state that it named last, since it came, was reset, or lost a command.
    named: Option<u8>,
    flight: Option<(CommandId, Request)>,
    /// Until then it may be left alone: it has failed, or sleeps.
    rests_until: u64,
    unmanaged: bool,
}

impl Drive {
    fn new(config: DriveConfig) -> Self {
        Self {
            config,
            seen: WorkSet::NONE,
            lingering: WorkSet::NONE,
            lingers_until: None,
            base: u32::MAX,
            asked: None,
            accepted: None,
            settling: None,
            named: None,
            flight: None,
            rests_until: 0,
            unmanaged: false,
        }
    }

    fn may(&self) -> u32 {
        self.base | self.asked.map_or(0, bit)
    }

    fn forget(&mut self, base: u32) {
        *self = Self {
            base,
            seen: self.seen,
            lingering: self.lingering,
            lingers_until: self.lingers_until,
            rests_until: self.rests_until,
            unmanaged: self.unmanaged,
            ..Self::new(self.config.clone())
        };
    }
}

fn bit(state: u8) -> u32 {
    1 << state
}

/// The ledger from outside.
#[derive(Clone)]
pub(crate) struct Ledger {
    config: Config,
    profiles: Vec<Profile>,
    drives: Vec<Option<Drive>>,
    /// What the drives of each of the eight shelves may draw together, where that is limited.
    shelves: [Option<u64>; 8],
    /// Time that has surely passed: steps forwards count, steps backwards do not.
    elapsed: u64,
    last: Option<u64>,
    alarms: Vec<Alarm>,
    cooling: Cooling,
}

impl Ledger {
    fn new(config: Config, profiles: &[Profile]) -> Self {
        let drives = vec![None; usize::from(SLOTS)];
        let mut shelves = [None; 8];
        for (shelf, limit) in shelves.iter_mut().zip(&config.shelves) {
            *shelf = Some(u64::from(limit.get()));
        }
        Self {
            config,
            profiles: profiles.to_vec(),
            drives,
            shelves,
            elapsed: 0,
            last: None,
            alarms: Vec::new(),
            cooling: Cooling::default(),
        }
    }

    // ---- what it is asked ----

    /// Cap less base load less margin, and no more than the chassis was said last to be good for. The meter's
    /// correction can only lower that, as can what was said of the chassis before.
    pub(crate) fn allowance(&self) -> u64 {
        let Config { cap, base_load, margin, .. } = self.config;
        let power = u64::from(cap.get()).saturating_sub(u64::from(base_load.get()) + u64::from(margin.get()));
        power.min(self.heat())
    }

    fn heat(&self) -> u64 {
        let Some(config) = &self.config.cooling else { return u64::MAX };
        let mut figures = Vec::new();
        match self.cooling.fans {
            Fans::Regulating => {}
            Fans::AtLimit => figures.push(config.fans_at_limit),
            Fans::Failed => figures.push(config.fans_failed),
        }
        if self.cooling.coolant_lost {
            figures.push(config.coolant_lost);
        }
        let Some(figure) = figures.into_iter().min() else { return u64::MAX };
        // What no inlet can have says nothing.
        let inlet = self.cooling.inlet.filter(|inlet| (-60..=127).contains(&inlet.celsius()));
        let [inlet, design, hottest] =
            [inlet.unwrap_or_default(), config.design_inlet, config.hottest_inlet].map(Kelvin::celsius);
        if hottest <= design || inlet <= design {
            return u64::from(figure.get());
        }
        let degrees = |from: i32, to: i32| u64::try_from(to - from).unwrap_or_default();
        u64::from(figure.get()) * degrees(inlet, hottest) / degrees(design, hottest)
    }

    /// The sum of what all drives may take now.
    pub(crate) fn draws(&self) -> u64 {
        self.drives.iter().flatten().map(|drive| self.draw(drive)).sum()
    }

    /// What one drive may take now.
    pub(crate) fn draw_of(&self, slot: Slot) -> u64 {
        self.drive(slot).map_or(0, |drive| self.draw(drive))
    }

    /// The alarms that are up, each as it was raised last.
    pub(crate) fn alarms(&self) -> &[Alarm] {
        &self.alarms
    }

    pub(crate) fn in_flight(&self, slot: Slot) -> Option<(CommandId, Request)> {
        self.drive(slot)?.flight
    }

    pub(crate) fn is_managed(&self, slot: Slot) -> bool {
        self.drive(slot).is_some_and(|drive| !drive.unmanaged)
    }

    /// Whether a drive may be in this state; in a non-operational one it may always be.
    pub(crate) fn allows(&self, slot: Slot, state: u8) -> bool {
        self.drive(slot).is_some_and(|drive| drive.may() & bit(state) != 0)
    }

    /// What the drive takes in this state at most.
    pub(crate) fn figure(&self, slot: Slot, state: u8) -> u64 {
        let drive = self.drive(slot).expect("a drive");
        let state = &self.profile(drive).expect("a profile").states[usize::from(state)];
        self.state_figure(state, drive, work(drive))
    }

    // ---- events ----

    fn note(&mut self, now: u64, event: &Event) {
        // A step of more than a hundred years is one of a hundred years, or there would be no time left after it.
        let step = now.saturating_sub(self.last.unwrap_or(now)).min(100 * 365 * 86_400 * super::SECOND);
        self.elapsed = self.elapsed.saturating_add(step);
        self.last = Some(now);
        let elapsed = self.elapsed;
        for drive in self.drives.iter_mut().flatten() {
            if let Some((_, state)) = drive.settling.filter(|(settled, _)| *settled <= elapsed) {
                drive.base = bit(state);
                drive.settling = None;
            }
            if drive.lingers_until.is_some_and(|until| until <= elapsed) {
                (drive.lingering, drive.lingers_until) = (WorkSet::NONE, None);
            }
        }
        let lingers_for = self.config.window.saturating_add(self.config.dwell).get();
        match event {
            Event::Tick
            | Event::Temperature { .. }
            | Event::Throttling { .. }
            | Event::Meter(_)
            | Event::Restored { .. }
            | Event::MaySleep { .. }
            | Event::Power { .. }
            | Event::BitFlip { .. }
            | Event::Demand { .. } => {}
            Event::ShelfLimit { shelf, limit } => {
                if let Some(known) = self.shelves.get_mut(usize::from(*shelf)) {
                    *known = Some(limit.get().into());
                }
            }
            Event::Cooling(cooling) => self.cooling = *cooling,
            Event::Cap(cap) => self.config.cap = *cap,
            Event::Attached { slot, drive } => {
                let unmanaged = |alarm: &Alarm| matches!(alarm, Alarm::Unmanaged { slot: of, .. } if of == slot);
                let unmanaged = self.alarms.iter().any(unmanaged);
                if let Some(entry) = self.drives.get_mut(usize::from(*slot)) {
                    *entry = Some(Drive { unmanaged, ..Drive::new(drive.clone()) });
                }
            }
            Event::Removed { slot } => {
                if let Some(entry) = self.drives.get_mut(usize::from(*slot)) {
                    *entry = None;
                }
            }
            Event::Reset { slot } => {
                let fallback = self.fallback(*slot);
                if let Some(drive) = self.drive_mut(*slot) {
                    // Where it was counts until it has been read: a lowering that nobody has confirmed pays for
                    // nothing.
                    let may = drive.may();
                    drive.forget(may | fallback);
                }
            }
            Event::Work { slot, seen } => {
                if let Some(drive) = self.drive_mut(*slot) {
                    drive.seen = *seen;
                    if !work_declared(drive).contains_all(*seen) {
                        (drive.lingering, drive.lingers_until) = (drive.lingering.union(*seen), None);
                    } else if !drive.lingering.is_empty() {
                        drive.lingers_until.get_or_insert(elapsed.saturating_add(lingers_for));
                    }
                }
            }
            Event::Completed { slot, id, outcome } => self.completed(*slot, *id, *outcome),
            Event::Lost { slot, id } => {
                let fallback = self.fallback(*slot);
                if let Some(drive) = self.answered(*slot, *id) {
                    let may = drive.may();
                    drive.forget(may | fallback);
                }
            }
        }
    }

    fn completed(&mut self, slot: Slot, id: CommandId, outcome: Outcome) {
        let request = self.in_flight(slot).map(|(_, request)| request);
        let named = match outcome {
            Outcome::Is(state) => Some((state.number(), self.is_operational(slot, state), self.settling(slot, state))),
            _ => None,
        };
        let asked = match request {
            Some(Request::SetPowerState(state)) => self.settling(slot, state),
            _ => 0,
        };
        let elapsed = self.elapsed;
        let window = self.config.window.get();
        let Some(drive) = self.answered(slot, id) else { return };
        match (request, outcome) {
            (Some(Request::SetPowerState(_)), Outcome::Done) => drive.accepted = Some(elapsed.saturating_add(asked)),
            (Some(Request::ReadPowerState), Outcome::Is(_)) => {
                let (state, operational, settling) = named.expect("a state");
                let accepted = drive.accepted.take();
                let asked = drive.asked.take();
                if accepted.is_some() && asked != Some(state) {
                    let windows = if operational == Some(false) { 10 } else { 1 };
                    drive.rests_until = elapsed.saturating_add(window.saturating_mul(windows));
                }
                match operational {
                    // It fell asleep since, and has not said that it did what it accepted.
                    Some(false) if accepted.is_some() => (drive.accepted, drive.asked) = (accepted, asked),
                    // Nothing is learnt from a state that does not exist.
                    None => {
                        drive.forget(u32::MAX);
                    }
                    // Asleep: wherever it was, or was sent, it wakes into.
                    Some(false) => {
                        drive.base |= asked.map_or(0, bit);
                        drive.settling = None;
                        drive.named = Some(state);
                    }
                    Some(true) => {
                        let settled = match accepted {
                            Some(settled) if asked == Some(state) => settled,
                            _ => elapsed.saturating_add(settling),
                        };
                        drive.base |= bit(state);
                        drive.settling = Some((settled, state));
                        drive.named = Some(state);
                        if settled <= elapsed {
                            drive.base = bit(state);
                        }
                    }
                }
            }
            // A refusal, or an answer of another kind than the question's: whatever it did, it is to be read.
            _ => {
                let may = drive.may();
                drive.forget(may);
                drive.rests_until = elapsed.saturating_add(window);
            }
        }
    }

    /// The drive whose command this answers.
    fn answered(&mut self, slot: Slot, id: CommandId) -> Option<&mut Drive> {
        let drive = self.drive_mut(slot)?;
        drive.flight.take_if(|(flight, _)| *flight == id)?;
        Some(drive)
    }

    // ---- commands ----

    /// Takes note of the commands of one call. Returns the sets that took a drive's draw up, or would take
    /// the drive up from where it is, when it has only just come down: the slot, the states that it
    /// could be in before, and whether it had been read.
    fn sent(&mut self, commands: &[Command]) -> Vec<(Slot, u32, bool)> {
        let mut sets = Vec::new();
        for command in commands {
            if let Command::Alarm { alarm, raised } = command {
                self.alarm(alarm, *raised);
            }
        }
        for command in commands {
            match command {
                Command::Alarm { .. } => {}
                Command::Drive { slot, id, request, reason } => {
                    let others = self.drives.iter().flatten().filter_map(|drive| drive.flight);
                    assert!(others.clone().all(|(other, _)| other != *id), "{id:?} is in flight already");
                    if let Request::SetPowerState(state) = request {
                        assert_eq!(
                            self.is_operational(*slot, *state),
                            Some(true),
                            "{command:?}: not an operational state"
                        );
                    }
                    let reading = matches!(reason, Reason::Discovery | Reason::ReadBack);
                    assert_eq!(reading, *request == Request::ReadPowerState, "{command:?}");
                    let drive = self.drive_mut(*slot).unwrap_or_else(|| panic!("{command:?} to an absent drive"));
                    assert!(drive.flight.is_none(), "{command:?}, and {:?} is in flight", drive.flight);
                    assert!(!drive.unmanaged, "{command:?} to an unmanaged drive");
                    drive.flight = Some((*id, *request));
                    if let Request::SetPowerState(state) = request {
                        sets.push((*slot, drive.may(), drive.named.is_some()));
                        drive.base |= drive.asked.take().map_or(0, bit);
                        drive.accepted = None;
                        drive.asked = Some(state.number());
                    }
                }
            }
        }
        sets.retain(|(slot, before, _)| {
            let drive = self.drive(*slot).expect("a drive");
            // Which of two states takes more depends on the work, and some may still count that was seen long ago.
            [work(drive), work(drive).union(drive.lingering)].into_iter().all(|work| {
                let named = drive.named.map_or(u64::MAX, |named| self.draw_for(drive, bit(named), work));
                let target = drive.asked.map_or(0, |asked| self.draw_for(drive, bit(asked), work));
                target > named || self.draw_for(drive, drive.may(), work) > self.draw_for(drive, *before, work)
            })
        });
        sets
    }

    fn alarm(&mut self, alarm: &Alarm, raised: bool) {
        let kind = std::mem::discriminant(alarm);
        let same = |other: &Alarm| {
            let places = |alarm: &Alarm| (alarm.slot(), shelf_of(alarm));
            std::mem::discriminant(other) == kind && places(other) == places(alarm)
        };
        let known = self.alarms.iter().any(same);
        assert!(raised || known || alarm.slot().is_some(), "{alarm:?} is over and never was");
        self.alarms.retain(|other| !same(other));
        if raised {
            self.alarms.push(*alarm);
        }
        if let Alarm::Unmanaged { slot, cause } = alarm
            && let Some(drive) = self.drive_mut(*slot)
        {
            drive.unmanaged = raised;
            if raised && !matches!(cause, Cause::Rejected(_)) {
                drive.forget(u32::MAX);
            }
        }
    }

    // ---- checks ----

    fn check(&self, raises: &[(Slot, u32, bool)], commands: &[Command], tell: impl Fn(Slot) -> String) {
        let allowance = self.allowance();
        let draws = self.draws();
        for (slot, _, read) in raises {
            assert!(
                draws <= allowance,
                "slot {slot} was raised: draws {draws} mW, allowance {allowance} mW: {commands:?}"
            );
            assert!(read, "slot {slot} was raised before it was read: {commands:?}");
            let shelf = self.drive(*slot).and_then(|drive| drive.config.share.shelf);
            if let Some((shelf, limit)) = self.limited_shelves().find(|(number, _)| Some(*number) == shelf) {
                let draws = self.sum(Some(shelf), |drive| self.draw(drive));
                assert!(draws <= limit, "slot {slot} was raised: {draws} mW in shelf {shelf} of {limit}: {commands:?}");
            }
        }
        self.check_shedding(None, allowance, &tell);
        self.check_floor(None, allowance);
        for (shelf, limit) in self.limited_shelves() {
            self.check_shedding(Some(shelf), limit, &tell);
            self.check_floor(Some(shelf), limit);
        }
        for alarm in &self.alarms {
            assert!(alarm.slot().is_none_or(|slot| self.drive(slot).is_some()), "{alarm:?}, and there is no drive");
        }
    }

    fn limited_shelves(&self) -> impl Iterator<Item = (u8, u64)> {
        (0..).zip(self.shelves).filter_map(|(shelf, limit)| Some((shelf, limit?)))
    }

    /// Something of each drive of a shelf, or of all drives, added up.
    fn sum(&self, shelf: Option<u8>, of: impl Fn(&Drive) -> u64) -> u64 {
        let counts = |drive: &&Drive| shelf.is_none() || drive.config.share.shelf == shelf;
        self.drives.iter().flatten().filter(counts).map(of).sum()
    }

    /// While too much is on its way, in total or in a shelf, nobody there who could be lowered is left alone.
    fn check_shedding(&self, shelf: Option<u8>, allowance: u64, tell: impl Fn(Slot) -> String) {
        let heading = self.sum(shelf, |drive| self.heading(drive));
        if heading <= allowance {
            return;
        }
        for (slot, drive) in (0..).zip(&self.drives) {
            let Some(drive) = drive else { continue };
            if shelf.is_some() && drive.config.share.shelf != shelf {
                continue;
            }
            // What is lowest depends on the work.
            let rests = drive.rests_until >= self.elapsed;
            let at_rest =
                !drive.unmanaged && !rests && drive.flight.is_none() && work(drive).contains_all(drive.lingering);
            assert!(
                !at_rest || self.heading(drive) <= self.lowest(drive),
                "heading for {heading} mW, allowance {allowance} mW, and slot {slot} stays at {} mW though {} mW can be had; {}",
                self.heading(drive),
                self.lowest(drive),
                tell(slot)
            );
        }
    }

    /// If the floor does not fit, in total or in a shelf, somebody is told how much is missing; and that it is over.
    fn check_floor(&self, shelf: Option<u8>, allowance: u64) {
        let told = self.alarms.iter().find_map(|alarm| match (alarm, shelf) {
            (Alarm::CannotHold { missing }, None) => Some(u64::from(missing.get())),
            (Alarm::ShelfCannotHold { shelf, missing }, Some(own)) if *shelf == own => Some(u64::from(missing.get())),
            _ => None,
        });
        let missing = self.floor(shelf, false).saturating_sub(allowance).min(u64::from(u32::MAX));
        assert!(missing == 0 || told >= Some(missing), "{missing} mW are missing in {shelf:?}, told: {told:?}");
        let uncertain = self.config.meter.is_some() || self.config.cooling.is_some();
        let surely_fits = (!uncertain || shelf.is_some()) && self.floor(shelf, true) <= allowance;
        assert!(told.is_none() || !surely_fits, "everything fits, and still CannotHold {told:?}");
    }

    /// The sum of the lowest draws that can be had; `at_most`: as the most cautious would count them.
    fn floor(&self, shelf: Option<u8>, at_most: bool) -> u64 {
        let cautious = |drive: &Drive| work(drive).union(drive.lingering);
        let floor = |drive: &Drive| match (drive.unmanaged, at_most) {
            (false, false) => self.lowest(drive),
            (false, true) => self.lowest_for(drive, cautious(drive)),
            (true, false) => self.draw(drive),
            (true, true) => self.draw_for(drive, u32::MAX, cautious(drive)).max(self.slot_limit(drive)),
        };
        self.sum(shelf, floor)
    }

    // ---- watts ----

    /// What the drive is going to take at most once everything that is under way is over.
    fn heading(&self, drive: &Drive) -> u64 {
        let states = if drive.unmanaged {
            drive.may()
        } else if let Some(asked) = drive.asked {
            bit(asked)
        } else if let Some((_, state)) = drive.settling {
            bit(state)
        } else {
            drive.base
        };
        self.draw_in(drive, states)
    }

    fn draw(&self, drive: &Drive) -> u64 {
        self.draw_in(drive, drive.may())
    }

    /// The most that the drive may take in any of these states.
    fn draw_in(&self, drive: &Drive, states: u32) -> u64 {
        self.draw_for(drive, states, work(drive))
    }

    fn draw_for(&self, drive: &Drive, states: u32, work: WorkSet) -> u64 {
        let slot_limit = self.slot_limit(drive);
        let Some(profile) = self.profile(drive) else { return slot_limit };
        let figures = |states: u32| {
            let reached = profile.operational().filter(move |(state, _)| states & bit(state.number()) != 0);
            reached.map(|(_, state)| self.state_figure(state, drive, work)).max()
        };
        figures(states).or_else(|| figures(u32::MAX)).unwrap_or(slot_limit)
    }

    /// What the slot delivers, with the chassis's overhead, as the meter shows it.
    fn slot_limit(&self, drive: &Drive) -> u64 {
        let limit = u64::from(drive.config.slot_limit.get()) + u64::from(self.config.overhead.get());
        limit.min(u64::from(u32::MAX))
    }

    fn lowest(&self, drive: &Drive) -> u64 {
        self.lowest_for(drive, work(drive))
    }

    fn lowest_for(&self, drive: &Drive, work: WorkSet) -> u64 {
        let figures = self.profile(drive).into_iter().flat_map(Profile::operational);
        let lowest = figures.map(|(_, state)| self.state_figure(state, drive, work)).min();
        lowest.unwrap_or_else(|| self.slot_limit(drive))
    }

    /// The larger of nameplate with overhead and measured; a measured one below counts only on the user's word.
    fn state_figure(&self, state: &StateProfile, drive: &Drive, work: WorkSet) -> u64 {
        let overhead = u64::from(self.config.overhead.get());
        let nameplate = state.max_power.map(|power| u64::from(power.get()) + overhead);
        let nameplate = nameplate.unwrap_or_else(|| self.slot_limit(drive));
        let meter_lost = self.alarms.contains(&Alarm::MeterLost);
        let figure = |kind| match state.measured[kind] {
            Some(measured) if self.config.trust_measured && !meter_lost && !measured.limited_by_fabric => {
                u64::from(measured.power.get())
            }
            Some(measured) => nameplate.max(u64::from(measured.power.get())),
            None => nameplate,
        };
        let most = work.kinds().map(figure).max().unwrap_or(nameplate);
        most.min(u64::from(u32::MAX))
    }

    // ---- helpers ----

    fn drive(&self, slot: Slot) -> Option<&Drive> {
        self.drives.get(usize::from(slot))?.as_ref()
    }

    fn drive_mut(&mut self, slot: Slot) -> Option<&mut Drive> {
        self.drives.get_mut(usize::from(slot))?.as_mut()
    }

    fn profile(&self, drive: &Drive) -> Option<&Profile> {
        self.profiles.get(usize::from(drive.config.profile.0))
    }

    /// `None`: there is no such state.
    fn is_operational(&self, slot: Slot, state: PowerState) -> Option<bool> {
        let profile = self.profile(self.drive(slot)?)?;
        profile.states.get(state.index()).map(|state| !state.non_operational)
    }

    /// Where a reset takes the drive: any state, where the one that it should be in does no work or does not exist.
    fn fallback(&self, slot: Slot) -> u32 {
        let Some(drive) = self.drive(slot) else { return 0 };
        let fallback = drive.config.fallback;
        if self.is_operational(slot, fallback) == Some(true) { bit(fallback.number()) } else { u32::MAX }
    }

    /// How long power takes to follow a change to this state, at least.
    fn settling(&self, slot: Slot, state: PowerState) -> u64 {
        let Some(profile) = self.drive(slot).and_then(|drive| self.profile(drive)) else { return 0 };
        let entry =
            profile.states.get(state.index()).and_then(|state| state.entry_latency).map_or(0, |span| span.get());
        let estimated = entry.saturating_add(self.config.window.get());
        profile.settling.map_or(estimated, |span| span.get())
    }
}

/// What the drive may be doing: what was declared (nothing declared: anything) and what was seen last.
fn work(drive: &Drive) -> WorkSet {
    work_declared(drive).union(drive.seen)
}

fn work_declared(drive: &Drive) -> WorkSet {
    if drive.config.declared.is_empty() { WorkSet::ALL } else { drive.config.declared }
}

fn shelf_of(alarm: &Alarm) -> Option<u8> {
    if let Alarm::ShelfCannotHold { shelf, .. } = alarm { Some(*shelf) } else { None }
}
