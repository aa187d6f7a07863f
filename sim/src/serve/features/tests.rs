use wattline_core::nvme::PowerStateDescriptor;
use wattline_core::nvme::feature::autonomous_transitions::Transition;

use super::*;

/// Three operational states and two others; thresholds between 300 K and 350 K.
fn features() -> Features {
    let state = |non_operational| PowerStateDescriptor { non_operational, ..PowerStateDescriptor::default() };
    let identity = IdentifyController {
        apst_supported: true,
        hctm_supported: true,
        warning_temperature: Some(Kelvin::new(343)),
        min_thermal_management_temperature: Some(Kelvin::new(300)),
        max_thermal_management_temperature: Some(Kelvin::new(350)),
        power_states: [false, false, false, true, true].into_iter().map(state).collect(),
        ..IdentifyController::default()
    };
    Features::new(&identity, 0, 1)
}

fn table(target: u8) -> [u8; Table::LENGTH] {
    let mut table = Table::EMPTY;
    table.set(PowerState::PS0, Transition::new(PowerState::new(target).unwrap(), 100));
    table.encode()
}

#[test]
fn current_default_and_saved_are_three_values() {
    let mut features = features();
    let get = |features: &Features| {
        [Selected::Current, Selected::Default, Selected::Saved].map(|selected| features.get(2, selected, 0).unwrap().0)
    };
    assert_eq!(get(&features), [0, 1, 1]);
    features.set(2, false, 2, &[]).unwrap();
    assert_eq!(get(&features), [2, 1, 1]);
    features.set(2, true, 3, &[]).unwrap();
    features.set(2, false, 0, &[]).unwrap();
    assert_eq!(get(&features), [0, 1, 3]);
    assert_eq!(features.power_states(), (0, 3));
    features.reset();
    assert_eq!(get(&features), [3, 1, 3]);
    assert_eq!(features.get(2, Selected::Capabilities, 0), Ok((0b101, vec![])));
}

/// Every value of the state's field: what Identify has is taken, and nothing else.
#[test]
fn only_states_that_exist_are_entered() {
    for state in 0..32u32 {
        let expected = if state < 5 {
            Ok(Changed::Power { state: usize::try_from(state).unwrap(), save: false })
        } else {
            Err(INVALID)
        };
        assert_eq!(features().set(2, false, state, &[]), expected, "{state}");
    }
}

#[test]
fn transitions_lead_into_sleep_or_are_refused() {
    for target in 0..32 {
        let mut features = features();
        let taken = matches!(target, 3 | 4);
        assert_eq!(features.set(0x0C, false, 1, &table(target)).is_ok(), taken, "PS{target}");
        assert_eq!(features.transitions().is_some(), taken, "PS{target}");
    }
    let mut features = features();
    assert_eq!(features.set(0x0C, false, 1, &[0; 255]), Err(INVALID));
    assert_eq!(features.set(0x0C, false, 0, &table(4)), Ok(Changed::Idle));
    assert_eq!(features.transitions(), None, "a table that is off");
    assert_eq!(features.get(0x0C, Selected::Current, 0).unwrap().1, table(4));
}

/// Every pair of thresholds against the rule in words: each is 0 or in the range, and the first is below the second.
#[test]
fn thermal_thresholds_are_in_range_and_in_order() {
    let interesting = [0, 1, 299, 300, 301, 349, 350, 351, u16::MAX];
    for light in interesting {
        for heavy in interesting {
            let allowed = [light, heavy].iter().all(|at| *at == 0 || (300..=350).contains(at));
            let ordered = light == 0 || heavy == 0 || light < heavy;
            let dword = u32::from(light) << 16 | u32::from(heavy);
            let mut features = features();
            assert_eq!(features.set(0x10, false, dword, &[]).is_ok(), allowed && ordered, "{light} {heavy}");
            let current = features.get(0x10, Selected::Current, 0).unwrap().0;
            assert_eq!(current, if allowed && ordered { dword } else { 0 });
        }
    }
}

#[test]
fn thresholds_are_told_apart_by_sensor_and_side() {
    let mut features = features();
    let which = |sensor: u32, side: u32| sensor << 16 | side << 20;
    assert_eq!(features.get(4, Selected::Current, 0).unwrap().0, 343, "WCTEMP");
    assert_eq!(features.get(4, Selected::Current, which(1, 0)).unwrap().0, 0xFFFF);
    for (sensor, side) in [(2, 0), (9, 0), (14, 0), (0, 2), (0, 3)] {
        assert_eq!(features.set(4, false, which(sensor, side) | 300, &[]), Err(INVALID), "{sensor} {side}");
        assert_eq!(features.get(4, Selected::Current, which(sensor, side)), Err(INVALID));
    }
    features.set(4, false, which(0, 1) | 310, &[]).unwrap();
    assert!(features.beyond_threshold(Kelvin::new(310)) && !features.beyond_threshold(Kelvin::new(311)));
    assert!(features.beyond_threshold(Kelvin::new(343)) && !features.beyond_threshold(Kelvin::new(342)));
    features.set(4, false, which(15, 0) | 320, &[]).unwrap();
    for sensor in [0, 1] {
        assert_eq!(features.get(4, Selected::Current, which(sensor, 0)).unwrap().0, 320);
    }
    assert_eq!(features.get(4, Selected::Current, which(15, 0)), Err(INVALID), "all is not one");
}

#[test]
fn what_a_drive_lacks_it_refuses() {
    let mut features = Features::new(&IdentifyController::default(), 0, 0);
    for feature in (0..=u8::MAX).filter(|feature| !matches!(feature, 2 | 4)) {
        assert_eq!(features.set(feature, false, 0, &[0; Table::LENGTH]), Err(INVALID), "{feature}");
        assert_eq!(features.get(feature, Selected::Current, 0), Err(INVALID), "{feature}");
    }
}
