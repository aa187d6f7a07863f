//! What must hold, judged by an observer of the wires.

use wattline_core::governor::{Alarm, Reason};

use crate::explore::Broken;
use crate::observer::Observer;
use crate::world::{INTERVAL, PATIENCE, World};

/// A set that was sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// To which drive.
    pub slot: u8,
    /// To which state.
    pub state: u8,
    /// It is for more than the drive has, or may take.
    pub is_raise: bool,
    /// The drive had named its state, and nothing has been asked since.
    pub was_known: bool,
    /// As the governor says.
    pub reason: Reason,
}

/// Judges one rule.
///
/// # Errors
/// The rule, where it does not hold.
pub fn rule(rule: &'static str, holds: bool, how: impl FnOnce() -> String) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(Broken { rule, how: how() }) }
}

/// What the governor says of itself, to be compared with what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Own {
    /// What each drive counts for, in milliwatts.
    pub draws: [u64; crate::world::SLOTS],
    /// What they may come to, in milliwatts.
    pub allowance: u64,
}

/// Judges a moment: after an event, and with all that was sent then.
///
/// # Errors
/// The first rule that is broken.
pub fn judge(world: &World, seen: &Observer, sets: &[Sent], own: Own, now: u64) -> Result<(), Broken> {
    let allowance = seen.allowance().min(own.allowance);
    let draws: u64 = seen.present().map(|(_, drive)| seen.draw(drive)).sum();
    for set in sets {
        let told = || format!("{set:?}: the drives may take {draws} mW of {allowance} mW");
        rule("a raise is paid with watts that are confirmed", !set.is_raise || draws <= allowance, told)?;
        rule("a drive is sent somewhere only from a state that it named", set.was_known, told)?;
        rule("only a raise is called one", set.is_raise || set.reason != Reason::Raise, told)?;
    }
    shedding(seen, allowance, now)?;
    for (slot, drive) in seen.present() {
        let (own, draw) = (own.draws[usize::from(slot)], seen.draw(drive));
        rule("a drive counts for all that it may take", own >= draw, || format!("slot {slot}: {own} of {draw} mW"))?;
        let waits = drive.flight.is_some() || drive.rests(now) || seen.given_up(slot).is_some();
        let told = || format!("slot {slot}: {drive:?}");
        rule("a drive that is not known is read", waits || drive.is_known(), told)?;
        let turns = (now - drive.favoured) / INTERVAL;
        rule("every drive has its turn", world.turns.is_none_or(|most| turns <= most), told)?;
    }
    let told = || format!("{} mW, and the cap leaves {} mW", own.allowance, seen.allowance());
    rule("the meter gives nothing that the cap does not", own.allowance <= seen.allowance(), told)?;
    rule("nothing but the meter takes away", seen.surplus || own.allowance == seen.allowance(), told)?;
    alarms(seen, own.allowance, now)
}

/// While too much is under way, nobody is left alone who could be brought down.
fn shedding(seen: &Observer, allowance: u64, now: u64) -> Result<(), Broken> {
    let heading: u64 = seen.present().map(|(_, drive)| seen.heading(drive)).sum();
    for (slot, drive) in seen.present() {
        let free = drive.is_known() && drive.flight.is_none() && !drive.rests(now) && seen.given_up(slot).is_none();
        let (stays, could) = (seen.heading(drive), seen.lowest(drive));
        rule("too much is shed at once", heading <= allowance || !free || stays <= could, || {
            format!("heading for {heading} mW of {allowance} mW, and slot {slot} stays at {stays} mW")
        })?;
    }
    Ok(())
}

/// Every alarm has its cause, and where there is cause there is an alarm.
fn alarms(seen: &Observer, allowance: u64, now: u64) -> Result<(), Broken> {
    let up = |alarm: fn(&Alarm) -> bool| seen.alarms.iter().any(alarm);
    let told = || format!("{:?}", seen.alarms);

    let (floor, cautious) = seen.floor();
    let missing = floor.saturating_sub(allowance);
    let said = seen.alarms.iter().find_map(|alarm| match alarm {
        Alarm::CannotHold { missing } => Some(u64::from(missing.get())),
        _ => None,
    });
    let of_floor = || format!("{floor} to {cautious} mW of {allowance} mW, told: {said:?}");
    rule("it is said when the cap cannot be held", missing == 0 || said >= Some(missing), of_floor)?;
    rule("it is said only when the cap cannot be held", cautious > allowance || said.is_none(), of_floor)?;

    let lost = up(|alarm| matches!(alarm, Alarm::MeterLost));
    rule("a meter is lost where it is silent for too long", lost == seen.meter_is_lost(), told)?;
    let above = up(|alarm| matches!(alarm, Alarm::MeterAbovePrediction { .. }));
    rule("a meter is above the prediction where it was", seen.surplus || !above, told)?;

    for (slot, drive) in seen.present() {
        let late = seen.alarms.iter().find_map(|alarm| match alarm {
            Alarm::NoAnswer { slot: of, id } if *of == slot => Some(*id),
            _ => None,
        });
        let expected = drive.flight.filter(|_| drive.is_late(now)).map(|(id, ..)| id);
        rule("an answer is missed where it is late", late == expected, told)?;
        let more =
            seen.alarms.iter().any(|alarm| matches!(alarm, Alarm::UndeclaredWork { slot: of, .. } if *of == slot));
        rule("work is undeclared where it was seen", more == seen.works_more(slot), told)?;
        let deserved = drive.failures >= PATIENCE || drive.hopeless;
        rule("a drive is given up for what it did", deserved || seen.given_up(slot).is_none(), told)?;
    }
    let of_nobody = |alarm: &Alarm| alarm.slot().is_some_and(|slot| seen.present().all(|(there, _)| there != slot));
    rule("nothing is said of a drive that is not there", !seen.alarms.iter().any(of_nobody), told)?;
    let baseless = up(|alarm| {
        matches!(
            alarm,
            Alarm::ClockBackwards
                | Alarm::TemperatureLost { .. }
                | Alarm::LeverRefused { .. }
                | Alarm::BackstopRefused { .. }
                | Alarm::RecordDamaged { .. }
        )
    });
    rule("no alarm without a cause", !baseless, told)
}
