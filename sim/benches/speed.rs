//! How many simulated seconds one second of one core buys.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use wattline_sim::calibration::Calibration;
use wattline_sim::scenario::value::Seconds;
use wattline_sim::{scenario, world::World};

/// One hour of 24 drives; criterion's "elements" are simulated seconds.
fn one_hour(criterion: &mut Criterion) {
    const HOUR_S: u32 = 3600;
    let calibration = Calibration::embedded();
    let mut group = criterion.benchmark_group("simulated seconds");
    group.throughput(Throughput::Elements(u64::from(HOUR_S))).sample_size(10);
    for name in ["r760-write-cap", "r760-undeclared-reads"] {
        let mut scenario = scenario::load(name).expect("a built-in scenario");
        scenario.duration_s = Seconds(f64::from(HOUR_S));
        group.bench_function(name, |bencher| {
            bencher.iter(|| black_box(World::new(&scenario, &calibration, 1).run(|_| {})));
        });
    }
    group.finish();
}

criterion_group!(benches, one_hour);
criterion_main!(benches);
