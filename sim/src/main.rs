//! `wattline-sim`: runs scenarios.
#![forbid(unsafe_code)]

use wattline_sim::calibration::Calibration;

fn main() {
    let calibration = Calibration::embedded();
    println!("{:#?}\n{:#?}", calibration.prediction, calibration.ssd);
    let scenario = wattline_sim::scenario::load("r760-article").unwrap_or_else(|error| panic!("{error}"));
    for row in wattline_sim::rows::run(&scenario, &calibration, 1) {
        println!("{} {:?} {}", row.title(), row, row.holds(33.0));
    }
}
