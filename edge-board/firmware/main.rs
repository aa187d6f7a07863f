//! The board's firmware: `wattline-edge` on a Stellaris LM3S6965.
//!
//! One loop, polled, without an allocator. The watchdog is fed by nothing else than that loop. A panic is kept in RAM
//! over the reset that it leads to, and reported by the next start.
#![no_std]
#![no_main]

mod lm3s6965;

use core::cell::RefCell;

use cortex_m_rt::entry;
use cortex_m_semihosting::debug;
use embedded_hal_bus::i2c::RefCellDevice;
use heapless::String;
use lm75::Lm75;
use panic_persist as _;
use static_cell::{ConstStaticCell, StaticCell};
use wattline_core::governor::{Governor, ProfileIndex};
use wattline_core::journal::MAX_FRAME;
use wattline_core::units::Instant;
use wattline_edge::adm1272::Adm1272;
use wattline_edge::app::App;
use wattline_edge::appliance::{self, DRIVES, PROFILES};
use wattline_edge::link::{FromBoard, Link, Order};
use wattline_edge::report::{Reporter, Stage, Telemetry};
use wattline_edge::sensors::Sensors;

use self::lm3s6965::{Chip, I2c, Uart, Watchdog};

type Board = App<'static, Link<Uart>, RefCellDevice<'static, I2c>, Uart, DRIVES, PROFILES>;

#[entry]
fn main() -> ! {
    let (mut board, profile, mut watchdog) = start();
    let board = &mut board;
    report_stack(board, Stage::Start);
    cortex_m_stack::repaint_stack();
    let mut attached = false;
    tell(board, FromBoard::Ready);
    loop {
        watchdog.feed();
        match board.port().receive() {
            Ok(None) => {}
            Ok(Some(Order::Step { now })) => {
                if !core::mem::replace(&mut attached, true) {
                    attach_all(board, now, profile);
                }
                let until = board.step(now);
                tell(board, FromBoard::Idle { until });
            }
            Ok(Some(Order::End)) => end(board),
            Ok(Some(Order::Panic)) => panic!("the bench wants a panic"),
            Ok(Some(Order::StandStill)) => stand_still(),
            Err(error) => defmt::error!("the drives' line: {}", error),
        }
    }
}

/// Starts the chip and puts the board together. Not inlined, so that the stack which that takes is free again in the
/// loop.
#[inline(never)]
fn start() -> (Board, ProfileIndex, Watchdog) {
    static LOG: StaticCell<Uart> = StaticCell::new();
    static BUS: StaticCell<RefCell<I2c>> = StaticCell::new();
    static GOVERNOR: StaticCell<Governor<DRIVES, PROFILES>> = StaticCell::new();
    static FRAME: ConstStaticCell<[u8; MAX_FRAME]> = ConstStaticCell::new([0; MAX_FRAME]);

    let Chip { drives, journal, log, i2c, watchdog, reset_cause } = Chip::start();
    defmt_serial::defmt_serial(LOG.init(log));
    defmt::info!("wattline-edge starts; reset cause {=u32:#x}", reset_cause);

    let mut reporter = Reporter::new(journal, FRAME.take());
    reporter.telemetry(&Telemetry::Started { reset_cause, panic: last_panic() });

    let bus = BUS.init(RefCell::new(i2c));
    let meter = Adm1272::new(RefCellDevice::new(bus), appliance::METER_ADDRESS, appliance::SHUNT_MICRO_OHMS);
    let sensor = Lm75::new(RefCellDevice::new(bus), appliance::SENSOR_ADDRESS);
    let sensors = Sensors::new(meter, sensor, appliance::DRIVES_ABOVE_BOARD);

    let link = Link::new(drives);
    let mut board =
        App::new(GOVERNOR.uninit(), appliance::config(), link, sensors, reporter, appliance::SAMPLING_PERIOD);
    let profile = board.add_profile(appliance::profile()).unwrap_or_else(|| unreachable!("there is room for one"));
    (board, profile, watchdog)
}

/// What a panic before the reset said, where it led to the reset.
fn last_panic() -> Option<String<{ wattline_edge::report::PANIC_LENGTH }>> {
    let message = panic_persist::get_panic_message_bytes()?;
    let mut kept = String::new();
    for chunk in message.utf8_chunks() {
        for character in chunk.valid().trim_end().chars() {
            if kept.push(character).is_err() {
                break;
            }
        }
    }
    defmt::error!("the last run ended in a panic: {}", kept.as_str());
    Some(kept)
}

fn attach_all(board: &mut Board, now: Instant, profile: ProfileIndex) {
    for slot in (0..).take(DRIVES) {
        board.attach(now, slot, appliance::drive(profile));
    }
}

fn tell(board: &mut Board, message: FromBoard) {
    if let Err(error) = board.port().tell(message) {
        defmt::error!("the drives' line: {}", error);
    }
}

fn report_stack(board: &mut Board, stage: Stage) {
    let (size, untouched) = (cortex_m_stack::stack_size(), cortex_m_stack::stack_painted());
    defmt::info!("stack: {=u32} of {=u32} bytes never touched ({})", untouched, size, stage);
    board.reporter().telemetry(&Telemetry::Stack { stage, size, untouched });
}

/// Ends the emulation. On hardware without a debugger this is a fault, and the watchdog resets the chip.
fn end(board: &mut Board) -> ! {
    report_stack(board, Stage::Loop);
    loop {
        debug::exit(debug::EXIT_SUCCESS);
    }
}

fn stand_still() -> ! {
    loop {
        cortex_m::asm::nop();
    }
}
