//! The board's drives are real ones: their table is in host-linux/data/drives.json.

use serde::Deserialize;
use wattline_core::nvme::PowerState;
use wattline_core::units::{Microseconds, Milliwatts};
use wattline_edge::appliance;

#[derive(Deserialize)]
struct Drive {
    id: String,
    model: String,
    samples: u32,
    wctemp: Option<u16>,
    cctemp: Option<u16>,
    states: Vec<State>,
}

#[derive(Deserialize)]
struct State {
    mp_w: Option<f64>,
    nops: u8,
    enlat_us: u64,
    exlat_us: u64,
}

impl Drive {
    /// Watts of its operational states.
    fn operational(&self) -> Vec<Option<f64>> {
        self.states.iter().filter(|state| state.nops == 0).map(|state| state.mp_w).collect()
    }

    fn has_three_different_operational_states(&self) -> bool {
        let watts = self.operational();
        watts.len() == 3 && watts.iter().all(Option::is_some) && watts.is_sorted_by(|more, less| more > less)
    }
}

fn drives() -> Vec<Drive> {
    serde_json::from_str(include_str!("../../host-linux/data/drives.json")).expect("a list of drives")
}

fn ours() -> Drive {
    let id = "samsung-ssd-970-evo-plus-500gb-2b2qexm7";
    drives().into_iter().find(|drive| drive.id == id).expect("the board's drive is in the list")
}

#[test]
fn the_boards_drive_is_the_most_posted_one_with_three_different_operational_states() {
    let candidates = drives().into_iter().filter(Drive::has_three_different_operational_states);
    let most = candidates.max_by_key(|drive| drive.samples).expect("there are some");
    assert_eq!((most.id, most.samples), (ours().id, 71));
}

#[test]
fn the_boards_profile_is_that_drives_own_table() {
    let (drive, profile) = (ours(), appliance::profile());
    assert_eq!(profile.name.as_str(), drive.model);
    assert_eq!(profile.states.len(), drive.states.len());
    let reported = |latency| Some(Microseconds::new(latency)).filter(|latency| *latency > Microseconds::ZERO);
    for (ours, theirs) in profile.states.iter().zip(&drive.states) {
        let watts = ours.max_power.map(|power| f64::from(power.get()) / 1_000.0);
        assert_eq!((watts, ours.non_operational), (theirs.mp_w, theirs.nops == 1));
        assert_eq!((ours.entry_latency, ours.exit_latency), (reported(theirs.enlat_us), reported(theirs.exlat_us)));
    }
    assert_eq!((drive.wctemp, drive.cctemp), (Some(358), Some(358)));
}

#[test]
fn the_supply_does_not_do_for_all_drives_and_is_enough_for_each_of_their_lowest_states() {
    let profile = appliance::profile();
    let four_in = |state| {
        let state = PowerState::new(state).and_then(|state| profile.state(state)).expect("three states");
        4 * state.max_power.expect("reported").get()
    };
    let config = appliance::config();
    let allowance = config.cap.saturating_sub(config.base_load).saturating_sub(config.margin);
    assert_eq!(allowance, Milliwatts::from_watts(20));
    assert!(four_in(0) > config.cap.get() && four_in(2) < allowance.get());
}
