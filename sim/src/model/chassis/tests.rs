use std::sync::Arc;

use super::*;
use crate::calibration::Calibration;
use crate::model::job::Demand;
use crate::model::ssd::Spread;

fn server(count: usize, work: Option<Work>) -> Chassis {
    let Calibration { chassis, ssd, .. } = Calibration::embedded();
    let kind = Arc::new(ssd);
    let mut drives = vec![Ssd::new(kind, Spread::NONE, 0, 0, chassis.inlet_c); count];
    let demand = work.map(|work| Demand { work, block_bytes: 131_072, queue_depth: 64, rate_limit_gb_s: None });
    for drive in &mut drives {
        drive.set_demand(0, demand);
    }
    Chassis::new(chassis, drives)
}

fn run(server: &mut Chassis, until: Micros) {
    while server.now < until {
        let next = server.next_change().unwrap_or(until).min(until);
        server.advance(next);
    }
}

#[test]
fn the_switch_slows_one_direction_alike_and_leaves_the_other() {
    let mut server = server(24, Some(Work::SequentialRead));
    server.drive_mut(0).set_demand(
        0,
        Some(Demand { work: Work::SequentialWrite, block_bytes: 131_072, queue_depth: 64, rate_limit_gb_s: None }),
    );
    server.rebalance();
    let (read, write) = server.gb_s();
    assert!((read - 109.0).abs() < 1e-9, "{read}");
    assert!((write - 82.5 / 24.0).abs() < 1e-9, "{write}");
    let readers: Vec<f64> = server.drives()[1..].iter().map(|drive| drive.flow().gb_s).collect();
    assert!(readers.iter().all(|gb_s| (gb_s - readers[0]).abs() < 1e-12));
}

#[test]
fn the_wall_is_the_sum_of_its_parts() {
    let mut idle = server(24, None);
    assert!((idle.wall_w() - 594.0).abs() < 1e-9, "{}", idle.wall_w());
    run(&mut idle, 10 * SECOND);
    assert!((idle.energy_j() - 5940.0).abs() < 1e-6, "{}", idle.energy_j());

    let mut writing = server(24, Some(Work::SequentialWrite));
    run(&mut writing, 10 * SECOND);
    let drives_j: f64 = writing.drives().iter().map(Ssd::energy_j).sum();
    let (_, written_gb) = writing.moved_gb();
    let chassis_j = written_gb * writing.drives()[0].model().work[Work::SequentialWrite].chassis_j_per_gb;
    let sum = 4620.0 + drives_j + chassis_j;
    assert!((writing.energy_j() - sum).abs() < 1e-6, "{} {sum}", writing.energy_j());
}

#[test]
fn fans_answer_to_the_hottest_drive_only_above_the_threshold() {
    let mut hot = server(2, Some(Work::SequentialWrite));
    hot.air_mut().set_inlet(0, 45.0, 0);
    for second in 1..=1200 {
        run(&mut hot, second * SECOND);
        hot.second();
    }
    let hottest_c = hot.drives()[0].heat().composite_c;
    // Faster fans cool it, so they do not reach their limit.
    assert!(hottest_c > hot.model.fan_from_c && !hot.air().fans_at_limit());
    assert!((hot.fan_w() - hot.model.fan_w_per_k * (hottest_c - hot.model.fan_from_c)).abs() < 1e-9);

    let mut cool = server(2, None);
    run(&mut cool, SECOND);
    cool.second();
    assert_eq!(cool.fan_w(), 0.0);
}

#[test]
fn air_takes_what_the_article_says_above_liquid() {
    let mut air = server(0, None);
    air.model.cooling = Cooling::Air;
    air.rebalance();
    assert_eq!(air.wall_w(), 662.0);
}
