//! Heat policies in a few places: what ours promises against the others, and the study as a document.
//!
//! The document is written by `cargo run --release -p wattline-sim -- heat-study > sim/HEAT-STUDY.md`.

use std::fs;
use std::path::Path;

use wattline_sim::heat::markdown;
use wattline_sim::heat::study::{self, Place, Policy};

/// What holds for every seed.
fn check(place: &Place, seed: u64) {
    let [ours, higher, lowest] = [Policy::Ours, Policy::OursHigher, Policy::Lowest].map(|policy| place.of(policy));
    let name = format!("{}, seed {seed}", place.scenario);
    assert_eq!(lowest.over_critical_s, 0, "{name}: it could not be kept at all");
    assert_eq!((ours.over_critical_s, higher.over_critical_s), (0, 0), "{name}");
    assert!(place.of(Policy::Nothing).over_critical_s > 100, "{name}: there is nothing to be done against");
    assert!(ours.case_c < study::TOUCH_C && higher.case_c < study::TOUCH_C, "{name}");
    let best = place.best_below_critical().expect("the drive's own management keeps it");
    assert!(higher.gb_s >= best.gb_s, "{name}: {higher:?} {best:?}");
    if place.scenario == "heat-frozen-sensors" {
        assert!(ours.over_warning_s < 60, "{name}: {ours:?}");
        return;
    }
    assert_eq!(ours.over_warning_s, 0, "{name}");
    let best = place.best_below_warning().expect("the on/off throttle keeps it");
    // The exception that the document explains.
    let share = if place.scenario == "heat-warm-room" { 0.93 } else { 1.0 };
    assert!(ours.gb_s >= share * best.gb_s, "{name}: {ours:?} {best:?}");
}

#[test]
fn ours_keeps_what_it_promises_and_the_study_is_the_document() {
    for seed in [1, 2] {
        let places = study::run(seed).expect("built-in scenarios");
        assert_eq!(places.len(), study::SCENARIOS.len());
        places.iter().for_each(|place| check(place, seed));
        if seed == 1 {
            let document = markdown::document(&places, "wattline-sim heat-study");
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace's directory");
            let written = fs::read_to_string(root.join("sim/HEAT-STUDY.md")).expect("sim/HEAT-STUDY.md");
            let differs = document.lines().zip(written.lines()).find(|(now, then)| now != then);
            assert!(document == written, "sim/HEAT-STUDY.md is not what the program prints now: {differs:?}");
        }
    }
}
