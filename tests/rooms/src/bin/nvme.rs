//! Uses all of `nvme`: every structure is decoded, read through and encoded.
#![no_std]
#![no_main]

use wattline_core::nvme::feature::autonomous_transitions::{raw_entry, AutonomousTransitions, Table};
use wattline_core::nvme::feature::non_operational::NonOperational;
use wattline_core::nvme::feature::ocp_power_state::OcpPowerState;
use wattline_core::nvme::feature::power_limit::PowerLimit;
use wattline_core::nvme::feature::power_measurement::PowerMeasurement;
use wattline_core::nvme::feature::temperature_threshold::TemperatureThreshold;
use wattline_core::nvme::feature::thermal_management::ThermalManagement;
use wattline_core::nvme::feature::PowerManagement;
use wattline_core::nvme::log::power_measurement::{Bin, Header};
use wattline_core::nvme::log::SmartHealth;
use wattline_core::nvme::{IdentifyController, PowerState, PowerStateDescriptor, Status};
use wattline_rooms::{any, bytes, keep};

wattline_rooms::program!(main);

fn main() {
    identify();
    features();
    logs();
    keep(Status::from_bits(any(0)).name());
}

fn identify() {
    if let Ok(controller) = IdentifyController::decode(&bytes()) {
        keep(controller.model.as_str());
        let mut page = bytes();
        controller.encode(&mut page);
        keep(page);
    }
    let descriptor = PowerStateDescriptor::decode(&bytes());
    keep((descriptor.round_trip_latency(), descriptor.encode()));
    keep(descriptor.emergency_power_fail_recovery_time.time());
}

fn features() {
    keep(AutonomousTransitions::decode(any(0)).encode());
    keep(NonOperational::decode(any(0)).encode());
    keep(OcpPowerState::decode(any(0)).encode());
    keep(PowerLimit::decode(any(0)).encode());
    keep(PowerManagement::decode(any(0)).encode());
    keep(PowerMeasurement::decode(any(0)).encode());
    keep(TemperatureThreshold::decode(any(0)).encode());
    keep(ThermalManagement::decode(any(0)).encode());
    let buffer = bytes();
    keep(Table::decode(&buffer).encode());
    keep(raw_entry(&buffer, any(PowerState::PS0)));
}

fn logs() {
    keep(SmartHealth::decode(&bytes()).encode());
    let page = bytes::<512>();
    if let Some(first) = page.first_chunk() {
        let header = Header::decode(first);
        header.histogram(&page).for_each(keep);
        keep(header.encode());
    }
    keep(Bin::decode(&bytes()).encode());
}
