//! Instructions of one call each, counted by valgrind: the same on every run.

use std::hint::black_box;

use gungraun::prelude::*;
use wattline_core::nvme::feature::autonomous_transitions::Table;
use wattline_core::nvme::identify::IdentifyError;
use wattline_core::nvme::{IdentifyController, PowerStateDescriptor};
use wattline_instructions::{Page, descriptor, page, page_of_32_states, table};

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

library_benchmark_group!(name = decoders, benchmarks = [identify, power_state, apst_table]);
main!(library_benchmark_groups = decoders);
