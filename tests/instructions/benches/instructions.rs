//! Instructions of one call each, counted by valgrind: the same on every run.

use std::hint::black_box;

use gungraun::prelude::*;
use wattline_core::apst::quirk::Effects;
use wattline_core::apst::{Drive, Plan, Tolerance, energy, linux};
use wattline_core::nvme::feature::autonomous_transitions::Table;
use wattline_core::nvme::identify::IdentifyError;
use wattline_core::nvme::{IdentifyController, PowerStateDescriptor};
use wattline_core::units::Microseconds;
use wattline_instructions::{Page, controller, descriptor, page, page_of_32_states, table};

#[library_benchmark]
#[bench::five_states(page())]
#[bench::thirty_two_states(page_of_32_states())]
fn identify(page: Box<Page>) -> Result<IdentifyController, IdentifyError> {
    IdentifyController::decode(black_box(&page))
}

#[library_benchmark]
#[bench::of_a_drive(descriptor())]
fn power_state(bytes: [u8; PowerStateDescriptor::LENGTH]) -> PowerStateDescriptor {
    PowerStateDescriptor::decode(black_box(&bytes))
}

#[library_benchmark]
#[bench::of_a_drive(table())]
fn apst_table(bytes: [u8; Table::LENGTH]) -> [u8; Table::LENGTH] {
    Table::decode(black_box(&bytes)).encode()
}

/// What `build` makes of the drive at the tolerance that Linux has by default, 100 ms.
fn plan(controller: &IdentifyController, build: impl FnOnce(&Drive<'_>, Tolerance) -> Plan) -> Plan {
    let drive = Drive { states: &controller.power_states, supported: Some(true) };
    build(black_box(&drive), black_box(Tolerance::AtMost(Microseconds::from_millis(100))))
}

#[library_benchmark]
#[bench::five_states(controller(page()))]
#[bench::thirty_two_states(controller(page_of_32_states()))]
fn build_linux(controller: IdentifyController) -> Plan {
    plan(&controller, |drive, at| linux::build(drive, at, Effects::NONE, &linux::Parameters::TWO_TIER))
}

#[library_benchmark]
#[bench::five_states(controller(page()))]
#[bench::thirty_two_states(controller(page_of_32_states()))]
fn build_energy(controller: IdentifyController) -> Plan {
    plan(&controller, |drive, at| energy::build(drive, at, Effects::NONE, &energy::Parameters::default(), None))
}

library_benchmark_group!(name = decoders, benchmarks = [identify, power_state, apst_table]);
library_benchmark_group!(name = builders, benchmarks = [build_linux, build_energy]);
main!(library_benchmark_groups = [decoders, builders]);
