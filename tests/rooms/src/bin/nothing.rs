//! Uses no room: what every program has.
#![no_std]
#![no_main]

wattline_rooms::program!(main);

fn main() {
    wattline_rooms::keep(wattline_rooms::bytes::<1>());
}
