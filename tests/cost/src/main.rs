//! Counts what a governor of 24 drives takes on a Cortex-M3: instructions of every kind of call, stack, and RAM.
//!
//! It lives through a set of disturbances that is the same in every run: caps, resets, and drives that come back.
//! Drives take what they are told, so that no call is one of a drive that fails. Each figure is a line on the
//! debugger's console, `NAME COUNT MEAN WORST` for calls and `NAME BYTES` for the rest.
#![no_std]
#![no_main]

mod bench;
mod counter;

use cortex_m_rt::entry;
use cortex_m_semihosting::{debug, hprintln};
use lm3s6965 as _;
use static_cell::StaticCell;
use wattline_core::governor::Governor;

use self::bench::{Bench, DRIVES};
use self::counter::Counter;

type Subject = Governor<DRIVES, 1>;

#[entry]
fn main() -> ! {
    static GOVERNOR: StaticCell<Subject> = StaticCell::new();

    let mut counter = Counter::start();
    counter.check();
    let (governor, stack_of_start) = stack(|| bench::start(GOVERNOR.uninit()));
    let mut bench = Bench::new(governor, counter);
    let ((), stack) = stack(|| bench.run());
    for (name, calls) in bench.calls() {
        hprintln!("{} {} {} {}", name, calls.count, calls.total / u64::from(calls.count.max(1)), calls.worst);
    }
    hprintln!("governor {}", size_of::<Subject>());
    hprintln!("stack-of-start {}", stack_of_start);
    hprintln!("stack {}", stack);
    end(debug::EXIT_SUCCESS)
}

/// Bytes of stack that a call takes.
#[inline(never)]
fn stack<T>(call: impl FnOnce() -> T) -> (T, u32) {
    cortex_m_stack::repaint_stack();
    let before = cortex_m_stack::current_stack_in_use();
    let result = call();
    (result, cortex_m_stack::stack_size() - cortex_m_stack::stack_painted() - before)
}

fn end(status: debug::ExitStatus) -> ! {
    loop {
        debug::exit(status);
    }
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    hprintln!("{}", info);
    end(debug::EXIT_FAILURE)
}
