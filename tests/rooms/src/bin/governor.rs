//! Uses all of a governor that an adapter needs: what happens is told, commands are taken, deadlines asked for.
#![no_std]
#![no_main]

use wattline_core::governor::{Config, Event, Governor};
use wattline_core::profile::Profile;
use wattline_core::units::{Instant, Milliwatts};
use wattline_rooms::{any, keep};

wattline_rooms::program!(main);

fn main() {
    let mut governor = Governor::<24, 1>::new(any(Config::new(Milliwatts::ZERO, Milliwatts::ZERO)));
    keep(governor.add_profile(any(Profile::default())));
    governor.handle(any(Instant::START), any(Event::Tick));
    keep(governor.poll());
    keep(governor.next_deadline());
}
