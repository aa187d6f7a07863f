//! What cannot be seen from outside.

use super::*;

/// A report that ends the call early changes no decision: a governor that decides at every call does the same.
#[test]
fn reports_that_change_nothing_change_nothing() {
    let meter = MeterConfig {
        quantum: Milliwatts::from_watts(2),
        noise: Milliwatts::ZERO,
        full_scale: Milliwatts::from_watts(400),
        timeout: Microseconds::from_secs(3),
        stuck_after: None,
    };
    let config = Config { meter: Some(meter), ..Config::new(Milliwatts::from_watts(100), Milliwatts::ZERO) };
    let mut quick = Governor::<6, 1>::new(config);
    quick.add_profile(crate::profile::d5_p5336()).unwrap();
    let mut thorough = quick.clone();
    let mut now = 0u64;
    let mut dice = 1u64;
    let mut roll = |sides: u64| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33) % sides
    };
    let mut states = [PowerState::PS0; 6];
    let mut answers: Vec<Event, 8> = Vec::new();
    let (mut commands, mut ended_early) = (0, 0);
    for step in 0..6_000u64 {
        now += if roll(3) == 0 { 0 } else { roll(400_000) };
        let slot = u8::try_from(roll(6)).unwrap();
        let event = match roll(8) {
            _ if step < 6 => Event::Attached {
                slot: u8::try_from(step).unwrap(),
                drive: DriveConfig {
                    thermal: Some(crate::thermal::ThermalLimits::from_thresholds(None, None)),
                    ..DriveConfig::new(ProfileIndex(0), Milliwatts::from_watts(25))
                },
            },
            0..=2 if !answers.is_empty() => answers.remove(0),
            0 => Event::Tick,
            1 => Event::Work { slot, seen: crate::profile::WorkSet::ALL },
            2 | 3 => {
                let spread = if roll(40) == 0 { 50 } else { 3 };
                let celsius = 40 + i32::try_from(roll(spread)).unwrap();
                Event::Temperature { slot, reading: crate::units::Kelvin::from_celsius(celsius) }
            }
            4 => Event::Meter(Some(Milliwatts::new(u32::try_from(88_000 + roll(14_000)).unwrap()))),
            5 if roll(50) == 0 => Event::Cap(Milliwatts::from_watts(u32::try_from(70 + roll(60)).unwrap())),
            6 if roll(60) == 0 => Event::Reset { slot },
            _ => {
                let spread = if roll(20) == 0 { 30 } else { 2 };
                let wanted = crate::units::BytesPerSecond::new(100_000_000 * (1 + roll(spread)));
                Event::Demand { slot, wanted: Some(wanted) }
            }
        };
        if let Event::Reset { slot } = event {
            states[usize::from(slot)] = PowerState::PS0;
            answers.retain(|answer| answer.slot() != Some(slot));
        }
        quick.handle(Instant::from_micros(now), event.clone());
        ended_early += u32::from(!quick.moved);
        thorough.rests = false;
        thorough.handle(Instant::from_micros(now), event.clone());
        loop {
            let command = quick.poll();
            assert_eq!(command, thorough.poll(), "at {now}, after {event:?}");
            let Some(command) = command else { break };
            commands += 1;
            if let Command::Drive { slot, id, request, .. } = command {
                let outcome = match request {
                    Request::SetPowerState(state) => {
                        states[usize::from(slot)] = state;
                        Outcome::Done
                    }
                    _ => Outcome::Is(states[usize::from(slot)]),
                };
                answers.push(Event::Completed { slot, id, outcome }).unwrap();
            }
        }
        assert_eq!(quick.next_deadline(), thorough.next_deadline(), "at {now}, after {event:?}");
        assert_eq!(quick.due, quick.next_due(Instant::from_micros(now)), "at {now}, after {event:?}");
    }
    assert!(commands > 300 && ended_early > 1_500, "{commands} commands, {ended_early} ended early");
}

/// A slot is a byte, and all its values may be used.
#[test]
fn the_largest_governor_counts_to_its_last_slot() {
    let mut governor = Governor::<256, 1>::new(Config::new(Milliwatts::from_watts(100_000), Milliwatts::ZERO));
    let profile = governor.add_profile(crate::profile::d5_p5336()).unwrap();
    let drive = DriveConfig::new(profile, Milliwatts::from_watts(25));
    governor.handle(Instant::START, Event::Attached { slot: 255, drive });
    assert!(matches!(governor.poll(), Some(Command::Drive { slot: 255, .. })));
    assert_eq!(governor.poll(), None);
    governor.handle(Instant::START, Event::Tick);
    assert!(governor.phase(255).is_some() && governor.ledger().promised() > Milliwatts::ZERO);
}
